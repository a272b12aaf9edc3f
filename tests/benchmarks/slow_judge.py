"""A judge that takes its time and answers in the sizes of the peers' baseline.

Texts, facts and claims are made from numbers, so that it can answer every task from what the task
shows: a document `d3.7.1` states `fact 3.7.1 a`, an answer `a3.7` claims `claim 3.7 a` and
`claim 3.7 b`, and what belongs to the same interaction belongs together.
"""

import asyncio
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.judging.tasks import (
    ConcludeReasons,
    ExplainRelevance,
    ExplainScore,
    ExtractClaims,
    ExtractPooledClaims,
    ExtractPooledTruths,
    ExtractTruths,
    FindEvidence,
    InferStatementList,
    InferStatements,
    JudgeClaimList,
    JudgeClaims,
    JudgeDocument,
    RelateDocument,
    SplitAnswer,
    SupportAnswer,
    Task,
)
from faithtui.judges.base import Judge, JudgeReply, JudgeRequest, LocalJudge
from faithtui.judges.judge_wrapper import JudgeWrapper

Reply = dict[str, object]

DOCUMENTS = 2
"""Per interaction."""
CLAIMS = ("a", "b")
"""Of an answer; `b` is wrong in every fifth interaction."""
WRONG_EVERY = 5
REASON = "because"


def texts(kind: str, name: str, words: int, letters: int) -> str:
    """Write a text of so many words and about so many letters that begins with its name."""
    filler = "the visiting hours of every garden house are posted beside its green door"
    cycle = (filler.split() * (words // 10 + 2))[: words - 1]
    return f"{kind}{name} {' '.join(cycle)}".ljust(letters, "x")[:letters]


def make_conversation(key: int, count: int) -> Conversation:
    """A conversation of `count` interactions that shares no text with one of another key.

    Sizes are those of the baseline: two documents of 60 words (430 characters), a reply of 40
    words (250 characters).
    """
    turns: list[Turn] = []
    for n in range(count):
        name = f"{key}.{n}"
        documents = tuple(Document(texts("d", f"{name}.{k}", 60, 430)) for k in range(DOCUMENTS))
        turns += (
            Turn("user", texts("q", name, 14, 80)),
            Turn("assistant", texts("a", name, 40, 250), documents),
        )
    return Conversation("benchmark", f"c{key}", tuple(turns), f"c{key}")


def fact_letters(name: str) -> list[int]:
    """How long the facts and claims of an interaction are where they are short."""
    facts = [f"fact {name}.{k} a" for k in range(DOCUMENTS)]
    return [len(text) for text in (*facts, *(f"claim {name} {letter}" for letter in CLAIMS))]


class SlowJudge(LocalJudge):
    """Sleeps, then answers any task.

    Args:
        latency_s: Of each call.
        letters: How long each fact and claim is, at least; 0: as short as in the baseline.
    """

    ref = "slow"
    fingerprint = "slow"
    takes_images = False
    context_window = 128_000

    def __init__(self, latency_s: float, letters: int = 0) -> None:
        self._latency_s = latency_s
        self._letters = letters

    async def send(self, request: JudgeRequest) -> JudgeReply:
        await asyncio.sleep(self._latency_s)
        if isinstance(request.task, SupportAnswer):
            return JudgeReply("YES")
        return JudgeReply(json.dumps(self._answer(request.task)), structured=True)

    async def aclose(self) -> None:
        pass

    def _answer(self, task: Task) -> Reply:
        match task:
            case ExtractTruths(documents):
                return {f"d{n}": self._facts([each]) for n, each in enumerate(documents)}
            case ExtractPooledTruths(documents):
                return {"truths": self._facts(documents)}
            case ExtractClaims(answers):
                return {f"a{n}": self._claims([each]) for n, each in enumerate(answers)}
            case ExtractPooledClaims(answers):
                return {"claims": self._claims(answers)}
            case SplitAnswer(_, answer):
                return {"statements": self._claims([answer])}
            case FindEvidence():
                return _evidence(task)
            case JudgeClaims(claims):
                return {
                    f"c{n}": {"reason": REASON, "verdict": "no" if _wrong(each) else "yes"}
                    for n, each in enumerate(claims)
                }
            case JudgeClaimList(claims):
                return {
                    "verdicts": [
                        {"reason": REASON, "verdict": "no" if _wrong(each) else "yes"}
                        for each in claims
                    ]
                }
            case InferStatements(statements):
                return {
                    f"s{n}": {"reason": REASON, "verdict": "0" if _wrong(each) else "1"}
                    for n, each in enumerate(statements)
                }
            case InferStatementList(statements):
                return {
                    "statements": [
                        {"statement": each, "reason": REASON, "verdict": int(not _wrong(each))}
                        for each in statements
                    ]
                }
            case RelateDocument(document, messages):
                return self._related(document, messages)
            case JudgeDocument(document):
                return {
                    "verdicts": [
                        {"statement": each, "verdict": "yes", "reason": REASON}
                        for each in self._facts([document])
                    ]
                }
            case ExplainScore() | ConcludeReasons() | ExplainRelevance():
                return {"reason": REASON}
            case SupportAnswer():
                raise AssertionError("a text, not an object")
            case _:
                assert_never(task)

    def _facts(self, documents: Sequence[str]) -> list[str]:
        return [self._long(f"fact {_name(each)} a") for each in documents]

    def _claims(self, answers: Sequence[str]) -> list[str]:
        return [
            self._long(f"claim {_name(each)} {letter}") for each in answers for letter in CLAIMS
        ]

    def _long(self, text: str) -> str:
        return f"{text} ".ljust(self._letters, "y").strip()

    def _related(self, document: str, messages: Sequence[str]) -> Reply:
        home = _home(_name(document))
        serves = [f"q{n}" for n, each in enumerate(messages) if _name(each) == home]
        verdict = "yes" if serves else "no"
        return {
            "statements": [
                {"statement": each, "reason": REASON, "serves": serves, "verdict": verdict}
                for each in self._facts([document])
            ]
        }


def _evidence(task: FindEvidence) -> Reply:
    reply: Reply = {}
    first = 0
    for group in task.groups:
        homes: dict[str, list[str]] = {}
        for n, truth in enumerate(group.truths, first):
            homes.setdefault(_home(truth.split()[1]), []).append(f"t{n}")
        first += len(group.truths)
        for claim in group.claims:
            named = homes.get(claim.split()[1], [])
            wrong = _wrong(claim)
            reply[f"c{len(reply)}"] = {
                "reason": REASON if named else "",
                "sufficient": [] if wrong else [[each] for each in named],
                "partial": [],
                "contradicts": named if wrong else [],
                "verdict": ("no" if wrong else "yes") if named else "idk",
            }
    return reply


@dataclass(frozen=True)
class Needs:
    """What claims need, in percent of the claims; the others need one truth of their own turn."""

    joint: int = 0
    """Two truths: the first of their own turn and the first of another one."""
    partial: int = 0
    """More than is stated anywhere: of a part of them their own turn has a truth."""
    turns_later: int = 0
    """Where the other truth is; 0: the second one of their own turn."""


class JointJudge(SlowJudge):
    """A judge for which some claims need two truths, and some have a part that is not stated."""

    def __init__(self, needs: Needs) -> None:
        super().__init__(0.0)
        self._needs = needs

    def _answer(self, task: Task) -> Reply:
        if not isinstance(task, FindEvidence):
            return super()._answer(task)
        reply: Reply = {}
        first = 0
        for group in task.groups:
            numbers = {_fact(truth): f"t{n}" for n, truth in enumerate(group.truths, first)}
            first += len(group.truths)
            for claim in group.claims:
                reply[f"c{len(reply)}"] = self._entry(claim, numbers)
        return reply

    def _entry(self, claim: str, numbers: Mapping[str, str]) -> Reply:
        home = claim.split()[1]
        key, _, turn = home.partition(".")
        luck = zlib.crc32(claim.encode()) % 100
        own = f"{home}.0"
        whole = [own]
        if luck < self._needs.joint:
            later = self._needs.turns_later
            whole.append(f"{key}.{int(turn) + later}.0" if later else f"{home}.1")
        known = [numbers[each] for each in whole if each in numbers]
        is_part = luck >= 100 - self._needs.partial
        is_whole = len(known) == len(whole) and not is_part
        return {
            "reason": REASON if known else "",
            "sufficient": [known] if is_whole else [],
            "partial": [] if is_whole else known,
            "contradicts": [],
            "verdict": "yes" if is_whole else "idk",
        }


def _fact(truth: str) -> str:
    """`3.7.1` of `fact 3.7.1 a`."""
    return truth.split()[1]


def _name(text: str) -> str:
    """`3.7.1` of `d3.7.1 the visiting …`."""
    return text.split(maxsplit=1)[0][1:]


def _home(name: str) -> str:
    """`3.7`, the interaction of the document `3.7.1`."""
    return name.rsplit(".", 1)[0]


def _wrong(claim: str) -> bool:
    _, name, letter, *_ = claim.split()
    return letter == CLAIMS[-1] and int(name.rsplit(".", 1)[1]) % WRONG_EVERY == 0


class CountingJudge(JudgeWrapper):
    """Counts what goes through it to a judge."""

    def __init__(self, judge: Judge) -> None:
        super().__init__(judge)
        self.calls: Counter[str] = Counter()
        """By step."""
        self.characters: Counter[str] = Counter()
        """Of system and user text, by step."""
        self.written: Counter[str] = Counter()
        """Characters of all replies, by step."""

    async def send(self, request: JudgeRequest) -> JudgeReply:
        self.calls[request.step] += 1
        self.characters[request.step] += len(request.system) + len(request.prompt)
        reply = await self._judge.send(request)
        self.written[request.step] += len(reply.text)
        return reply
