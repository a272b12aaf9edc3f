"""No foreign text may reach a widget as a str: Textual reads a str as markup."""

import ast
from pathlib import Path

import faithtui.tui

ROOT = Path(faithtui.tui.__file__).parent
WIDGETS = {
    "Static", "Label", "Button", "Checkbox", "RadioButton", "Collapsible", "TabPane", "Option",
    "Selection", "Digits", "Link", "add_row", "add_column", "add_columns", "add_option",
    "add_options", "update", "set_options", "Select", "OptionList", "SelectionList", "DataTable",
    "Markdown",
}  # fmt: skip
ATTRIBUTES = {"border_title", "border_subtitle", "tooltip", "title", "sub_title", "label"}
SAFE_CALLS = {"Content", "assemble", "Text", "Strip", "Segment", "_words"}


def is_safe(node: ast.expr) -> bool:
    """Say whether an argument is our own words or text that is not parsed."""
    match node:
        case ast.Constant():
            return True
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in SAFE_CALLS or name in WIDGETS
        case ast.Tuple(elts=[first, *_]):
            return is_safe(first)
        case ast.List(elts=elements):
            return all(is_safe(each) for each in elements)
        case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
            return is_safe(element)
        case ast.Starred(value=value):
            return is_safe(value)
        case ast.IfExp(body=body, orelse=orelse):
            return is_safe(body) and is_safe(orelse)
    return False


def problems(source: str, name: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
                if called == "notify":
                    marks = [key.value for key in node.keywords if key.arg == "markup"]
                    off = any(isinstance(m, ast.Constant) and m.value is False for m in marks)
                    titles = [key.value for key in node.keywords if key.arg == "title"]
                    if not off or not all(is_safe(each) for each in titles):
                        found.append(f"{name}:{node.lineno} notify parses markup")
                elif called in WIDGETS and node.args and not is_safe(node.args[0]):
                    # dict.update and set.update take no text.
                    if called == "update" and ast.unparse(node.func).startswith("self.names"):
                        continue
                    found.append(f"{name}:{node.lineno} {called} gets a str")
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if (
                        isinstance(target, ast.Attribute)
                        and target.attr in ATTRIBUTES
                        and not is_safe(value)
                    ):
                        found.append(f"{name}:{node.lineno} {target.attr} gets a str")
    return found


def test_no_str_that_is_not_ours_reaches_a_widget() -> None:
    found = [
        problem
        for path in sorted(ROOT.rglob("*.py"))
        if "from textual" in path.read_text("utf-8")
        for problem in problems(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())
    ]
    assert found == []


def test_the_lint_sees_what_it_looks_for() -> None:
    for source in (
        "Static(name)",
        "Label(f'{name}')",
        "self.notify(words)",
        "self.notify('x', title=words, markup=False)",
        "pane.border_title = words",
        "Select([(title, 1)])",
        "label.update(words)",
        "table.add_row(name)",
    ):
        assert problems(source, "x"), source
    for source in (
        "Static(Content(name))",
        "Label('ours')",
        "self.notify(words, markup=False)",
        "pane.border_title = Content(words)",
        "Select([(Content(title), 1)])",
    ):
        assert not problems(source, "x"), source
