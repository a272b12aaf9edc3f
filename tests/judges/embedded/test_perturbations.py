"""What the embedded judge says of changed sentences of the passages of the demo.

The passages are those of MTRAG (Apache-2.0, fixtures/demo); the judge was not trained on them.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import pytest

from faithtui.domain.probes.perturbations import Effect, ProbeKind, make_probes
from faithtui.domain.text.sentence_index import index_passages
from faithtui.domain.text.sentences import SentenceKind, split_answer
from faithtui.judges.embedded.overlap import VerdictWord, judge_claim

DEMO = Path(__file__).parents[3] / "fixtures" / "demo"
LEAST_YES: Mapping[ProbeKind, float] = {
    ProbeKind.COPY: 0.99,
    ProbeKind.DROPPED_CLAUSE: 0.95,
    ProbeKind.SYNONYMS: 0.95,
    ProbeKind.NUMBER_FORMAT: 0.95,
    ProbeKind.VERBOSITY: 0.90,
    ProbeKind.PASSAGE_ORDER: 0.99,
    ProbeKind.INJECTION: 0.99,
}
MOST_YES: Mapping[ProbeKind, float] = {
    ProbeKind.NAME: 0.10,
    ProbeKind.NUMBER: 0.15,
    ProbeKind.MONTH: 0.15,
    ProbeKind.NEGATION_ADDED: 0.25,
    ProbeKind.NEGATION_REMOVED: 0.25,
    ProbeKind.EXCHANGED_NAMES: 0.25,
    ProbeKind.QUANTIFIER: 0.25,
    ProbeKind.MODAL: 0.25,
}
"""Changes of a word or of what is spoken of (other word, splice) cannot be told by words."""


@lru_cache(maxsize=1)
def retrieved() -> tuple[tuple[str, ...], ...]:
    """What was retrieved for each answer of the demo, each selection once."""
    found: dict[tuple[str, ...], None] = {}
    for file in sorted(DEMO.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            for turn in json.loads(line)["turns"]:
                if passages := turn.get("retrieval_context"):
                    found[tuple(passages)] = None
    return tuple(found)


def sentences(passages: Sequence[str]) -> list[str]:
    return [
        each.text
        for text in passages
        for each in split_answer(text)
        if each.kind is SentenceKind.CLAIM
        if 40 <= len(each.text) <= 260 and each.text[0].isupper() and each.text.endswith(".")
    ]


def count_verdicts(
    selections: Sequence[tuple[str, ...]], each_takes: int
) -> Mapping[ProbeKind, Counter[VerdictWord]]:
    verdicts: defaultdict[ProbeKind, Counter[VerdictWord]] = defaultdict(Counter)
    for passages in selections:
        chosen = sentences(passages)
        step = max(1, len(chosen) // each_takes)
        for claim in chosen[::step][:each_takes]:
            for probe in make_probes(claim, passages):
                context = index_passages(probe.passages)
                verdicts[probe.kind][judge_claim(probe.claim, context).answer] += 1
    return verdicts


def check(verdicts: Mapping[ProbeKind, Counter[VerdictWord]], least: int) -> None:
    shares = {
        kind: counts[VerdictWord.YES] / counts.total()
        for kind, counts in verdicts.items()
        if counts.total() >= least
    }
    assert {kind: shares[kind] for kind in shares if shares[kind] < LEAST_YES.get(kind, 0)} == {}
    assert {kind: shares[kind] for kind in shares if shares[kind] > MOST_YES.get(kind, 1)} == {}
    said_no = {kind: counts[VerdictWord.NO] for kind, counts in verdicts.items()}
    right = sum(n for kind, n in said_no.items() if kind.effect is Effect.BREAKS)
    assert right >= 0.85 * sum(said_no.values())


@pytest.mark.thorough
def test_a_sample_of_changed_sentences() -> None:
    verdicts = count_verdicts(retrieved()[::8], each_takes=3)
    assert verdicts[ProbeKind.COPY].total() >= 20
    check(verdicts, least=10)


@pytest.mark.thorough
def test_all_changed_sentences() -> None:
    verdicts = count_verdicts(retrieved(), each_takes=8)
    measured = {kind for kind, counts in verdicts.items() if counts.total() >= 10}
    assert measured >= {*LEAST_YES, *MOST_YES}
    check(verdicts, least=10)


@pytest.mark.parametrize(
    ("claim", "context", "reason"),
    [
        (
            "The boat will sink in the harbour.",
            "The boat may sink in the harbour.",
            'The claim says "will" where the closest sentence says "may".',
        ),
        (
            "All pupils of the town came to the opening.",
            "Some pupils of the town came to the opening.",
            'The claim says "All" where the closest sentence says "Some".',
        ),
        (
            "Last year Voss taught Lund to paint in oil.",
            "Last year Lund taught Voss to paint in oil.",
            '"Voss" and "Lund" stand the other way round in the closest sentence.',
        ),
        (
            "The prize of the town and its harbour went to the painter Quill that year.",
            "The prize of the town and its harbour went to the painter that year.",
            'The context does not have the name "Quill".',
        ),
        (
            "The new hall of the harbour holds at most 470 guests on weekdays.",
            "The new hall of the harbour holds at most so many guests on weekdays.",
            'The context does not have the number "470".',
        ),
    ],
)
def test_a_doubt_is_no_contradiction_and_is_named(claim: str, context: str, reason: str) -> None:
    finding = judge_claim(claim, index_passages((context,)))
    assert (finding.answer, finding.clash) == (VerdictWord.IDK, None)
    assert finding.probability <= 0.4
    assert finding.reason.endswith(reason)


def test_the_number_of_a_citation_is_no_contradiction() -> None:
    claim = "The boat sank in the harbour of the town [2], on its way to the islands [1][3]."
    context = "The boat 9 sank in the harbour of the town, on its way to the islands [28]."
    finding = judge_claim(claim, index_passages((context,)))
    assert (finding.answer, finding.clash, finding.missing) == (VerdictWord.YES, None, ())
    assert judge_claim("[1]", index_passages((context,))).answer is VerdictWord.IDK


def test_empty_words_around_a_claim_are_not_missing() -> None:
    claim = "It should also be mentioned at this point that the boat sank, as stated above."
    finding = judge_claim(claim, index_passages(("The boat sank.",)))
    assert finding.answer is VerdictWord.YES
    assert finding.missing == ()
    wrong = judge_claim(f"In short, {claim}", index_passages(("The ship burned.",)))
    assert [word.slice_text(f"In short, {claim}") for word in wrong.missing] == ["boat", "sank"]


@pytest.mark.parametrize(
    ("claim", "context"),
    [
        ("The UN sent help to the town.", "The United Nations sent help to the town."),
        ("Note: Visitors pay at the gate.", "Note that visitors pay at the gate."),
        ("No, the band had a drummer called Flea.", "The band had a drummer called Flea."),
        ("Marta Lund opened two schools.", "Marta Lund opened schools in Oslo and in Bergen."),
    ],
)
def test_no_doubt_is_made_up(claim: str, context: str) -> None:
    assert "does not have" not in judge_claim(claim, index_passages((context,))).reason
    assert "negated" not in judge_claim(claim, index_passages((context,))).reason
