"""What one rule is made of.

In: nothing. Out: the `Rule` and `Vendor` types.
What can go wrong: a trigger that is not the start of its pattern's match never fires; the tests
run every example of every rule.

Examples are templates, so that no line of this repository looks like a live credential:
`{A36}` stands for 36 letters and digits, `a` lower case and digits, `U` upper case and digits,
`h` hex, `H` upper-case hex, `d` digits, `w` letters, digits, `_` and `-`, `b` base64, `{u}` a UUID.
"""


class Rule:
    """A secret that shows itself by its shape, wherever it stands.

    `triggers` are regex fragments, each starting with a literal character; where one matches,
    `pattern` is tried `back` characters before it. Group 1, if there is one, is the secret part.
    """

    # A plain class: `typing` and `dataclasses` each cost more to import than this whole room may.
    __slots__ = ("back", "kind", "no", "pattern", "triggers", "yes")

    def __init__(
        self,
        kind: str,
        triggers: tuple[str, ...],
        pattern: str,
        yes: tuple[str, ...],
        no: tuple[str, ...] = (),
        back: int = 0,
    ) -> None:
        self.kind = kind
        self.triggers = triggers
        self.pattern = pattern
        self.yes = yes
        self.no = no
        self.back = back


class Vendor:
    """A secret known by the name beside it; `value` is the regex that all of it must match."""

    __slots__ = ("kind", "no", "value", "words", "yes")

    def __init__(
        self,
        kind: str,
        words: tuple[str, ...],
        value: str,
        yes: tuple[str, ...],
        no: tuple[str, ...] = (),
    ) -> None:
        self.kind = kind
        self.words = words
        self.value = value
        self.yes = yes
        self.no = no
