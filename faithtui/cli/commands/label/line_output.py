"""What line mode says: for an annotator line by line, for a program one JSON value per event."""

from faithtui.cli.output import print_json
from faithtui.domain.text.visible_text import make_visible


class LineOutput:
    """Where things are said: lines for an annotator, or one JSON value per event for a program."""

    def __init__(self, *, as_json: bool, prompt_ends_line: bool = False) -> None:
        self.as_json = as_json
        self._end = "\n" if prompt_ends_line else " "

    def print_event(self, event: str, *lines: str, **values: object) -> None:
        """Print what happened: lines for an annotator, or one JSON value for a program."""
        if self.as_json:
            print_json({"event": event, **values})
        else:
            for line in lines:
                print(make_visible(line), flush=True)

    def print_prompt(self, words: str) -> None:
        """Ask for a line."""
        if not self.as_json:
            print(f"{words}:", end=self._end, flush=True)
