"""Word lists of the overlap baseline. English, written by hand for this project.

Lists are space-separated text because that is how they are read and corrected. Words are looked up
by their stem (see `words.stem`) where the list says so, by their lower-case form elsewhere.
"""

from typing import Final


def _entries(text: str) -> list[str]:
    return text.split()


def _set(text: str) -> frozenset[str]:
    return frozenset(_entries(text))


STOP_WORDS: Final = _set(
    """
    a about above after again all also am an and any are aren't as at be because been before being
    below between both but by can can't cannot could couldn't did didn't do does doesn't doing
    don't done during each either else ever every few for from further get gets got had hadn't has
    hasn't have haven't having he he'd he'll he's her here hers herself him himself his how however
    i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself just let's like many may
    me might more most much must my myself n't neither no nor not now of off on once one only or
    other others our ours ourselves out over own per rather s same shall she she'd she'll she's
    should shouldn't since so some such t than that that's the their theirs them themselves then
    there there's these they they'd they'll they're they've this those though through thus to too
    under until up upon us very was wasn't we we'd we'll we're we've well were weren't what when
    where whether which while who whom whose why will with within without won't would wouldn't yes
    yet you you'd you'll you're you've your yours yourself yourselves
    """
)
"""Lower-case forms that carry no content of their own."""

NEGATIONS: Final = _set(
    """
    not no never none nobody nothing nowhere neither nor without cannot n't can't don't doesn't
    didn't isn't aren't wasn't weren't won't wouldn't couldn't shouldn't hasn't haven't hadn't
    mustn't needn't
    """
)
"""Lower-case forms that turn a statement round."""

FIRST_PERSON: Final = _set("i i'm i've i'd i'll me my mine myself we we're we've we'd we'll our us")
"""Lower-case forms by which a speaker talks of themselves."""

HEDGES: Final = _set(
    "about around roughly approximately nearly almost circa over under more less least most "
    "up some close"
)
"""Lower-case forms that make the number after them approximate."""

NUMBER_WORDS: Final[dict[str, int]] = {
    word: value
    for value, word in enumerate(
        _entries(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen seventeen eighteen nineteen"
        )
    )
} | {
    word: 10 * tens
    for tens, word in enumerate(
        _entries("twenty thirty forty fifty sixty seventy eighty ninety"), start=2
    )
}
"""Values of number words below one hundred."""

SCALES: Final[dict[str, float]] = {
    "dozen": 12,
    "hundred": 1e2,
    "thousand": 1e3,
    "k": 1e3,
    "million": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "trillion": 1e12,
}
"""Words that multiply the number before them."""

PERCENT_WORDS: Final = _set("percent percentage pct")

EXCLUSIVE: Final = (
    _set("january february march april may june july august september october november december"),
    _set("monday tuesday wednesday thursday friday saturday sunday"),
    _set("first second third fourth fifth sixth seventh eighth ninth tenth"),
)
"""Sets of lower-case forms of which one date or rank takes only one."""

IRREGULAR: Final[dict[str, str]] = dict(
    pair.split(":")
    for pair in _entries(
        """
        began:begin begun:begin bought:buy brought:bring built:build came:come caught:catch
        chose:choose chosen:choose drew:draw drawn:draw drove:drive driven:drive fell:fall
        fallen:fall felt:feel fought:fight found:find gave:give given:give went:go gone:go
        grew:grow grown:grow held:hold kept:keep knew:know known:know led:lead lent:lend
        lost:lose made:make meant:mean met:meet paid:pay ran:run rose:rise risen:rise said:say
        sang:sing sung:sing sank:sink sunk:sink saw:see seen:see sent:send shrank:shrink
        shrunk:shrink sold:sell spent:spend spoke:speak spoken:speak stood:stand taken:take
        took:take taught:teach thought:think told:tell understood:understand won:win wrote:write
        written:write children:child men:man women:woman people:person feet:foot teeth:tooth
        mice:mouse died:die dies:die dying:die worse:bad worst:bad better:good best:good
        """
    )
)
"""Irregular forms and the form they are read as."""

OPPOSITE_PAIRS: Final = tuple(
    (left, right)
    for left, _, right in (
        pair.partition("/")
        for pair in _entries(
            """
            increase/decrease increase/reduce increase/decline rise/fall rise/drop rise/decline
            rise/sink grow/shrink grow/decline grow/fall climb/fall climb/drop soar/plunge
            soar/fall gain/lose gain/loss gain/drop jump/drop jump/fall expand/contract
            expand/shrink improve/worsen improve/deteriorate strengthen/weaken raise/lower
            raise/cut accelerate/slow widen/narrow up/down above/below high/low higher/lower
            highest/lowest more/less more/fewer most/least most/fewest maximum/minimum
            major/minor many/few large/small larger/smaller largest/smallest big/small
            bigger/smaller biggest/smallest long/short longer/shorter longest/shortest tall/short
            taller/shorter wide/narrow deep/shallow thick/thin heavy/light fast/slow
            faster/slower quick/slow early/late earlier/later earliest/latest before/after
            young/old younger/older youngest/oldest new/old newest/oldest ancient/modern
            first/last begin/end begin/finish start/end start/finish start/stop open/close
            arrive/depart arrive/leave enter/leave enter/exit join/leave import/export
            importer/exporter buy/sell buyer/seller lend/borrow lender/borrower employer/employee
            teacher/student parent/child mother/father brother/sister son/daughter husband/wife
            man/woman men/women male/female boy/girl uncle/aunt win/lose winner/loser
            victory/defeat win/defeat succeed/fail success/failure pass/fail accept/reject
            accept/refuse approve/reject approve/deny approve/oppose allow/forbid allow/prohibit
            allow/ban allow/prevent permit/prohibit permit/forbid legal/illegal lawful/unlawful
            agree/disagree agreement/disagreement support/oppose supporter/opponent confirm/deny
            admit/deny include/exclude including/excluding inclusive/exclusive add/remove
            add/subtract attach/detach connect/disconnect enable/disable lock/unlock
            install/uninstall load/unload create/destroy build/demolish construct/demolish
            appear/disappear visible/invisible present/absent presence/absence
            possible/impossible able/unable ability/inability likely/unlikely certain/uncertain
            known/unknown common/rare common/uncommon usual/unusual frequent/rare often/rarely
            often/seldom always/never everyone/nobody everything/nothing all/none both/neither
            true/false right/wrong correct/incorrect accurate/inaccurate valid/invalid
            safe/dangerous safe/unsafe harmless/harmful healthy/unhealthy healthy/sick alive/dead
            born/died survive/die guilty/innocent convict/acquit strong/weak stronger/weaker
            hard/easy easy/difficult simple/complex simple/complicated hot/cold warm/cool
            hotter/colder warmer/cooler wet/dry rainy/dry day/night morning/evening summer/winter
            spring/autumn north/south east/west northern/southern eastern/western
            northward/southward northeast/southwest northwest/southeast left/right top/bottom
            upper/lower inside/outside internal/external indoor/outdoor domestic/foreign
            national/international local/global urban/rural public/private rich/poor wealthy/poor
            expensive/cheap profit/loss profitable/unprofitable surplus/deficit asset/liability
            income/expense credit/debit positive/negative optimistic/pessimistic active/inactive
            active/passive permanent/temporary mandatory/optional mandatory/voluntary
            required/optional compulsory/voluntary sufficient/insufficient adequate/inadequate
            complete/incomplete full/empty fully/partially total/partial entire/partial
            equal/unequal similar/different same/different identical/different single/married
            solo/joint attack/defend attacker/defender war/peace ally/enemy friend/enemy
            love/hate like/dislike happy/sad happy/unhappy satisfied/dissatisfied
            friendly/hostile polite/rude honest/dishonest loyal/disloyal brave/cowardly
            liberal/conservative democratic/republican majority/minority senior/junior
            superior/inferior advance/retreat forward/backward ascend/descend upstream/downstream
            input/output encourage/discourage advantage/disadvantage benefit/harm
            beneficial/harmful effective/ineffective efficient/inefficient useful/useless
            necessary/unnecessary relevant/irrelevant direct/indirect formal/informal
            natural/artificial organic/synthetic voluntary/involuntary conscious/unconscious
            sober/drunk awake/asleep sunrise/sunset solid/liquid acidic/alkaline
            soluble/insoluble stable/unstable smooth/rough sharp/blunt clean/dirty bright/dark
            bright/dim loud/quiet noisy/quiet sweet/bitter hire/fire promote/demote
            appoint/dismiss retain/release accept/deny grant/deny upgrade/downgrade exceed/miss
            beat/miss overestimate/underestimate
            """
        )
    )
)
"""Pairs of which a statement cannot hold both in the same place."""
