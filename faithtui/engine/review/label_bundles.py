"""Label bundles: out of a store into a file, and out of files into a store."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from faithtui.domain.ids import RunId
from faithtui.domain.labels.label_bundle import (
    BundleClaim,
    BundleEvent,
    BundleGuideline,
    BundleSample,
    ClaimName,
    LabelBundle,
)
from faithtui.errors import InputError
from faithtui.formats.label_bundles import ParsedBundle, format_bundle_lines, read_bundle
from faithtui.output_files import write_text
from faithtui.store.bundles.merge import MergeCounts, UnmergedConversation
from faithtui.store.store import Store


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What merging files did."""

    merged: MergeCounts
    refusals: tuple[InputError, ...]
    """Lines that could not be used, files that could not be read, events that cannot be taken; in
    the order of the files."""
    digest: str
    """All current labels; see `Bundles.hash_all_current_labels`."""

    @property
    def is_complete(self) -> bool:
        """Whether everything in the files is in the store now."""
        return not self.refusals and not self.merged.unmerged


def iter_bundle_lines(
    store: Store, run: RunId | None = None, reviewers: Sequence[str] = ()
) -> Iterator[str]:
    """Write a store's labels as the lines of a bundle.

    Args:
        store: Where they are.
        run: Only labels of claims that this run judged; None: all.
        reviewers: Only labels of these annotators; () means all.

    Raises:
        StoreError: There is no such run.
    """
    if run is not None:
        store.runs.read_run(run)
    return format_bundle_lines(store.bundles.make_label_bundle(run, reviewers))


def write_bundle_file(
    store: Store,
    path: Path,
    run: RunId | None = None,
    reviewers: Sequence[str] = (),
    *,
    force: bool,
) -> None:
    """Write `iter_bundle_lines` into a file, which appears whole or not at all.

    Raises:
        ExportError: The file is a store, is there already and `force` is not set, or cannot be
            written.
        StoreError: There is no such run.
    """
    write_text(path, iter_bundle_lines(store, run, reviewers), force=force)


def merge_bundles_into_store(store: Store, paths: Sequence[Path]) -> MergeResult:
    """Take the labels of bundles in; the order of files and lines does not matter.

    A file or a line that cannot be used is reported, and the others are merged.

    Raises:
        StoreError: The store cannot be written.
    """
    union = _BundleUnion()
    for path in paths:
        try:
            union.add(path, read_bundle(path))
        except InputError as error:
            union.refusals.append(error)
    merged = store.bundles.merge(union.make_bundle())
    refusals = [
        *union.refusals,
        *(
            InputError(f"act {uid} {why}", path=path, line=line)
            for uid, why in merged.refused
            for path, line in [union.places[uid]]
        ),
    ]
    order = {path: place for place, path in enumerate(paths)}
    refusals.sort(key=lambda each: (order[each.path] if each.path else -1, each.line or 0))
    return MergeResult(merged, tuple(refusals), store.bundles.hash_all_current_labels())


def suggest_fix_for_unmerged(conversation: UnmergedConversation) -> str:
    """Say what can be done about a conversation whose events were not merged."""
    name = f"{conversation.conversation.source}/{conversation.conversation.key}"
    if conversation.why == "absent":
        return f"{name} is not in this store; import it with `faithtui import`, then merge again"
    return (
        f"{name} is in this store with other turns; import the version that was labelled under "
        "another source name, or merge into a store that has it"
    )


class _BundleUnion:
    """Several bundles as one."""

    def __init__(self) -> None:
        self.refusals: list[InputError] = []
        self.places: dict[str, tuple[Path, int]] = {}
        """File and line of each event."""
        self._acts: dict[str, BundleEvent] = {}
        self._claims: dict[ClaimName, BundleClaim] = {}
        self._samples: dict[str, BundleSample] = {}
        self._vouched_samples: dict[str, BundleSample] = {}
        """Of files with a digest."""
        self._vouched_clocks: dict[str, int] = {}
        """The earliest clock of each event that a file vouches for."""
        self._guidelines: dict[BundleGuideline, None] = {}

    def add(self, path: Path, read: ParsedBundle) -> None:
        """Take one file in."""
        self.refusals += read.refusals
        for name, text in read.bundle.claims.items():
            known = self._claims.setdefault(name, text)
            if text.imported and not known.imported:
                self._claims[name] = replace(known, imported=True)
        for sample in read.bundle.samples:
            _keep_longest(self._samples, sample)
            if read.has_digest:
                _keep_longest(self._vouched_samples, sample)
        self._guidelines |= dict.fromkeys(read.bundle.guidelines)
        for act in read.bundle.acts:
            line = read.lines[act.id]
            known_act = self._acts.setdefault(act.id, act)
            first, first_line = self.places.setdefault(act.id, (path, line))
            if _make_comparison_key(known_act) != _make_comparison_key(act):
                words = f"act {act.id} says something else than on line {first_line} of {first}"
                self.refusals.append(InputError(words, path=path, line=line, field="uid"))
                continue
            # Of two alike the one that its file vouches for, at the earlier clock.
            best = act if known_act.unverified and not act.unverified else known_act
            self._acts[act.id] = best._replace(clock=min(act.clock, known_act.clock))
        for act in read.bundle.acts:
            if not act.unverified:
                known_clock = self._vouched_clocks.setdefault(act.id, act.clock)
                self._vouched_clocks[act.id] = min(known_clock, act.clock)

    def make_bundle(self) -> LabelBundle:
        """Give all of it."""
        samples = {
            # Of two as long the one that its file vouches for.
            uid: vouched
            if (vouched := self._vouched_samples.get(uid)) is not None
            and len(vouched.claims) == len(sample.claims)
            else sample
            for uid, sample in self._samples.items()
        }
        acts = [
            act if self._is_vouched(act, samples) else act._replace(unverified=True)
            for act in self._acts.values()
        ]
        return LabelBundle(
            tuple(sorted(acts, key=lambda act: (act.clock, act.id))),
            self._claims,
            tuple(samples.values()),
            tuple(self._guidelines),
        )

    def _is_vouched(self, act: BundleEvent, samples: Mapping[str, BundleSample]) -> bool:
        """Say whether a file vouches for an event, its place in the log and its sample included."""
        return (
            not act.unverified
            and act.clock == self._vouched_clocks.get(act.id)
            and (
                act.sample is None
                or samples.get(act.sample) == self._vouched_samples.get(act.sample)
            )
        )


def _keep_longest(samples: dict[str, BundleSample], sample: BundleSample) -> None:
    known = samples.setdefault(sample.uid, sample)
    if len(sample.claims) > len(known.claims):
        samples[sample.uid] = sample


def _make_comparison_key(act: BundleEvent) -> tuple[object, ...]:
    return (act.claim, act.reviewer, act.action, act.verdict)
