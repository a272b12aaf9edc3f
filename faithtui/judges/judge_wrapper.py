"""What a judge around another judge passes on as it is."""

from faithtui.judges.base import Judge, OutputFormat


class JudgeWrapper:
    """A judge that answers as another one; who extends it says what `send` does."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge

    @property
    def ref(self) -> str:
        """As the judge's."""
        return self._judge.ref

    @property
    def fingerprint(self) -> str:
        """As the judge's."""
        return self._judge.fingerprint

    @property
    def takes_images(self) -> bool:
        """As the judge."""
        return self._judge.takes_images

    @property
    def context_window(self) -> int | None:
        """As the judge's."""
        return self._judge.context_window

    @property
    def output_formats(self) -> tuple[OutputFormat, ...]:
        """As the judge's."""
        return self._judge.output_formats

    @property
    def account(self) -> str:
        """As the judge's: it is the same who counts."""
        return self._judge.account

    async def aclose(self) -> None:
        """Close the judge. Safe to call twice."""
        await self._judge.aclose()
