"""Opening the form for new runs: what it needs is read before, and what it has done for it."""

import asyncio
import json
import shlex
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from faithtui.domain.text.visible_text import make_visible_line
from faithtui.engine.runs.request import RunRequest
from faithtui.tui.background_loop import run_in_own_loop
from faithtui.tui.session import Session

if TYPE_CHECKING:
    from faithtui.domain.judging.judge_profile import JudgeProfile
    from faithtui.engine.judge_check import JudgeCheckResult
    from faithtui.engine.judge_choices import JudgeChoice, LocalServer
    from faithtui.engine.runs.run_environment import RunEnvironment
    from faithtui.store.store import Store
    from faithtui.tui.app import FaithApp
    from faithtui.tui.new_run.new_run_screen import OrderPreview


class FormOpener:
    """Opens the form for new runs.

    Args:
        app: The app.
    """

    def __init__(self, app: "FaithApp") -> None:
        self.app = app

    def read_and_open_form(self) -> None:
        """Read what the form needs, then show it; keys wait for it."""
        worker = self.app.start_worker(
            self._load_choices_and_open_form, group="form", exclusive=True
        )
        self.app.input_queue.hold_keys_for(worker, can_give_up=True)

    async def _load_choices_and_open_form(self) -> None:
        session = self.app.session
        sources = await asyncio.to_thread(session.store.conversations.list_sources)
        if not sources:
            named = session.find_named_store()
            option = "" if named is None else f" --store {shlex.quote(str(named))}"
            self.app.notify(
                f"There are no conversations yet: faithtui{option} import FILE.jsonl",
                severity="warning",
                markup=False,
            )
            return
        remembered = await asyncio.to_thread(_read_last_options, session.store)
        judges = await asyncio.to_thread(_list_judges, session, (), with_keyring=False)
        from faithtui.metrics import registry
        from faithtui.tui.new_run.new_run_screen import NewRunActions, NewRunScreen
        from faithtui.tui.new_run.run_fields import RunFields

        actions = NewRunActions(
            start=self.app.background_runs.plan_all_and_begin_first,
            refuse_missing_key=partial(_refuse_missing_key, session),
            preview=partial(_preview_runs, session),
            find_judges=partial(_discover_judges, session),
            test_judge=partial(_test_judge, session),
        )
        specs = [each.spec for each in registry.METRICS]
        fields = RunFields(
            specs,
            judges,
            sources,
            session.defaults,
            remembered,
            session.keys,
            partial(_choose_profile, session),
        )
        form = NewRunScreen(fields, actions, session.keys)
        self.app.input_queue.open_window(form)


def _choose_profile(session: Session, judge: str, typed: Mapping[str, object]) -> "JudgeProfile":
    """Choose the parameters of a judge.

    Raises:
        ConfigError: A value cannot be, or was typed for a judge that takes none.
    """
    from faithtui.engine.runs.judge_profiles import choose_profile

    settings = {} if session.configured is None else session.configured.settings.judges
    return choose_profile(judge, settings, session.environ, typed)


def _read_last_options(store: "Store") -> dict[str, dict[str, str]]:
    """Read the own options of each metric's newest run, so that runs stay comparable.

    Returns:
        Options by metric, as text, in the order in which the metrics were last used, newest first.
        What does not fit on a line of a form is left out.
    """
    from faithtui.metrics import registry

    known = {each.spec.key for each in registry.METRICS}
    found: dict[str, dict[str, str]] = {}
    for row in sorted(store.runs.list_runs(), key=lambda each: -each.id):
        key = row.spec.metric
        if key in known and key not in found:
            changed = registry.drop_default_options(key, row.spec.options)
            texts = {
                name: value if isinstance(value, str) else json.dumps(value)
                for name, value in changed.items()
            }
            found[key] = {
                name: text for name, text in texts.items() if make_visible_line(text) == text
            }
    return found


async def _refuse_missing_key(session: Session, requests: Sequence[RunRequest]) -> None:
    """Refuse runs whose judge needs a key that there is not; a keyring may take a while.

    Raises:
        ConfigError: A key is missing.
    """
    from faithtui.engine.runs.run_planner import refuse_missing_key

    for judge, base_url in dict.fromkeys((each.judge, each.base_url) for each in requests):
        await asyncio.to_thread(refuse_missing_key, judge, base_url, session.environ)


async def _preview_runs(session: Session, requests: Sequence[RunRequest]) -> "OrderPreview":
    """Say what runs would judge, ask and cost; nothing is planned.

    Raises:
        FaithtuiError: An order cannot be carried out.
    """
    return await asyncio.to_thread(_preview_requests, session, requests)


def _preview_requests(session: Session, requests: Sequence[RunRequest]) -> "OrderPreview":
    # Imported here, on a thread: it brings what judges are made of.
    from faithtui.engine.preview.estimates import explain_why_to_confirm_cost, list_preview_fields
    from faithtui.engine.preview.run_preview import preview_requests
    from faithtui.tui.new_run.new_run_screen import OrderPreview

    found = preview_requests(session.store, requests, environment=session.get_run_environment())
    return OrderPreview(
        list_preview_fields(found), explain_why_to_confirm_cost(found, requests[0].budget_nusd)
    )


async def _discover_judges(session: Session) -> "Sequence[JudgeChoice]":
    """Look for judges, in the keyring and on this machine too."""
    from faithtui.engine.judge_choices import find_local_servers

    servers: Sequence[LocalServer] = ()
    if session.finds_local_servers:
        servers = await run_in_own_loop(partial(find_local_servers, session.environ))
    return await asyncio.to_thread(_list_judges, session, servers, with_keyring=True)


def _list_judges(
    session: Session, servers: "Sequence[LocalServer]", *, with_keyring: bool
) -> "Sequence[JudgeChoice]":
    # Imported here, on a thread, with what the form imports when it is read.
    from faithtui.engine.judge_choices import list_judge_choices
    from faithtui.engine.runs import run_planner  # noqa: F401 - the form needs it at once

    defaults = session.defaults
    return list_judge_choices(
        session.store.runs.list_runs(),
        (defaults.judge, defaults.base_url),
        session.get_run_environment().prices,
        session.environ,
        servers=servers,
        with_keyring=with_keyring,
    )


async def _test_judge(
    session: Session, judge: str, base_url: str | None, profile: "JudgeProfile"
) -> "JudgeCheckResult":
    """Ask a judge two small questions, beside the keys; cancelling ends it."""
    environment = await asyncio.to_thread(session.get_run_environment)
    settings = None if session.configured is None else session.configured.settings
    timeout_s = profile.timeout_s or (None if settings is None else settings.timeout_s)
    make = partial(
        _make_judge_test_coroutine,
        judge,
        base_url,
        profile,
        environment,
        timeout_s,
        session.environ,
    )
    return await run_in_own_loop(make, can_cancel=True)


def _make_judge_test_coroutine(
    judge: str,
    base_url: str | None,
    profile: "JudgeProfile",
    environment: "RunEnvironment",
    timeout_s: float | None,
    environ: Mapping[str, str],
) -> "Coroutine[object, object, JudgeCheckResult]":
    from faithtui.engine.judge_check import try_judge_with_two_questions

    return try_judge_with_two_questions(
        judge,
        base_url,
        profile=profile,
        timeout_s=timeout_s,
        environ=environ,
        environment=environment,
    )
