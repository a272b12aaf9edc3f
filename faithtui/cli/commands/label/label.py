"""`faithtui label`: work through a queue of claims, in the app or line by line."""

import shlex
from dataclasses import replace
from typing import Annotated

import typer

from faithtui.cli.output_options import JsonOption
from faithtui.cli.shared_options import (
    JudgedRunArgument,
    StoreOption,
    make_reviewer_option,
    merge_common_options,
    override_configured_reviewer,
)
from faithtui.cli.stores import (
    choose_store_path,
    load_app_keymap,
    open_store,
    read_id_of_run_with_verdicts,
    show_app,
)
from faithtui.errors import ConfigError


def label(
    context: typer.Context,
    run: JudgedRunArgument = "last",
    plain: Annotated[
        bool,
        typer.Option(
            "--plain",
            help="Label line by line instead of in the app, for screen readers and pipes.",
        ),
    ] = False,
    sample: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="A sample's number, or what to draw: new, simple, stratified, conversations, "
            "spot-check or repeats. [the newest with claims left]",
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of claims in a new sample; with --sample conversations, of "
            "conversations. [100, or 10]",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="The same seed draws the same claims. [a new one]"),
    ] = None,
    stratify: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Draw equally many claims from each stratum, formed by verdict, turn, model, "
            "disagreement or flip; several with commas.",
        ),
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N,...",
            help="Number of claims to draw from each stratum, as `faithtui plan` prints them; "
            "strata that are not named give none. May be repeated.",
        ),
    ] = None,
    blind: Annotated[
        bool | None,
        typer.Option(
            "--blind/--shown", help="Hide the judge until a claim is answered. [blind, or as set]"
        ),
    ] = None,
    reviewer: Annotated[str | None, make_reviewer_option("Who labels.")] = None,
    order: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="`drawn`: the claims of a sample, in the order drawn; `text`: all claims of "
            "the run in the order of the text, which are not a random sample.",
        ),
    ] = "drawn",
    store: StoreOption = None,
    json: JsonOption = False,
) -> None:
    """Label claims one by one, in the app or line by line.

    With --plain or --json, print one claim and one prompt at a time on stdout, and read one
    answer per line from stdin; `?` lists the keys. Each label is stored before the next claim
    comes.

    Example: faithtui label last --sample new --plain
    """
    from faithtui.cli.commands.label.queue_choice import QueueRequest, find_or_draw_queue
    from faithtui.config import load_settings_with_origins

    options = merge_common_options(context, store, json, reviewer)
    configured = override_configured_reviewer(load_settings_with_origins(), options.reviewer)
    settings = configured.settings
    is_app = not (plain or options.json)
    by = f" --reviewer {shlex.quote(options.reviewer)}" if options.reviewer else ""
    request = QueueRequest(sample, size, seed, stratify, sizes or None, blind, order, by)
    with open_store(options.store, settings) as opened:
        queue = find_or_draw_queue(
            opened,
            read_id_of_run_with_verdicts(opened, run),
            request,
            settings,
            before_drawing=lambda: load_app_keymap(configured) if is_app else None,
        )
        if not is_app:
            from faithtui.cli.commands.label.line_session import run_line_session

            raise typer.Exit(
                run_line_session(opened, queue, settings.reviewer, as_json=options.json)
            )
        from faithtui.tui.samples.queue import find_next_open_claim

        if queue.sample is None:
            mine = opened.samples.read_frame_for_blind_repeats(queue.run, settings.reviewer)
            queue = replace(queue, answered={each.claim for each in mine}, place={})
        start = find_next_open_claim(opened, queue, settings.reviewer)
        if start is None:
            named = f"run {queue.run}" if queue.sample is None else f"sample {queue.sample}"
            left = f"{named} has nothing left for {settings.reviewer}"
            if queue.repeats:
                raise ConfigError(f"{left}: each claim of it was asked again")
            raise ConfigError(
                f"{left}: each claim of it has a label; `faithtui{by}` opens the app, where labels "
                "can be looked at and changed"
            )
    path = choose_store_path(options.store, settings)
    raise typer.Exit(
        show_app(
            path,
            configured,
            first_screen="review",
            run=queue.run,
            queue=queue,
            queue_start=start,
        )
    )
