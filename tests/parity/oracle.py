"""The judge of a case: pure functions of what it is shown, whatever metric asks.

How the questions are cut does not matter: facts, claims and verdicts come out the same. What a case
spoils on purpose (`faults`) is spoilt for every way of asking about the same thing.

A case that gives a reply letter for letter scripts the peer's question about a whole window. Where
a conversation has one window with one answer, the questions of `evidence` ask for the same things
under other keys, and `fitted` rewrites the reply.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

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
from faithtui.errors import JudgeReplyInvalid, JudgeRequestRejected
from faithtui.judges.base import JudgeReply, JudgeRequest, LocalJudge
from faithtui.metrics.base import ReplyMismatch
from faithtui.metrics.deepeval_json import parse_first_to_last_brace

Json = Any

CONTEXT_WINDOW = 3900
"""Tokens a judge can read and write where a case does not say."""
REPAIR_QUESTION = "An earlier answer could not be used"
"""How the engine asks again. ragas asks a question of its own then, which `fixed_text` answers."""
SWALLOWED = ("ValueError", "TypeError", "ValidationError")
"""Errors of a judge that LlamaIndex takes for an empty answer."""
INFERRED = {"yes": 1, "no": 0, "idk": 0}


UNUSABLE = "null"
"""A reply that no question can use."""


class OracleJudge(LocalJudge):
    """A judge whose answers are looked up in a case."""

    ref = "oracle"
    fingerprint = "oracle"

    def __init__(self, oracle: Mapping[str, Json]) -> None:
        self._oracle = oracle
        self._faults: Mapping[str, Json] = oracle.get("faults") or {}
        self._structured = oracle.get("reply_style", "schema") == "schema"
        self._texts_given = 0

    @property
    def takes_images(self) -> bool:
        return bool(self._oracle.get("multimodal", False))

    @property
    def context_window(self) -> int | None:
        return int(self._oracle.get("context_window", CONTEXT_WINDOW))

    @property
    def answers_by_number(self) -> bool:
        """Whether the same question gets another answer the second time."""
        return bool(self._oracle.get("replies"))

    async def send(self, request: JudgeRequest) -> JudgeReply:
        repaired = self._repaired(request)
        if repaired is not None:
            return JudgeReply(text=repaired, structured=False)
        fault = self._fault(request.task)
        if "raise" in fault:
            raise self._error(request.task, str(fault["raise"]))
        if isinstance(request.task, SupportAnswer):
            return JudgeReply(text=self._support(request.task, fault))
        if "raw" in fault:
            text = fitted(request.task, str(fault["raw"]), structured=False)
            return JudgeReply(text=text, structured=False)
        text = json.dumps(fault["reply"] if "reply" in fault else self._answer(request.task))
        if "reply" in fault:
            text = fitted(request.task, text, structured=self._structured)
        return JudgeReply(text=text, structured=self._structured)

    async def aclose(self) -> None:
        pass

    def _fault(self, task: Task) -> Mapping[str, Json]:
        step = _step(task)
        if isinstance(task, SupportAnswer):
            names = [step, *(name for name in self._faults if name not in _SUPPORT_STEPS)]
        else:
            names = [step, *_RAGAS_STEPS.get(step, ())]
        for name in names:
            found: Json = self._faults.get(name)
            if isinstance(found, dict) and {"raise", "raw", "reply"} & set(found):
                return found
        return {}

    def _error(self, task: Task, kind: str) -> Exception:
        if isinstance(task, SupportAnswer) and any(name in kind for name in SWALLOWED):
            return JudgeReplyInvalid(f"the case makes this question fail: {kind}", raw="")
        return JudgeRequestRejected(f"the case makes this question fail: {kind}")

    def _repaired(self, request: JudgeRequest) -> str | None:
        """Answer ragas' repair question: the corrected text, bare or as `{"text": …}`.

        ragas reads a corrected text as it stands and looks for no JSON in it, so that prose spoils
        it. The engine's own question has no such rule; what ragas cannot read is left out here.
        """
        text: Json = self._oracle.get("fixed_text")
        if text is None or REPAIR_QUESTION not in request.prompt:
            return None
        text = str(text)
        try:
            inner = json.loads(text)
        except ValueError:
            inner = None
        if isinstance(inner, dict) and isinstance(inner.get("text"), str):
            text = inner["text"]
        # From a fence marked `json` on it takes the corrected text with the quotes still escaped.
        is_read = text.lstrip().startswith(("{", "```")) and "```json" not in text
        return text if is_read else ""

    def _support(self, task: SupportAnswer, fault: Mapping[str, Json]) -> str:
        for kind in ("raw", "reply"):
            if kind in fault:
                given: Json = fault[kind]
                return given if isinstance(given, str) else json.dumps(given)
        replies = self._oracle.get("replies")
        if replies:
            self._texts_given += 1
            return str(replies[min(self._texts_given, len(replies)) - 1])
        if (task.earlier or "").strip().upper() == "YES":
            return "YES"
        wanted = self._oracle.get("yes_if_context_has") or ()
        return "YES" if any(each in task.context for each in wanted) else "NO"

    def _answer(
        self,
        task: ExtractTruths
        | ExtractPooledTruths
        | ExtractClaims
        | ExtractPooledClaims
        | FindEvidence
        | JudgeClaims
        | JudgeClaimList
        | ExplainScore
        | ConcludeReasons
        | RelateDocument
        | JudgeDocument
        | ExplainRelevance
        | SplitAnswer
        | InferStatements
        | InferStatementList,
    ) -> Json:
        match task:
            case ExtractTruths(documents, limit):
                return {f"d{n}": self._truths([each], limit) for n, each in enumerate(documents)}
            case ExtractPooledTruths(documents, limit):
                return {"truths": self._truths(documents, limit)}
            case ExtractClaims(answers):
                return {f"a{n}": self._claims([each]) for n, each in enumerate(answers)}
            case ExtractPooledClaims(answers):
                return {"claims": self._claims(answers)}
            case SplitAnswer(_, answer):
                return {"statements": self._claims([answer])}
            case FindEvidence():
                return self._evidence(task)
            case JudgeClaims(claims, truths):
                return {
                    f"c{n}": {"reason": "because", "verdict": self._verdict(each, truths)}
                    for n, each in enumerate(claims)
                }
            case JudgeClaimList(claims, truths):
                words = [self._verdict(claim, truths) for claim in claims]
                return {"verdicts": [_entry(each) for each in self._changed(words)]}
            case RelateDocument(document, messages):
                return {
                    "statements": [
                        _serving(each, messages)
                        for each in self._changed(self._statements(document))
                    ]
                }
            case JudgeDocument(document, messages):
                return {
                    "verdicts": [
                        _relevance(each, messages)
                        for each in self._changed(self._statements(document))
                    ]
                }
            case InferStatements(statements, contexts):
                return {
                    f"s{n}": {"reason": "because", "verdict": self._inferred(each, contexts)}
                    for n, each in enumerate(statements)
                }
            case InferStatementList(statements, contexts):
                listed = [
                    {"statement": each, "reason": "because"}
                    | {"verdict": self._inferred(each, contexts)}
                    for each in statements
                ]
                return {"statements": [_inference(each) for each in self._changed(listed)]}
            case ExplainScore() | ConcludeReasons() | ExplainRelevance():
                return {"reason": "because"}
            case _:
                assert_never(task)

    def _truths(self, documents: Sequence[str], limit: int | None) -> list[str]:
        known = self._oracle.get("truths") or {}
        found = list(dict.fromkeys(truth for each in documents for truth in known.get(each, ())))
        if limit is not None and self._oracle.get("honour_limit"):
            return found[:limit]
        return found

    def _claims(self, answers: Sequence[str]) -> list[str]:
        """List the claims of answers; several answers may be joined by line breaks to one."""
        known = self._oracle.get("claims") or {}
        found: list[str] = []
        for answer in answers:
            parts = [answer] if answer in known else answer.split("\n")
            found += [claim for part in parts for claim in known.get(part, ())]
        return found

    def _statements(self, document: str) -> list[Json]:
        known = self._oracle.get("statements") or {}
        return list(known.get(document) or ())

    def _rule(self, claim: str) -> Json:
        return (self._oracle.get("verdicts") or {}).get(claim, "idk")

    def _verdict(self, claim: str, truths: Sequence[str]) -> Json:
        rule = self._rule(claim)
        if not isinstance(rule, dict):
            return rule
        if set(rule.get("no_if_any", ())) & set(truths):
            return "no"
        if set(rule.get("yes_if_any", ())) & set(truths):
            return "yes"
        if any(set(each) <= set(truths) for each in rule.get("yes_if_all", ())):
            return "yes"
        return rule.get("else", "idk")

    def _inferred(self, statement: str, contexts: Sequence[str]) -> Json:
        return _number(self._verdict(statement, self._truths(contexts, None)))

    def _changed(self, listed: Sequence[Json]) -> list[Json]:
        """Give too few or too many verdicts where the case says so."""
        change = self._verdict_list_fault()
        found = list(listed)
        if change.get("truncate_to") is not None:
            found = found[: change["truncate_to"]]
        return found + list(change.get("append") or [])

    def _verdict_list_fault(self) -> Mapping[str, Json]:
        for place in (self._faults, self._oracle, self._faults.get("verdicts") or {}):
            if place.get("verdict_list"):
                found: Mapping[str, Json] = place["verdict_list"]
                return found
        return {}

    def _evidence(self, task: FindEvidence) -> Json:
        reply, claims, truths = {}, 0, 0
        for group in task.groups:
            numbers = {truth: f"t{truths + n}" for n, truth in enumerate(group.truths)}
            for claim in group.claims:
                rule = self._rule(claim)
                named = rule if isinstance(rule, dict) else {}
                sets = [[each] for each in named.get("yes_if_any", ())]
                sets += named.get("yes_if_all", ())
                whole = [each for each in sets if set(each) <= set(numbers)]
                parts = [t for each in sets if each not in whole for t in each]
                partial = dict.fromkeys([*named.get("part_of", ()), *parts])
                reply[f"c{claims}"] = {
                    "reason": "because",
                    "sufficient": [[numbers[t] for t in each] for each in whole],
                    "partial": [numbers[t] for t in partial if t in numbers],
                    "contradicts": [numbers[t] for t in named.get("no_if_any", ()) if t in numbers],
                    "verdict": self._verdict(claim, group.truths),
                }
                claims += 1
            truths += len(group.truths)
        if not self._verdict_list_fault():
            return reply
        # Verdicts given by their place in a list: the truths behind them are not told.
        said = [entry["verdict"] for entry in reply.values()]
        return numbered(task, [_entry(each) for each in self._changed(said)])

    def scripts_a_window(self) -> bool:
        """Whether a reply to the question about a whole window is given letter for letter."""
        return bool(self._verdict_list_fault()) or any(
            "raw" in fault or "reply" in fault
            for step, fault in self._faults.items()
            if step in ("truths", "claims", "verdicts") and isinstance(fault, dict)
        )


_SUPPORT_STEPS = ("question", "refine")
_RAGAS_STEPS = {"claims": ("statements",), "verdicts": ("inference", "nli")}
"""Other names of the same questions, by which ragas and our metric call them."""


def _step(task: Task) -> str:
    """Give the case's name for a kind of question."""
    match task:
        case ExtractTruths() | ExtractPooledTruths():
            return "truths"
        case ExtractClaims() | ExtractPooledClaims() | SplitAnswer():
            return "claims"
        case ExplainScore() | ExplainRelevance():
            return "reason"
        case ConcludeReasons():
            return "final_reason"
        case SupportAnswer(earlier=earlier):
            return _SUPPORT_STEPS[earlier is not None]
        case (
            FindEvidence()
            | JudgeClaims()
            | JudgeClaimList()
            | RelateDocument()
            | JudgeDocument()
            | InferStatements()
            | InferStatementList()
        ):
            return "verdicts"
        case _:
            assert_never(task)


def _entry(word: Json) -> Json:
    return word if isinstance(word, dict) else {"verdict": word, "reason": "because"}


def _number(word: Json) -> Json:
    return INFERRED.get(word, word) if isinstance(word, str) else word


def _inference(given: Json) -> Json:
    if not isinstance(given, dict):
        given = {"statement": "one more", "reason": "because", "verdict": given}
    return given | {"verdict": _number(given["verdict"])} if "verdict" in given else given


def _relevance(given: Json, messages: Sequence[str]) -> Json:
    """Say whether a statement is relevant to messages; what is given directly stays as written."""
    if not isinstance(given, dict):
        return {"statement": "one more", "verdict": given, "reason": "because"}
    reply = {name: value for name, value in given.items() if name != "relevant_to"}
    if "verdict" not in given:
        reply["verdict"] = "yes" if _served(given, messages) else "no"
    return {"reason": "because"} | reply


def _serving(given: Json, messages: Sequence[str]) -> Json:
    """Say the same, naming the messages served; a verdict given directly names none."""
    reply = _relevance(given, messages)
    named = isinstance(given, dict) and "verdict" not in given
    return reply | {"serves": [f"q{n}" for n in _served(given, messages)] if named else []}


def _served(given: Mapping[str, Json], messages: Sequence[str]) -> list[int]:
    wanted = given.get("relevant_to")
    return [n for n, each in enumerate(messages) if wanted == "*" or each in (wanted or ())]


class WindowOnly(Exception):
    """The script has no counterpart among this strategy's questions."""


def fitted(task: Task, text: str, *, structured: bool) -> str:
    """Rewrite a reply to the peer's question into one to ours; the peer's own stay as they are.

    Args:
        task: What was asked.
        text: The reply to the peer's question about the same.
        structured: The judge is bound to a schema.

    Raises:
        WindowOnly: It cannot be told which claim a verdict is meant for.
    """
    match task:
        case RelateDocument():
            # Both questions get a list of the same entries. An entry that names no message served
            # keeps its word in every window, as the reply to a window's question does.
            return text.replace('"statements"', '"others"').replace('"verdicts"', '"statements"')
        case ExtractTruths(documents):
            return _under_keys(text, "truths", [f"d{n}" for n in range(len(documents))])
        case ExtractClaims(answers):
            return _under_keys(text, "claims", [f"a{n}" for n in range(len(answers))])
        case FindEvidence():
            return _verdicts(_read(text), _claims(task), structured=structured)
        case _:
            return text


def numbered(task: FindEvidence, entries: Sequence[Json]) -> dict[str, Json]:
    """Number verdicts given in the order of the claims.

    Raises:
        WindowOnly: More verdicts than claims, or a claim that is asked about once stands twice.
    """
    if len(entries) > _claims(task):
        raise WindowOnly
    return {f"c{n}": each for n, each in enumerate(entries)}


def _claims(task: FindEvidence) -> int:
    return sum(len(group.claims) for group in task.groups)


def _read(text: str) -> Json:
    try:
        return parse_first_to_last_brace(text)
    except ReplyMismatch:
        return None


def _under_keys(text: str, name: str, keys: Sequence[str]) -> str:
    reply = _read(text)
    if not isinstance(reply, dict) or name not in reply:
        return UNUSABLE
    return json.dumps(dict.fromkeys(keys, reply[name]))


def _verdicts(reply: Json, claims: int, *, structured: bool) -> str:
    listed = reply.get("verdicts") if isinstance(reply, dict) else UNUSABLE
    if not listed and not structured:
        return "{}"
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        return UNUSABLE
    if len(listed) > claims or any(
        not isinstance(each.get("reason"), str | None) for each in listed
    ):
        raise WindowOnly
    return json.dumps({f"c{n}": each for n, each in enumerate(listed)})
