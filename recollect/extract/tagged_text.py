"""Reads the tagged text that models answer with. It is not XML, and it is nobody's friend.

In: any text. Out: flat elements with attributes and text. There are no entities but the five, no
nesting beyond what the caller asks for, no comments, no declarations. Time is linear in the text;
what does not close is left out; nothing raises.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

MOST_CHARS = 1 << 20
_ATTRIBUTE = re.compile(r"([a-z_]{1,32})\s*=\s*(?:\"([^\"<>]{0,2000})\"|'([^'<>]{0,2000})')")
_FIVE = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_ENTITY = re.compile(r"&(lt|gt|amp|quot|apos);")
_UNWANTED = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Element:
    name: str
    inner: str  # as it stands, for elements inside it
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return plain(self.inner)


def elements(text: str, *names: str) -> Iterator[Element]:
    """The elements of these names, in order. One inside another of them is part of its text."""
    wanted = "|".join(re.escape(name) for name in names)
    opening = re.compile(rf"<({wanted})((?:\s[^<>]{{0,4000}})?)(/?)>")
    at = 0
    closing: dict[str, int] = {}  # where the next end of each name stands; -1 for none
    while True:
        found = opening.search(text, at)
        if found is None:
            return
        name, attributes, empty = found.groups()
        at = found.end()
        if empty or attributes.endswith("/"):
            yield Element(name, "", _attributes(attributes))
            continue
        if closing.get(name, 0) < at and closing.get(name) != -1:
            closing[name] = text.find(f"</{name}>", at)
        end = closing[name]
        if end < 0:
            continue  # never closed: what stands in it is nobody's
        yield Element(name, text[at:end], _attributes(attributes))
        at = end + len(name) + 3


def holds(text: str, name: str) -> bool:
    """Whether an element of this name begins anywhere."""
    return re.search(rf"<{re.escape(name)}[\s/>]", text) is not None


def plain(text: str) -> str:
    """Text as a person reads it: the five entities resolved once, nothing unprintable."""
    return _UNWANTED.sub("", _ENTITY.sub(lambda match: _FIVE[match[1]], text)).strip()


def line(text: str, most: int) -> str:
    """The same on one line, cut at a word."""
    flat = " ".join(text.split())
    if len(flat) <= most:
        return flat
    return (flat[: most - 1].rsplit(" ", 1)[0] or flat[: most - 1]) + "…"


def _attributes(text: str) -> dict[str, str]:
    return {name: plain(double or single) for name, double, single in _ATTRIBUTE.findall(text)}
