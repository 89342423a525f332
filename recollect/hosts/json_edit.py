"""Edit JSON and JSONC by path, leaving every byte that is not ours where it was.

In: a file's bytes (comments, trailing commas, BOM, CRLF, tabs and a missing final newline are all
kept) and a path. Out: the new bytes. What is not JSON(C) raises BadInput with file and line.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from recollect.core.errors import BadInput

Path = tuple[str | int, ...]

MAX_DEPTH = 100
BOM = "\ufeff"
_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_BREAK = re.compile(r"[ \t]*[\r\n]")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass
class JsonNode:
    """A value and where it stands; for a container also its items in order."""

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int = 0
    value: Any = None
    items: list["JsonItem"] = field(default_factory=list)

    def plain(self) -> Any:
        if self.kind == "object":
            return {item.key: item.node.plain() for item in self.items}
        if self.kind == "array":
            return [item.node.plain() for item in self.items]
        return self.value


@dataclass
class JsonItem:
    """A member or an element: from `start` (its key or value) to `node.end`, then maybe a comma."""

    key: str | int
    start: int
    node: JsonNode
    comma: int | None = None  # where the comma after it stands


class JsonDocument:
    """A parsed file. Edits return a new document; this one never changes."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.root = _Parser(text, name).document()

    @classmethod
    def read(cls, raw: bytes | None, name: str) -> "JsonDocument":
        """A missing or blank file counts as an empty object."""
        try:
            text = (raw or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadInput(f"{name} is not UTF-8 text: {error.reason}", field=name) from error
        if not text.removeprefix(BOM).strip():
            text = (BOM if text.startswith(BOM) else "") + "{}" + _newline(text)
        return cls(text, name)

    @property
    def raw(self) -> bytes:
        return self.text.encode("utf-8")

    def plain(self) -> Any:
        return self.root.plain()

    def get(self, path: Path) -> Any:
        """The value at the path, or None."""
        node = self._find(path)
        return None if node is None else node.plain()

    def has(self, path: Path) -> bool:
        return self._find(path) is not None

    def set(self, path: Path, value: Any) -> "JsonDocument":
        """Put a member there: replaced in place, or added behind the others; parents are made."""
        node = self._find(path)
        if node is not None:
            if node.plain() == value and _same_types(node.plain(), value):
                return self
            return self._splice([(node.start, node.end, self._render_at(node, value))])
        parent, key = path[:-1], path[-1]
        if not isinstance(key, str):
            raise BadInput(f"{self.name}: there is no element {key}", field=self.name)
        holder = self._find(parent)
        if holder is None:
            return self.set(parent, {key: value})
        if holder.kind != "object":
            raise self._wrong(parent, "an object")
        return self._insert(holder, key, value)

    def copied(self, path: Path, other: "JsonDocument") -> "JsonDocument":
        """The value at the path, which both have or which is made, byte for byte as in `other`."""
        source = other._find(path)
        assert source is not None
        made = self if self.has(path) else self.set(path, None)
        node = made._find(path)
        assert node is not None
        return made._splice([(node.start, node.end, other.text[source.start : source.end])])

    def append(self, path: Path, value: Any) -> "JsonDocument":
        """Put an element behind the others; a missing array is made."""
        holder = self._find(path)
        if holder is None:
            return self.set(path, [value])
        if holder.kind != "array":
            raise self._wrong(path, "a list")
        return self._insert(holder, None, value)

    def remove(self, path: Path) -> "JsonDocument":
        """Take a member or an element away, with its comma and the space before it."""
        holder = self._find(path[:-1])
        index = None if holder is None else _index(holder, path[-1])
        if holder is None or index is None:
            return self
        item = holder.items[index]
        before = holder.items[index - 1] if index else None
        # Comments before the item stay; only the space between them and the item goes.
        start, line = self._trivia_end(self._comma_end(before) if before else holder.start + 1)
        last = index == len(holder.items) - 1
        end = item.node.end if item.comma is None else item.comma + 1
        cuts = [(start, end, "")]
        if item.comma is not None and self.text[item.node.end : item.comma].strip():
            # A comment stands between the value and its comma: it stays, both others go.
            cuts = [(start, item.node.end, ""), (item.comma, item.comma + 1, "")]
        if line and not _BREAK.match(self.text, cuts[0][1]):
            cuts[0] = (start, cuts[0][1], _newline(self.text))  # else it would swallow what follows
        if last and before and item.comma is None and before.comma is not None:
            cuts.insert(0, (before.comma, before.comma + 1, ""))
        if before is None and last:
            rest = self.text[holder.start + 1 : start] + self.text[end : holder.end - 1]
            if not rest.strip() and len(cuts) == 1:
                cuts = [(holder.start + 1, holder.end - 1, "")]
        return self._splice(cuts)

    # --- inside -------------------------------------------------------------------------------

    def _find(self, path: Path) -> JsonNode | None:
        node = self.root
        for step in path:
            index = _index(node, step)
            if index is None:
                return None
            node = node.items[index].node
        return node

    def _wrong(self, path: Path, wanted: str) -> BadInput:
        where = ".".join(str(step) for step in path) or "the whole file"
        return BadInput(
            f"{self.name}: {where} should be {wanted}; nothing was changed", field=self.name
        )

    def _splice(self, cuts: list[tuple[int, int, str]]) -> "JsonDocument":
        text = self.text
        for start, end, new in sorted(cuts, key=lambda cut: cut[0], reverse=True):
            text = text[:start] + new + text[end:]
        return JsonDocument(text, self.name)

    def _insert(self, holder: JsonNode, key: str | None, value: Any) -> "JsonDocument":
        inside = self.text[holder.start + 1 : holder.end - 1]
        newline, unit, base = _newline(self.text), _unit(self.text), self._indent(holder.start)
        if not inside.strip():
            body = newline + base + unit + self._entry(key, value, base + unit)
            return self._splice([(holder.start + 1, holder.end - 1, body + newline + base)])
        last = holder.items[-1] if holder.items else None
        after = self._comma_end(last) if last else holder.start + 1
        place, _ = self._trivia_end(after)
        head = self.text[holder.start : holder.items[0].start] if last else ""
        if _broken(head) or _broken(self.text[after : holder.end]):
            indent = self._indent(last.start) if last and _broken(head) else base + unit
            body = newline + indent + self._entry(key, value, indent)
        else:
            body = self._gap(holder) + _inline(key, value)
        if last is None:
            return self._splice([(place, place, body)])
        if last.comma is not None:
            return self._splice([(place, place, body + ",")])
        return self._splice([(place, place, body), (last.node.end, last.node.end, ",")])

    def _entry(self, key: str | None, value: Any, indent: str) -> str:
        head = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
        return head + _render(value, _unit(self.text), indent, _newline(self.text))

    def _render_at(self, node: JsonNode, value: Any) -> str:
        if not _broken(self.text[node.start : node.end]):  # on one line it was: so it stays
            return json.dumps(value, ensure_ascii=False)
        return self._entry(None, value, self._indent(node.start))

    def _comma_end(self, item: JsonItem) -> int:
        return item.node.end if item.comma is None else item.comma + 1

    def _trivia_end(self, at: int) -> tuple[int, bool]:
        """Behind the last comment that follows, and whether that one runs to its line's end."""
        end, line = at, False
        while True:
            at = _space_end(self.text, at)
            comment = _COMMENT.match(self.text, at)
            if comment is None:
                return end, line
            at = end = comment.end()
            line = comment.group().startswith("//")

    def _indent(self, at: int) -> str:
        start = self.text.rfind("\n", 0, at) + 1
        found = re.compile(r"[ \t]*").match(self.text, start)
        return found.group() if found else ""

    def _gap(self, holder: JsonNode) -> str:
        """The space between items on one line: as between the first two, else one blank."""
        if len(holder.items) < 2:
            return " "
        first, second = holder.items[0], holder.items[1]
        gap = self.text[self._comma_end(first) : second.start]
        return gap if not gap.strip() and "\n" not in gap else " "


# --- reading ----------------------------------------------------------------------------------


class _Parser:
    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name

    def document(self) -> JsonNode:
        at = self.trivia(len(BOM) if self.text.startswith(BOM) else 0)
        node = self.value(at, 0)
        end = self.trivia(node.end)
        if end != len(self.text):
            raise self.wrong(end, "something follows the end of the document")
        return node

    def wrong(self, at: int, what: str) -> BadInput:
        line = self.text.count("\n", 0, at) + 1
        return BadInput(
            f"{self.name}, line {line}: not valid JSON: {what}; nothing was changed",
            field=self.name,
            hint=f"Mend {self.name}, then try again.",
        )

    def trivia(self, at: int) -> int:
        while True:
            at = _space_end(self.text, at)
            comment = _COMMENT.match(self.text, at)
            if comment is None:
                return at
            at = comment.end()

    def value(self, at: int, depth: int) -> JsonNode:
        if depth > MAX_DEPTH:
            raise self.wrong(at, f"nested more than {MAX_DEPTH} deep")
        char = self.text[at : at + 1]
        if char == "{":
            return self.container(at, depth, "object", "}")
        if char == "[":
            return self.container(at, depth, "array", "]")
        found = (_STRING if char == '"' else _SCALAR).match(self.text, at)
        if found is None:
            raise self.wrong(at, f"unexpected {char!r}" if char else "the file ends too early")
        return JsonNode("scalar", at, found.end(), self.loaded(at, found.group()))

    def loaded(self, at: int, token: str) -> Any:
        try:
            return json.loads(token)
        except ValueError as error:
            raise self.wrong(at, str(error).partition(":")[0]) from error

    def container(
        self, at: int, depth: int, kind: Literal["object", "array"], end: str
    ) -> JsonNode:
        node = JsonNode(kind, at)
        at = self.trivia(at + 1)
        while self.text[at : at + 1] != end:
            if node.items and node.items[-1].comma is None:
                raise self.wrong(at, f"a comma or {end!r} is missing")
            start, key = at, len(node.items)
            if kind == "object":
                item = JsonItem(*self.member(at, depth))
            else:
                item = JsonItem(key, start, self.value(at, depth + 1))
            node.items.append(item)
            at = self.trivia(item.node.end)
            if self.text[at : at + 1] == ",":
                item.comma = at
                at = self.trivia(at + 1)
        node.end = at + 1
        return node

    def member(self, at: int, depth: int) -> tuple[str, int, JsonNode]:
        found = _STRING.match(self.text, at)
        if found is None:
            raise self.wrong(at, "a quoted name is missing")
        key = self.loaded(at, found.group())
        colon = self.trivia(found.end())
        if self.text[colon : colon + 1] != ":":
            raise self.wrong(colon, "a colon is missing")
        return key, at, self.value(self.trivia(colon + 1), depth + 1)


# --- small things -----------------------------------------------------------------------------


def _index(node: JsonNode, step: str | int) -> int | None:
    """Of two members with one name the last counts, as in every JSON reader."""
    if node.kind == "object" and isinstance(step, str):
        return next(
            (at for at in range(len(node.items) - 1, -1, -1) if node.items[at].key == step), None
        )
    if node.kind == "array" and isinstance(step, int) and 0 <= step < len(node.items):
        return step
    return None


def _space_end(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _broken(text: str) -> bool:
    return "\n" in text or "\r" in text


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _unit(text: str) -> str:
    """One step of indentation: that of the first indented line, else two blanks."""
    found = re.search(r"\n([ \t]+)[\"\[{]", text)
    return found.group(1) if found else "  "


def _inline(key: str | None, value: Any) -> str:
    body = json.dumps(value, ensure_ascii=False)
    return body if key is None else f"{json.dumps(key, ensure_ascii=False)}: {body}"


def _render(value: Any, unit: str, indent: str, newline: str) -> str:
    """As JSON on several lines, lists of plain words on one."""
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list) and not any(isinstance(entry, dict | list) for entry in value):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + unit
    if isinstance(value, dict):
        opener, closer = "{", "}"
        parts = [
            f"{json.dumps(key, ensure_ascii=False)}: {_render(entry, unit, inner, newline)}"
            for key, entry in value.items()
        ]
    else:
        opener, closer = "[", "]"
        parts = [_render(entry, unit, inner, newline) for entry in value]
    return opener + newline + inner + f",{newline}{inner}".join(parts) + newline + indent + closer


def _same_types(one: Any, other: Any) -> bool:
    """1, 1.0 and True are equal in Python and three things in JSON."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
