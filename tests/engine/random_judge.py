"""A judge that knows the form of every reply and nothing else: a model of random weights."""

import json
import random
from collections.abc import Callable
from typing import Any, Final

from faithtui.judges.base import JudgeReply, JudgeRequest, LocalJudge, Usage

_PIECES: Final = (
    "qu zor ith lep mun dra vex pol ash kri wen tob ulf ner gis hap jol fim rux bod",
    "ßä жо 漢 ن é 7 42 % _ # :: .. -- \\ / <| |> ",
)


def nonsense(chance: random.Random, pieces: int) -> str:
    """String pieces of words together, as a model does that knows no word."""
    letters, others = (text.split() for text in _PIECES)
    drawn = (
        chance.choice(letters if chance.random() < 0.8 else others) + chance.choice(["", " "])
        for _ in range(pieces)
    )
    return "".join(drawn).strip()


def filled(
    schema: dict[str, Any],
    chance: random.Random,
    text: Callable[[random.Random], str] = lambda chance: nonsense(chance, chance.randint(2, 30)),
) -> object:
    """Fill a JSON schema with whatever fits, as a grammar makes a model do."""
    if "enum" in schema:
        return chance.choice(schema["enum"])
    match schema["type"]:
        case "object":
            return {name: filled(each, chance, text) for name, each in schema["properties"].items()}
        case "array":
            return [filled(schema["items"], chance, text) for _ in range(chance.randint(1, 3))]
        case "integer":
            return chance.randint(0, 1)
        case _:
            return text(chance)


class RandomJudge(LocalJudge):
    """Answers every question in its form, with nonsense."""

    ref = "offline"
    takes_images = False
    context_window: int | None = None

    def __init__(self, seed: int = 1) -> None:
        from faithtui.judges.registry import make_judge_fingerprint

        self.fingerprint = make_judge_fingerprint("offline")
        self._chance = random.Random(seed)

    async def send(self, request: JudgeRequest) -> JudgeReply:
        schema: Any = request.schema
        if schema is None:
            return JudgeReply(nonsense(self._chance, 5), usage=Usage(7, 3))
        reply = json.dumps(filled(schema, self._chance, self.text_for(request)))
        return JudgeReply(reply, usage=Usage(7, 3), structured=True)

    def text_for(self, request: JudgeRequest) -> Callable[[random.Random], str]:
        """Give what writes the texts of a reply."""
        return lambda chance: nonsense(chance, chance.randint(2, 30))

    async def aclose(self) -> None:
        pass


class CopyingJudge(RandomJudge):
    """Answers every question in its form, with lines of the question and the example of a reply."""

    def text_for(self, request: JudgeRequest) -> Callable[[random.Random], str]:
        instructions = request.prompt.partition("\n\n")[0].splitlines()
        return lambda chance: chance.choice([*instructions, "..."])
