"""The graph of what was done: files, symbols, commands, packages, services, branches, people.

In: the work of a project's turns. Out: entities and relationships with lasting ids. Nothing of it
is stored: it is made when it is asked for, so it is in step with the work by itself, and what is
forgotten there is gone here (docs/decisions/work-graph.md). Its size has a bound: of each type the
entities that were met most, and of each of them the strongest relationships.
"""

import functools
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from recollect.core import ids
from recollect.core.entity_keys import key
from recollect.core.values import Action, Entity, Relationship, TurnWork
from recollect.work import command_targets
from recollect.work.git_ignored import IsIgnored, nothing_ignored
from recollect.work.index import MAIN
from recollect.work.paths import base, shortest_unique, subject_of
from recollect.work.renames import with_current_paths

MOST_TURNS = 10_000  # the latest
MOST = {
    "file": 2000, "symbol": 3000, "command": 300, "package": 200, "service": 100, "branch": 200,
    "person": 50,
}  # fmt: skip
# Types of relationships, in the order in which they are told.
RELATIONSHIPS = (
    *("tests", "edited_with", "fixed_by", "run_by", "added_by", "defines", "edited_on"),
    "edited_by",
)
BOTH_WAYS = frozenset(("edited_with",))  # it does not matter which end is the source
MOST_RELATIONSHIPS = 8  # of one entity, of one type, in one direction
TOGETHER = 2  # turns in which two files must have been edited together
SWEEP = 12  # files: a turn that edited more of them does not say that they belong together
SAME_NAME = 3  # files: a symbol that more of them define is a word, not a name
REPAIR = 8  # files: of a repair that took more of them it is not known what repaired
REPAIR_TURNS = 2  # in which a command that failed must have passed
COMMITS = 3  # of a branch

T = TypeVar("T")
Node = tuple[str, str]  # type, name
Edge = tuple[Node, Node, str]  # source, target, type
_PROSE = (".md", ".mdx", ".rst", ".txt", ".adoc", ".org")
_MARK = "w_"  # after the prefix of an id: made from work


class _Met:
    """In how many turns something was met, and the first and the last of them. Turns come in the
    order of time."""

    __slots__ = ("first", "last", "turns")

    def __init__(self, work: TurnWork) -> None:
        self.first = self.last = work
        self.turns = 1

    def again(self, work: TurnWork) -> None:
        if self.last is not work:
            self.last = work
            self.turns += 1


def _meet(table: dict[T, _Met], key: T, work: TurnWork) -> None:
    met = table.get(key)
    if met is None:
        table[key] = _Met(work)
    else:
        met.again(work)


@dataclass(slots=True)
class _Runs:
    times: int = 0
    failed: int = 0
    last: Action | None = None


class WorkGraph:
    """Reads only."""

    def __init__(
        self, namespace: str, turns: Iterable[TurnWork], is_ignored: IsIgnored = nothing_ignored
    ) -> None:
        built = _Builder(namespace, turns, is_ignored)
        self._entities = {one.entity_id: one for one in built.entities()}
        self._relationships = built.relationships()

    def entities(self) -> list[Entity]:
        return list(self._entities.values())

    def get(self, entity_id: str) -> Entity | None:
        return self._entities.get(entity_id)

    def relationships(self, entity_id: str) -> list[Relationship]:
        """Of one entity, the strongest of each type in either direction."""
        return self._relationships.get(entity_id, [])

    @functools.cached_property
    def by_key(self) -> dict[str, list[Entity]]:
        """Entities by the key of their name (core.entity_keys)."""
        found: dict[str, list[Entity]] = defaultdict(list)
        for one in self._entities.values():
            found[key(one.name)].append(one)
        return found


class _Builder:
    def __init__(self, namespace: str, turns: Iterable[TurnWork], is_ignored: IsIgnored) -> None:
        self._namespace = namespace
        self._is_ignored = is_ignored
        self._mark = _MARK + _hash(namespace, 6)
        self._nodes: dict[Node, _Met] = {}
        self._edges: dict[Edge, _Met] = {}
        self._how: dict[str, list[int]] = defaultdict(lambda: [0, 0])  # file: edits, reads
        self._runs: dict[str, _Runs] = defaultdict(_Runs)
        self._defined: dict[str, dict[str, _Met]] = defaultdict(dict)  # symbol, file
        self._commits: dict[str, dict[str, None]] = defaultdict(dict)  # branch: subjects
        self._sessions: dict[Node, set[str]] = defaultdict(set)  # of branches and people
        self._by_name: dict[str, set[str]] = defaultdict(set)  # base name: files
        in_order = sorted(turns, key=lambda one: (one.at, one.turn_id))
        latest = with_current_paths(in_order[-MOST_TURNS:])
        for work in latest:
            for action in work.actions:
                if action.path and action.how != "run":
                    self._by_name[base(action.path)].add(action.path)
        for work in latest:
            self._add(work)
        self._repairs(latest)
        self._tests()
        self._symbols()
        self._ids = self._chosen()

    # --- collecting ---

    def _add(self, work: TurnWork) -> None:
        person: Node = ("person", work.person)
        branch: Node = ("branch", "" if work.branch in MAIN else work.branch)
        for one in (person, branch):
            if one[1]:
                _meet(self._nodes, one, work)
                self._sessions[one].add(work.session_id)
        if branch[1]:
            self._commits[work.branch].update(dict.fromkeys(work.commits))
        edited: dict[str, None] = {}
        touched: set[str] = set()
        named: list[str] = []  # files that the command that comes next may name
        for action in work.actions:
            if action.command:
                self._ran(action, work, person, named)
                named.clear()
            path = self._file(action)
            if not path:
                continue
            if action.how == "run":
                named.append(path)
            elif action.how == "edit" and not action.failed:
                edited[path] = None
            self._how[path][action.how != "edit"] += 1
            if path not in touched:
                touched.add(path)
                _meet(self._nodes, ("file", path), work)
        for path in edited:
            self._join(("file", path), person, "edited_by", work)
            self._join(("file", path), branch, "edited_on", work)
        if len(edited) <= SWEEP:
            for left, right in combinations(sorted(edited), 2):
                self._join(("file", left), ("file", right), "edited_with", work)
        for name, path in work.defines:
            if path.endswith(_PROSE) or self._is_ignored(path):
                continue  # an example in a text, or of a file that is not named
            _meet(self._defined[name], path, work)

    def _file(self, action: Action) -> str:
        """The file of an action. What a command names is one when a tool has touched it, too."""
        path = "" if action.path.endswith("/") else action.path  # of a folder that was renamed
        if path and self._is_ignored(path):
            return ""
        if not path or action.how != "run":
            return path
        same = self._by_name.get(base(path), ())
        if path in same:
            return path
        return next(iter(same)) if len(same) == 1 and "/" not in path else ""

    def _ran(self, action: Action, work: TurnWork, person: Node, named: Iterable[str]) -> None:
        form = action.command
        command: Node = ("command", form)
        _meet(self._nodes, command, work)
        runs = self._runs[form]
        runs.times += 1
        runs.failed += action.failed
        runs.last = action
        self._join(command, person, "run_by", work)
        for path in named:
            if base(path) in form:
                self._join(("file", path), command, "run_by", work)
        for kind, names in (
            ("package", () if action.failed else command_targets.packages(form)),
            ("service", command_targets.services(form)),
        ):
            for name in names:
                _meet(self._nodes, (kind, name), work)
                how = "added_by" if kind == "package" else "run_by"
                self._join((kind, name), command, how, work)

    def _repairs(self, turns: Sequence[TurnWork]) -> None:
        """Commands that failed and passed soon after, with the files that were edited between the
        last failure and the pass."""
        sessions: dict[str, list[TurnWork]] = defaultdict(list)
        for work in turns:
            sessions[work.session_id].append(work)
        for some in sessions.values():
            broken: dict[str, tuple[int, dict[str, None]]] = {}
            for number, work in enumerate(some):
                for action in work.actions:
                    if action.how == "edit" and not action.failed:
                        for _, edited in broken.values():
                            edited[action.path] = None
                    elif action.command and action.failed:
                        broken[action.command] = (number, {})
                    elif action.command in broken:
                        since, edited = broken.pop(action.command)
                        if number - since <= REPAIR_TURNS and len(edited) <= REPAIR:
                            for path in edited:
                                target = ("file", path)
                                self._join(("command", action.command), target, "fixed_by", work)

    def _tests(self) -> None:
        """Tests and what they test: of several files of that name the nearest."""
        for name, paths in self._by_name.items():
            subjects = self._by_name.get(subject_of(name), ())
            for path in paths if subjects else ():
                nearest = max(subjects, key=lambda one: (_nearness(path, one), one))
                met = self._nodes.get(("file", path))
                if met is not None and ("file", nearest) in self._nodes:
                    self._edges[("file", path), ("file", nearest), "tests"] = met

    def _symbols(self) -> None:
        for name, files in self._defined.items():
            if len(files) <= SAME_NAME:
                self._nodes["symbol", name] = max(files.values(), key=lambda one: one.turns)
                for path, met in files.items():
                    self._edges[("file", path), ("symbol", name), "defines"] = met

    def _join(self, source: Node, target: Node, kind: str, work: TurnWork) -> None:
        if not source[1] or not target[1]:
            return
        _meet(self._edges, (source, target, kind), work)

    # --- choosing ---

    def _chosen(self) -> dict[Node, str]:
        """The entities that are kept, with their ids."""
        self._edges = {
            edge: met
            for edge, met in self._edges.items()
            if edge[2] != "edited_with" or met.turns >= TOGETHER
        }
        telling = {  # commands that are worth keeping though only one turn ran them
            end
            for source, target, kind in self._edges
            if kind in ("fixed_by", "added_by") or source[0] == "service"
            for end in (source, target)
        }
        by_type: dict[str, list[Node]] = defaultdict(list)
        for node, met in self._nodes.items():
            # What only one turn ran may have been for that turn alone.
            if node[0] != "command" or met.turns >= TOGETHER or node in telling:
                by_type[node[0]].append(node)
        found: dict[Node, str] = {}
        for kind, nodes in by_type.items():
            nodes.sort(key=lambda one: (*_rank(self._nodes[one]), one))
            found |= {node: self._id(ids.ENTITY, *node) for node in nodes[: MOST[kind]]}
        return found

    def relationships(self) -> dict[str, list[Relationship]]:
        """By entity, those that are kept."""
        near: dict[tuple[str, str, bool], list[Edge]] = defaultdict(list)
        for edge in self._edges:
            source, target, kind = edge
            if source in self._ids and target in self._ids:
                near[self._ids[source], kind, True].append(edge)
                near[self._ids[target], kind, kind in BOTH_WAYS].append(edge)
        made: dict[Edge, Relationship] = {}
        found: dict[str, list[Relationship]] = defaultdict(list)
        told = sorted(near.items(), key=lambda one: (RELATIONSHIPS.index(one[0][1]), -one[0][2]))
        for (entity_id, _, _), edges in told:
            edges.sort(key=lambda one: (*_rank(self._edges[one]), one))
            for edge in edges[:MOST_RELATIONSHIPS]:
                if edge not in made:
                    made[edge] = self._relationship(edge)
                found[entity_id].append(made[edge])
        return dict(found)

    # --- as values ---

    def _id(self, prefix: str, *parts: str) -> str:
        return prefix + self._mark + _hash("\0".join(parts), 12)

    def entities(self) -> list[Entity]:
        return [self._entity(node) for node in self._ids]

    def _entity(self, node: Node) -> Entity:
        kind, name = node
        met = self._nodes[node]
        return Entity(
            entity_id=self._ids[node],
            namespace=self._namespace,
            name=name[:256],
            type=kind,
            description=self._describe(node, met)[:4000],
            aliases=self._aliases(node),
            mentions=met.turns,
            created_at=met.first.at,
            updated_at=met.last.at,
        )

    def _aliases(self, node: Node) -> tuple[str, ...]:
        kind, name = node
        short = shortest_unique([name], self._by_name)[0] if kind == "file" else name
        return (short,) if short != name else ()

    def _describe(self, node: Node, met: _Met) -> str:
        kind, name = node
        last = f"last {met.last.at:%Y-%m-%d}"
        match kind:
            case "file":
                edits, reads = self._how[name]
                done = [f"edited {_times(edits)}"] if edits else []
                done += [f"read or run {_times(reads)}"] if reads else []
                return ", ".join((*done, last))
            case "symbol":
                return f"defined in {', '.join(self._defined[name])}"
            case "command":
                return self._describe_runs(self._runs[name], last)
            case "branch":
                commits = list(self._commits[name])[-COMMITS:]
                text = f"{_sessions(self._sessions[node])}, {last}"
                return f"{text}: {'; '.join(reversed(commits))}" if commits else text
            case "person":
                return f"{_sessions(self._sessions[node])}, {last}"
        return last

    def _describe_runs(self, runs: _Runs, last: str) -> str:
        text = f"run {_times(runs.times)}, {last}"
        if runs.failed:
            text += f"; failed {_times(runs.failed)}"
        if runs.last is not None and runs.last.failed:
            text += f", the last time{': ' if runs.last.error else ''}{runs.last.error}"
        return text

    def _relationship(self, edge: Edge) -> Relationship:
        source, target, kind = edge
        met = self._edges[edge]
        certain = kind in ("tests", "defines", "added_by", "run_by")
        return Relationship(
            relationship_id=self._id(ids.RELATIONSHIP, *source, *target, kind),
            namespace=self._namespace,
            source_id=self._ids[source],
            target_id=self._ids[target],
            type=kind,
            confidence=1.0 if certain else round(met.turns / (met.turns + 1), 2),
            source_event_ids=tuple(dict.fromkeys((met.first.turn_id, met.last.turn_id))),
            valid_from=met.first.at,
            created_at=met.first.at,
            updated_at=met.last.at,
        )


def is_from_work(entity_id: str, namespace: str | None = None) -> bool:
    """Whether an id is of an entity that is made from work, there or anywhere."""
    mark = "" if namespace is None else _hash(namespace, 6)
    return entity_id.startswith(ids.ENTITY + _MARK + mark)


def _hash(text: str, size: int) -> str:
    return hashlib.blake2b(text.encode(), digest_size=size).hexdigest()


def _rank(met: _Met) -> tuple[int, float]:
    return -met.turns, -met.last.at.timestamp()


def _nearness(one: str, other: str) -> int:
    """How many folders two paths share, from the front and from the back; a folder only for tests
    does not part them."""
    left, right = one.split("/")[:-1], other.split("/")[:-1]
    return _shared(left, right) + _shared(left[::-1], right[::-1])


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _sessions(some: set[str]) -> str:
    return f"{len(some)} session{'' if len(some) == 1 else 's'}"
