from recollect.inject.receipts import OwnText

LINE = "- [2026-01-01] Cap the retries of the billing API: capped at five with backoff."


def test_an_injected_line_is_known_again_however_it_is_dressed() -> None:
    own = OwnText()
    own.injected("s", f"### Relevant History\n{LINE}")
    for dressed in (
        LINE,
        f"> {LINE}",
        "Cap the retries of the billing API: capped at five with backoff",
        "  * cap the  retries of the billing api: capped at five with backoff…",
    ):
        assert own.without("s", f"before\n{dressed}\nafter") == "before\nafter"


def test_what_somebody_says_themselves_stays() -> None:
    own = OwnText()
    assert own.without("s", "anything at all that is long enough to count") == (
        "anything at all that is long enough to count"
    )
    own.injected("s", LINE)
    for text in (
        "### Relevant History",
        "ok",
        "Cap the retries of the billing API at nine instead!",
    ):
        assert own.without("s", text) == text


def test_what_one_session_was_told_another_may_say() -> None:
    own = OwnText()
    own.injected("s", LINE)
    assert own.without("s", LINE) == ""
    assert own.without("another", LINE) == LINE


def test_only_so_much_is_remembered() -> None:
    own = OwnText()
    for number in range(25_000):
        own.injected("s", f"a line that is long enough to be remembered, number {number}")
    assert own.without("s", "a line that is long enough to be remembered, number 1").startswith(
        "a line"
    )
    assert own.without("s", "a line that is long enough to be remembered, number 24999") == ""
