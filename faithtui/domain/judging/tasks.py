"""What a question to a judge is about, as data.

A judge that reads prompts gets the rendered text and ignores this. A judge that computes its
answers (the embedded one, and the scripted ones of the tests) works from these values and never
has to take a prompt apart. Both answer in the same JSON, described beside each task.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExtractTruths:
    """List the facts of each document.

    Reply: `{"d0": ["fact", …], "d1": […]}`, one key per document.
    """

    documents: tuple[str, ...]
    limit: int | None = None
    """At most so many facts per document; None: all."""


@dataclass(frozen=True, slots=True)
class ExtractPooledTruths:
    """List the facts of several documents taken together, as deepeval asks.

    Reply: `{"truths": ["fact", …]}`.
    """

    documents: tuple[str, ...]
    limit: int | None = None
    """At most so many facts in all; None: all."""


@dataclass(frozen=True, slots=True)
class ExtractClaims:
    """List the factual statements of each answer.

    Reply: `{"a0": ["claim", …], "a1": […]}`, one key per answer.
    """

    answers: tuple[str, ...]
    questions: tuple[str, ...] = ()
    """User messages that belong to the answers, only to resolve references."""
    history: tuple[str, ...] = ()
    """Earlier messages, each prefixed with its role, only to resolve references."""


@dataclass(frozen=True, slots=True)
class ExtractPooledClaims:
    """List the factual statements of several answers taken together, as deepeval asks.

    Reply: `{"claims": ["claim", …]}`.
    """

    answers: tuple[str, ...]
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EvidenceGroup:
    """Claims that are all to be compared with the same truths."""

    claims: tuple[str, ...]
    truths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FindEvidence:
    """For each claim, name the truths of its group that are enough for it, and those against it.

    Claims are numbered c0, c1, … and truths t0, t1, … through all groups, in order.

    Reply: `{"c0": {"reason": str, "sufficient": [["t0", "t2"], ["t1"]], "partial": ["t3"],
    "contradicts": ["t4"], "verdict": word}, …}`. Each set of `sufficient` is enough for the whole
    claim, and no smaller part of it is; `partial` are other truths that state a part of the claim.
    `verdict` is the judge's verdict on the claim given the truths of its group. A judge that has
    one adds `"confidence"`, the probability in [0, 1] that the claim is supported.
    """

    groups: tuple[EvidenceGroup, ...]


@dataclass(frozen=True, slots=True)
class JudgeClaims:
    """Give each claim a verdict against all truths.

    Reply: `{"c0": {"reason": str, "verdict": word}, …}`, optionally with `"confidence"` as above.
    """

    claims: tuple[str, ...]
    truths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgeClaimList:
    """Give each claim a verdict against all truths, as an unnumbered list, as deepeval asks.

    Reply: `{"verdicts": [{"verdict": word, "reason": str}, …]}` in the order of the claims.
    """

    claims: tuple[str, ...]
    truths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainScore:
    """Put into one to three sentences why a window got its score.

    Reply: `{"reason": str}`.
    """

    score: float
    findings: tuple[str, ...]
    """Reasons of the verdicts that cost something; () when nothing did."""


@dataclass(frozen=True, slots=True)
class ConcludeReasons:
    """Put into one to three sentences why a conversation got its score.

    Reply: `{"reason": str}`.
    """

    score: float
    success: bool | None
    reasons: tuple[str, ...]
    """What is to be said of the windows, in order; () when there is nothing."""


@dataclass(frozen=True, slots=True)
class RelateDocument:
    """Cut a document into statements, and name for each the user messages it serves.

    Messages are numbered q0, q1, … in order.

    Reply: `{"statements": [{"statement": str, "reason": str, "serves": ["q0", …], "verdict": word},
    …]}`. `verdict` is `yes` when the statement serves any of the messages, else `no`.
    """

    document: str
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgeDocument:
    """Cut a document into statements, each relevant to the messages together or not, as deepeval.

    Reply: `{"verdicts": [{"statement": str, "verdict": word, "reason": str}, …]}`.
    """

    document: str
    messages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExplainRelevance:
    """Put into one to three sentences why a window's context got its score.

    Reply: `{"reason": str}`.
    """

    score: float
    messages: tuple[str, ...]
    irrelevant: tuple[str, ...]
    """Statements called irrelevant, each with its reason."""
    relevant: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SplitAnswer:
    """Cut an answer into statements that can be understood alone, as ragas asks.

    Reply: `{"statements": [str, …]}`.
    """

    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class InferStatements:
    """Say of each statement whether it can be inferred from the contexts.

    Reply: `{"s0": {"reason": str, "verdict": "1" or "0"}, …}`, one key per statement.
    """

    statements: tuple[str, ...]
    contexts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InferStatementList:
    """The same as an unnumbered list, as ragas asks.

    Reply: `{"statements": [{"statement": str, "reason": str, "verdict": 1 or 0}, …]}` in order.
    """

    statements: tuple[str, ...]
    contexts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SupportAnswer:
    """Say whether a context supports an answer, as LlamaIndex asks.

    Reply: not JSON but a text, `YES` or `NO`.
    """

    answer: str
    context: str
    """One chunk of packed contexts."""
    earlier: str | None = None
    """The reply to the chunk before, None for the first chunk: keep a YES, else look again."""


Task = (
    ExtractTruths
    | ExtractPooledTruths
    | ExtractClaims
    | ExtractPooledClaims
    | FindEvidence
    | JudgeClaims
    | JudgeClaimList
    | ExplainScore
    | ConcludeReasons
    | RelateDocument
    | JudgeDocument
    | ExplainRelevance
    | SplitAnswer
    | InferStatements
    | InferStatementList
    | SupportAnswer
)


def list_numbered_claims_or_statements(task: Task) -> tuple[tuple[str, str], ...]:
    """List what a task asks verdicts on, each with its name in question and reply.

    Returns:
        (`c0`, claim) or (`s0`, statement), in order; () where nothing is numbered.
    """
    match task:
        case FindEvidence(groups):
            letter, units = "c", tuple(each for group in groups for each in group.claims)
        case JudgeClaims(claims) | JudgeClaimList(claims):
            letter, units = "c", claims
        case InferStatements(statements) | InferStatementList(statements):
            letter, units = "s", statements
        case _:
            return ()
    return tuple((f"{letter}{number}", text) for number, text in enumerate(units))


def list_numbered_truths(task: Task) -> tuple[tuple[str, str], ...]:
    """List the truths of a task, each with its name in question and reply.

    Returns:
        (`t0`, truth), in order; () where no truths are numbered.
    """
    match task:
        case FindEvidence(groups):
            truths = tuple(each for group in groups for each in group.truths)
        case JudgeClaims(_, truths):
            pass
        case _:
            return ()
    return tuple((f"t{number}", text) for number, text in enumerate(truths))
