"""A package that adds judges, as it would be installed: modules and a list of entry points."""

import textwrap
from pathlib import Path

MODULE = '''
from faithtui.errors import ConfigError, JudgeRateLimited
from faithtui.judges.base import StopReason, Usage
from faithtui.judges.plugin_judge import CustomAnswer

closed = []

class Parrot:
    """Answers as its name says."""

    def __init__(self, rest, base_url):
        self.rest = rest
        self.fingerprint = f"parrot-2 {rest}"
        self.takes_images = rest == "sighted"

    async def answer(self, question):
        match self.rest:
            case "plain":
                return f"{question.system}|{question.prompt}|{question.max_tokens}"
            case "full":
                return CustomAnswer("cut\\udc00", StopReason.LENGTH, Usage(7, 3), "parrot-2b")
            case "sighted":
                return str([image.mark for image in question.images])
            case "busy":
                raise JudgeRateLimited("too fast", retry_after_s=2.0)
            case "broken":
                raise KeyError("nest")
            case "impatient":
                raise TimeoutError
            case "asleep":
                import asyncio
                await asyncio.sleep(60)
            case _:
                return 7

    async def aclose(self):
        closed.append(self.rest)

class Nameless:
    fingerprint = ""
    async def answer(self, question):
        return ""

class Deaf:
    fingerprint = "deaf"
    def answer(self, question):
        return ""

def failing(rest, base_url):
    if rest == "told":
        raise ConfigError("acme needs a licence: set ACME_LICENCE")
    raise RuntimeError("no licence")
'''

POINTS = """
    [faithtui.judges]
    parrot = acme_judge:Parrot
    nameless = acme_judge:nameless
    deaf = acme_judge:deaf
    failing = acme_judge:failing
    absent = acme_judge:gone
    unbuilt = acme_missing:Judge
"""


def install_package(folder: Path, *, package: str = "acme", points: str = POINTS) -> None:
    """Put the package where imports find it once the folder is on the path."""
    folder.mkdir(exist_ok=True)
    added = "nameless = lambda rest, base_url: Nameless()\ndeaf = lambda rest, base_url: Deaf()\n"
    (folder / "acme_judge.py").write_text(MODULE + added)
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(textwrap.dedent(points))
