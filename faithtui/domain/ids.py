"""Names for database keys, so that one cannot be passed where another belongs."""

from typing import NewType

ConversationId = NewType("ConversationId", int)
RunId = NewType("RunId", int)
ItemId = NewType("ItemId", int)
"""One conversation of one run."""
ClaimId = NewType("ClaimId", int)
TruthId = NewType("TruthId", int)
LabelId = NewType("LabelId", int)
SampleId = NewType("SampleId", int)
ClaimSetId = NewType("ClaimSetId", int)
"""One version of one claim set."""
