"""The tables of a results folder, and a judgement as JSON and back."""

import builtins
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faithtui.domain.claims.verdicts import (
    STANCES,
    Assessment,
    Claim,
    Conclusion,
    Evidence,
    Truth,
    Verdict,
)
from faithtui.domain.conversation import Span
from faithtui.domain.scores import Score, ScoreState
from faithtui.domain.windows import Window
from faithtui.engine.shards.judgement_json import (
    Judgement,
    judgement_from_json_text,
    judgement_to_json_text,
)
from faithtui.engine.shards.results_schema import (
    TABLES,
    get_table_file,
    list_finished_shards,
    make_schema,
)
from faithtui.errors import ConfigError, InputError


@pytest.mark.parametrize("table", TABLES)
def test_a_schema_has_the_documented_columns_and_their_meanings(table: str) -> None:
    schema = make_schema(table)  # type: ignore[arg-type]  # a key of TABLES
    assert schema.names == [each.name for each in TABLES[table]]  # type: ignore[index]
    for field in schema:
        assert field.metadata[b"meaning"]


def test_the_same_name_means_the_same_type_in_every_table() -> None:
    types: dict[str, set[str]] = {}
    for columns in TABLES.values():
        for each in columns:
            types.setdefault(each.name, set()).add(each.type)
    claims = types.pop("claims")
    assert claims == {"int32"}
    assert all(len(found) == 1 for found in types.values()), types


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_pyarrow(name: str, *args: object, **more: object) -> object:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *args, **more)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    with pytest.raises(ConfigError, match=r"pip install 'faithtui\[parquet\]'"):
        make_schema("claims")


def test_a_shard_without_its_file_of_conversations_is_not_whole(tmp_path: Path) -> None:
    for table in ("claims", "windows"):
        file = get_table_file(tmp_path, table, "a.b")
        file.parent.mkdir()
        file.touch()
    assert list_finished_shards(tmp_path) == []
    (tmp_path / "conversations").mkdir()
    get_table_file(tmp_path, "conversations", "a.b").touch()
    assert list_finished_shards(tmp_path) == ["a.b"]


_texts = st.text(max_size=8)
_maybe = st.none() | _texts
_spans = st.none() | st.builds(Span, st.integers(0, 9), st.integers(10, 20))
_claims = st.builds(
    Claim,
    st.integers(0, 5),
    _texts,
    _spans,
    st.sampled_from(["claim", "statement", "answer"]),
    _maybe,
)
_truths = st.builds(Truth, _texts, _maybe, _spans, _maybe)
_evidence = st.builds(
    Evidence, _truths, st.sampled_from(STANCES), st.lists(st.integers(1, 3)).map(tuple)
)
_verdicts = st.builds(
    Verdict,
    _claims,
    st.sampled_from(["yes", "no", "idk", None]),
    _maybe,
    _maybe,
    st.none() | st.floats(0, 1),
    st.lists(_evidence, max_size=3).map(tuple),
)
_scores = st.builds(Score, st.floats(0, 1)) | st.builds(
    Score,
    st.none(),
    st.sampled_from([each for each in ScoreState if each is not ScoreState.SCORED]),
    _texts,
    st.integers(0, 3),
    st.integers(0, 3),
)
_positions = st.lists(st.integers(0, 9), max_size=3).map(tuple)
_assessments = st.builds(
    Assessment,
    st.builds(Window, st.integers(0, 5), _positions, _positions),
    _scores,
    st.lists(_verdicts, max_size=4).map(tuple),
    st.lists(_truths, max_size=4).map(tuple),
    st.lists(_maybe, max_size=2).map(tuple),
    _maybe,
    st.booleans(),
)


@given(
    st.builds(
        Judgement,
        st.lists(_assessments, max_size=3).map(tuple),
        st.builds(Conclusion, _scores, st.none() | st.booleans(), _maybe),
    )
)
def test_a_judgement_comes_back_as_it_was(judgement: Judgement) -> None:
    assert judgement_from_json_text(judgement_to_json_text(judgement)) == judgement


def test_a_document_that_every_truth_comes_from_is_written_once() -> None:
    document = "the whole passage " * 50
    truths = tuple(Truth(f"fact {n}", document) for n in range(20))
    windows = tuple(Assessment(Window(n, (n,), (n,)), Score(1.0), (), truths) for n in range(5))
    text = judgement_to_json_text(Judgement(windows, Conclusion(Score(1.0), True)))
    assert text.count(document) == 1
    assert text.count("fact 7") == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', "null"])
def test_what_is_no_judgement_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no judgement of `faithtui measure`"):
        judgement_from_json_text(text)


def test_a_judgement_of_a_later_version_is_refused_with_both_named() -> None:
    empty = Judgement((), Conclusion(Score(1.0), True))
    later = {**json.loads(judgement_to_json_text(empty)), "format": 2}
    with pytest.raises(InputError, match="format 2; this version reads 1"):
        judgement_from_json_text(json.dumps(later))
