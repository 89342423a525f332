"""One developer's days, made up: sessions of turns with tools, noise, decisions that change.

In: a seed and how many events a day. Out: hook payloads in the form of Claude Code, and what was
planted in them to ask for later. Topics come back, commands repeat, a quarter of the turns says
nothing, settings are decided anew now and then, wishes are stated and stated otherwise later, and a
few routines are run again and again.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

NOISE = (
    "ok thanks", "continue", "looks good", "run the tests again", "yes, do that", "hm, let me see",
    "try again please", "go on", "never mind", "what was I doing",
)  # fmt: skip
ANSWERS = ("Done.", "Sure, here you go.", "All tests pass.", "Let me know if you need more.")
AREAS = (
    "checkout", "billing", "search", "login", "upload", "reports", "mailer", "scheduler", "gateway",
    "inventory", "pricing", "export", "webhooks", "sessions", "audit", "metrics",
)  # fmt: skip
COMMANDS = (
    "pytest -q", "git status", "git diff --stat", "npm run build", "ruff check .", "make lint",
    "docker compose up -d", "git log --oneline -5", "ls -la", "cargo test",
)  # fmt: skip
FILLER = (
    "I looked through the module and its tests first.",
    "The change is small and stays within one file.",
    "Nothing else refers to it as far as I can see.",
    "I kept the names as they were to keep the diff readable.",
    "There is one more place that could use the same treatment later.",
)
KNOBS = (
    "timeout", "pool size", "retry cap", "batch size", "cache lifetime", "page size",
    "queue depth", "upload limit",
)  # fmt: skip
CAUSES = (
    "a stale lock file", "a missing index", "an off-by-one in the pager", "a clock that was mocked",
    "a leaked file handle", "an encoding of latin-1", "a race between two workers",
)  # fmt: skip
PLACES = ("Fly", "Hetzner", "Render", "Heroku", "Vercel", "Netlify", "Nomad", "Railway")
WISHES = (
    ("quotes", ("Always use single quotes.", "Always use double quotes.")),
    ("indentation", ("Please indent with 2 spaces.", "From now on indent with tabs.")),
    ("package manager", ("Always use npm, not yarn.", "From now on always use pnpm, not npm.")),
    ("test framework", ("Always use unittest.", "Always use pytest, never unittest.")),
    ("answers", ("I prefer detailed answers.", "Please make your answers concise from now on.")),
    ("commits", ("Write commit messages in the imperative.", "Write commit messages in German.")),
)
ROUTINES = (
    ("release", ("make check", "git tag v{n}", "git push --tags", "fly deploy")),
    ("migrate", ("alembic upgrade head", "pytest tests/db", "docker compose restart api")),
    ("publish", ("npm run build", "npm version patch", "npm publish")),
)
_SYLLABLES = ("ka", "ro", "mi", "te", "lu", "sen", "dor", "vi", "pra", "nox", "bel", "gri", "zan")


@dataclass(frozen=True)
class Planted:
    """Something said once that may be asked for later."""

    question: str
    answer: str
    day: int
    key: str  # what it is about: a later one with the same key takes its place


@dataclass
class Developer:
    seed: int
    root: str
    events_a_day: int = 400
    plants_a_day: int = 2
    planted: list[Planted] = field(default_factory=list)
    habits: set[str] = field(default_factory=set)  # wishes and routines that came up

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)
        self._names: list[str] = []
        self._number = 0

    def day(self, day: int) -> Iterator[list[tuple[str, dict[str, Any]]]]:
        """The sessions of one day, each a list of (hook event, payload)."""
        made = 0
        wanted = int(self.events_a_day * self._chance.uniform(0.6, 1.4))
        left = self.plants_a_day
        while made < wanted:
            session = self._session(day, left)
            left = 0 if self._chance.random() < 0.5 else left
            made += len(session)
            yield session

    def _session(self, day: int, plants: int) -> list[tuple[str, dict[str, Any]]]:
        self._number += 1
        base: dict[str, Any] = {"session_id": f"session-{self._number:06}", "cwd": self.root}
        out = [("SessionStart", {**base, "source": "startup"})]
        area = self._chance.choice(AREAS)
        turns = self._chance.randint(3, 9)
        special = set(self._chance.sample(range(turns), min(plants, turns)))
        for turn in range(turns):
            if turn in special:
                asked, answered = self._telling(day, area)
            elif self._chance.random() < 0.25:
                asked, answered = self._chance.choice(NOISE), self._chance.choice(ANSWERS)
            else:
                asked, answered = self._routine(area)
            tools = list(self._tools(area))
            habit = self._chance.random()
            if habit < 0.01:
                asked, answered = self._wish(), "Understood."
            elif habit < 0.03:
                asked, tools = self._practice()
            out.append(("UserPromptSubmit", {**base, "prompt": asked, "prompt_id": self._id()}))
            out += [("PostToolUse", {**base, **tool}) for tool in tools]
            out.append(("Stop", {**base, "last_assistant_message": answered,
                                 "stop_hook_active": False, "prompt_id": self._id()}))  # fmt: skip
        out.append(("SessionEnd", {**base, "reason": "other"}))
        return [(name, {**payload, "hook_event_name": name}) for name, payload in out]

    def _wish(self) -> str:
        about, ways = self._chance.choice(WISHES)
        self.habits.add(about)
        return self._chance.choice(ways)

    def _practice(self) -> tuple[str, list[dict[str, Any]]]:
        name, commands = self._chance.choice(ROUTINES)
        self.habits.add(name)
        version = f"{self._chance.randint(1, 9)}.{self._chance.randint(0, 99)}"
        tools = [self._ran(command.format(n=version), "ok") for command in commands]
        return f"Please {name} it now.", tools

    def _routine(self, area: str) -> tuple[str, str]:
        verb = self._chance.choice(("clean up", "extend", "rename parts of", "document", "test"))
        part = self._chance.choice(("handler", "model", "form", "client", "view", "migration"))
        filler = " ".join(self._chance.sample(FILLER, 3))
        asked = f"Please {verb} the {area} {part}, it is getting hard to follow."
        return asked, f"I went over the {area} {part}. {filler} The {part} reads better now."

    def _telling(self, day: int, area: str) -> tuple[str, str]:
        filler = self._chance.sample(FILLER, 2)
        name = self._name()
        if self._names and self._chance.random() < 0.3:
            name = self._chance.choice(self._names)  # an old topic comes back
        else:
            self._names.append(name)
        kind = self._chance.random()
        if kind < 0.2:
            place = self._chance.choice(PLACES)
            self._plant(f"where is {name} deployed?", place, day, f"{name} deployed")
            return f"Just so you know, {name} is deployed on {place}.", "Good to know, thank you."
        if kind < 0.6:
            knob, value = self._chance.choice(KNOBS), str(self._chance.randint(100, 9999))
            self._plant(f"what {knob} did we choose for {name}?", value, day, f"{name} {knob}")
            return (
                f"Which {knob} should {name} have?",
                f"{filler[0]} We decided that the {knob} of {name} is {value} because the {area} "
                f"team measured it. {filler[1]}",
            )
        cause, code = self._chance.choice(CAUSES), f"E{self._chance.randint(10_000, 99_999)}"
        self._plant(f"why did {name} fail with {code}?", cause, day, f"{name} {code}")
        return (
            f"{name} fails with {code} since this morning, why?",
            f"{filler[0]} The error {code} in {name} was caused by {cause}; I fixed it in "
            f"src/{area}/{name}.py. {filler[1]}",
        )

    def _plant(self, question: str, answer: str, day: int, key: str) -> None:
        self.planted.append(Planted(question, answer, day, key))

    def _tools(self, area: str) -> Iterator[dict[str, Any]]:
        for _ in range(self._chance.randint(1, 5)):
            if self._chance.random() < 0.5:
                command = self._chance.choice(COMMANDS)
                failed = self._chance.random() < 0.1
                out = "1 failed, 40 passed" if failed else "ok"
                yield self._ran(command, out)
            else:
                path = f"{self.root}/src/{area}/part_{self._chance.randint(1, 6)}.py"
                yield {"tool_name": "Edit", "tool_input": {"file_path": path},
                       "tool_response": {"filePath": path}, "tool_use_id": self._id()}  # fmt: skip

    def _ran(self, command: str, out: str) -> dict[str, Any]:
        return {
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_response": {"stdout": out, "stderr": ""},
            "tool_use_id": self._id(),
        }

    def _name(self) -> str:
        parts = self._chance.choices(_SYLLABLES, k=3)
        return "".join(parts) + str(self._chance.randint(1, 99))

    def _id(self) -> str:
        return f"{self._chance.getrandbits(64):016x}"
