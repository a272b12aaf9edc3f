"""Drawing a sample from a results folder into a store: what `faithtui sample` does.

Only what is drawn comes into the store, as a run would have written it, with how many there are of
what. A second draw of the same results adds to the first: the same random numbers are taken, so
that the larger sample holds the smaller one and no claim comes twice.
"""

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from faithtui.agreement.population import Population, PopulationStratum
from faithtui.agreement.sampling.draw import (
    CONVERSATIONS,
    SamplingDesign,
    Stratum,
    iterate_whether_judge_is_shown,
)
from faithtui.domain.claims.verdicts import Claim, make_claim_identity_key
from faithtui.engine.integrity.run_checks import check_and_save_remaining_conversations
from faithtui.engine.population.population_strata import (
    PopulationStrata,
    find_stratum_name,
    format_stratum_values,
    make_stratum_names,
    read_strata_counts,
)
from faithtui.engine.population.results_manifest import (
    hash_settings,
    make_run_spec,
    read_results_manifest,
)
from faithtui.engine.population.results_scan import (
    ClaimPlace,
    ConversationCounts,
    ResultsScan,
    StoredConversation,
    StratumValues,
)
from faithtui.engine.population.sample_request import (
    DESIGNS,
    PopulationRequest,
    check_request,
    describe_sample_design,
    fill_in_request_defaults,
)
from faithtui.engine.population.sample_sizes import (
    SizeRequest,
    choose_total_sizes_by_stratum,
    predict_precision,
)
from faithtui.engine.shards.judgement_json import Judgement, judgement_from_json_text
from faithtui.errors import ConfigError, InputError
from faithtui.formats.readers.conversation_json import ParsedConversation, conversation_from_json
from faithtui.store.samples.population_draws import (
    DrawnClaim,
    DrawnConversation,
    PopulationDraw,
)
from faithtui.store.samples.sample_records import SampleRow
from faithtui.store.store import Store


@dataclass(frozen=True, slots=True)
class PopulationSample:
    """A sample of results, as it is in the store now."""

    row: SampleRow
    added: int
    """Claims that this draw added."""
    precision: float | None
    """Half width that is foreseen of the share that passes once all is labelled; None: unknown."""


def draw_and_store_population_sample(
    store: Store, results: str, request: PopulationRequest, reviewer: str
) -> PopulationSample:
    """Draw claims of a results folder into a store.

    Args:
        store: Where they go.
        results: The folder, or its address.
        request: What to draw.
        reviewer: Who draws it.

    Raises:
        ConfigError: DuckDB is not installed, or what is asked for cannot be drawn.
        InputError: The results cannot be read.
        StoreError: The store cannot take them. Nothing of the draw is in it.
    """
    check_request(request)
    with ResultsScan(results) as scan:
        manifest = read_results_manifest(scan)
        digest = hash_settings(manifest)
        before = store.samples.find_newest_sample_of_population(digest, reviewer)
        plan = fill_in_request_defaults(request, before)
        scan.set_strata(plan.stratified_by or (), plan.seed or 0)
        drawn = _draw_claims(scan, manifest, digest, plan, before)
    settings = manifest["settings"]
    prompts = settings["prompt_set"]
    store.prompts.store_set(
        prompts["digest"], settings["metric"], prompts["version"], prompts["texts"]
    )
    row = store.samples.save_population_draw_as_sample(
        drawn.draw, reviewer, None if before is None else before.id
    )
    check_and_save_remaining_conversations(store, row.run, lambda done, total: None)
    added = row.size - (0 if before is None else before.size)
    return PopulationSample(row, added, drawn.precision)


@dataclass(frozen=True, slots=True)
class _Draw:
    draw: PopulationDraw
    precision: float | None


def _draw_claims(
    scan: ResultsScan,
    manifest: Mapping[str, Any],
    digest: str,
    plan: PopulationRequest,
    before: SampleRow | None,
) -> _Draw:
    assert plan.design is not None
    design = DESIGNS[plan.design]
    conversations = scan.count_conversations()
    strata = read_strata_counts(scan, manifest["settings"], design)
    if not strata.facts:
        raise InputError(f"{scan.results} has no claims, so that there is nothing to draw")
    _refuse_changed_population(scan, before, conversations, strata)
    known = _choose_claims_drawn_before(
        scan, before, strata, conversations, manifest["settings"]["metric"]
    )
    already = Counter(find_stratum_name(each, strata, design) for each in known)
    if design is SamplingDesign.CONVERSATIONS:
        already = Counter({CONVERSATIONS: len({(each.source, each.key) for each in known})})
    wanted = SizeRequest(
        plan.design, plan.size, plan.precision, plan.shown_share if plan.blind else 0.0
    )
    sizes = choose_total_sizes_by_stratum(strata.facts, wanted, already, conversations.judged)
    if design is SamplingDesign.CONVERSATIONS:
        places = scan.choose_conversations_and_list_claims(
            conversations.judged, sizes[CONVERSATIONS]
        )
        populations = {CONVERSATIONS: conversations.judged}
    else:
        populations = {each.name: each.claims for each in strata.facts}
        places = scan.choose_random_claims_per_stratum(
            {strata.values[name]: count for name, count in populations.items()},
            {strata.values[name]: count for name, count in sizes.items()},
        )
    old = {_get_claim_identity(each) for each in known}
    fresh = _sort_claims_for_review(
        [each for each in places if _get_claim_identity(each) not in old], strata, design, plan
    )
    stored = _read_claim_conversations(scan, [*known, *fresh])
    population = _make_population(scan, manifest, digest, conversations, strata, sizes)
    mean_size = population.claim_count / max(1, population.judged)

    shown = {
        name: iterate_whether_judge_is_shown(plan.seed, name, wanted.shown_share)
        for name in populations
    }

    def make_claim(place: ClaimPlace) -> DrawnClaim:
        stratum = find_stratum_name(place, strata, design)
        return DrawnClaim(
            (place.source, place.key),
            _find_claim(scan, place, stored[place.source, place.key][1]),
            stratum,
            next(shown[stratum]),
        )

    used = {(each.source, each.key) for each in fresh}
    draw = PopulationDraw(
        spec=make_run_spec(manifest["settings"]),
        conversations=[
            _make_drawn_conversation(parsed, judgement)
            for identity, (parsed, judgement) in sorted(stored.items(), key=lambda each: each[0])
            if identity in used
        ],
        known=[make_claim(each) for each in known],
        fresh=[make_claim(each) for each in fresh],
        name=describe_sample_design(plan),
        design=design,
        stratified_by=plan.stratified_by or (),
        seed=plan.seed or 0,
        blind=plan.blind,
        shown_share=plan.shown_share if plan.blind else 0.0,
        population=population,
        strata=tuple(Stratum(name, populations[name], sizes[name]) for name in populations),
    )
    return _Draw(draw, predict_precision(strata.facts, sizes, wanted, mean_size))


def _refuse_changed_population(
    scan: ResultsScan,
    before: SampleRow | None,
    conversations: ConversationCounts,
    strata: PopulationStrata,
) -> None:
    """Refuse to add to a sample of something else.

    Raises:
        ConfigError: The results are no longer what was drawn from.
    """
    if before is None or before.population is None:
        return
    claims = sum(each.claims for each in strata.facts)
    was = before.population
    if (claims, dict(conversations.states)) != (was.claim_count, dict(was.states)):
        raise ConfigError(
            f"sample {before.id} was drawn from {was.claim_count:,} claims of "
            f"{was.conversation_count:,} "
            f"conversations, and {scan.results} has {claims:,} of "
            f"{sum(conversations.states.values()):,} now; draw into another store with --store"
        )


def _choose_claims_drawn_before(
    scan: ResultsScan,
    before: SampleRow | None,
    strata: PopulationStrata,
    conversations: ConversationCounts,
    metric: str,
) -> list[ClaimPlace]:
    """Choose once more what was drawn before, with the strata it is in now."""
    if before is None or before.population is None:
        return []
    drawn = {each.name: each.drawn for each in before.population.strata}
    if before.design is SamplingDesign.CONVERSATIONS:
        return scan.choose_conversations_and_list_claims(conversations.judged, drawn[CONVERSATIONS])
    size = len(before.stratified_by)
    populations: Counter[StratumValues] = Counter()
    for each in strata.facts:
        populations[strata.values[each.name][:size]] += each.claims
    names = make_stratum_names(metric, before.stratified_by, list(populations))
    return scan.choose_random_claims_per_stratum(
        populations, {values: drawn.get(name, 0) for values, name in names.items()}
    )


def _make_population(
    scan: ResultsScan,
    manifest: Mapping[str, Any],
    digest: str,
    conversations: ConversationCounts,
    strata: PopulationStrata,
    sizes: Mapping[str, int],
) -> Population:
    whole = set(scan.names_of_whole_shards)
    return Population(
        results=scan.results,
        digest=digest,
        states=conversations.states,
        judged=conversations.judged,
        groups=conversations.groups,
        scores=conversations.scores,
        passed=conversations.passed,
        labels=strata.labels,
        stratified_by=scan.stratified_by,
        strata=tuple(
            PopulationStratum(
                each.name, tuple(format_stratum_values(strata.values[each.name])), sizes[each.name]
            )
            for each in strata.facts
        ),
        counts=strata.counts,
        open_shards=sum(name not in whole for name in manifest["shard_names"]),
    )


def _get_claim_identity(place: ClaimPlace) -> tuple[str, str, int]:
    return place.source, place.key, place.position


def _sort_claims_for_review(
    places: Sequence[ClaimPlace],
    strata: PopulationStrata,
    design: SamplingDesign,
    plan: PopulationRequest,
) -> list[ClaimPlace]:
    """Put claims in the order to serve them.

    Strata take turns at random, so that an early stop leaves some of each; inside a stratum they
    come by their random numbers.
    """
    if design is SamplingDesign.CONVERSATIONS:
        return list(places)
    by_stratum: dict[str, list[ClaimPlace]] = {}
    for each in places:
        by_stratum.setdefault(find_stratum_name(each, strata, design), []).append(each)
    turns = [name for name in sorted(by_stratum) for _ in by_stratum[name]]
    random.Random(f"{plan.seed}:order:{len(turns)}").shuffle(turns)
    queues = {name: iter(each) for name, each in by_stratum.items()}
    return [next(queues[name]) for name in turns]


_Stored = tuple[ParsedConversation, Judgement]


def _read_claim_conversations(
    scan: ResultsScan, places: Sequence[ClaimPlace]
) -> dict[tuple[str, str], _Stored]:
    """Read the conversations that claims are of, with what was said of them."""
    rows: dict[str, set[int]] = {}
    for each in places:
        rows.setdefault(each.shard, set()).add(each.row)
    found: dict[tuple[str, str], _Stored] = {}
    for shard in sorted(rows):
        for stored in scan.read_conversations(shard, sorted(rows[shard])):
            found[stored.source, stored.key] = _parse_stored_conversation(scan, stored)
    for each in places:
        if (each.source, each.key) not in found:
            raise InputError(
                f"{scan.results}: shard {each.shard} has claims of a conversation {each.key!r} "
                "that it does not have; measure the shard again"
            )
    return found


def _parse_stored_conversation(scan: ResultsScan, stored: StoredConversation) -> _Stored:
    try:
        fields = json.loads(stored.conversation)
        parsed = conversation_from_json(fields, source=stored.source)
        judgement = judgement_from_json_text(stored.judgement)
    except (InputError, ValueError, TypeError) as error:
        raise InputError(
            f"{scan.results}: conversation {stored.key!r} of {stored.source} cannot be read: "
            f"{error}"
        ) from error
    conversation = replace(parsed.conversation, key=stored.key)
    return ParsedConversation(conversation, parsed.images), judgement


def _find_claim(scan: ResultsScan, place: ClaimPlace, judgement: Judgement) -> Claim:
    claims: dict[object, Claim] = {}
    for window in judgement.assessments:
        for verdict in window.verdicts:
            claims.setdefault(make_claim_identity_key(verdict.claim), verdict.claim)
    if place.position >= len(claims):
        raise InputError(
            f"{scan.results}: conversation {place.key!r} of {place.source} has claim "
            f"{place.position + 1} in claims/ and {len(claims)} in its judgement; measure the "
            "shard again"
        )
    return list(claims.values())[place.position]


def _make_drawn_conversation(parsed: ParsedConversation, judgement: Judgement) -> DrawnConversation:
    return DrawnConversation(
        parsed.conversation, judgement.assessments, judgement.conclusion.reason, parsed.images
    )


def sample_to_json(found: PopulationSample) -> dict[str, object]:
    """Give a sample of results as JSON values."""
    row = found.row
    population = row.population
    assert population is not None
    return {
        "run": row.run,
        "sample": row.id,
        "design": row.design.value,
        "stratified_by": list(row.stratified_by),
        "seed": row.seed,
        "claims": row.size,
        "added": found.added,
        "expected_half_width": found.precision,
        "strata": [
            {
                "name": each.name,
                "population": each.population,
                "drawn": each.drawn,
                "probability": each.draw_probability,
            }
            for each in row.strata
        ],
        "population": {
            "results": population.results,
            "claims": population.claim_count,
            "conversations": population.conversation_count,
            "judged": population.judged,
            "states": dict(population.states),
            "failed_share": population.failed_share,
            "open_shards": population.open_shards,
            "mean_scores": dict(population.scores),
        },
    }
