"""Terms that users read are in docs/glossary.md, and words that nobody knows are nowhere.

What a user reads: README.md, the pages of docs/ (decisions are history), the help of commands, and
the strings of the package: messages, screens, reports. What a developer reads: its docstrings and
comments.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from faithtui.tui.screen_catalog import SCREENS
from tests.docs.generate import DOCS, PACKAGE, ROOT
from tests.docs.test_command_names import COMMANDS

GLOSSARY = (DOCS / "glossary.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", GLOSSARY, re.MULTILINE)
TERMS = {
    term.strip("` ").lower()
    for names, _ in ROWS
    if names not in ("term", "---")
    for term in names.split(",")
}
PAGES = [
    ROOT / "README.md",
    *(path for path in sorted(DOCS.rglob("*.md")) if path.parent.name != "decisions"),
]

AVOID = {
    r"in the air": "in flight",
    r"on (its|their) way\b": "in flight",
    r"cautions\b": "warnings",
    r"what to beware of": "warnings",
    r"finding what is bad": "detection of unfaithful claims",
    r"false alarms?\b": "FP",
    r"(un)?steadiness\b|\bunsteady\b|how steady": "self-agreement, test-retest",
    r"no readings?\b|counts as a reading": "not counted in agreement",
    r"what people sa(id|y)": "human labels",
    r"people\b|person's (word|verdict|label)": "annotators, reviewers; human labels",
    r"judge'?s'? words?\b": "the judge's verdict",
    r"final word|last word": "final label",
    r"put off\b": "skip",
    r"labels say": "labelled",
    r"unsure as|unsure counts": "treat idk as",
    r"no fair (claim|one)": "x, not a fair claim",
}
"""Regular expressions of words to avoid, and what to say."""

MEANT = (
    "files that people really have",
    "take bundles from people you know",
    "merge those of people you trust",
    "the words people use",
    "How people decided earlier cases",  # the prompt: another text would need new stored replies
    # The word of a filter that stands before the cursor.
    "last word of a filter",
    "last word of a text",
    "last word may",
    "Complete the last word",
    "Go to the last word",  # of a text in which words are chosen
)
"""Where such a word means what it says."""

NOT_READ = {
    "judges/embedded",
    "domain/text",  # words of the language, which are compared and never shown
    "metrics/prompts",
}

NAMED = re.compile(r"`[a-z_.-]+`")
"""Names in a text: of fields, of bindings."""

NAMES = re.compile(r"[a-z_]*")
"""A string that is one lower-case word is a name: a JSON field, a pane, a column of the store."""


def strings(path: Path) -> Iterator[str]:
    """Give the strings of a module that are no docstrings, holes of f-strings as {}."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    hidden = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    hidden |= {
        id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in hidden
        ):
            yield node.value


def docstrings_and_comments(path: Path) -> Iterator[str]:
    """Give the docstrings of a module, fields' included, then its comments.

    Comments on consecutive lines are one text.
    """
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.value.value
    if "#" not in text:  # most modules: reading tokens takes long
        return
    lines = [""]
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            if token.start[0] != last + 1:
                lines.append("")
            lines[-1] += token.string.lstrip("#") + " "
            last = token.start[0]
    yield from lines


def avoided(text: str) -> list[str]:
    """Name the words to avoid in a text, with what to say."""
    text = NAMED.sub("", " ".join(text.split()))
    for phrase in MEANT:
        text = text.replace(phrase, "")
    return [
        f"{found[0]!r} (say {better!r}) in: {text[max(0, found.start() - 40) : found.end() + 40]}"
        for word, better in AVOID.items()
        for found in re.finditer(rf"\b(?:{word})", text, re.IGNORECASE)
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_page_has_a_word_to_avoid(path: Path) -> None:
    assert avoided(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("words", sorted(COMMANDS), ids=" ".join)
def test_no_help_has_a_word_to_avoid(words: tuple[str, ...]) -> None:
    command = COMMANDS[words]
    texts = [command.help, *(getattr(each, "help", None) for each in command.params)]
    assert [each for text in texts if text for each in avoided(text)] == []


def test_no_string_of_the_package_has_a_word_to_avoid() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}: {each}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parent.as_posix() not in NOT_READ
        # All of a file at once: each word is looked for in a hundredth of the time.
        for each in avoided(" | ".join(text for text in strings(path) if not NAMES.fullmatch(text)))
    ]
    assert found == []


def test_no_docstring_or_comment_of_the_package_has_a_word_to_avoid() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}: {each}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for each in avoided(" | ".join(docstrings_and_comments(path)))
    ]
    assert found == []


def test_docstrings_and_comments_are_read_across_lines(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""Questions in the\nair."""\n\n# What people\n# said.\nx = "people"  # put off\n',
        encoding="utf-8",
    )
    found = avoided(" | ".join(docstrings_and_comments(module)))
    assert [each.partition(" (")[0] for each in found] == [
        *("'in the air'", "'What people said'", "'people'", "'put off'"),
    ]


def test_a_word_to_avoid_is_found_across_lines_and_in_any_case() -> None:
    assert len(avoided("Questions in\nthe air. What People said.")) == 3
    assert avoided("files that people really have") == []


def test_each_term_has_one_sentence() -> None:
    terms = [term for names, _ in ROWS for term in names.split(", ") if names != "term"]
    assert len(terms) == len(set(terms)) > 100
    for names, meaning in ROWS:
        if names not in ("term", "---"):
            assert meaning.endswith("."), names
            assert not re.search(r"[a-z)]\. [A-Z]", meaning), names


def test_the_terms_that_must_be_there_are_there() -> None:
    for term in (
        *("claim", "truth", "verdict", "window", "interaction", "turn", "judge", "annotator"),
        *("reviewer", "human label", "agreement", "confusion matrix", "kappa", "tp", "fp", "fn"),
        *("detection of unfaithful claims", "corrected score", "ppi", "calibration", "blind"),
        *("override", "adjudication", "sample", "frame", "stratum", "gate", "certificate"),
        *("bundle", "batch", "lease", "run", "resume", "self-agreement", "test-retest"),
        *("in flight", "skip", "warning", "not counted in agreement", "inter-annotator agreement"),
    ):
        assert term in TERMS, term


def test_the_titles_of_screens_are_terms() -> None:
    """A screen is called by a term of the glossary, in its title and in the list of screens."""
    from importlib import import_module

    words = {word for term in TERMS for word in (term, f"{term}s")} | {
        # Places of the app, not terms of the field.
        *("settings", "review", "progress"),
        *("adjudicate", "compare", "queues"),
    }
    for entry in SCREENS.values():
        module, _, name = entry.screen.partition(":")
        title = getattr(import_module(f"faithtui.tui.{module}"), name).TITLE_WORDS
        for word in title.lower().split(" / "):
            assert word in words, title


def test_the_bold_terms_of_the_readme_and_the_first_columns_are_terms() -> None:
    """Fields of agreement that the README names are terms."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8").lower()
    for term in (
        *("claim", "verdict", "judge", "truth", "passage", "override", "blind", "human label"),
        *("agreement", "interval", "sample", "score", "gate", "store", "label bundle", "budget"),
        *("threshold", "confusion matrix", "peer", "metric", "window", "conversation", "warning"),
    ):
        assert term in readme, term
        assert term.removeprefix("label ") in TERMS, term


@pytest.mark.parametrize(
    "path",
    [path for path in PAGES if path.name != "glossary.md"],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_every_page_links_to_the_glossary(path: Path) -> None:
    assert "glossary.md)" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("words", sorted(COMMANDS), ids=" ".join)
def test_every_help_has_an_example_of_its_command(words: tuple[str, ...]) -> None:
    text = " ".join((COMMANDS[words].help or "").split())
    assert f"Example: {' '.join(('faithtui', *words))} " in f"{text} "
