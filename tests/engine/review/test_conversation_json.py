"""A conversation as JSON holds what annotators marked."""

import json
from pathlib import Path

from faithtui.domain.labels.label_events import Action, LabelMark, MarkedPassage
from faithtui.engine.review.conversation_json import conversation_json_lines
from faithtui.store.store import Store
from tests.store.building import FACTS, judged, make_conversation, spec_of


def test_marked_evidence_and_missed_claims_are_in_the_json(tmp_path: Path) -> None:
    with Store.open(tmp_path / "s.db") as store:
        spec = spec_of("turn-faithfulness", FACTS)
        run, item = judged(store, make_conversation(), {1: ("yes",), 3: ()}, spec=spec)
        view = store.runs.read_conversation_for_review(item, "ann")
        passage = next(each for turn in view.turns for each in turn.documents or ())

        def record(claim: int, action: Action, **more: object) -> None:
            store.label_log.append_label_event(
                claim,  # type: ignore[arg-type]  # an id
                "ann",
                action,
                run=run,
                judge_verdict=None,
                saw_judge=False,
                **more,  # type: ignore[arg-type]  # what the act has
            )

        mark = MarkedPassage(passage.hash, 0, 4)
        record(view.claims[0].id, Action.EVIDENCE, evidence=[mark])
        missed = store.missed_claims.find_or_add_missed_claim(item, 1, "It rains.")
        record(missed, Action.MARKED, mark=LabelMark.MISSED)
        answer = store.missed_claims.find_or_add_answer_claim(item, 1)
        record(answer, Action.MARKED, mark=LabelMark.COMPLETE)
        (line,) = conversation_json_lines(store, [item], "ann")
    told = json.loads(line)
    assert told["claims"][0]["people"][0]["evidence"] == [
        {"document": 1, "span": [0, 4], "text": "Fact"}
    ]
    assert told["missed_claims"] == [
        {"turn": 1, "text": "It rains.", "span": None, "people": ["ann"]}
    ]
    assert told["complete_answers"] == [{"turn": 1, "people": ["ann"]}]
