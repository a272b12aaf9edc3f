"""What an export tells of what it leaves out."""

import logging
from dataclasses import replace

import pytest

from faithtui.engine.exports.export_log import MOST_NAMED, ExportLog, LeftOutReason
from tests.formats.writers.exported import REVIEWED


def test_what_is_left_out_is_counted_by_reason_whatever_the_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Every failure has words of its own: they were reasons of their own, and all were named."""
    log = ExportLog()
    with caplog.at_level(logging.DEBUG, "faithtui.export"):
        for number in range(MOST_NAMED + 5):
            chat = replace(REVIEWED, key=f"t{number}")
            log.log_left_out(chat, LeftOutReason.NO_CLAIM, f"(failed) has no claim: error {number}")
        log.log_left_out(REVIEWED, LeftOutReason.OTHER_SPLIT, "is not in the dev split")
        log.log_omission_counts_and_times()
    lines = [each.getMessage() for each in caplog.records]
    assert lines[0] == "orders/t0 (failed) has no claim: error 0"
    assert len([each for each in lines if "error" in each]) == MOST_NAMED
    assert "orders/order-17 is not in the dev split" in lines
    assert "5 more: each has no claim" in lines
