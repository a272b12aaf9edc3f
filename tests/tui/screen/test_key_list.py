"""Lists of keys: what each is for is read whole, however narrow the list is."""

from faithtui.tui.screen.key_list import KeyEntry, KeyListDialog
from faithtui.tui.theme.lines import count_cells_of_pieces


def test_meanings_that_do_not_fit_go_on_in_the_next_line_of_their_row() -> None:
    meaning = "Each annotator against the judge, and against each other"
    dialog = KeyListDialog("Parts", [KeyEntry("1", "one", meaning), KeyEntry("2", "two", "Short")])
    lines = dialog._key_entry_lines(40)
    assert [each.row for each in lines] == [0, 0, 1]
    assert " ".join(" ".join(each.text for each in lines[:2]).split()) == f"1 one {meaning}"
    assert all(count_cells_of_pieces(each.pieces) < 40 for each in lines)
