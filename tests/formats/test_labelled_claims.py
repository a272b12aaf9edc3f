from pathlib import Path

import pytest

from faithtui.domain.probes.labelled_claims import LabelledClaim
from faithtui.errors import InputError
from faithtui.formats.labelled_claims import read_labelled_claims


def test_each_line_is_a_claim_with_its_passages_and_label(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(
        '{"claim": "A.", "context": "A. B.", "label": "supported", "family": "news"}\n\n'
        '{"claim": "B.", "context": ["A.", "C."], "label": "idk", "source": "chat", "other": 1}\n'
        '{"claim": "C.", "context": "", "label": "No"}\n'
    )
    assert read_labelled_claims(file) == (
        LabelledClaim("A.", ("A. B.",), True, None, "news"),
        LabelledClaim("B.", ("A.", "C."), False, "idk", "chat"),
        LabelledClaim("C.", ("",), False, "no", "all"),
    )


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('{"claim": "", "context": "x", "label": "yes"}', "line 1: claim: expected a text"),
        ('{"claim": "x", "context": 3, "label": "yes"}', "line 1: context: expected a text, or"),
        ('{"claim": "x", "context": [3], "label": "yes"}', "line 1: context: expected a text, or"),
        ('{"claim": "x", "context": "x"}', "line 1: label: expected one of: supported, yes"),
        ('{"claim": "x", "context": "x", "label": "maybe"}', "line 1: label: expected one of"),
        ('{"claim": "x", "context": "x", "label": "yes", "family": 3}', "line 1: family: expected"),
        ("{", "line 1"),
        ("", "holds no labelled claim"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(InputError, match=complaint):
        read_labelled_claims(file)
    with pytest.raises(InputError):
        read_labelled_claims(tmp_path / "absent.jsonl")
