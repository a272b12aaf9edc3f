"""What figures are computed from: units with the judge's verdict and the labels that count."""

from collections.abc import Mapping

from faithtui.agreement.labelled_units import (
    AnswerUnit,
    ClaimUnit,
    PairedClaims,
    RunUnits,
    UnitSettings,
)
from faithtui.domain.ids import ClaimId, LabelId, RunId
from faithtui.domain.labels.label_sets import SEVERITY
from faithtui.store.annotations.counted_labels import CountedLabels
from faithtui.store.annotations.labelled_units import (
    DEFAULTS,
    MOST_SINCE,
    read_claim_units,
    read_labels_of_claims_changed_after,
    read_paired_units,
    read_rated_answer_units,
    read_report_units,
)
from faithtui.store.database import Database
from faithtui.store.search.metadata import list_metadata_keys


class UnitReader:
    """Reads the units of runs with their labels."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read_claim_units(self, run_id: RunId) -> tuple[ClaimUnit, ...]:
        """Read everything a run judged once, in the order of the run and of the text.

        Claims, statements or answers, with human labels in the words of the run's metric. A
        consensus that has no word there stays as annotators gave it.
        """
        with self._database.open_reader() as connection:
            return read_claim_units(connection, run_id)

    def read_rated_answer_units(self, run_id: RunId) -> tuple[AnswerUnit, ...]:
        """Read every answer of a run that annotators rated as a whole.

        Only of conversations that are done; in the order of the run and of the turns. What the
        run judged of other things than answers cannot be compared with that: then ().
        """
        with self._database.open_reader() as connection:
            return read_rated_answer_units(connection, run_id)

    def read_report_units(
        self,
        run_id: RunId,
        settings: UnitSettings = DEFAULTS,
        severity: Mapping[str, int] = SEVERITY,
    ) -> RunUnits:
        """Read everything that a report on a run is computed from, as one snapshot.

        Takes the time of reading every verdict of the run, so seconds for a million claims.

        Args:
            run_id: The run.
            settings: What counts.
            severity: How bad each label is, for ties and worst-of rules; larger is worse.

        Raises:
            StoreError: There is no such run, or the sample asked for cannot carry a report on it.
        """
        with self._database.open_reader() as connection:
            return read_report_units(connection, run_id, settings, severity)

    def list_metadata_keys(self, run_id: RunId) -> tuple[str, ...]:
        """Name the keys of metadata that conversations of a run have, at any depth, sorted."""
        with self._database.open_reader() as connection:
            return list_metadata_keys(connection, run_id)

    def read_labels_of_claims_changed_after(
        self,
        run_id: RunId,
        after: LabelId,
        settings: UnitSettings = DEFAULTS,
        *,
        most: int = MOST_SINCE,
    ) -> dict[ClaimId, CountedLabels] | None:
        """Read the human labels of the claims of a run that changed since.

        Takes the time of reading these few claims, however large the run.

        Args:
            run_id: The run.
            after: The newest event that is known.
            settings: What counts; only `blind_only` is read.
            most: Claims that are read at most.

        Returns:
            None when more claims were acted on, so that the run is better read as a whole.

        Raises:
            StoreError: There is no such run.
        """
        with self._database.open_reader() as connection:
            return read_labels_of_claims_changed_after(connection, run_id, after, settings, most)

    def read_paired_units(
        self,
        first: RunId,
        second: RunId,
        settings: UnitSettings = DEFAULTS,
        severity: Mapping[str, int] = SEVERITY,
    ) -> PairedClaims:
        """Read the verdicts of two runs on the claims that both judged, and the human labels.

        Of the settings, `sample` is not read. `severity` is used as in `read_report_units`.
        A label that is stale for one of the runs does not count.

        Raises:
            StoreError: There is no such run, or their metrics have other labels.
        """
        with self._database.open_reader() as connection:
            return read_paired_units(connection, first, second, settings, severity)
