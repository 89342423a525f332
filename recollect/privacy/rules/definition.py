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


class Program:
    """A program that takes a password as an argument; `programs.py` says how usages are written.

    `when` and `unless` are a flag or a word that must or must not be among the others; `stdin` are
    flags (`""` for always) with which it reads a password that is piped to it, `piped` its form.
    `valued` are flags that take the next word.
    """

    __slots__ = (
        *("flags", "names", "no", "piped", "places", "stdin", "unless", "valued"),
        *("when", "yes"),
    )

    def __init__(
        self,
        names: str,
        flags: tuple[str, ...],
        yes: tuple[str, ...],
        no: tuple[str, ...],
        *,
        places: tuple[str, ...] = (),
        when: str = "",
        unless: str = "",
        valued: str = "",
        stdin: tuple[str, ...] = (),
        piped: str = "{}",
    ) -> None:
        self.names = frozenset(names.split())
        self.flags = tuple(tuple(usage.split()) for usage in flags)
        self.places = tuple(tuple(usage.split()) for usage in places)
        self.when = when
        self.unless = unless
        self.valued = frozenset(valued.split())
        self.stdin = stdin
        self.piped = piped
        self.yes = yes
        self.no = no


class Language:
    """How a language tells a password: its nouns, and the words between noun and value.

    `ending` is what a noun may grow by; `joined` says that a noun may be the end of a longer word.
    `spaced` is false for scripts without spaces, where only ASCII can be the value; `before` is
    true where the value may stand before the noun, `signed` false where `:` and `=` are not ours.
    """

    __slots__ = ("before", "ending", "joined", "links", "no", "nouns", "signed", "spaced", "yes")

    def __init__(
        self,
        nouns: str,
        links: str,
        yes: tuple[str, ...],
        no: tuple[str, ...],
        *,
        ending: str = "s?",
        joined: bool = False,
        spaced: bool = True,
        before: bool = False,
        signed: bool = True,
    ) -> None:
        self.nouns = tuple(nouns.split(", "))
        self.links = tuple(links.split(", "))
        self.ending = ending
        self.joined = joined
        self.spaced = spaced
        self.before = before
        self.signed = signed
        self.yes = yes
        self.no = no
