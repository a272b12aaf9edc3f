"""A claim set from one store into another: whole, or not at all."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from faithtui.agreement.sampling.draw import SamplePlan, SamplingDesign, make_sample_draw
from faithtui.domain.conversation import Conversation, Document, Turn
from faithtui.domain.ids import RunId
from faithtui.engine.review.reports.agreement_report import compute_run_agreement
from faithtui.engine.review.samples.claim_set_files import export_claim_set, import_claim_set
from faithtui.errors import ExportError, InputError, StoreError
from faithtui.formats import claim_sets
from faithtui.store.schema.storable_text import replace_unstorable_characters
from faithtui.store.store import Store
from tests.store.building import make_conversation
from tests.store.runs.test_run_designs import drawn, judged_all, label, sampled
from tests.store.test_images import DATA, album

HOSTILE = Path(__file__).parents[4] / "fixtures" / "hostile" / "strings.json"
SECOND = {1: ("yes", "yes"), 3: ("no", "yes", "no")}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store, `one.db`, and its claim set, `shop.jsonl`: 8 labels of 20 claims."""
    folder = tmp_path_factory.mktemp("sets")
    with Store.open(folder / "one.db") as store:
        run = judged_all(store, "abcd")
        row = sampled(
            store, run, SamplePlan(SamplingDesign.STRATIFIED, 7, 8, shown_share=0.4), "verdict"
        )
        label(store, run, drawn(store, row)[:6])
        label(store, run, drawn(store, row)[6:], "no", who="bo")
        found, _ = store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
        export_claim_set(store, found.id, folder / "shop.jsonl", force=False)
    return folder


@pytest.fixture
def lines(made: Path) -> list[dict[str, Any]]:
    text = (made / "shop.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "other.db") as store:
        yield store


def test_a_set_does_not_say_how_it_was_drawn_where_labels_were_deleted(
    tmp_path: Path, other: Store
) -> None:
    """Else labels could be deleted, given anew and taken to a store that does not know of it."""
    with Store.open(tmp_path / "one.db") as store:
        run = judged_all(store, "a")
        row = sampled(store, run, SamplePlan(SamplingDesign.SIMPLE, 7, 3))
        label(store, run, drawn(store, row), who="bo")
        store.deletions.delete_person("bo", "ann")
        label(store, run, drawn(store, row))
        found, _ = store.claim_sets.make_claim_set_version_if_changed("shop", row.id, "ann")
        export_claim_set(store, found.id, tmp_path / "shop.jsonl", force=False)
    assert import_claim_set(other, tmp_path / "shop.jsonl").row.other_labels is None


def test_another_store_measures_a_judge_as_the_first_one_does(made: Path, other: Store) -> None:
    result = import_claim_set(other, made / "shop.jsonl")
    assert (result.is_new, result.new_conversations, result.merged.new) == (True, 4, 8)
    with Store.open(made / "one.db") as store:
        (sample,) = store.samples.list_samples("ann")
    assert (result.row.drawn_at, result.row.other_labels) == (sample.created_at, 0)
    assert not result.row.has_new_labels
    assert other.samples.list_samples("ann") == ()
    second = judged_all(other, "abcd", SECOND)
    found = compute_run_agreement(other, second)
    assert found.report.claims.design.claim_set == result.row.id
    with Store.open(made / "one.db") as store:
        expected = compute_run_agreement(store, judged_all(store, "abcd", SECOND))
    mine, its = found.report.claims, expected.report.claims
    assert mine.coverage.audit == its.coverage.audit > 0
    assert mine.rate == its.rate
    assert mine.agreement == its.agreement
    assert mine.strict == its.strict
    again = import_claim_set(other, made / "shop.jsonl")
    assert (again.row, again.is_new) == (result.row, False)
    assert (again.new_conversations, again.merged.new, again.merged.known) == (0, 0, 8)
    assert other.list_damage() == []


def test_a_set_that_went_through_a_store_gives_the_same_file(
    made: Path, other: Store, tmp_path: Path
) -> None:
    result = import_claim_set(other, made / "shop.jsonl")
    export_claim_set(other, result.row.id, tmp_path / "again.jsonl", force=False)
    again = (tmp_path / "again.jsonl").read_text(encoding="utf-8").splitlines()
    first = (made / "shop.jsonl").read_text(encoding="utf-8").splitlines()
    # The run that labels name is not in the other store, so that their digest is another one.
    left_out = ('{"type":"run"', '{"type":"act"', '{"type":"faithtui-labels"')
    assert [line for line in again if not line.startswith(left_out)] == [
        line for line in first if not line.startswith(left_out)
    ]
    with pytest.raises(ExportError, match="is there already"):
        export_claim_set(other, result.row.id, tmp_path / "again.jsonl", force=False)


def test_a_set_without_labels_does_not_stand_for_a_run(made: Path, other: Store) -> None:
    shop = import_claim_set(other, made / "shop.jsonl").row
    run = judged_all(other, "abcd", SECOND)
    said = {each.claim for each in other.labelled_units.read_report_units(run).claims if each.human}
    frame = other.samples.read_frame(run, ())
    plans = [SamplePlan(SamplingDesign.SIMPLE, seed, 1) for seed in range(99)]
    plan = next(
        each
        for each in plans
        if not said.intersection(one.unit.claim for one in make_sample_draw(frame, each).claims)
    )
    row = sampled(other, run, plan)
    other.claim_sets.make_claim_set_version_if_changed("later", row.id, "bo")
    assert compute_run_agreement(other, run).report.claims.design.claim_set == shop.id


def change(lines: list[dict[str, Any]], kind: str, **fields: object) -> None:
    """Change the first line of a kind."""
    next(each for each in lines if each["type"] == kind).update(fields)


def drop(lines: list[dict[str, Any]], kind: str) -> None:
    """Take the last line of a kind out."""
    place = max(place for place, each in enumerate(lines) if each["type"] == kind)
    del lines[place]


OLD = "2020-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda lines: lines.clear(), "is empty"),
        (lambda lines: change(lines, "faithtui-claim-set", type="x"), "is no claim set"),
        (lambda lines: change(lines, "faithtui-claim-set", version=2), "update faithtui"),
        (lambda lines: change(lines, "faithtui-claim-set", name="../x"), "is no name"),
        (lambda lines: change(lines, "faithtui-claim-set", name="[b]x"), "is no name"),
        (lambda lines: change(lines, "faithtui-claim-set", seed=True), "seed"),
        (lambda lines: change(lines, "faithtui-claim-set", design="magic"), "design"),
        (lambda lines: change(lines, "faithtui-claim-set", drawn_at="soon"), "drawn_at"),
        (lambda lines: change(lines, "faithtui-claim-set", other_labels=-1), "other_labels"),
        (lambda lines: change(lines, "faithtui-claim-set", drawn_at=OLD), "drawing_digest"),
        (lambda lines: change(lines, "faithtui-claim-set", other_labels=9), "drawing_digest"),
        (lambda lines: change(lines, "faithtui-claim-set", sample="x"), "drawing_digest"),
        (lambda lines: change(lines, "faithtui-claim-set", metric="other"), "was changed"),
        (lambda lines: change(lines, "faithtui-claim-set", strata=[]), "not in its design"),
        (lambda lines: drop(lines, "set-claim"), "was cut off"),
        (lambda lines: drop(lines, "transcript"), "was cut off"),
        (lambda lines: drop(lines, "act"), "was cut off"),
        (lambda lines: drop(lines, "claim"), "the number of a claim"),
        (lambda lines: change(lines, "set-claim", stratum="judge maybe"), "not in its design"),
        (lambda lines: change(lines, "set-claim", stratum="judge no"), "was changed"),
        (lambda lines: change(lines, "set-claim", claim=1), "twice"),
        (lambda lines: change(lines, "set-claim", claim=10**9), "the number of a claim"),
        (lambda lines: change(lines, "set-claim", place=-1), "place"),
        (lambda lines: change(lines, "transcript", conversation=[]), "expected a conversation"),
        (lambda lines: change(lines, "transcript", source=7), "source"),
        (lambda lines: change(lines, "transcript", source="x"), "the conversations of all its"),
        (lambda lines: change(lines, "act", action="sworn"), "action"),
        (lambda lines: change(lines, "act", saw_judge=True), "not those of its `digest`"),
        (lambda lines: lines.append({"type": "surprise"}), "expected conversation, claim"),
    ],
)
def test_a_file_that_is_not_whole_is_refused_and_nothing_written(
    lines: list[dict[str, Any]],
    other: Store,
    tmp_path: Path,
    damage: Callable[[list[dict[str, Any]]], None],
    message: str,
) -> None:
    damage(lines)
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        import_claim_set(other, path)
    assert other.conversations.list_sources() == ()
    assert other.claim_sets.list_versions() == ()


@pytest.mark.parametrize(
    ("forged", "message"),
    [
        ({"design": "simple"}, "its strata are not those of its claims"),
        ({"design": "conversations"}, "its strata are not those of its claims"),
        ({"population": 0}, "its strata are not those of its claims"),
        ({"population": 10**6}, "its strata are not those of its claims"),
        ({"drawn": 1}, "its strata are not those of its claims"),
        ({"metric": "sorcery"}, "there is no metric `sorcery`"),
    ],
)
def test_a_header_that_does_not_fit_is_refused_whatever_its_digest(
    lines: list[dict[str, Any]],
    other: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    forged: dict[str, Any],
    message: str,
) -> None:
    header = lines[0]
    monkeypatch.setattr(claim_sets, "hash_set_version", lambda *_: header["digest"])
    change(lines, header["type"], **{key: forged[key] for key in forged if key in header})
    header["strata"][0].update({key: forged[key] for key in forged if key not in header})
    path = tmp_path / "forged.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        import_claim_set(other, path)
    assert other.claim_sets.list_versions() == ()


def test_conversations_with_other_turns_and_sets_of_the_same_name_are_refused(
    made: Path, other: Store, lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    other.conversations.import_batch([make_conversation("a", say="Another answer")])
    with pytest.raises(StoreError, match="tests/a is in this store with other turns"):
        import_claim_set(other, made / "shop.jsonl")
    assert other.claim_sets.list_versions() == ()
    assert len(other.conversations.list_ids()) == 1, "nothing of it came over"
    with Store.open(tmp_path / "third.db") as third:
        run = judged_all(third, "abcd")
        row = sampled(third, run, SamplePlan(SamplingDesign.SIMPLE, 1, 3))
        third.claim_sets.make_claim_set_version_if_changed("shop", row.id, "cy")
        with pytest.raises(StoreError, match="another claim set shop version 1 is in this store"):
            import_claim_set(third, made / "shop.jsonl")
        assert len(third.labelled_units.read_report_units(run).claims) == 20
    change(lines, "claim", text="A text that is not the one of the digest.")
    change(lines, "faithtui-labels", digest=None)
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    with (
        Store.open(tmp_path / "fourth.db") as fourth,
        pytest.raises(StoreError, match="does not fit its conversation"),
    ):
        import_claim_set(fourth, path)


def test_images_and_hostile_texts_come_over_as_they_are(other: Store, tmp_path: Path) -> None:
    told = json.loads(HOSTILE.read_text(encoding="utf-8"))["strings"]
    texts = [replace_unstorable_characters(each["text"]) for each in told if each["text"]][:40]
    turns = [Turn("user", "Which?")]
    for text in texts:
        turns += [Turn("assistant", text, (Document(text, text),)), Turn("user", text)]
    hostile = Conversation("nasty", "n", tuple(turns), "nasty/n", {"note": texts[0]})
    with Store.open(tmp_path / "one.db") as store:
        store.conversations.import_batch([hostile, album()], DATA)
        run = _judge(store)
        row = sampled(store, run, SamplePlan(SamplingDesign.CONVERSATIONS, 1, 2))
        found, _ = store.claim_sets.make_claim_set_version_if_changed("nasty", row.id, "ann")
        export_claim_set(store, found.id, tmp_path / "n.jsonl", force=False)
        expected = [store.conversations.get(each) for each in store.conversations.list_ids()]
    import_claim_set(other, tmp_path / "n.jsonl")
    there = [other.conversations.get(each) for each in other.conversations.list_ids()]
    assert there == expected
    for image, data in DATA.items():
        assert other.images.read(image).data == data


def _judge(store: Store) -> RunId:
    from tests.store.building import SPEC, assess, windows_of

    numbers = store.conversations.list_ids()
    run = store.runs.create(SPEC, numbers)
    for number, item in zip(numbers, store.runs.list_item_ids(run), strict=True):
        for window in windows_of(store.conversations.get(number)):
            store.runs.save_window(item, assess(window, {1: ("yes",)}))
    return run
