"""What later turns of a session did to what an earlier one says.

In: the turns of a session with what they edited. Out: whether an edit was undone, and for a
sentence the later turn that made it untrue. It reads code, not language: names in lines that were
taken away or put in, files that were removed, and git commands that take edits back.
"""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from recollect.core.text_words import identifiers
from recollect.core.tuning import NOTE_MAKING
from recollect.extract.normalised_text import content_words
from recollect.extract.rules.prose import fenced
from recollect.extract.rules.turns import Turn
from recollect.work import commands, edited_text
from recollect.work.paths import base
from recollect.work.session_effort import GIT_TAKES_BACK

_MOST_CHARS = 60_000  # of one text that was edited
_SHORT_LINE = 4
_STEM = 7
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_WORD = re.compile(r"[A-Za-z_]\w{3,}")
# Files whose text tells of code and does not change it.
TELLS = re.compile(r"\.(?:md|mdx|rst|txt|adoc)$|(?:^|[/_.-])tests?(?:[/_.-]|$)|spec\.\w+$", re.I)
# What is missing, wrong or so for now: an edit of what it names may end it.
LACKS = re.compile(
    r"\b(?:not|no|nothing|never|only|missing|lacks?|without|cannot|fails?|always|still|bug|wrong\w*|"
    r"incorrect\w*|currently|already|unused|gap|redundant|duplicat\w+)\b|n't\b",
    re.IGNORECASE,
)
# What was brought in was brought in, whatever became of it; other changes may be changed again.
_BRINGS = re.compile(
    r"(?:i |we |also |now )*(?:added|created|introduced|implemented|extracted|removed|deleted|"
    r"fixed|moved|renamed)\b",
    re.IGNORECASE,
)
_FROM_TO = re.compile(r"\bfrom (\S{0,60}\d\w{0,40}) to (\S{0,60}\w)", re.IGNORECASE)
_REMOVED = re.compile(
    r"(?:i |we |also |now )*(?:have )?(?:removed|deleted|dropped) (?:the |an? )?([^.,;:(]{8,80})",
    re.I,
)
_FILE = re.compile(r"(?<![\w-])[\w-]++\.[A-Za-z]\w{0,8}\b")


def _parts(text: str) -> set[str]:
    """The words of a text, and those that names in it are made of; endings are left off."""
    return {word.lower()[:_STEM] for word in _PART.findall(text) if len(word) >= _SHORT_LINE}


def code_names(text: str) -> set[str]:
    """The words of a text that are names in code."""
    return set(identifiers(text))


@dataclass
class TurnEdits:
    """The lines that a turn put in and took away, each with its file, and the names in them."""

    added: set[tuple[str, str]] = field(default_factory=set)
    removed: set[tuple[str, str]] = field(default_factory=set)
    brought: set[str] = field(default_factory=set)  # names in lines that were put in
    lost: set[str] = field(default_factory=set)  # names in lines that were taken away
    names_added: set[str] = field(default_factory=set)  # the same, of code that was there before
    names_removed: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)  # names of files
    edited: set[str] = field(default_factory=set)  # the lines that edits replaced, changed or not
    names_edited: set[str] = field(default_factory=set)  # the names in them
    files: set[str] = field(default_factory=set)  # names of files that were written
    takes_back: list[str] = field(default_factory=list)  # git commands
    kept_aside: list[str] = field(default_factory=list)  # commits and what stashes did, in order
    wrote: bool = False


@dataclass
class _Replaced:
    """The words in what a turn put in: those of lines that are gone, and of those that are left."""

    by: int | None = None
    gone: set[str] = field(default_factory=set)
    left: set[str] = field(default_factory=set)


class LaterEdits:
    def __init__(self, turns: Sequence[Turn], said: Sequence[Sequence[str]]) -> None:
        """`said`: the sentences of each turn."""
        self._replaced: dict[int, _Replaced] = {}
        whole: dict[str, frozenset[str]] = {}
        self._told = [code_names(" ".join(texts)) for texts in said]
        self._said = [[text for text in texts if _FROM_TO.search(text)] for texts in said]
        self._removed = [[_REMOVED.match(text) for text in texts] for texts in said]
        self._turns = [_edits(turn, whole) for turn in turns]
        self._dropped = _dropped(self._turns)

    def undone(self, at: int) -> int | None:
        """The later turn that took back or replaced what a turn edited; None while it stands."""
        edits = self._turns[at]
        if edits.wrote and at in self._dropped:
            return self._dropped[at]
        left = set(edits.added)
        edited = False
        for number in range(at + 1, len(self._turns)) if edits.wrote else ():
            one = self._turns[number]
            files = {base(path) for path, _ in edits.added}
            if not edited and any(_takes_back(line, files) for line in one.takes_back):
                return number
            edited = edited or one.wrote
            left = {
                (path, line) for path, line in left - one.removed if base(path) not in one.deleted
            }
            if edits.added and len(left) <= (1 - NOTE_MAKING.undone) * len(edits.added):
                return number
        return None

    def shown_code_edited(self, at: int, answer: str) -> int | None:
        """The later turn that edited the code which an answer shows; None while it is as it was."""
        shown = {line for part in fenced(answer) for line in _lines(part)}
        shown = {line for line in shown if len(line) >= NOTE_MAKING.code_line}
        for number in range(at + 1, len(self._turns)) if len(shown) > 1 else ():
            if len(shown & self._turns[number].edited) >= max(2, NOTE_MAKING.shown * len(shown)):
                return number
        return None

    def followed(self, at: int, answer: str) -> int | None:
        """The first of the next turns that edited what an answer is about."""
        named, files = code_names(answer), {base(name) for name in _FILE.findall(answer)}
        soon = self._turns[at + 1 : at + 1 + NOTE_MAKING.followed_up]
        return next(
            (
                number
                for number, one in enumerate(soon, at + 1)
                if not files.isdisjoint(one.files)
                or len(named & one.names_edited) >= NOTE_MAKING.names_edited
            ),
            None,
        )

    def outdated(self, at: int, text: str) -> int | None:
        """The later turn that ended what a sentence of a turn says; None while it holds."""
        edits = self._turns[at]
        if (by := self._replaced_by(at, text)) is not None:
            return by
        named = code_names(text)
        own = {base(path) for path, _ in edits.added}
        files = own & {base(name) for name in _FILE.findall(text)}
        lacks = LACKS.search(text) is not None
        does = _BRINGS.match(text) is not None
        for number in range(at + 1, len(self._turns)):
            one = self._turns[number]
            if one.deleted & files or any(self._is_gone(name, at, number) for name in named):
                return number
            if any(_replaces(new, text) for new in self._said[number]):
                return number
            removed = (gone[1] for gone in self._removed[number] if gone)
            if one.wrote and not does and any(_names(thing, text) for thing in removed):
                return number
            if edits.wrote:
                if not does and named & one.names_removed & self._told[number]:
                    return number
            elif (lacks and named & (one.names_removed | one.names_added)) or (
                named and 2 * len(named & one.names_removed) >= len(named)
            ):
                return number
        return None

    def _replaced_by(self, at: int, text: str) -> int | None:
        """The turn that took out the lines which a sentence of a turn is about: more of its words
        stand only in lines that are gone than only in lines that are left."""
        if at not in self._replaced:
            self._replaced[at] = self._lines_of(at)
        lines = self._replaced[at]
        if lines.by is None:
            return None
        words = _parts(text)
        gone, left = words & (lines.gone - lines.left), words & (lines.left - lines.gone)
        return lines.by if len(gone) >= NOTE_MAKING.words_gone and len(gone) > len(left) else None

    def _lines_of(self, at: int) -> "_Replaced":
        edits, found = self._turns[at], _Replaced()
        for number in range(at + 1, len(self._turns)):
            taken = edits.added & self._turns[number].removed
            if taken:
                found.by = number
                found.gone |= _parts(" ".join(line for _, line in taken))
        later = set[tuple[str, str]]().union(*(one.removed for one in self._turns[at + 1 :]))
        found.left = _parts(" ".join(line for _, line in edits.added - later))
        return found

    def _is_gone(self, name: str, at: int, number: int) -> bool:
        """Whether a name that a turn brought in left with a later one for good."""
        by = self._turns[number]
        if name not in self._turns[at].brought or name not in by.lost - by.brought:
            return False
        return not any(name in one.brought for one in self._turns[number + 1 :])


_STASHED = "Saved working directory and index state"


def _dropped(turns: Sequence[TurnEdits]) -> dict[int, int]:
    """The turns whose edits were stashed before a commit had them, each with the later turn in
    which that stash was dropped."""
    found: dict[int, int] = {}
    working: set[int] = set()  # turns with edits that no commit has
    stashes: list[set[int]] = []
    for at, one in enumerate(turns):
        if one.wrote:
            working.add(at)
        for step in one.kept_aside:
            if step == "commit":
                working = set()
            elif step in ("", "push", "save"):
                stashes.append(working)
                working = set()
            elif step in ("pop", "apply") and stashes:
                working |= stashes[-1]
                stashes[-1:] = [set()] if step == "apply" else []
            elif step == "drop" and stashes:
                found |= {number: at for number in stashes.pop() if number < at}
    return found


def _replaces(new: str, text: str) -> bool:
    """Whether "X from 20 to 30" puts another value in the place of one that a text names."""
    found = _FROM_TO.search(new)
    words = set(content_words(text))
    if found is None or found[1].lower() not in words or found[2].lower() in words:
        return False
    return len(words & set(content_words(new))) >= 3


def _names(thing: str, text: str) -> bool:
    """Whether a text is about a thing: it has nearly all of its words."""
    words = set(content_words(thing))
    shared = len(words & set(content_words(text)))
    return len(words) >= NOTE_MAKING.removed_words and shared >= NOTE_MAKING.removed * len(words)


def _takes_back(line: str, files: Iterable[str]) -> bool:
    """Whether a git command takes back the edits of these files: it names one of them, or none."""
    named = {base(name) for name in _FILE.findall(line)}
    return not named or not named.isdisjoint(files)


def _edits(turn: Turn, whole: dict[str, frozenset[str]]) -> TurnEdits:
    """`whole`: the lines of the files that were written as a whole, kept between turns."""
    found = TurnEdits()
    for call in turn.calls:
        if call.failed:
            if _STASHED in call.output:  # before another step of the line failed
                found.kept_aside.append("push")
            continue
        if call.tool_class == "command":
            _read_command(call.command, found)
            for path in [path for path in whole if base(path) in found.deleted]:
                found.lost |= _names_in(whole.pop(path))
        if call.tool_class != "file-write":
            continue
        found.wrote = True
        path = call.files[0] if call.files else ""
        found.files.add(base(path))
        for old, new in edited_text.changes(call.input):
            before, after = _lines(old), _lines(new)
            found.edited |= before
            found.names_edited |= _names_in(before)
            known = bool(old)
            if not old:
                before, known = whole.get(path, frozenset()), path in whole
                whole[path] = after
            out, into = before - after, after - before
            _swap(found, path, out, into)
            if known and not TELLS.search(path):
                found.names_removed |= _names_in(out)
                found.names_added |= _names_in(into)
    return found


def _swap(found: TurnEdits, path: str, out: AbstractSet[str], into: AbstractSet[str]) -> None:
    for line in out:
        if (path, line) in found.added:
            found.added.discard((path, line))
        else:
            found.removed.add((path, line))
    for line in into:
        if (path, line) in found.removed:
            found.removed.discard((path, line))
        else:
            found.added.add((path, line))
    found.lost |= _names_in(out)
    found.brought |= _names_in(into)


def _names_in(lines: Iterable[str]) -> set[str]:
    return {name for line in lines for name in _WORD.findall(line)}


def _read_command(line: str, found: TurnEdits) -> None:
    if GIT_TAKES_BACK.search(line[: commands.MOST_LINE]):
        found.takes_back.append(line[:500])
    for words in commands.words_of_parts(line):
        if words[:2] == ["git", "stash"]:
            step = words[2] if len(words) > 2 else ""
            found.kept_aside.append("" if step.startswith("-") else step)
        elif words[:2] == ["git", "commit"]:
            found.kept_aside.append("commit")
        if words[:1] == ["rm"] or words[:2] == ["git", "rm"]:
            found.deleted |= {base(one) for one in words[1:] if _FILE.fullmatch(base(one))}


def _lines(text: str) -> frozenset[str]:
    lines = (line.strip() for line in text[:_MOST_CHARS].splitlines())
    return frozenset(line for line in lines if len(line) >= _SHORT_LINE)
