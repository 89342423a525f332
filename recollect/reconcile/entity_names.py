"""Names become entities: one for all the ways in which a thing is written.

In: names as people and tools write them, and the entities that are known. Out: a key that is the
same for all forms of a name, and the entity that holds it. Nothing here writes.

The key is a pure function of the name, so which names belong together does not depend on the order
in which they are heard. Only a learned alias joins what keys keep apart.
"""

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable

from recollect.core.values import Entity
from recollect.store.interface import Graph

MOST_HELD = 16  # namespaces whose names stay in memory

_REMOTE = re.compile(
    r"^(?:git@|ssh://(?:[^@/]+@)?|https?://|git://)[^/:]+[:/](?:\d+/)?(?P<path>.+?)(?:\.git)?/?$"
)
_OWNED = re.compile(r"^[\w.-]+/[\w.-]+$")
_SUFFIX = re.compile(r"\.[a-z]\w{0,4}$")
_ARTICLE = re.compile(r"^(?:the|our|my|your|this|that|a|an)\s+", re.IGNORECASE)
_KIND_WORD = re.compile(
    r"(?<![\s_-])[\s_-]++(?:service|repo|repository|project|codebase)$", re.IGNORECASE
)
_VERSION = re.compile(r"(?<!\s)\s++v?\d[\d.x]*+$", re.IGNORECASE)
_SEPARATORS = re.compile(r"[\s_\-.'’`\"]+")
_CODE_HOSTS = ("github.com/", "gitlab.com/", "bitbucket.org/", "codeberg.org/")

_PRONOUNS_WORDS = """
i me my mine we us our ours you your yours he him his she her hers it its they them their this
that these those one ones who what which someone something anyone anything everyone everything
nobody nothing here there thing things stuff user assistant agent
"""
_PRONOUNS = frozenset(_PRONOUNS_WORDS.split())
# Words that are names of nothing: as entities they would be found in every other prompt.
_COMMON_WORDS = """
test tests code file files app bug bugs error errors change changes fix fixes issue issues
problem problems function functions method class classes line lines command commands output
result results data value values name names type types todo example examples step steps project
repo repository service library tool package module feature version option options thing work
way part time day new old first last next good bad better best yes no ok okay true false none
null
"""
_COMMON = frozenset(_COMMON_WORDS.split())


def key(name: str) -> str:
    """The same for every form of a name; empty for what is no name."""
    text = unicodedata.normalize("NFKC", name).strip().strip("`\"'“”‘’ ").rstrip(".,;:!?")
    text = " ".join(text.split())
    remote = _REMOTE.match(text)
    if remote:
        return remote["path"].casefold()
    text = _ARTICLE.sub("", text)
    folded = text.casefold()
    for host in _CODE_HOSTS:
        if folded.startswith(host):
            return folded[len(host) :].removesuffix(".git").rstrip("/")
    if "/" in text:
        return _path(folded)
    bare = _VERSION.sub("", _KIND_WORD.sub("", text)) or text
    if _SUFFIX.search(bare.casefold()) and " " not in bare:
        return bare.casefold()  # a file: its dot and its case-folded name are all there is
    return _singular(_SEPARATORS.sub("", bare.casefold()))


def tail(of: str) -> str:
    """The short form of a repository or package: `repo` of `org/repo`; empty for others."""
    if _OWNED.match(of.removeprefix("@")) and not _SUFFIX.search(of):
        return _singular(_SEPARATORS.sub("", of.rsplit("/", 1)[1]))
    return ""


def says_nothing(name: str) -> bool:
    """Whether a name is a pronoun, a word that names nothing, or no name at all."""
    words = name.casefold().split()
    squashed = key(name)
    return (
        len(squashed) < 2
        or len(name) > 120
        or len(words) > 6
        or not any(char.isalpha() for char in squashed)
        or name.strip().casefold() in _PRONOUNS
        or squashed in _PRONOUNS
        or squashed in _COMMON
    )


def same_object(left: str, right: str) -> bool:
    return object_key(left) == object_key(right)


def object_key(text: str) -> str:
    """What two objects of a fact are compared by: forms of a name are one, versions are not."""
    folded = " ".join(text.split()).casefold()
    version = _VERSION.search(folded)
    return key(text) + (version[0].strip().removeprefix("v") if version else "") or folded


class EntityNames:
    """Who answers to a name: entities by key, their aliases, and the short forms of repositories.

    A short form leads to its owner only while it has one owner. Names may stand on others: what is
    added or dropped then changes nothing below, so that a batch can decide what it likes before
    anything is written.
    """

    def __init__(self, entities: Iterable[Entity] = (), below: "EntityNames | None" = None) -> None:
        self._below = below
        self._by_id: dict[str, Entity] = {}
        self._touched: set[str] = set()  # of those below: no longer as they are there
        self._owners: dict[str, set[str]] = {}  # key: entities
        self._short: dict[str, set[str]] = {}  # short form: entities
        for entity in entities:
            self.add(entity)

    def add(self, entity: Entity) -> None:
        """An entity as it is now. Names that it no longer has still lead to it."""
        before = self.get(entity.entity_id)
        self._touched.add(entity.entity_id)
        self._by_id[entity.entity_id] = entity
        for one in (entity, before) if before is not None else (entity,):
            for known in _keys(one):
                self._owners.setdefault(known, set()).add(entity.entity_id)
                if short := tail(known):
                    self._short.setdefault(short, set()).add(entity.entity_id)

    def drop(self, entity_id: str) -> None:
        entity = self._by_id.pop(entity_id, None)
        self._touched.add(entity_id)
        for known in _keys(entity) if entity is not None else ():
            for owners, name in ((self._owners, known), (self._short, tail(known))):
                if name in owners:
                    owners[name].discard(entity_id)
                    if not owners[name]:
                        del owners[name]

    def get(self, entity_id: str) -> Entity | None:
        if entity_id in self._touched or self._below is None:
            return self._by_id.get(entity_id)
        return self._below.get(entity_id)

    def find(self, name: str) -> Entity | None:
        wanted = key(name)
        found = self._owner(wanted)
        if found is None:
            short_for = self._called_short(wanted)
            found = next(iter(short_for)) if len(short_for) == 1 else None
        if found is None and (short := tail(wanted)):
            # `org/repo` is what was called `repo` before, unless another `org/repo` is.
            held = self._owner(short)
            if held is not None and not self._called_short(short):
                found = held
        return self.get(found) if found is not None else None

    def _owner(self, known: str) -> str | None:
        """Of several the one that comes first by name."""
        owners = self._own(known, lambda names: names._owners)
        if len(owners) < 2:
            return next(iter(owners), None)
        return min(owners, key=lambda one: (((e := self.get(one)) and e.name) or "", one))

    def _called_short(self, short: str) -> set[str]:
        return self._own(short, lambda names: names._short)

    def _own(self, name: str, of: "Callable[[EntityNames], dict[str, set[str]]]") -> set[str]:
        own = {one for one in of(self).get(name, ()) if one in self._by_id}
        if self._below is not None:
            own |= {one for one in self._below._own(name, of) if one not in self._touched}
        return own


def _keys(entity: Entity) -> list[str]:
    return [known for name in (entity.name, *entity.aliases) if (known := key(name))]


class EntityNamesCache:
    """The names of each namespace, read once and from then on only where they changed."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._lock = threading.Lock()
        self._held: dict[str, tuple[int, EntityNames]] = {}

    def names(self, namespace: str) -> EntityNames:
        """To stand on. Whoever does must be done before the namespace's next batch."""
        with self._lock:
            version = self._graph.version(namespace)
            known = self._held.pop(namespace, None)
            names = self._followed(namespace, *known) if known is not None else None
            if names is None:
                names = EntityNames(self._graph.entities(namespace))
            self._held[namespace] = version, names
            if len(self._held) > MOST_HELD:
                del self._held[next(iter(self._held))]
            return names

    def _followed(self, namespace: str, version: int, names: EntityNames) -> EntityNames | None:
        changed = self._graph.changed(namespace, version)
        if changed is None:
            return None
        for thing_id in changed:
            names.drop(thing_id)
        for thing in self._graph.things(namespace, sorted(changed)) if changed else ():
            if isinstance(thing, Entity):
                names.add(thing)
        return names


def _path(text: str) -> str:
    parts = [part for part in text.split("/") if part not in ("", ".")]
    return ("/" if text.startswith("/") else "") + "/".join(parts)


def _singular(word: str) -> str:
    """One form for one and many; what matters is that it is the same, not that it is a word."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("shes", "ches", "xes", "sses")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
