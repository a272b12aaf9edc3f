"""Label bundles as files: what is written comes back, and what is wrong is named."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.conversation import Span
from faithtui.domain.labels.label_bundle import (
    BundleClaim,
    BundleEvent,
    BundleGuideline,
    BundleSample,
    BundleSampleClaim,
    ClaimName,
    ConversationName,
    LabelBundle,
    RunName,
)
from faithtui.domain.labels.label_events import Action, Event, LabelMark, MarkedPassage
from faithtui.errors import InputError
from faithtui.formats.label_bundles import format_bundle_lines, read_bundle

NOON = datetime(2026, 3, 1, 12, 0, 0, 123, tzinfo=UTC)
CONVERSATION = ConversationName("shop", "conv-1", "c" * 64)
CLAIM = ClaimName(CONVERSATION, "claim", 1, "d" * 64)
STATEMENT = ClaimName(CONVERSATION, "statement", 1, "e" * 64, "f" * 64)
RUN = RunName("turn-faithfulness", "offline", "offline 1", "0" * 64, NOON)
FULL = LabelBundle(
    acts=(
        BundleEvent(
            "a",
            CLAIM,
            "bo",
            Action.IMPORTED,
            "yes",
            scale="yes-no",
            raw_label="yes",
            clock=1,
            created_at=NOON,
        ),
        BundleEvent(
            "b",
            STATEMENT,
            "ann",
            Action.BLIND,
            "no",
            "",
            clock=2,
            created_at=NOON,
            batch="batch",
            run=RUN,
            judge_verdict="yes",
            saw_judge=True,
            seconds=1.5,
            code="truth",
            sample="s",
            stratum="judge yes",
            probability=0.25,
            guideline="abc",
        ),
        BundleEvent(
            "c", CLAIM, "ann", Action.MARKED, mark=LabelMark.FLAG, clock=3, created_at=NOON
        ),
        BundleEvent(
            "e",
            CLAIM,
            "ann",
            Action.EVIDENCE,
            clock=4,
            created_at=NOON,
            evidence=(MarkedPassage("f" * 64, 0, 3), MarkedPassage("f" * 64, 8, 9)),
        ),
        BundleEvent("d", STATEMENT, "ann", Action.WITHDRAWN, target="b", clock=5, created_at=NOON),
    ),
    claims={
        CLAIM: BundleClaim("=1+1 said the [b]shop[/b]", Span(0, 5), imported=True),
        STATEMENT: BundleClaim("Two\nlines"),
    },
    samples=(
        BundleSample(
            "s",
            "first",
            "sample",
            RUN,
            "ann",
            "stratified",
            ("verdict",),
            7,
            True,
            0.2,
            100,
            (("judge yes", 80, 1),),
            NOON,
            None,
            None,
            (BundleSampleClaim(STATEMENT, "judge yes", 0.0125, True),),
        ),
    ),
    guidelines=(
        BundleGuideline("abc", "Judge.", "ann", NOON),
        BundleGuideline("def", "Judge claims.", "ann", NOON, "turn-faithfulness"),
        BundleGuideline("012", "Default.", "faithtui", NOON, "turn-faithfulness", built_in=True),
    ),
)


def written(path: Path, bundle: LabelBundle = FULL) -> list[dict[str, Any]]:
    path.write_text("".join(format_bundle_lines(bundle)), encoding="utf-8", newline="")
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def seal(lines: list[dict[str, Any]]) -> str:
    """Compute the digest as docs/bundles.md has it."""
    texts = [json.dumps(each, sort_keys=True, separators=(",", ":")) for each in lines[1:]]
    return hashlib.sha256("".join(f"{each}\n" for each in texts).encode("ascii")).hexdigest()


def rewritten(path: Path, lines: list[dict[str, Any]]) -> None:
    lines = [{**lines[0], "digest": seal(lines)}, *lines[1:]]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "bundle.jsonl"
    lines = written(path)
    read = read_bundle(path)
    assert read.refusals == ()
    assert read.bundle == FULL
    header = {"type": "faithtui-labels", "version": 2, "acts": 5, "claims": 2}
    assert lines[0] == {**header, "digest": seal(lines)}
    assert read.lines["a"] == 1 + next(n for n, each in enumerate(lines) if each.get("uid") == "a")


def test_equal_bundles_give_equal_bytes() -> None:
    assert list(format_bundle_lines(FULL)) == list(format_bundle_lines(FULL))


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_text_stays_text(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("text") / "bundle.jsonl"
    act = BundleEvent("a", CLAIM, "ann", Action.NOTED, note=text, clock=1, created_at=NOON)
    bundle = LabelBundle((act,), {CLAIM: BundleClaim(text)})
    written(path, bundle)
    assert read_bundle(path).bundle == bundle


def test_hostile_texts_stay_text(tmp_path: Path) -> None:
    hostile = ["\x1b[2J", "‮abc", "[link=x]y[/]", "=cmd|' /C calc'!A0", "\u2028\x85", "\r\n", "🏳️‍🌈"]
    path = tmp_path / "bundle.jsonl"
    acts = tuple(
        BundleEvent(
            f"{number}", CLAIM, text, Action.NOTED, note=text, clock=number, created_at=NOON
        )
        for number, text in enumerate(hostile, start=1)
    )
    written(path, LabelBundle(acts, {CLAIM: BundleClaim("x")}))
    assert [act.note for act in read_bundle(path).bundle.acts] == hostile


@pytest.mark.parametrize(
    ("kind", "field", "value", "says"),
    [
        ("act", "action", "dreamt", 'action: is "dreamt"; expected one of'),
        ("act", "clock", 0, "clock: is 0; expected a whole number"),
        ("act", "clock", 1 << 60, "clock: is 1152921504606846976; expected a whole number"),
        ("act", "clock", True, "clock: is true; expected a whole number"),
        ("act", "claim", 99, "claim: is 99; expected the number of a claim"),
        ("act", "reviewer", "", 'reviewer: is ""; expected a string that is not empty'),
        ("act", "verdict", 5, "verdict: is 5; expected a string"),
        ("act", "created_at", "2026-01-01T00:00:00", "created_at"),
        ("act", "created_at", "yesterday", "created_at"),
        ("act", "code", "mood", 'code: is "mood"; expected one of `claim`'),
        ("act", "mark", "star", "mark"),
        ("act", "seconds", -1, "seconds: is -1; expected a number that is not negative"),
        ("act", "probability", 0, "probability: is 0; expected a number above 0 to 1"),
        ("act", "saw_judge", "yes", 'saw_judge: is "yes"; expected true or false'),
        ("act", "target", "b", "target: names the act"),
        ("claim", "kind", "rumour", 'kind: is "rumour"; expected one of'),
        ("claim", "turn", -1, "turn: is -1"),
        ("claim", "span", [5, 1], "span: is no span"),
        ("claim", "span", [0, 1 << 70], "span: is no span"),
        ("claim", "turn", 1 << 70, "turn: is 1180591620717411303424"),
        ("act", "created_at", "0001-01-01T00:00:00+14:00", "created_at"),
        ("sample", "seed", 1 << 70, "seed: is 1180591620717411303424"),
        ("claim", "document", "f", "document: belongs to statements"),
        ("sample", "drawn", [5], "drawn[0]: is 5; expected an object"),
        ("sample", "strata", [{}], "strata[0].name: is missing"),
        ("run", "created_at", None, "created_at: is null"),
        ("guideline", "text", None, "text: is null"),
    ],
)
def test_a_wrong_field_is_named_with_its_file_and_line(
    tmp_path: Path, kind: str, field: str, value: object, says: str
) -> None:
    path = tmp_path / "bundle.jsonl"
    lines = written(path)
    number = next(n for n, each in enumerate(lines) if each["type"] == kind)
    lines[number][field] = value
    rewritten(path, lines)
    refusals = read_bundle(path).refusals
    assert str(refusals[0]).startswith(f"{path}: line {number + 1}: ")
    assert says in str(refusals[0])


def test_the_other_lines_are_read_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "bundle.jsonl"
    lines = written(path)
    lines[-1]["action"] = "dreamt"
    rewritten(path, lines)
    lines.append({"type": "poem"})
    rewritten(path, lines)
    with path.open("a", encoding="utf-8") as file:
        file.write("not json\n")
    read = read_bundle(path)
    assert [act.id for act in read.bundle.acts] == ["a", "b", "c", "e"]
    assert [each.line for each in read.refusals] == [len(lines) - 1, len(lines), len(lines) + 1]


def test_a_file_that_was_cut_off_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bundle.jsonl"
    rewritten(path, written(path)[:-2])
    (refusal,) = read_bundle(path).refusals
    assert "was cut off: it holds 3 of 5 acts; export it again" in str(refusal)


def test_two_acts_with_one_name_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "bundle.jsonl"
    lines = written(path)
    lines.append({**lines[-2], "verdict": "yes"})
    rewritten(path, lines)
    (refusal,) = read_bundle(path).refusals
    assert refusal.field == "uid"
    assert "says something else" in str(refusal)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty; expected a label bundle"),
        ('{"id": "x", "turns": []}\n', "is no label bundle"),
        ('{"type": "faithtui-labels", "version": 3, "acts": 0}\n', "update faithtui"),
        ('{"type": "faithtui-labels", "version": 1}\n', "acts: is missing"),
        ("{nonsense\n", "line 1"),
        ("a,b,c\n", "one JSON object a line"),
    ],
)
def test_a_file_that_is_no_bundle_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bundle.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        read_bundle(path)


def test_fields_of_later_versions_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "bundle.jsonl"
    rewritten(path, [{**each, "mood": 1} for each in written(path)])
    assert read_bundle(path).bundle == FULL


def test_two_samples_with_one_name_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "bundle.jsonl"
    lines = written(path)
    sample = next(each for each in lines if each["type"] == "sample")
    lines.append({**sample, "seed": 8})
    rewritten(path, lines)
    read = read_bundle(path)
    assert [each.field for each in read.refusals] == ["uid"]
    assert read.bundle.samples == FULL.samples


def test_what_no_store_holds_as_text_is_one_text_whoever_wrote_it(tmp_path: Path) -> None:
    path = tmp_path / "bundle.jsonl"
    lines = written(path)
    first = next(n for n, each in enumerate(lines) if each["type"] == "act")
    for name in ("\ud800", "\udfff", "\x00"):
        lines.append({**lines[first], "uid": name, "note": f"note {name}"})
    del lines[0]["digest"]
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    read = read_bundle(path)
    assert [act.note for act in read.bundle.acts if act.id == "\ufffd"] == ["note \ufffd"]


@pytest.mark.parametrize("line", ["[" * 100_000, '{"type": ' + "9" * 10_000 + "}", "[1]"])
def test_lines_that_are_no_objects_lose_nothing_else(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bundle.jsonl"
    written(path)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")
    read = read_bundle(path)
    assert read.bundle == FULL
    assert len(read.refusals) == 1


def test_acts_are_read_in_the_order_of_the_log_whatever_that_of_the_lines(tmp_path: Path) -> None:
    path = tmp_path / "bundle.jsonl"
    lines = written(path)
    first = next(n for n, each in enumerate(lines) if each["type"] == "act")
    plain = {**lines[first], "target": None}
    acts = [{**plain, "uid": uid, "clock": clock} for uid, clock in (("z", 2), ("y", 9), ("x", 2))]
    rewritten(path, [{**lines[0], "acts": 3}, *lines[1:first], *acts])
    read = read_bundle(path)
    assert read.refusals == ()
    assert [(act.clock, act.id) for act in read.bundle.acts] == [(2, "x"), (2, "z"), (9, "y")]


@pytest.mark.parametrize("clocks", [(3, 8), (8, 3)])
def test_an_act_that_comes_twice_keeps_its_earliest_clock(
    tmp_path: Path, clocks: tuple[int, int]
) -> None:
    path = tmp_path / "bundle.jsonl"
    lines = written(path)
    first = next(n for n, each in enumerate(lines) if each["type"] == "act")
    twice = [{**lines[first], "clock": clock} for clock in clocks]
    rewritten(path, [{**lines[0], "acts": 2}, *lines[1:first], *twice])
    assert [act.clock for act in read_bundle(path).bundle.acts] == [3]


def test_every_field_of_an_act_is_in_its_line() -> None:
    act = FULL.acts[1]._replace(
        target="a",
        scale="yes-no",
        raw_label="no",
        mark=LabelMark.FLAG,
        note="why",
        evidence=(MarkedPassage("f" * 64, 0, 3),),
        unverified=True,
    )
    assert None not in act
    (line,) = [
        found
        for each in format_bundle_lines(LabelBundle((act,), FULL.claims, FULL.samples))
        if (found := json.loads(each))["type"] == "act"
    ]
    assert set(line) == {"type", "uid", *Event._fields} - {"id"}


@pytest.mark.parametrize("way", ["verdict", "saw_judge", "left out", "added", "order"])
def test_a_file_that_was_edited_is_refused_as_a_whole(tmp_path: Path, way: str) -> None:
    path = tmp_path / "bundle.jsonl"
    lines = written(path)
    first = next(n for n, each in enumerate(lines) if each["type"] == "act")
    match way:
        case "verdict":
            lines[first]["verdict"] = "no"
        case "saw_judge":
            lines[first + 1]["saw_judge"] = False
        case "left out":
            del lines[-1]
            lines[0]["acts"] -= 1
        case "added":
            lines.append({**lines[first], "uid": "z"})
        case _:
            lines[-2:] = reversed(lines[-2:])
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    with pytest.raises(InputError, match="its lines are not those of its `digest`"):
        read_bundle(path)


def test_a_file_that_was_written_out_anew_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "bundle.jsonl"
    lines = written(path)
    texts = [json.dumps(each, sort_keys=True, separators=(", ", " : ")) for each in lines]
    path.write_text("\r\n\r\n".join(texts), encoding="utf-8", newline="")
    assert read_bundle(path).bundle == FULL


def test_acts_of_a_file_without_a_digest_are_unverified_from_then_on(tmp_path: Path) -> None:
    path = tmp_path / "bundle.jsonl"
    header, *lines = written(path)
    del header["digest"]
    path.write_text("".join(json.dumps(each) + "\n" for each in (header, *lines)))
    read = read_bundle(path).bundle
    assert read == replace(FULL, acts=tuple(a._replace(unverified=True) for a in FULL.acts))
    written(path, read)  # an export of a store that took them in has a digest of its own
    assert read_bundle(path).bundle == read


@given(st.floats(0, 1e9), st.floats(0, 1, exclude_min=True))
def test_a_file_has_the_digest_of_what_it_says(
    tmp_path_factory: pytest.TempPathFactory, seconds: float, probability: float
) -> None:
    path = tmp_path_factory.mktemp("numbers") / "bundle.jsonl"
    act = FULL.acts[1]._replace(seconds=seconds, probability=probability, note="‮\u2028é😀")
    bundle = replace(FULL, acts=(act,))
    written(path, bundle)
    assert read_bundle(path).bundle.acts == (act,)
