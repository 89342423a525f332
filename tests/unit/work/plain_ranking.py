"""The ranking of likely files as it is meant, without regard to speed: dictionaries, loops and
sorting. `recollect.work.likely_files` must give the same files in the same order."""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from recollect.core.tuning import FILE_SIGNALS, MATCHING, WORK_FILES
from recollect.core.values import Action, TurnWork
from recollect.work.likely_files import Ask
from recollect.work.paths import base, looks_like_file, subject_of
from recollect.work.terms import terms

MAIN = ("main", "master", "trunk", "develop", "HEAD", "")
DAY_S = 86_400.0


def bm25(
    documents: Mapping[int, Mapping[str, int]], wanted: Iterable[str], most_entries: int
) -> list[tuple[int, float]]:
    """Best first; of equal ones the newest."""
    filled = {number: held for number, held in documents.items() if held}
    holders = {term: [n for n, held in filled.items() if term in held] for term in set(wanted)}
    rarest = sorted((len(some), term) for term, some in holders.items() if some)
    left = most_entries
    kept: list[str] = []
    for count, term in rarest:
        if count > left and kept:
            break
        left -= count
        kept.append(term)
    lengths = {number: sum(held.values()) for number, held in filled.items()}
    mean = sum(lengths.values()) / len(filled) if filled else 1.0
    scores: dict[int, float] = defaultdict(float)
    for term in kept:
        count = len(holders[term])
        rarity = math.log(1 + (len(filled) - count + 0.5) / (count + 0.5))
        for number in holders[term]:
            often = filled[number][term]
            norm = MATCHING.k1 * (1 - MATCHING.b + MATCHING.b * lengths[number] / mean)
            scores[number] += rarity * often * (MATCHING.k1 + 1) / (often + norm)
    return sorted(scores.items(), key=lambda item: (-round(item[1], 9), -item[0]))


class PlainWork:
    def __init__(self, turns: Sequence[TurnWork], most_entries: int) -> None:
        self.most_entries = most_entries
        self.turns: dict[str, tuple[int, TurnWork]] = {}
        self.paths: list[str] = []
        self.sessions: dict[str, set[str]] = defaultdict(set)
        self.last: dict[str, float] = {}
        self.by_person: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.by_branch: dict[str, dict[str, float]] = defaultdict(dict)
        self.defined: dict[str, list[str]] = defaultdict(list)  # a name -> paths
        for number, turn in enumerate(turns):
            self._add(number, turn)

    def _add(self, number: int, turn: TurnWork) -> None:
        self.turns[turn.turn_id] = (number, turn)
        at = turn.at.timestamp()
        for action in turn.actions:
            if action.path and self.known(action) == action.path:
                self._register(action.path)
        for path in self.touched(turn):
            self.sessions[path].add(turn.session_id)
            self.last[path] = max(at, self.last.get(path, 0.0))
            self.by_person[turn.person][path].add(turn.session_id)
            if turn.branch not in MAIN:
                before = self.by_branch[turn.branch].get(path, 0.0)
                self.by_branch[turn.branch][path] = max(at, before)
        for name, path in turn.defines:
            self._register(path)
            if path not in self.defined[name]:
                self.defined[name].append(path)

    def _register(self, path: str) -> None:
        if path not in self.paths:
            self.paths.append(path)

    def known(self, action: Action) -> str:
        if not action.path or action.path in self.paths or action.how != "run":
            return action.path
        same = [one for one in self.paths if base(one) == base(action.path)]
        if same:
            return max(same, key=lambda one: (self.last.get(one, 0.0), self.paths.index(one)))
        return action.path if "/" in action.path else ""

    def touched(self, turn: TurnWork) -> dict[str, float]:
        found: dict[str, float] = {}
        for action in turn.actions:
            path = self.known(action)
            if path:
                found[path] = max(found.get(path, 0.0), getattr(WORK_FILES, action.how))
        return found


def rank(work: PlainWork, ask: Ask) -> list[tuple[str, float]]:
    mine = [turn for _, turn in work.turns.values() if turn.session_id == ask.session]
    touched = {path for turn in mine for path in work.touched(turn)}
    scores: dict[str, float] = defaultdict(float)
    for name, values in _signals(work, ask, mine, touched):
        new = {path: value for path, value in values.items() if path not in touched}
        highest = max(new.values(), default=0.0)
        for path, value in new.items() if highest > 0 else ():
            scores[path] += getattr(FILE_SIGNALS, name) * value / highest
    kept = [path for path in scores if base(path).lower() not in ask.text.lower()]
    return [
        (path, scores[path]) for path in sorted(kept, key=lambda one: (-round(scores[one], 9), one))
    ]


def _signals(
    work: PlainWork, ask: Ask, mine: Sequence[TurnWork], touched: set[str]
) -> Iterator[tuple[str, Mapping[str, float]]]:
    yield "often", {path: math.log1p(len(some)) for path, some in work.sessions.items()}
    yield "recent", _fading(ask, work.last, WORK_FILES.recent_days)
    own = work.by_person.get(ask.person, {})
    yield "person", {path: math.log1p(len(some)) for path, some in own.items()}
    prompt = terms(ask.text)
    if ask.branch not in MAIN:
        yield "branch", _fading(ask, work.by_branch.get(ask.branch, {}), WORK_FILES.branch_days)
        yield "branch_words", _votes(work, terms(ask.branch), ask.session)
    yield "prompt", _votes(work, prompt, ask.session)
    recent = mine[-WORK_FILES.context_turns :]
    yield "context", _votes(work, [term for turn in recent for term in turn.terms], ask.session)
    paths = {number: _path_terms(path) for number, path in enumerate(work.paths)}
    best = bm25(paths, prompt, work.most_entries)[: 2 * WORK_FILES.voters]
    yield "name", {work.paths[number]: score for number, score in best}
    yield "pair", _pairs(work, ask.text, touched)
    names: dict[int, dict[str, int]] = defaultdict(dict)
    for name, some in work.defined.items():
        for path in some:
            held = names[work.paths.index(path)]
            for term in terms(name):
                held[term] = held.get(term, 0) + 1
    best = bm25(names, prompt, work.most_entries)[: WORK_FILES.voters]
    yield "defines", {work.paths[number]: score for number, score in best}
    symbols: dict[str, float] = defaultdict(float)
    for name in set(re.findall(r"\w{4,80}", ask.text)):
        for path in work.defined.get(name, ()):
            symbols[path] += 1 / len(work.defined[name])
    yield "symbol", symbols


def _fading(ask: Ask, last: Mapping[str, float], days: float) -> dict[str, float]:
    return {path: math.exp(-max(0.0, ask.at - at) / (days * DAY_S)) for path, at in last.items()}


def _votes(work: PlainWork, wanted: Iterable[str], without: str) -> dict[str, float]:
    numbered = dict(work.turns.values())
    documents = {number: turn.terms for number, turn in numbered.items()}
    found: dict[str, float] = defaultdict(float)
    best = bm25(documents, wanted, work.most_entries)
    others = [(n, score) for n, score in best if numbered[n].session_id != without]
    for number, score in others[: WORK_FILES.voters]:
        for path, weight in work.touched(numbered[number]).items():
            found[path] += score * weight
    return found


def _path_terms(path: str) -> dict[str, int]:
    folders, _, name = path.rpartition("/")
    counts = dict.fromkeys(terms(folders), 1)
    for term in terms(name.rsplit(".", 1)[0]):
        counts[term] = counts.get(term, 0) + WORK_FILES.name_weight
    return counts


def _pairs(work: PlainWork, text: str, touched: set[str]) -> dict[str, float]:
    words = [word for word in re.findall(r"[\w./@+-]{3,200}", text) if looks_like_file(word)]
    named = {base(word) for word in (*words, *touched)}
    return {
        path: 1.0
        for path in work.paths
        for name in named
        if subject_of(base(path)) == name or subject_of(name) == base(path)
    }
