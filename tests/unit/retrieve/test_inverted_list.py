"""Things that share words with a prompt."""

from recollect.retrieve.graph_index import InvertedList


def test_those_that_share_most_come_first_and_what_was_dropped_is_gone() -> None:
    words: InvertedList[str] = InvertedList()
    words.put("a", "A", ["retri", "cap", "ledger"])
    words.put("b", "B", ["retri", "cap"])
    words.put("c", "C", ["retri"])
    asked = frozenset({"retri", "cap", "ledger", "unknown"})
    assert words.sharing(asked, 2, 10) == [("A", 3), ("B", 2)]
    assert words.sharing(asked, 1, 2) == [("A", 3), ("B", 2)]
    words.put("b", "B2", ["ledger"])
    words.drop("a")
    assert words.sharing(asked, 1, 10) == [("C", 1), ("B2", 1)]
    assert words.sharing(frozenset({"unknown"}), 1, 10) == []
    assert words.sharing(asked, float("inf"), 10) == []
