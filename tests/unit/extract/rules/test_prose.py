"""Markdown becomes plain text, and names of code stay what they are."""

import pytest

from recollect.extract.rules.prose import plain


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("**Root cause:** the `cache` was stale", "Root cause: the cache was stale"),
        ("keep `__main__.py` small", "keep __main__.py small"),
        ("__slots__ and __init__.py", "__slots__ and __init__.py"),
        ("pass **kwargs on, and 2**8", "pass **kwargs on, and 2**8"),
        ("[the guide](https://example.org) says so", "the guide says so"),
    ],
)
def test_only_markdown_is_taken_away(written: str, read: str) -> None:
    assert plain(written) == read
