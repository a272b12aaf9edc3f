"""Questions of a shard in a file, and their answers from one, in the form of OpenAI's Batch API.

So a program that serves a model to files, on machines with GPUs and without a network, judges
shards wave by wave: what follows from the answers of one is asked in the next. The name of a
question is its key, so nothing needs to be remembered between waves but what is in the journal.
"""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any, TypeVar

from faithtui.engine.calls.answers_per_question import check_answers_left
from faithtui.engine.calls.call_costs import Pricing, TablePrices, fill_in_missing_token_counts
from faithtui.engine.calls.metric_driver import AnswerOutstanding
from faithtui.engine.calls.reply_cache import QuestionContext, make_stored_reply
from faithtui.engine.calls.send import CallCounts
from faithtui.engine.library.judge_session import AnyJudge, AskingOptions
from faithtui.engine.shards.journal import ShardJournal
from faithtui.engine.shards.measure_settings import MeasureSettings
from faithtui.engine.shards.own_output_folders import ANSWERS, QUESTIONS, write_wave_manifest
from faithtui.errors import (
    ConfigError,
    InputError,
    JudgeError,
    JudgeReplyInvalid,
    JudgeRequestRejected,
    JudgeUnusable,
)
from faithtui.judges.base import JudgeReply, JudgeRequest
from faithtui.judges.providers.batches import QuestionFile, open_question_file_format
from faithtui.judges.providers.prices import read_price_table
from faithtui.output_files import OWNER_ONLY, PART_OF_FILE, make_private_directory, move_into_place

T = TypeVar("T")


class WaveSender:
    """Answers from a file what is there, and writes what is not. A `QuestionSender`."""

    def __init__(
        self,
        form: QuestionFile,
        pricing: Pricing,
        journal: ShardJournal,
        tally: CallCounts,
        answers: Path,
        questions: IO[bytes],
    ) -> None:
        """Read which answers there are.

        Raises:
            InputError: The file of answers cannot be read, or a line of it is none.
        """
        self.questions = 0
        """How many were written, each once."""
        self._form = form
        self._pricing = pricing
        self._journal = journal
        self._tally = tally
        self._answers_path = answers
        self._answers = dict(_iter_answer_offsets(answers))
        self._file = questions
        self._written: set[str] = set()

    def stop_and_list_in_flight(self) -> frozenset[asyncio.Task[Any]]:
        """Nothing is ever in flight from here."""
        return frozenset()

    def count_unreadable_answers(self, key: str) -> int:
        """Count none: answers that were no replies are not kept."""
        return 0

    async def answer_question(
        self, asked: QuestionContext, request: JudgeRequest, understand: Callable[[JudgeReply], T]
    ) -> T:
        """Answer a question from the file of answers, or write it into that of questions.

        Raises:
            JudgeReplyInvalid: It was answered, and the answer cannot be used. It is kept.
            JudgeRequestRejected: It will never be answered.
            JudgeUnusable: No other question can succeed either.
            AnswerOutstanding: It is in the file of questions.
        """
        rejection = self._journal.find_rejection_reason(asked.key)
        if rejection is not None:
            raise JudgeRequestRejected(rejection)
        result = self._read_answer(asked, request)
        if isinstance(result, JudgeUnusable):
            raise result
        if isinstance(result, JudgeRequestRejected | JudgeReplyInvalid):
            # The next file of answers need not have it any more.
            self._journal.add_rejection(asked.key, str(result))
            raise JudgeRequestRejected(str(result))
        if not isinstance(result, JudgeReply):  # there is none, or what failed may pass
            self._write_question(asked, request)
            raise AnswerOutstanding
        asked.count.answers += 1
        usage, is_estimated = fill_in_missing_token_counts(request, result)
        kept = make_stored_reply(
            result,
            usage,
            estimated=is_estimated,
            cost_nusd=self._pricing.compute_cost_nusd(usage),
            prices=self._pricing.price_source,
        )
        self._tally.add_call(asked.step, kept)
        try:
            value = understand(result)
        except JudgeReplyInvalid:
            await self._journal.save_reply(asked, kept, usable=False)
            raise
        await self._journal.save_reply(asked, kept, usable=True)
        return value

    def _read_answer(
        self, asked: QuestionContext, request: JudgeRequest
    ) -> JudgeReply | JudgeError | None:
        place = self._answers.get(asked.key)
        if place is None:
            return None
        with self._answers_path.open("rb") as file:
            file.seek(place)
            line: Mapping[str, object] = json.loads(file.readline())
        return self._form.read_result(
            line, is_plain=request.schema is None, with_images=bool(request.images)
        )

    def _write_question(self, asked: QuestionContext, request: JudgeRequest) -> None:
        check_answers_left(asked.step, asked.count)
        if asked.key not in self._written:
            self._file.write(self._form.format_question(asked.key, request))
            self._written.add(asked.key)
            self.questions += 1


@asynccontextmanager
async def open_wave(
    folder: Path,
    shard: str,
    settings: MeasureSettings,
    judge: AnyJudge,
    asking: AskingOptions,
    journal: ShardJournal,
    tally: CallCounts,
) -> AsyncIterator[WaveSender]:
    """Open the files of a shard's wave; the file of questions appears whole, or goes.

    Args:
        folder: The folder of the wave.
        shard: Name of the shard.
        settings: What is measured and how.
        judge: Whose answers they are.
        asking: How it is asked.
        journal: Where answers are kept.
        tally: Where calls are counted.

    Raises:
        ConfigError: The judge does not speak OpenAI's protocol.
        InputError: The file of answers cannot be read.
        ExportError: The questions cannot be written.
    """
    if not isinstance(judge, str):
        raise ConfigError("questions in files need a judge that a name opens, such as vllm:MODEL")
    lines = open_question_file_format(
        judge, base_url=settings.base_url, redact=asking.redact, profile=settings.profile
    )
    pricing = TablePrices(read_price_table(settings.prices), judge, settings.base_url, batch=True)
    target = folder / QUESTIONS / f"{shard}.jsonl"
    make_private_directory(target.parent)
    make_private_directory(folder / ANSWERS)
    write_wave_manifest(folder)
    new = target.with_name(f"{PART_OF_FILE}{shard}")  # the lock on the shard keeps others off
    answers = folder / ANSWERS / f"{shard}.jsonl"
    async with lines as form:
        with os.fdopen(
            os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY), "wb"
        ) as file:
            sender = WaveSender(form, pricing, journal, tally, answers, file)
            yield sender
        if sender.questions:
            move_into_place(new, target, force=True)
        else:
            new.unlink()
            target.unlink(missing_ok=True)


def _iter_answer_offsets(path: Path) -> Iterator[tuple[str, int]]:
    """Give the key of every answer in a file with the place of its line; none without a file.

    Raises:
        InputError: A line is no answer.
    """
    if not path.exists():
        return
    place = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield json.loads(line)["custom_id"], place
                except (ValueError, KeyError, TypeError) as error:
                    raise InputError(
                        "is no answer in the form of OpenAI's Batch API: expected an object with "
                        "`custom_id` and `response`; a file that is still being written is read "
                        "when it is whole",
                        path=path,
                        line=number,
                    ) from error
            place += len(line)
