"""How fast the embedded judge is, and how little the engine adds to a slow one."""

import asyncio
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

from faithtui.engine.runs import runner
from faithtui.judges.embedded.embedded_judge import judge
from tests.benchmarks.measuring import best_of, ms, ratio, seconds, serving, table
from tests.engine.building import conversation, planned, store_with

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "fixtures" / "demo" / "mtrag_conversations.jsonl"
WORD = re.compile(r"\w+")


def pairs() -> list[tuple[str, str]]:
    """Take the first sentence of each answer and all its passages."""
    found = []
    for line in DEMO.read_text(encoding="utf-8").splitlines():
        for turn in json.loads(line)["turns"]:
            passages = turn.get("retrieval_context") or ()
            if turn["role"] == "assistant" and passages:
                found.append((turn["content"].split(". ")[0], "\n\n".join(passages)))
    return found


def overlap(claim: str, context: str) -> float:
    """Give the share of a claim's words that the context has."""
    words = set(WORD.findall(claim.lower()))
    return len(words & set(WORD.findall(context.lower()))) / max(1, len(words))


def test_the_embedded_judge_against_overlap_of_words() -> None:
    cases = pairs()

    def all_by(fn: Callable[[str, str], object]) -> Callable[[], float]:
        return lambda: seconds(lambda: [fn(claim, context) for claim, context in cases])

    found = best_of(5, overlap=all_by(overlap), judge=all_by(judge))
    letters = sum(len(context) for _, context in cases) / len(cases)
    table(
        f"the embedded judge, a claim against {letters:,.0f} characters, read anew each time",
        ("", "best a claim", "to overlap"),
        [(name, ms(v / len(cases)), ratio(v, found["overlap"])) for name, v in found.items()],
    )
    assert found["judge"] < 300 * found["overlap"]


def test_the_engine_against_the_time_that_answers_take(tmp_path: Path) -> None:
    rows: list[tuple[str, ...]] = []
    for concurrency, latency_s in ((16, 0.1), (16, 0.4), (64, 0.4)):
        chats = [conversation(f"c{number}", 3) for number in range(4 * concurrency)]
        with (
            store_with(tmp_path / f"{len(rows)}.db", chats) as store,
            serving(latency_s) as url,
        ):
            run = planned(store, judge="openai:w", base_url=url, concurrency=concurrency)
            began = time.perf_counter()
            asyncio.run(runner.execute_run(store, run, lambda event: None))
            took = time.perf_counter() - began
            calls = store.runs.read_run(run).calls
        alone = calls * latency_s / concurrency
        rows.append(
            (
                str(concurrency),
                str(calls),
                ms(latency_s),
                f"{alone:.1f} s",
                f"{took:.1f} s",
                ratio(took, alone),
                f"{calls / took:.0f}",
            )
        )
        assert took < 3 * alone
    table(
        "the engine around a slow judge",
        ("at once", "calls", "latency", "answers alone", "took", "to alone", "calls/s"),
        rows,
    )
