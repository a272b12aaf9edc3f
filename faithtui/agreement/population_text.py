"""A population in words, the same on the command line, on screens and in reports."""

from faithtui.agreement.population import Population


def describe_population(population: Population) -> str:
    """Say how much a sample stands for: what was judged, as reports count it."""
    claims = f"{population.claim_count:,} claim{'s' * (population.claim_count != 1)}"
    count = population.judged
    conversations = f"{count:,} conversation{'s' * (count != 1)}"
    return f"{claims} of {conversations} in {population.results}"


def describe_unmeasured_results(population: Population) -> tuple[str, ...]:
    """Say what of the results is in no figure, in sentences; () where all of it is."""
    found = []
    if population.failed_conversation_count:
        found.append(
            f"{population.failed_conversation_count:,} of {population.conversation_count:,} "
            "conversations "
            f"({population.failed_share:.1%}) could not be judged: no figure is about them."
        )
    unjudged = (
        population.conversation_count - population.judged - population.failed_conversation_count
    )
    if unjudged:
        one = unjudged == 1
        found.append(f"{unjudged:,} conversation{' has' if one else 's have'} no claim.")
    if population.open_shards:
        is_one = population.open_shards == 1
        found.append(
            f"{population.open_shards:,} shard{'' if is_one else 's'} of the results "
            f"{'was' if is_one else 'were'} not whole when this was drawn, and "
            f"{'is' if is_one else 'are'} no part of it."
        )
    return tuple(found)
