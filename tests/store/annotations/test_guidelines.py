"""Versions of the guideline, for every metric or for one, and the defaults of metrics."""

import pytest

from faithtui.domain.labels.default_guidelines import DEFAULT_GUIDELINES
from faithtui.domain.labels.label_events import Action
from faithtui.metrics.registry import METRICS
from faithtui.store.annotations.guidelines import find_default_guideline
from faithtui.store.store import Store
from faithtui.tui.review.lines.verdict_lines import list_verdict_choices
from tests.store.building import judged, make_conversation

FAITH, RELEVANCY = "turn-faithfulness", "turn-contextual-relevancy"


@pytest.mark.parametrize("entry", METRICS, ids=lambda entry: entry.spec.key)
def test_every_metric_has_a_default_that_says_what_each_key_means(entry) -> None:  # type: ignore[no-untyped-def]  # of a table
    lines = DEFAULT_GUIDELINES[entry.spec.key].splitlines()
    keys = [key for key, _, _ in list_verdict_choices(entry.spec)]
    assert [each[:3] for each in lines[: len(keys)]] == [f"{key}  " for key in keys]
    for line, label in zip(lines, entry.spec.labels.labels, strict=False):
        assert line[3:].startswith(f"{label.meaning}:")
    assert lines[len(keys)] == ""


def test_the_default_of_a_metric_is_in_force_until_a_version_is_set(store: Store) -> None:
    guidelines = store.guidelines
    default = guidelines.find_version_or_default(FAITH)
    assert default == find_default_guideline(FAITH)
    assert default is not None
    assert (default.number, default.is_default, default.metric) == (0, True, FAITH)
    assert guidelines.find_version_in_force() is None
    assert guidelines.find_version_or_default("no-metric") is None
    own = guidelines.add_version("Fees count.", "ann", FAITH)
    assert (own.number, own.metric, own.is_default) == (1, FAITH, False)
    assert guidelines.find_version_or_default(FAITH) == own
    assert guidelines.find_version_or_default(RELEVANCY) == find_default_guideline(RELEVANCY)
    for_all = guidelines.add_version("Fees never count.", "ann")
    assert (for_all.number, for_all.metric) == (2, None)
    assert (
        guidelines.find_version_or_default(FAITH)
        == guidelines.find_version_or_default(RELEVANCY)
        == for_all
    )
    assert guidelines.list_versions(RELEVANCY) == (for_all,)
    assert guidelines.list_versions(FAITH) == guidelines.list_versions() == (own, for_all)


def test_the_same_text_for_another_metric_is_another_version(store: Store) -> None:
    first = store.guidelines.add_version("Fees count.", "ann", FAITH)
    assert store.guidelines.add_version("Fees count.", "bo", FAITH) == first
    assert store.guidelines.add_version("Fees count.", "bo").number == 2
    assert store.guidelines.add_version("Fees count.", "bo", FAITH).number == 3


def test_a_label_names_the_default_and_the_store_keeps_its_text(store: Store) -> None:
    run, _ = judged(store, make_conversation(), {1: ("yes", "no")})
    claims = store.runs.read_conversation_for_review(store.runs.list_item_ids(run)[0], "ann").claims
    for claim in claims:
        store.label_log.append_label_event(
            claim.id, "ann", Action.BLIND, "yes", run=run, judge_verdict=None, saw_judge=False
        )
    default = find_default_guideline(FAITH)
    assert default is not None
    bundle = store.bundles.make_label_bundle()
    assert {act.guideline for act in bundle.acts} == {default.digest}
    (kept,) = bundle.guidelines
    assert (kept.text, kept.metric, kept.built_in) == (default.text, FAITH, True)
    assert store.guidelines.list_versions() == (), "nobody set it"
    assert default.digest in store.guidelines.list_default_digests()
    store.guidelines.add_version("Fees count.", "ann", RELEVANCY)
    store.label_log.append_label_event(
        claims[0].id, "ann", Action.BLIND, "no", run=run, judge_verdict=None, saw_judge=False
    )
    assert store.bundles.make_label_bundle().acts[-1].guideline == default.digest
