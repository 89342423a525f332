"""Removes what must not be stored: private spans, then secrets, each replaced by a mark.

In: a text, a tree as JSON gives it, or raw bytes. Out: the same without them, and counts. Nothing
raises; broken input is read in the way that hides more. A secret of no known shape under an
ordinary name is not found; nor is one in two halves (two strings, two chunks), except for private
keys.
"""

import re
from collections.abc import Iterator
from functools import cache

from recollect.privacy import secret_names
from recollect.privacy.assignments import (
    Span,
    command_words,
    find_assignments,
    find_commands,
    find_headers,
    find_urls,
    judge,
)
from recollect.privacy.commands import find_arguments, program_names
from recollect.privacy.password_sentences import find_password_sentences, noun_words
from recollect.privacy.patterns import compiled
from recollect.privacy.private_keys import find_keys
from recollect.privacy.private_tags import ODD_ASCII, scrub_text
from recollect.privacy.raw_payload import clean_raw
from recollect.privacy.rules import RULES, Rule

TYPE_CHECKING = False  # spares the import of `typing`; type checkers take the name for true
if TYPE_CHECKING:
    from typing import Any

PRIVATE = "private span"  # its kind, among those of secrets

# Where a token may begin: not after a letter or digit, unless that ends an escape.
_BEGIN = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbfv0])|(?<=%[0-9A-Fa-f]{2})|(?<=\\u[0-9a-fA-F]{4})"
    r"|(?<=\\x[0-9a-fA-F]{2})|(?<=\x1b\[[0-9]m)|(?<=\x1b\[[0-9]{2}m)|(?<=\[[0-9]m)|(?<=\[[0-9]{2}m))"
)
_STAND_IN = compiled(r"(?<![A-Za-z0-9])your|x{8}|X{8}|\.\.\.|placeholder", re.I)
_ROUNDS = 8
_LEAST = 6  # shorter is no secret under any name
_ALONE = 10  # and so is this without a name
_WORD_BYTES = b"abcdefghijklmnopqrstuvwxyz0123456789_-"
_OTHERS_TO_SPACES = bytes(byte if byte in _WORD_BYTES else 32 for byte in range(256))


def scrub(text: str, name: str = "", removed: "dict[str, int] | None" = None) -> str:
    """The text without private spans and secrets. `name`, when known, is the key or variable that
    it was assigned to; in `removed` it is counted what was taken out, by kind."""
    for _ in range(_ROUNDS):
        # Most texts are plain and hold no tag: that is seen here, several times faster.
        plain, spans = text.isascii() and not any(odd in text for odd in ODD_ASCII), 0
        if not plain or "vate" in text.lower():
            text, spans = scrub_text(text)
        found = find(text, name)
        if removed is not None:
            for kind in [PRIVATE] * spans + [kind for *_, kind in found]:
                removed[kind] = removed.get(kind, 0) + 1
        if not found:
            break
        # Then once more: the mark may have completed a tag, `<private:` and what stood there.
        text = without(text, found)
    return text


def scrub_raw(data: bytes, removed: "dict[str, int] | None" = None) -> bytes:
    """Clean a payload that nobody has parsed; JSON that was well-formed stays so."""
    return clean_raw(data, lambda text, name: scrub(text, name, removed))


def scrub_tree(value: "Any", removed: "dict[str, int] | None" = None) -> "Any":
    """Clean every string of a tree, keys too. Each string is its own text; what is neither text nor
    container is kept. The walk keeps its own stack, so deep nesting does no harm."""
    root: list[Any] = [None]
    todo: list[tuple[Any, str, Any, Any]] = [(value, "", root, 0)]
    while todo:
        node, name, parent, place = todo.pop()
        if isinstance(node, str):
            parent[place] = scrub(node, name, removed)
        elif isinstance(node, dict):
            fresh: dict[Any, Any] = {}
            parent[place] = fresh
            # In `{"name": "DB_PASSWORD", "value": …}` the name of the value.
            names = (node.get(key) for key in ("name", "key", "Name", "Key"))
            label = next((one for one in names if isinstance(one, str)), "")
            for key, child in node.items():
                under = key if isinstance(key, str) else ""
                spot = scrub(key, "", removed) if isinstance(key, str) else key
                if spot in fresh:
                    spot = _free(spot, fresh)
                fresh[spot] = None  # holds the order of the keys
                todo.append((child, label if under.lower() == "value" else under, fresh, spot))
        elif isinstance(node, list | tuple):
            items: list[Any] = [None] * len(node)
            parent[place] = items
            todo.extend((child, name, items, number) for number, child in enumerate(node))
        else:
            parent[place] = node
    return root[0]


def _free(key: "Any", taken: "dict[Any, Any]") -> str:
    """Two keys may become one when cleaned; the second gets a number, so that no value is lost."""
    number = len(taken) + 1
    while f"{key} {number}" in taken:
        number += 1
    return f"{key} {number}"


# --- finding secrets ------------------------------------------------------------------------------


@cache
def _triggers() -> tuple[re.Pattern[str], dict[str, list[tuple[str, Rule]]]]:
    """One pattern that finds where any rule may apply; and by first character, which rules may.

    Triggers are gathered by first character: the engine then compares one character for most
    positions of a text instead of a hundred words. No groups in it: they would undo that.
    """
    heads: dict[str, dict[str, None]] = {}
    rules: dict[str, list[tuple[str, Rule]]] = {}
    for rule in RULES:
        for trigger in rule.triggers:
            head = trigger[:2] if trigger[0] == "\\" else trigger[0]
            heads.setdefault(head, {})[trigger[len(head) :]] = None
            rules.setdefault(head[-1], []).append((_literal(trigger), rule))
    branches = [f"{head}(?:{'|'.join(tails)})" for head, tails in heads.items()]
    return compiled("|".join(branches)), rules


def _literal(trigger: str) -> str:
    """The plain characters that a trigger starts with."""
    text = ""
    for char in trigger.replace("\\.", "\0").replace("\\$", "\1"):
        if char in "\\[({":
            break
        text += char
    return text.replace("\0", ".").replace("\1", "$")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return compiled(pattern if pattern.startswith("(?<=") else _BEGIN + pattern)


def _find_shapes(text: str) -> Iterator[Span]:
    pattern, rules = _triggers()
    search = pattern.search
    pos = 0
    while (trigger := search(text, pos)) is not None:
        at = trigger.start()
        pos = at + 1
        for literal, rule in rules[text[at]]:
            if at < rule.back or not text.startswith(literal, at):
                continue
            found = _compiled(rule.pattern).match(text, at - rule.back)
            if found is None:
                continue
            group = 1 if found.re.groups else 0
            secret = found[group]
            if len(set(secret[-16:])) > 2 and not _STAND_IN.search(secret):
                pos = max(pos, found.end())
                yield *found.span(group), rule.kind
                break


@cache
def _words() -> frozenset[bytes]:
    return program_names() | noun_words() | command_words()


def words_held(low: str, wanted: frozenset[bytes]) -> frozenset[bytes]:
    """Which of the wanted words (ASCII letters, digits, `_`, `-`) a lower-case text holds, in one
    pass. A word with other letters in it falls into pieces."""
    return wanted.intersection(low.encode("ascii", "replace").translate(_OTHERS_TO_SPACES).split())


def find(text: str, name: str = "") -> list[Span]:
    """All secrets in the text, in order, none overlapping another; `name` is what it was assigned
    to. A mark in place of one can, rarely, bring another to light: look again after that."""
    spans: list[Span] = []
    if len(text) > _ALONE:
        # Lower case of equal length: one letter of Unicode, the dotted capital I, would grow.
        low = text.replace("\u0130", "i").lower()
        if "PRIVATE KEY" in text or "Private-Lines" in text:
            spans += [(*span, "private-key") for span in find_keys(text)]
        spans += _find_shapes(text)
        words = words_held(low, _words())
        spans += find_headers(text, low)
        spans += find_commands(text, low, words)
        if words & program_names():
            spans += find_arguments(text, low, words)
        spans += find_assignments(text, low)
        spans += find_password_sentences(text, low, words)
        if "://" in text:
            spans += find_urls(text)
    spans = _merge(spans) if spans else []
    if name and _LEAST <= len(text) <= 4096 and len(name) <= 128:
        family = secret_names.family(name)
        whole = judge(name, text, 0, family, name.lower()) if family is not None else None
        spans = _merge([*spans, whole]) if whole else spans
    return spans


def _merge(spans: list[Span]) -> list[Span]:
    """Overlapping spans become one; the finder that came first, the surest, names it."""
    rank = {id(span): number for number, span in enumerate(spans)}
    merged: list[Span] = []
    best = 0
    for span in sorted(spans, key=lambda span: span[0]):
        if merged and span[0] < merged[-1][1]:
            start, end, kind = merged[-1]
            if rank[id(span)] < best:
                kind, best = span[2], rank[id(span)]
            merged[-1] = (start, max(end, span[1]), kind)
        else:
            merged.append(span)
            best = rank[id(span)]
    return merged


def without(text: str, spans: list[Span]) -> str:
    """The text with a mark in place of each span."""
    parts: list[str] = []
    end = 0
    for start, stop, kind in spans:
        before = text[end:start]
        if before.endswith("\\") and text[start] in "nrtbfu" and _is_odd_run(before):
            before = before[:-1]  # `\npm_…`: the mark must not become the rest of an escape
        parts += before, f"[REDACTED:{kind}]"
        end = stop
    parts.append(text[end:])
    return "".join(parts)


def _is_odd_run(text: str) -> bool:
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1
