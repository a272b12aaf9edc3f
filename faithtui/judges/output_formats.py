"""The ways to ask for JSON, as far as they do not depend on whose protocol carries them."""

import json
import re
from collections.abc import Sequence

from faithtui.errors import JudgeUnsupported
from faithtui.judges.base import JudgeRequest, OutputFormat
from faithtui.judges.reply_parser import remove_invalid_unicode

JSON_INSTRUCTION = (
    "Answer with one JSON object and nothing else: no fence and no words around it."
    " It must fit this JSON Schema:"
)
"""Stands between the prompt and the schema where nothing else binds the judge."""

TOOL_DESCRIPTION = "Give the answer to the question."


def choose_output_format(
    request: JudgeRequest, output_formats: Sequence[OutputFormat]
) -> OutputFormat | None:
    """Say how to ask: as the request wants it, else in the most binding way there is.

    Args:
        request: The question.
        output_formats: Ways there are, the most binding first.

    Returns:
        None for a question whose answer is plain text.

    Raises:
        JudgeUnsupported: The request wants a way there is not.
    """
    if request.schema is None:
        return None
    output_format = request.output_format or output_formats[0]
    if output_format not in output_formats:
        raise JudgeUnsupported(
            f"this provider's protocol has no way to ask by {output_format}; "
            f"it has {', '.join(output_formats)}"
        )
    return output_format


def make_schema_name(request: JudgeRequest) -> str:
    """Name the schema or the tool. Providers want 1 to 64 letters, digits, _ and -."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", request.step)[:64] or "reply"


def append_schema_to_prompt(request: JudgeRequest, output_format: OutputFormat | None) -> str:
    """Write the prompt as it is sent.

    The schema stands behind everything else, so that what precedes it is the same in every way of
    asking and a provider's prompt cache serves them all.
    """
    prompt = remove_invalid_unicode(request.prompt)
    if output_format not in (OutputFormat.JSON, OutputFormat.TEXT):
        return prompt
    schema = json.dumps(request.schema, ensure_ascii=False, separators=(",", ":"))
    return f"{prompt}\n\n{JSON_INSTRUCTION}\n{schema}"
