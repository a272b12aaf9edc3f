"""Options of commands that ask a judge, declared once: what is asked, how, and for how much."""

from pathlib import Path
from typing import Annotated

import typer

JudgesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="JUDGE",
        help="The judge: offline, openai:MODEL, anthropic:MODEL, ollama:MODEL, replay:FILE "
        "and others, see `faithtui judge list`; may be repeated. [offline, or as set]",
    ),
]
TemperatureOption = Annotated[
    str | None,
    typer.Option(
        metavar="T",
        help="Sampling temperature of the judge, 0 to 2; `unset` sends none. [0]",
    ),
]
TopPOption = Annotated[
    str | None,
    typer.Option(
        metavar="P",
        help="Sample from the most likely tokens whose probabilities add up to P, such as 0.9.",
    ),
]
SeedOption = Annotated[str | None, typer.Option(metavar="N", help="Seed of the judge's sampling.")]
ReasoningEffortOption = Annotated[
    str | None,
    typer.Option(metavar="WORD", help="Reasoning effort of the judge, such as low or high."),
]
MaxTokensOption = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help="Maximum number of tokens of one answer, including reasoning. [as many as the "
        "question needs]",
    ),
]
ExtraBodyOption = Annotated[
    str | None,
    typer.Option(metavar="JSON", help='Fields to add to each request, such as {"top_k": 1}.'),
]
ExtraHeaderOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="A header of each request; the value $NAME is read from the environment and "
        "never stored; may be repeated.",
    ),
]
StrategyOption = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="`evidence` asks each question once, `window` asks per window as the peer does.",
    ),
]
MetricOptionsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        help="An option of the metrics that have it, such as window_size=5, or of one, such as "
        "ragas-faithfulness.batch_size=4; may be repeated.",
    ),
]
AsPeerOption = Annotated[
    bool,
    typer.Option("--as-peer", help="Score exactly as the peer does, including its known faults."),
]
PromptsOption = Annotated[
    Path | None, typer.Option(help="Folder with your own prompt texts.", metavar="DIR")
]
ConcurrencyOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="Maximum number of questions in flight. [8, or as set]"),
]
BudgetUsdOption = Annotated[
    float | None,
    typer.Option(metavar="USD", help="Stop before a run costs more than this, in US dollars."),
]
BudgetTokensOption = Annotated[
    int | None, typer.Option(metavar="N", help="Stop before a run uses more than N tokens.")
]
