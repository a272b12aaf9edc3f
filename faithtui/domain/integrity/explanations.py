"""What each kind of finding means and what to do about it, in the words of screens and commands."""

from dataclasses import dataclass

from faithtui.domain.integrity.findings import FindingKind


@dataclass(frozen=True, slots=True)
class KindExplanation:
    """A kind of finding, explained."""

    title: str
    """A few words for lists."""
    meaning: str
    """What was seen, and how sure it is."""
    to_do: str
    """What a person can do about it."""


EXPLANATIONS: dict[FindingKind, KindExplanation] = {
    FindingKind.MISSING_VERDICT: KindExplanation(
        "claims without a verdict",
        "The judge was asked and gave no verdict on the claim. It is a class of its own, "
        "never a pass, and its window has no score.",
        "Give the verdicts yourself, or run the judge again; a larger model or a smaller window "
        "loses fewer.",
    ),
    FindingKind.UNKNOWN_WORD: KindExplanation(
        "words that are no verdict",
        "The judge wrote something that is none of the metric's labels. No label is guessed from "
        "it.",
        "Read what it wrote and give the verdict yourself. Many of these mean that the model does "
        "not follow the format: use one that does.",
    ),
    FindingKind.SURPLUS_VERDICT: KindExplanation(
        "verdicts beyond the last claim",
        "The judge gave more verdicts than there are claims, so those of the window may have "
        "slipped by one.",
        "Look through the whole window: verdicts that belong to the claim above or below stand "
        "out.",
    ),
    FindingKind.AGAINST_EVIDENCE: KindExplanation(
        "verdicts against their evidence",
        "The truths that the judge named for the claim say otherwise than its verdict, or it says "
        "yes and named none. It was asked once more and still contradicted itself, so its verdict "
        "was kept.",
        "Compare the truths with the verdict and decide; code 3 (verdict) when the label is wrong. "
        "Many of these mean that the model is too weak for this question.",
    ),
    FindingKind.AGAINST_REASON: KindExplanation(
        "reasons against their verdict",
        "The reason speaks of support where the verdict says there is none, or of none where it "
        "says there is. Found by its words, in English, so look before you believe it.",
        "Read the reason and decide; code 3 (verdict) when the label is wrong.",
    ),
    FindingKind.FLIP: KindExplanation(
        "verdicts that flip",
        "The same claim got different verdicts in different windows, and nothing that came into "
        "view or left it explains why. One of them is wrong.",
        "Label the claim once: your verdict counts in every window. A judge that flips often is "
        "unsure of much it says.",
    ),
    FindingKind.ASKS_JUDGE: KindExplanation(
        "texts that speak to the judge",
        "A message or a passage tells whoever judges it what to say, or looks like a part of the "
        "prompt. It changes no format, but a model may obey it. Found by its words, in English.",
        "Read the verdicts of this conversation yourself. If the text is no accident, look where "
        "the passage came from (code 6).",
    ),
    FindingKind.PHANTOM: KindExplanation(
        "claims the answer does not make",
        "A number, name, date or negation of the claim, or most of its words, are neither in the "
        "answer nor in what was said before it. The judge may have made the claim up.",
        "x takes a claim out that is not fair to judge; code 1 (claim extraction).",
    ),
    FindingKind.INVENTED_TRUTH: KindExplanation(
        "truths the passage does not state",
        "A number, name, date or negation of the truth, or most of its words, are not in the "
        "passage it is said to come from. What rests on it rests on nothing.",
        "Read the passage; code 2 (truth extraction). Claims that such a truth supports or "
        "contradicts need a look.",
    ),
    FindingKind.ECHOED_PROMPT: KindExplanation(
        "texts copied from the prompt",
        "A claim, a truth or a reason says what the instructions say and the conversation does "
        "not: a sentence of them, the name of a field, or the “...” of an example reply.",
        "Use a larger model, or shorter prompts: one that copies its instructions has not read "
        "the rest. x takes such a claim out.",
    ),
    FindingKind.INVENTED_QUOTE: KindExplanation(
        "quotations that stand nowhere",
        "The reason puts words between quotation marks that are in no passage, no message, no "
        "truth and no claim; or the words that the judge copied for a truth are not in its "
        "passage. The verdict is kept; what it rests on is made up.",
        "Read the passage in place of the quotation and decide; code 3 (verdict) when the label "
        "is wrong.",
    ),
    FindingKind.LOST_FACT: KindExplanation(
        "facts that no truth covers",
        "A passage of the turn has a sentence about the same things, and a number, name, date, "
        "negation or condition of it is in no truth: the judge never saw it.",
        "Read the passage, not the truths; code 2 (truth extraction). Many of these: raise "
        "truths_extraction_limit and run again.",
    ),
    FindingKind.FAILED_WINDOW: KindExplanation(
        "windows that failed",
        "Something went wrong while the window was judged, so that the conversation has no score.",
        "faithtui run --resume judges them again and asks nothing that was answered.",
    ),
    FindingKind.WINDOW_ORDER: KindExplanation(
        "windows out of order",
        "A window is missing, or its turns come before those of the window before it.",
        "Run the conversation again; if it stays, report it as an error.",
    ),
    FindingKind.NO_CLAIMS: KindExplanation(
        "windows without claims",
        "The judge found nothing to judge there, so the window has no score and no mean counts it. "
        "Under --as-peer, and in runs of earlier versions, it scores 1.0 by the peer's rule, which "
        "says nothing about faithfulness.",
        "Read the answers: small talk is fine, missed claims are not (code 1). Keep the count in "
        "mind when you read the score.",
    ),
    FindingKind.NO_CONTEXT: KindExplanation(
        "windows without context",
        "No turn of the window has a document, so nothing can support what is said there.",
        "Look whether retrieval returned nothing or the import lost it (code 4, or 6).",
    ),
    FindingKind.TURN_LEFT_OUT: KindExplanation(
        "turns left out",
        "No verdict looks at the turn as an answer to something: a question that nobody answered, "
        "or an answer that nobody asked for.",
        "Nothing, if the conversation is so. Else mend the data and import it again (code 6).",
    ),
    FindingKind.CHANGED: KindExplanation(
        "verdicts that changed with the evidence",
        "The verdict differs between windows, and what came into view or left it explains why.",
        "Nothing. It shows which claims rest on context of other turns.",
    ),
}
