"""Parses the tagged text that models answer with. It is not XML, and it is untrusted.

In: any text. Out: flat elements with attributes and text. Only the five basic entities are known;
there are no comments and declarations, and no nesting beyond what the caller asks for. Time is
linear in the text; unclosed elements are left out; nothing raises.
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
    inner: str  # unparsed, for elements inside it
    attributes: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return plain(self.inner)


def elements(text: str, *names: str) -> Iterator[Element]:
    """The elements of these names, in order. An element inside another is part of its text."""
    wanted = "|".join(re.escape(name) for name in names)
    opening = re.compile(rf"<({wanted})((?:\s[^<>]{{0,4000}})?)(/?)>")
    at = 0
    closing: dict[str, int] = {}  # position of the next end tag of each name; -1 for none
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
            continue  # never closed
        yield Element(name, text[at:end], _attributes(attributes))
        at = end + len(name) + 3


def holds(text: str, name: str) -> bool:
    """Whether an element of this name begins anywhere."""
    return re.search(rf"<{re.escape(name)}[\s/>]", text) is not None


def plain(text: str) -> str:
    """Text with the five entities resolved once and without unprintable characters."""
    return _UNWANTED.sub("", _ENTITY.sub(lambda match: _FIVE[match[1]], text)).strip()


def _attributes(text: str) -> dict[str, str]:
    return {name: plain(double or single) for name, double, single in _ATTRIBUTE.findall(text)}
