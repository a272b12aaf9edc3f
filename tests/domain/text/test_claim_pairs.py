"""What a claim and a passage say of each other, asked of everything that reads words.

The evidence pane, the integrity check for claims that the answer does not make and the embedded
judge have to give one answer: the same, a clash, or open (neither, and not everything is found).
"""

from typing import Literal

import pytest

from faithtui.domain.conversation import Turn
from faithtui.domain.ids import ClaimId
from faithtui.domain.integrity.checks import check_conversation
from faithtui.domain.integrity.findings import (
    CheckedClaim,
    CheckedVerdict,
    CheckedWindow,
    FindingKind,
    JudgedConversation,
)
from faithtui.domain.integrity.phantom_claims import trace_claim_words_to_source
from faithtui.domain.labels.label_sets import FAITHFULNESS
from faithtui.domain.text.passage_ranking import compute_weighted_word_overlap, rank_passages
from faithtui.domain.text.sentence_index import index_passages
from faithtui.domain.text.texts import tokenise_text
from faithtui.judges.embedded import evidence, judge
from faithtui.judges.embedded.overlap import judge_claim

Answer = Literal["same", "clash", "open"]
Pair = tuple[Answer, str, str]

PROBES: tuple[Pair, ...] = (
    ("same", "The lake holds 3 million cubic metres.", "The lake holds 3,000,000 cubic metres."),
    ("same", "The home has twelve children.", "The home has 12 children."),
    ("same", "The ferry sails at nine.", "The ferry sails at 9."),
    ("same", "Sales rose 5 percent.", "Sales rose 5%."),
    ("same", "The children ran home.", "A child runs home."),
    ("same", "The bridge cost $2.5 million.", "The bridge cost 2,500,000 dollars."),
    ("clash", "The museum opened in 1923.", "The museum opened in 1932."),
    ("clash", "The museum does not open on Monday.", "The museum opens on Monday."),
    ("clash", "The museum was closed.", "The museum was opened."),
    ("clash", "She was born in May.", "She was born in June."),
    ("clash", "The bridge is unsafe.", "The bridge is safe."),
    ("clash", "Sales rose 5 percent.", "Sales fell 5 percent."),
    ("clash", "The first bridge fell.", "The second bridge fell."),
    ("clash", "Anna Berg won the race.", "Karl Lund won the race."),
    (
        "open",
        "The club was founded in 1923.",
        "The club was founded in nineteen twenty-three, or 1932 by other accounts.",
    ),
)

SIBLINGS: tuple[Pair, ...] = (
    # numbers, one way or another
    ("same", "The town has 12,500 inhabitants.", "The town has 12.5 thousand inhabitants."),
    ("same", "The hall seats two hundred and fifty guests.", "The hall seats 250 guests."),
    ("same", "Two dozen boats took part.", "24 boats took part."),
    ("same", "A million visitors came.", "1,000,000 visitors came."),
    ("same", "Half a million visitors came.", "500,000 visitors came."),
    ("same", "The train leaves at 7:00.", "The train leaves at seven."),
    ("same", "The tax rose by twenty-five per cent.", "The tax rose by 25 percent."),
    ("same", "The ship cost €3bn.", "The ship cost 3 billion euros."),
    ("same", "Tickets cost 40 pounds.", "Tickets cost £40."),
    ("same", "The film earned $2.5m.", "The film earned 2.5 million dollars."),
    ("same", "The path is 12 km long.", "The path is 12 kilometres long."),
    ("same", "The crate weighs 5 kilograms.", "The crate weighs 5 kg."),
    ("same", "The abbey was founded in 1590.", "The abbey was founded in fifteen ninety."),
    ("same", "He finished in 21st place.", "He finished in twenty-first place."),
    ("same", "She was the 3rd woman on the moon.", "She was the third woman on the moon."),
    # dates
    ("same", "The treaty was signed on 3 May 1921.", "The treaty was signed on May 3rd, 1921."),
    ("same", "The law passed on 2024-09-17.", "The law passed on 17 September 2024."),
    ("same", "The shop opened on Sept. 4.", "The shop opened on 4 September."),
    # forms and spellings of words
    ("same", "The women were writing a letter.", "A woman wrote letters."),
    ("same", "The colour of the centre is grey.", "The center's color is gray."),
    ("same", "The mice ate the cheese.", "A mouse eats cheese."),
    ("same", "The team organised the festival.", "The festival was organized by the team."),
    ("same", "The cities were rebuilt.", "The city was rebuilt."),
    ("same", "She recommended the hotel.", "She reccommended the hotel."),
    ("same", "You may leave by the gate.", "You may leave by the gate in May."),
    # other numbers
    ("clash", "The tower is 41 metres high.", "The tower is 47 metres high."),
    ("clash", "Twelve children live there.", "13 children live there."),
    ("clash", "The lake holds 3 million litres.", "The lake holds 3 billion litres."),
    ("clash", "The label costs $7.50.", "The label costs $5.95 from Monday on, says the store."),
    ("clash", "Sales rose 5 percent.", "Sales rose 15%."),
    ("clash", "It opened in 1590.", "It opened in fifteen ninety-one."),
    # other dates and ranks
    ("clash", "The fair is held in October.", "The fair is held in March."),
    ("clash", "The meeting is on Tuesday.", "The meeting is on Friday."),
    ("clash", "The treaty was signed on 3 May 1921.", "The treaty was signed on 3 July 1921."),
    ("clash", "The law passed on 2024-09-17.", "The law passed on 17 August 2024."),
    ("clash", "The third floor burned.", "The 4th floor burned."),
    ("clash", "The 1st team travelled.", "The second team travelled."),
    # negations
    ("clash", "The pass is open in winter.", "The pass isn't open in winter."),
    ("clash", "The bakery never sells rye bread.", "The bakery sells rye bread."),
    ("clash", "The river flows through Harwick.", "The river does not flow through Harwick."),
    # opposites
    ("clash", "The company bought the mill.", "The company sold the mill."),
    ("clash", "The door is locked at night.", "The door is unlocked at night."),
    ("clash", "Prices sank in autumn.", "Prices soared in autumn."),
    ("clash", "The strike began in May.", "The strike ended in May."),
    ("clash", "The pump is efficient.", "The pump is inefficient."),
    ("clash", "The decision was legal.", "The decision was illegal."),
    ("clash", "The visit is mandatory.", "The visit is optional."),
    # names
    ("clash", "The prize went to Maria Lopez.", "The prize went to David Chen."),
    ("clash", "The book was written by Ruth Adler.", "The book was written by Tom Keane."),
    ("clash", "The ship sank near Oslo in 1910.", "The ship sank near Bergen in 1910."),
    # exceptions
    (
        "clash",
        "Return labels are always free.",
        "Return labels are free unless the customer is a member.",
    ),
    # one of several
    ("open", "The bridge cost 5 million euros.", "The bridge cost 5 or 6 million euros."),
    ("open", "She was born in May.", "She was born in May or June."),
    ("open", "The ferry sails at nine.", "The ferry sails at 9 or, on Sundays, at 10."),
    ("open", "The abbey was founded in 1590.", "The abbey was founded in 1590 or possibly 1595."),
    # more than the passage says, and nothing against it
    ("open", "The mill opened in 1923 and closed in 1932.", "The mill opened in 1923."),
    ("open", "Sales rose 5 percent in Norway.", "Sales rose 5%."),
    ("open", "Anna Berg won the race in Lisbon.", "Anna Berg won the race."),
    ("open", "The route is difficult to walk.", "The route is not easy to walk."),
    ("open", "Doctor Lund won the race.", "Karl Lund won the race."),
    ("open", "The United Nations sent help.", "The UN sent help."),
    ("open", "Arsenal won the cup final.", "The Gunners won the cup final."),
    # less than the passage says
    ("same", "The mill opened in 1923.", "The mill opened in 1923, and closed in 1932."),
    ("same", "The club was founded in 1923.", "The club was founded in 1923. It moved in 1932."),
    ("same", "The museum opens on Monday.", "The museum opens on Monday but not on Sunday."),
    ("same", "Anna Berg won the race.", "Anna Berg won the race, and Karl Lund came second."),
    ("same", "The tower has 12 floors.", "The tower has 12 floors. The annex has 9 floors."),
    ("same", "She was born in May or June.", "She was born in May or June."),
    ("same", "The first bridge fell.", "The first bridge fell before the second was built."),
    ("same", "About 3.5 million people live there.", "About 3.5 million people live there."),
)

PAIRS = PROBES + SIBLINGS


def pair_name(pair: Pair) -> str:
    """Name a case by what it compares."""
    return f"{pair[0]}: {pair[1]} / {pair[2]}"


every_pair = pytest.mark.parametrize("pair", PAIRS, ids=map(pair_name, PAIRS))


@every_pair
def test_the_evidence_pane(pair: Pair) -> None:
    expected, claim, passage = pair
    said, read = tokenise_text(claim), tokenise_text(passage)
    (found,) = rank_passages(said, [read], [[]])
    share = compute_weighted_word_overlap(said, read)
    assert bool(found.differs) == (expected == "clash")
    assert any(mark.clashes for mark in found.marks) == (expected == "clash")
    if expected == "same":
        assert share == pytest.approx(1.0)
    if expected == "open":
        assert share < 1.0


@every_pair
def test_the_integrity_check(pair: Pair) -> None:
    expected, claim, passage = pair
    origin = trace_claim_words_to_source(tokenise_text(claim), tokenise_text(passage), ())
    assert (origin.clash is not None) == (expected == "clash")
    if expected == "clash":
        assert origin.is_phantom
    if expected == "same":
        assert (origin.added, origin.disputed, origin.is_phantom) == ((), (), False)
    if expected == "open":
        assert origin.added or origin.disputed


@every_pair
def test_the_findings_of_a_run(pair: Pair) -> None:
    """A claim that was drawn from the passage, as an answer: only a sound one is not listed."""
    expected, claim, passage = pair
    drawn = CheckedClaim(
        ClaimId(1), "claim", 1, claim, None, (CheckedVerdict(0, "yes", "yes", None),)
    )
    judged = JudgedConversation(
        turns=(Turn("user", "Tell me."), Turn("assistant", passage)),
        documents=(),
        retrieved=((), ()),
        windows=(CheckedWindow(0, (0, 1), 1, None, False),),
        claims=(drawn,),
        truths=(),
        labels=FAITHFULNESS,
        truths_are_facts=False,
        complete=True,
    )
    kinds = {finding.kind for finding in check_conversation(judged).findings}
    if expected != "open":  # what an open claim adds may be one or not
        assert (FindingKind.PHANTOM in kinds) == (expected == "clash")


@every_pair
def test_the_embedded_judge(pair: Pair) -> None:
    expected, claim, passage = pair
    verdict, _, _ = judge(claim, passage)
    found = judge_claim(claim, index_passages((passage,)))
    assert (verdict == "no") == (expected == "clash")
    assert ("contradiction" in found.reason) == (expected == "clash")
    assert evidence(claim, passage)
    if expected == "same":
        assert found.missing == ()
        assert found.reason.startswith("All ")
    if expected == "open":
        assert found.missing
