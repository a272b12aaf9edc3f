"""Word lists of the word engine. English, written by hand for this project.

Lists are space-separated text because that is how they are read and corrected. Words are looked up
by their stem (see `tokens.stem`) where the list says so, by their lower-case form elsewhere.
"""

from typing import Final


def _split_entries(text: str) -> list[str]:
    return text.split()


def _split_into_word_set(text: str) -> frozenset[str]:
    return frozenset(_split_entries(text))


STOP_WORDS: Final = _split_into_word_set(
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

FOREIGN_STOP_WORDS: Final = _split_into_word_set(
    "das der ein eine est et les oder que sind und une"
)
"""The same of other languages, as far as they are no English words."""

NEGATIONS: Final = _split_into_word_set(
    """
    not no never none nobody nothing nowhere neither nor without cannot n't can't don't doesn't
    didn't isn't aren't wasn't weren't won't wouldn't couldn't shouldn't hasn't haven't hadn't
    mustn't needn't jamais kein keine keinen nicht nie nunca ohne
    """
)
"""Lower-case forms that turn a statement round; of other languages, what is not English."""

CONDITIONS: Final = _split_into_word_set(
    "unless except excluding if until provided only außer falls salvo sauf sofern"
)
"""Lower-case forms that limit a statement."""

EXCEPTIONS: Final = _split_into_word_set("unless except excluding außer sauf salvo")
"""Those of them that take something out of what is said."""

ABSOLUTE: Final = _split_into_word_set("always never every all must entire entirely")
"""Lower-case forms that allow of no exception. "Each" and "any" are said of what is left, too."""

UNIVERSAL: Final = _split_into_word_set(
    "all always every everyone everything entirely completely whole each"
)
"""Lower-case forms that speak of all, or of every time."""

SOME_OF_MANY: Final = _split_into_word_set(
    "some many most several few often sometimes usually generally frequently typically mostly "
    "partly occasionally certain various"
)
"""Lower-case forms that speak of a part, or of some times."""

POSSIBLE: Final = _split_into_word_set("may might could possibly probably perhaps likely maybe can")
"""Lower-case forms that leave open whether something is so."""

CERTAIN: Final = _split_into_word_set(
    "will must shall is are was were has have had certainly definitely always"
)
"""Lower-case forms that do not, in their place."""

BENDS_NEGATION: Final = _split_into_word_set(
    "only until just necessarily always avoid if whether unless ensure verify check sure should"
)
"""Beside one of these a negation need not turn the statement: "not until", "verify that"."""

NEGATES_SILENTLY: Final = _split_into_word_set(
    "avoid avoids avoided prevent prevents prevented refuse refuses refused fail fails failed lack "
    "lacks lacked deny denies denied stop stops stopped unable"
)
"""On the side without a negation these say as much: "prefer to avoid", "prefer not to take"."""

FIRST_PERSON: Final = _split_into_word_set(
    "i i'm i've i'd i'll me my mine myself we we're we've we'd we'll our us"
)
"""Lower-case forms by which a speaker talks of themselves."""

HEDGES: Final = _split_into_word_set(
    "about around roughly approximately nearly almost circa over under more less least most "
    "up some close"
)
"""Lower-case forms that make the number after them approximate."""

PERSON_TITLES: Final = _split_into_word_set(
    "mr mrs ms miss dr doctor prof professor sir lord lady dame king queen prince princess emperor "
    "president chancellor premier prime minister senator governor mayor judge justice general "
    "colonel captain major admiral pope bishop saint st reverend chairman director chief coach"
)
"""Lower-case forms that stand before a name or for it."""

NUMBER_WORDS: Final[dict[str, int]] = {
    word: value
    for value, word in enumerate(
        _split_entries(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen seventeen eighteen nineteen"
        )
    )
} | {
    word: 10 * tens
    for tens, word in enumerate(
        _split_entries("twenty thirty forty fifty sixty seventy eighty ninety"), start=2
    )
}
"""Values of number words below one hundred."""

NUMBER_SCALES: Final[dict[str, float]] = {
    "dozen": 12,
    "hundred": 1e2,
    "thousand": 1e3,
    "k": 1e3,
    "million": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "trillion": 1e12,
    "lakh": 1e5,
    "crore": 1e7,
}
"""Words that multiply the number before them."""

NUMBER_SUFFIXES: Final[dict[str, float]] = {"m": 1e6, "b": 1e9, "t": 1e12}
"""Letters directly behind a number that may multiply it: "1.5M"."""

PERCENT_WORDS: Final = _split_into_word_set("percent percentage pct")

CURRENCIES: Final = {"$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
"""Signs before a number, with the word that stands behind it instead."""

UNITS: Final[dict[str, str]] = dict(
    pair.split(":")
    for pair in _split_entries(
        """
        km:kilometer m:meter cm:centimeter mm:millimeter ft:foot mi:mile kg:kilogram g:gram
        mg:milligram lb:pound lbs:pound oz:ounce l:liter ml:milliliter h:hour hr:hour hrs:hour
        min:minute mins:minute sec:second secs:second usd:dollar eur:euro gbp:pound
        """
    )
)
"""Short forms directly behind a number, with what they are short for."""

UNIT_SIZES: Final[dict[str, dict[str, float]]] = {
    "length": {
        "millimeter": 1e-3,
        "centimeter": 1e-2,
        "meter": 1.0,
        "kilometer": 1e3,
        "inch": 0.0254,
        "foot": 0.3048,
        "yard": 0.9144,
        "mile": 1609.344,
    },
    "mass": {
        "milligram": 1e-3,
        "gram": 1.0,
        "kilogram": 1e3,
        "kilo": 1e3,
        "tonne": 1e6,
        "ounce": 28.349523125,
    },
    "volume": {"milliliter": 1e-3, "centiliter": 1e-2, "liter": 1.0, "hectoliter": 1e2},
    "time": {
        "second": 1.0,
        "minute": 60.0,
        "hour": 3600.0,
        "day": 86400.0,
        "week": 604800.0,
    },
    "months": {"month": 1.0, "year": 12.0, "decade": 120.0, "century": 1200.0},
}
"""What units measure, with their sizes. Pounds are left out: they are weight and money."""

MONTHS: Final = tuple(
    _split_entries(
        "january february march april may june july august september october november december"
    )
)
MONTHS_SHORT: Final[dict[str, str]] = {name[:3]: name for name in MONTHS} | {"sept": "september"}
"""Short forms beside a number; `may` is long and short."""
WEEKDAYS: Final = tuple(_split_entries("monday tuesday wednesday thursday friday saturday sunday"))
BEFORE_MONTHS: Final = _split_into_word_set(
    "in of since until till by during from to last next early late mid this every and or between "
    "through before after"
)
"""Lower-case forms behind which a capitalised "May" is the month."""

ORDINALS: Final[dict[str, int]] = {
    word: value
    for value, word in enumerate(
        _split_entries(
            "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
            "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
        ),
        start=1,
    )
}
"""Ranks written as words."""


EXCLUSIVE_KINDS: Final = (
    _split_into_word_set("seconds minutes hours days weeks months years decades centuries"),
    _split_into_word_set("black white red green blue yellow orange purple pink brown grey"),
    _split_into_word_set(
        "american british irish french german italian spanish portuguese "
        "dutch belgian swiss austrian swedish norwegian danish finnish polish czech hungarian "
        "russian ukrainian turkish greek israeli egyptian iranian iraqi indian pakistani chinese "
        "japanese korean vietnamese thai australian canadian mexican brazilian argentine chilean "
        "nigerian kenyan"
    ),
    _split_into_word_set(
        "england scotland wales ireland france germany italy spain portugal netherlands belgium "
        "switzerland austria sweden norway denmark finland poland hungary russia ukraine turkey "
        "greece israel egypt iran iraq india pakistan china japan vietnam thailand australia "
        "canada mexico brazil argentina chile nigeria kenya"
    ),
    _split_into_word_set(
        "london paris berlin madrid rome vienna moscow tokyo beijing sydney toronto boston"
    ),
    _split_into_word_set("car train plane bus ship bicycle"),
)
"""Sets of lower-case forms of which, as a rule, one place in a sentence takes only one."""

IRREGULAR: Final[dict[str, str]] = dict(
    pair.split(":")
    for pair in _split_entries(
        """
        arose:arise arisen:arise ate:eat eaten:eat awoke:awake became:become began:begin
        begun:begin bent:bend bitten:bite bled:bleed blew:blow blown:blow
        bore:bear borne:bear bought:buy bound:bind bred:breed broke:break broken:break
        brought:bring built:build burnt:burn came:come caught:catch chose:choose chosen:choose
        clung:cling crept:creep dealt:deal died:die dies:die drank:drink drawn:draw dreamt:dream
        drew:draw driven:drive drove:drive drunk:drink dug:dig dying:die fallen:fall fed:feed
        fell:fall felt:feel fled:flee flew:fly flown:fly forbade:forbid forbidden:forbid
        forgave:forgive forgiven:forgive forgot:forget forgotten:forget fought:fight
        found:find froze:freeze
        frozen:freeze gave:give given:give gone:go grew:grow grown:grow heard:hear held:hold
        hid:hide hidden:hide hung:hang kept:keep knew:know known:know laid:lay lain:lie leapt:leap
        learnt:learn led:lead lent:lend lit:light lost:lose made:make meant:mean met:meet
        overcame:overcome overtaken:overtake overtook:overtake paid:pay proven:prove ran:run
        rang:ring rewritten:rewrite rewrote:rewrite risen:rise rode:ride ridden:ride rose:rise
        rung:ring said:say sang:sing sank:sink sat:sit saw:see seen:see sent:send sewn:sew
        shaken:shake shone:shine shook:shake shot:shoot showed:show shown:show shrank:shrink
        shrunk:shrink slept:sleep slid:slide sold:sell sought:seek spent:spend spoke:speak
        spoken:speak sprang:spring sprung:spring spun:spin stolen:steal stole:steal stood:stand
        strove:strive struck:strike stricken:strike stuck:stick stung:sting sung:sing sunk:sink
        swam:swim swept:sweep swore:swear sworn:swear swum:swim swung:swing taken:take
        taught:teach thought:think threw:throw thrown:throw told:tell took:take tore:tear torn:tear
        undergone:undergo understood:understand undertaken:undertake undertook:undertake
        underwent:undergo undid:undo undone:undo went:go wept:weep withdrawn:withdraw
        withdrew:withdraw withheld:withhold withstood:withstand woke:wake woken:wake won:win
        wore:wear worn:wear wove:weave woven:weave written:write wrote:write wrought:work
        analyses:analysis best:good better:good children:child crises:crisis criteria:criterion
        feet:foot geese:goose halves:half hypotheses:hypothesis knives:knife loaves:loaf
        men:man mice:mouse oxen:ox people:person phenomena:phenomenon
        shelves:shelf teeth:tooth theses:thesis thieves:thief wives:wife wolves:wolf women:woman
        worse:bad worst:bad gray:grey airplane:plane aeroplane:plane
        centuries:century hours:hour inches:inch usd:dollar eur:euro gbp:pound
        """
    )
)
"""Irregular forms and spellings, each with the form it is read as; none is another word as well."""

RISING: Final = _split_entries("increase rise grow climb soar surge jump gain expand")
FALLING: Final = _split_entries(
    "decrease decline drop fall sink shrink plunge plummet slump tumble dip"
)
"""Movements of which each of one list is the opposite of each of the other."""

NEGATING_PREFIXES: Final = ("un", "non", "in", "im", "ir", "il", "dis")
"""What turns an adjective into its opposite: efficient, inefficient."""
NEGATED_ENDINGS: Final = ("able", "ible", "ate", "ient", "ent", "ant", "ive", "ed", "ful", "ly")
"""Endings of words of which a prefix makes the opposite; elsewhere "in" is seldom a negation."""
NO_OPPOSITES: Final = _split_into_word_set("valuable different vested closed covered tended")
"""Words that end so, but whose prefixed form is no opposite: valuable, invaluable."""

OPPOSITE_PAIRS: Final = tuple(
    (left, right)
    for left, _, right in (
        pair.partition("/")
        for pair in _split_entries(
            """
            increase/reduce increase/cut gain/lose gain/loss boost/impair boost/hinder boost/harm
            expand/contract improve/worsen improve/impair improve/deteriorate
            strengthen/weaken raise/lower
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
            bright/dim loud/quiet noisy/quiet sweet/bitter encode/decode encrypt/decrypt
            compress/decompress
            inhale/exhale prior/current former/current manual/automatic hire/fire promote/demote
            surrender/defend victory/loss landlord/tenant prosecutor/defendant optimist/pessimist
            appoint/dismiss retain/release accept/deny grant/deny upgrade/downgrade exceed/miss
            beat/miss overestimate/underestimate
            """
        )
    )
) + tuple((rise, fall) for rise in RISING for fall in FALLING)
"""Pairs of which a statement cannot hold both in the same place."""
