"""What the peers make of an oracle case, worked out without faithtui."""

from collections.abc import Mapping
from typing import Any

from tests.parity import reference_answers, reference_deepeval
from tests.parity.reference_judge import PeerError

Json = Any

PEERS = {
    "turn_faithfulness": reference_deepeval.measured,
    "turn_contextual_relevancy": reference_deepeval.measured,
    "ragas_faithfulness": reference_answers.ragas,
    "llamaindex_faithfulness": reference_answers.llamaindex,
    "deepevalex_faithfulness": reference_answers.deepevalex,
}


def outcome(case: Mapping[str, Json]) -> dict[str, Json]:
    """Work out a case: what a recording says, as far as it can be compared."""
    try:
        return PEERS[case["metric"]](case)
    except PeerError as error:
        failed = {"error": {"kind": error.kind}, "score": None, "success": None}
        return {**failed, "n_windows": 0, "windows": []} if "turns" in case["input"] else failed
