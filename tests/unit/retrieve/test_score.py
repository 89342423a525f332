"""The signals that look at where words stand and who spoke before."""

import numpy as np
import pytest

from recollect.retrieve import score
from recollect.retrieve.index import Document, Index
from recollect.retrieve.query import parse, weigh


def index_of(*documents: Document) -> Index:
    index = Index()
    index.add(documents)
    return index


def pairs(text: str, *documents: str) -> list[float]:
    index = index_of(*(Document(id=str(n), text=one) for n, one in enumerate(documents)))
    terms = weigh(parse(text), [index])
    question = score.IndexQuery(parse(text), terms, score.stem_numbers(index, terms), None)
    found = score.text_signals(index, question, np.arange(len(index.ids)))
    return [float(value) for value in found.pairs]


def test_words_that_stand_together_in_both_texts_count_and_scattered_ones_do_not() -> None:
    together, turned, apart, across = pairs(
        "retry budget",
        "the retry budget is three",
        "a budget for every retry",
        "retry is one thing here, and quite another thing is the budget",
        "no such words at all",
    )
    assert together == turned == 1.0
    assert apart == across == 0.0


def test_pair_counts_once_however_often_it_stands_there() -> None:
    once, often = pairs("retry budget", "retry budget", "retry budget retry budget")
    assert once == often == 1.0


def test_share_of_pairs_is_by_weight_and_within_bounds() -> None:
    # Of three pairs one is there; the rarer its words, the more it is worth.
    values = pairs("alpha beta gamma delta", "alpha beta", "alpha beta gamma delta", "delta alpha")
    assert 0 < values[0] < values[1] == 1.0
    assert values[2] == 0.0


def test_words_of_two_memories_are_no_pair() -> None:
    assert pairs("retry budget", "we retry", "budget meeting") == [0.0, 0.0]


def test_a_single_word_has_no_pair() -> None:
    assert pairs("retry", "retry retry") == [0.0]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (("user", "Which port?"), ("user", "7325"), 1.0),
        (("assistant", "Which port?"), ("user", "7325"), 1.0),
        (("assistant", "Which port?"), ("assistant", "7325"), 1.0),
        (("user", "Which port?"), ("assistant", "7325"), 0.0),
        (("assistant", "The port is this."), ("user", "7325"), 0.0),
        (("assistant", "word " * 80 + "right?"), ("user", "7325"), 0.0),
        (("assistant", "端口是什么？"), ("user", "7325"), 1.0),
    ],
)
def test_reply_to_a_short_question(
    before: tuple[str, str], after: tuple[str, str], expected: float
) -> None:
    index = index_of(
        *(
            Document(id=str(n), text=text, author=author, session="s", position=n)
            for n, (author, text) in enumerate((before, after))
        )
    )
    assert score.replies(index, np.arange(2)).tolist() == [0.0, expected]


def test_reply_belongs_to_the_question_of_its_own_session() -> None:
    index = index_of(
        Document(id="0", text="Which port?", author="assistant", session="a", position=0),
        Document(id="1", text="7325", author="user", session="b", position=1),
    )
    assert score.replies(index, np.arange(2)).tolist() == [0.0, 0.0]
