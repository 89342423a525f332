"""Ranking by arrays gives what plain ranking gives."""

from datetime import UTC, datetime, timedelta
from random import Random

import msgspec
import pytest

from recollect.core.ids import new_ulid
from recollect.core.values import Action, How, TurnWork
from recollect.work import bm25, likely_files
from recollect.work.index import ProjectWork
from recollect.work.likely_files import Ask
from tests.make import NAMESPACE
from tests.unit.work import plain_ranking
from tests.unit.work.plain_ranking import PlainWork

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)
WORDS = [a + b + c for a in "bdgklm" for b in "aiou" for c in ("rk", "mp", "nt", "lf")]
BRANCHES = ("main", "fix-bark", "gomp-lint", "dark")
HOWS: tuple[How, ...] = ("edit", "read", "search", "run")


class Project:
    """Turns of a few sessions, at the same time and one after another."""

    def __init__(self, seed: int, turns: int) -> None:
        self.random = Random(seed)
        self.files = [f"{self.word()}/{self.word()}_{self.word()}.py" for _ in range(40)]
        self.files += [f"tests/test_{path.rsplit('/', 1)[-1]}" for path in self.files[:10]]
        self.turns: list[TurnWork] = []
        for number in range(turns):
            if self.turns and self.random.random() < 0.1:
                self.turns.append(self.grown(self.random.choice(self.turns[-5:])))
            else:
                self.turns.append(self.turn(number))

    def word(self) -> str:
        return WORDS[min(int(self.random.expovariate(0.05)), len(WORDS) - 1)]

    def turn(self, number: int) -> TurnWork:
        drawn = self.random
        session = number // 6 + drawn.randint(0, 2)
        path = drawn.choice(self.files)
        return TurnWork(
            turn_id=new_ulid(),
            namespace=NAMESPACE,
            session_id=f"s{session}",
            at=NOW - timedelta(hours=400 - number, minutes=drawn.randint(0, 50)),
            person=f"p{session % 3}",
            branch=BRANCHES[session % 4],
            actions=tuple(self.action() for _ in range(drawn.randint(0, 8))),
            defines=tuple(
                (f"{self.word()}{self.word()}", path) for _ in range(drawn.randint(0, 3))
            ),
            terms={self.word(): drawn.randint(1, 4) for _ in range(drawn.randint(0, 12))},
        )

    def action(self) -> Action:
        how = self.random.choice(HOWS)
        path = self.random.choice(self.files)
        if how == "run" and self.random.random() < 0.5:
            path = path.rsplit("/", 1)[-1]
        return Action(how=how, path=path)

    def grown(self, turn: TurnWork) -> TurnWork:
        more = {**turn.terms, self.word(): 2}
        return msgspec.structs.replace(turn, terms=more, actions=(*turn.actions, self.action()))

    def ask(self) -> Ask:
        drawn = self.random
        words = [self.word() for _ in range(drawn.randint(0, 15))]
        words += drawn.sample(self.files, drawn.randint(0, 2))
        words += [name for name, _ in drawn.choice(self.turns).defines]
        session = drawn.choice([*self.turns[-10:], None])
        return Ask(
            " ".join(words),
            NOW.timestamp(),
            session.session_id if session else "new",
            drawn.choice(("p0", "p1", "nobody")),
            drawn.choice((*BRANCHES, "unknown-bark")),
        )


@pytest.mark.parametrize("seed", range(12))
def test_files_are_ranked_as_plainly(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(seed, turns=(5, 60, 200)[seed % 3])
    most_entries = (bm25.MOST_ENTRIES, 150)[seed % 2]
    # Portions and blocks as small as the project, so that there are several.
    monkeypatch.setattr(bm25, "MOST_ENTRIES", most_entries)
    monkeypatch.setattr(bm25, "TOGETHER", 64)
    monkeypatch.setattr(bm25, "BLOCK", 4)
    work = ProjectWork()
    for turn in project.turns:
        work.add(turn)
    plain = PlainWork(project.turns, most_entries)
    for _ in range(10):
        ask = project.ask()
        meant = plain_ranking.rank(plain, ask)
        found = likely_files.rank(work, ask, most=len(project.files))
        assert [one.path for one in found] == [path for path, _ in meant]
        assert [one.score for one in found] == pytest.approx([score for _, score in meant])
        assert [sum(one.parts.values()) for one in found] == pytest.approx(
            [one.score for one in found]
        )
        assert [one.path for one in likely_files.rank(work, ask, most=3)] == [
            path for path, _ in meant[:3]
        ]


def test_what_grew_leaves_nothing_of_what_it_was() -> None:
    project = Project(1, turns=80)
    last = {turn.turn_id: turn for turn in project.turns}
    grown, fresh = ProjectWork(), ProjectWork()
    for turn in project.turns:
        grown.add(turn)
    for turn in last.values():
        fresh.add(turn)
    assert sum(map(len, grown.words.entries.values())) == sum(
        map(len, fresh.words.entries.values())
    )
    assert (grown.words.documents, grown.words.total) == (fresh.words.documents, fresh.words.total)
