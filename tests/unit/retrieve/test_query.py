"""What is read out of a prompt."""

import pytest

from recollect.retrieve.index import Document, Index
from recollect.retrieve.query import GIST, MOST_STEMS, Date, dates_in, parse, weigh


def test_long_prompt_keeps_what_is_rare() -> None:
    index = Index()
    index.add(
        Document(id=str(n), text=f"common words here {'needle' if n == 7 else ''} word{n}")
        for n in range(200)
    )
    prompt = " ".join(f"word{n}" for n in range(150)) + " common words here needle"
    terms = weigh(parse(prompt), [index])
    assert len(terms.stems) == MOST_STEMS
    assert "common" not in terms.stems


def test_gist_of_a_long_prompt_is_its_head_and_tail() -> None:
    short = "fix the retry storm " * 10
    assert parse(short).gist == short
    gist = parse("first " + "stack trace line " * 2000 + " last").gist.split()
    assert (gist[0], gist[-1], len(gist)) == ("first", "last", 2 * GIST)


def test_terms_that_no_memory_holds_carry_no_weight_but_lower_what_is_known() -> None:
    index = Index()
    index.add([Document(id="1", text="retry storm"), Document(id="2", text="other things")])
    known = weigh(parse("retry storm"), [index])
    partly = weigh(parse("retry zebra"), [index])
    assert known.known == 1.0
    assert partly.stems == ("retri",)
    assert 0 < partly.known < 1
    assert weigh(parse("zebra"), [index]).known == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in May 2023", (Date(5, 2023),)),
        ("on 8 May, 2023", (Date(5, 2023, 8),)),
        ("May 8th", (Date(5, None, 8),)),
        ("2023-05-08", (Date(5, 2023, 8),)),
        ("what did we do in june?", (Date(6),)),
        ("may I ask", ()),
        ("march on", ()),
        ("2023-15-40 and 99 July", ()),
        ("", ()),
    ],
)
def test_dates_count_only_with_a_month(text: str, expected: tuple[Date, ...]) -> None:
    assert dates_in(text) == expected
