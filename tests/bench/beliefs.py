"""What is believed of freely worded prompts: `python -m tests.bench.beliefs LIST.json [-v]`, and
with `--sessions FOLDER` also how many of the prompts of past sessions would be hinted.

In: a list by somebody who had not seen the rules: `statements`, `near_misses`, `one_off`,
`changed_minds` (before, after, question, old, new), `withdrawn` (rule, withdrawal, words), and
pairs (older, newer) that leave the older one as it is: `repeated`, `both_hold`, `work_orders`. Out:
counts, and with `-v` every case with what became of it. Every case has a project of its own and
goes through the hooks of Claude Code, extraction and injection, in this process.
"""

import json
import os
import pathlib
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from recollect.core import projects
from recollect.core.text_words import STOP_WORDS, words
from recollect.core.values import Record
from recollect.extract.standing import standing
from recollect.trial import transcripts
from tests.fakes.runtime import RuntimeHome

DONE = "Done, and the tests pass."
ACTOR = "ada"
HOURS_BETWEEN = 36


class Project:
    """One project of one person, with its sessions."""

    def __init__(self, home: RuntimeHome, place: pathlib.Path) -> None:
        self._home, self._place = home, place
        place.mkdir()
        self._before = set(home.runtime.store.projects.namespaces())
        self._known = {one.record_id for one in self._records(projects.namespace(ACTOR))}
        self._sessions = 0

    def session(self, *prompts: str) -> str:
        """A session with these prompts; what was put before the agent in it."""
        self._sessions += 1
        said = {"session_id": f"{self._place.name}-{self._sessions}", "cwd": str(self._place)}
        told = [self._hook("SessionStart", {**said, "source": "startup"})]
        for prompt in prompts:
            told.append(self._hook("UserPromptSubmit", {**said, "prompt": prompt}))
            self._hook("Stop", {**said, "last_assistant_message": DONE})
        self._hook("SessionEnd", {**said, "reason": "exit"})
        self._home.extract()
        self._home.embed()
        self._home.clock.advance(seconds=HOURS_BETWEEN * 3600)
        return "\n".join(filter(None, told))

    def beliefs(self, *states: str) -> list[str]:
        """What is believed of this project, or since it began of the person, in these states."""
        own = set(self._home.runtime.store.projects.namespaces()) - self._before
        found = [one for name in own for one in self._records(name)]
        found += [
            one
            for one in self._records(projects.namespace(ACTOR))
            if one.record_id not in self._known
        ]
        return [
            f"{one.title} | {one.summary}".strip(" |")
            for one in found
            if one.traits.is_belief and one.state in states
        ]

    def _hook(self, event: str, payload: dict[str, Any]) -> str:
        reply = self._home.run_hook("claude-code", event, payload)
        answer = json.loads(reply.stdout) if reply.stdout.strip() else {}
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def _records(self, namespace: str) -> tuple[Record, ...]:
        return tuple(self._home.runtime.store.records.page(namespace, limit=200).items)


@contextmanager
def _home() -> Iterator[tuple[RuntimeHome, pathlib.Path]]:
    with tempfile.TemporaryDirectory(prefix="recollect-beliefs-") as folder:
        home = RuntimeHome(pathlib.Path(folder, "home"), actor=ACTOR, embedding=True)
        try:
            yield home, pathlib.Path(folder)
        finally:
            home.close()


def _single(cases: dict[str, Any], *, show: bool) -> Iterator[str]:
    with _home() as (home, folder):
        for kind in ("statements", "near_misses", "one_off"):
            held = proposed = noticed = hints = 0
            for number, case in enumerate(cases.get(kind, [])):
                project = Project(home, folder / f"{kind}-{number}")
                project.session(case["prompt"])
                sure, waits = project.beliefs("current", "disputed"), project.beliefs("proposed")
                hinted = _is_hinted(home, case["prompt"])
                held, proposed = held + bool(sure), proposed + bool(sure or waits)
                noticed, hints = noticed + bool(sure or waits or hinted), hints + hinted
                if show:
                    yield f"{kind} {number} {case['prompt']!r}\n    held {sure}\n    waits {waits}"
                    yield f"    hinted {hinted}"
            total = len(cases.get(kind, []))
            yield (
                f"{kind}: {held} of {total} held, {proposed} held or proposed, {hints} hinted, "
                f"{noticed} noticed"
            )
        gone = [
            f"    {one.title} <- {one.ended_by[-5:].lower()}"
            for namespace in home.runtime.store.projects.namespaces()
            for one in home.runtime.store.records.page(namespace, limit=400).items
            if one.traits.is_belief and not one.stands and one.state != "proposed"
        ]
        yield f"ended or disputed by another of these cases: {len(gone)}"
        yield from gone if show else ()


def _is_hinted(home: RuntimeHome, prompt: str) -> bool:
    """Whether an agent that has our tools would be asked to record it."""
    embedder = home.runtime.recall().embedder
    assert embedder is not None
    return standing(prompt, embedder.embed([prompt])[0]).fires


def _changed(cases: dict[str, Any], *, show: bool) -> Iterator[str]:
    """A line that has the current value may name the old one ("we're off sidekiq"); any other line
    with the old one tells it as current."""
    current = old = silent = 0
    for number, case in enumerate(cases.get("changed_minds", [])):
        with _home() as (home, folder):
            project = Project(home, folder / "project")
            project.session(case["before"])
            project.session(case["after"])
            told = project.session(case["question"])
            lines = [one.casefold() for one in told.splitlines()]
            with_new = [one for one in lines if case["new"].casefold() in one]
            says_old = any(case["old"].casefold() in one for one in lines if one not in with_new)
            current, old = current + (bool(with_new) and not says_old), old + says_old
            silent += not with_new and not says_old
            if show:
                yield f"changed {number} {case['new']}, not {case['old']}: {told!r}"
    total = len(cases.get("changed_minds", []))
    yield (
        f"changed_minds: {current} of {total} told the current value alone, {old} the old one as "
        f"current, {silent} neither"
    )


def _pairs(cases: dict[str, Any], *, show: bool) -> Iterator[str]:
    for kind in ("repeated", "both_hold", "work_orders"):
        ended = disputed = told = proposed = 0
        for number, case in enumerate(cases.get(kind, [])):
            with _home() as (home, folder):
                project = Project(home, folder / "project")
                project.session(case["older"])
                before = set(project.beliefs("current", "proposed"))
                project.session(case["newer"])
                over, doubted = project.beliefs("ended"), project.beliefs("disputed")
                new = set(project.beliefs("current", "disputed")) - before
                waits = set(project.beliefs("proposed")) - before
            ended, disputed = ended + bool(over), disputed + bool(doubted)
            told, proposed = told + bool(new), proposed + bool(waits)
            if show:
                yield f"{kind} {number} {case['newer']!r}\n    told {new}\n    waits {waits}"
                yield f"    ended {over}\n    disputed {doubted}"
        yield (
            f"{kind}: {ended} of {len(cases.get(kind, []))} end a belief, {disputed} dispute one, "
            f"{told} are told themselves, {proposed} proposed"
        )


def _withdrawn(cases: dict[str, Any], *, show: bool) -> Iterator[str]:
    before = after = 0
    for number, case in enumerate(cases.get("withdrawn", [])):
        with _home() as (home, folder):
            project = Project(home, folder / "project")
            project.session(case["rule"])
            before += _tells(project.session("go on"), case)
            project.session(case["withdrawal"])
            told = project.session("go on")
            after += _tells(told, case)
            if show:
                yield f"withdrawn {number} {case['words']}: {told!r}"
    total = len(cases.get("withdrawn", []))
    yield f"withdrawn: {before} of {total} rules told before, {after} after the withdrawal"


def _tells(told: str, case: dict[str, str]) -> bool:
    """Whether a line or a rule of it has all words of a rule, or half of all that was said when it
    was set, and is not what withdrew it."""
    wanted, rule = (
        {word[:5] for word in words(case[name]) if word not in STOP_WORDS}
        for name in ("words", "rule")
    )
    withdrew = " ".join(words(case["withdrawal"]))
    parts = (" ".join(words(part)) for line in told.splitlines() for part in line.split("; "))
    return any(
        wanted <= said or len(rule & said) >= len(rule) / 2
        for part in parts
        if (said := {word[:5] for word in part.split()})
        and part.removeprefix("rules here ").split(" disputed")[0][:40] not in withdrew
    )


def _hinted_in(folder: str) -> Iterator[str]:
    """How often the detector of statements fires in real work. Its weights know these prompts;
    `fit_standing` prints the share with whole sessions left out."""
    with tempfile.TemporaryDirectory() as unpacked, _home() as (home, _):
        sources, _ = transcripts.in_folder(folder, unpacked, 10_000)
        prompts = [
            transcripts.prompt_text(turn)
            for session in transcripts.read(sources)
            for turn in session.turns
        ]
        fired = sum(_is_hinted(home, one) for one in prompts)
    yield f"sessions: {fired} of {len(prompts)} prompts hinted ({fired / len(prompts):.1%})"


def main(path: str, *, show: bool, sessions: str) -> None:
    os.environ.setdefault("RECOLLECT_MODEL_DIR", ".venv/models")
    for line in _hinted_in(sessions) if sessions else ():
        print(line, flush=True)
    cases = json.loads(pathlib.Path(path).read_text("utf-8"))
    for part in (_single, _changed, _pairs, _withdrawn):
        for line in part(cases, show=show):
            print(line, flush=True)


if __name__ == "__main__":
    at = sys.argv.index("--sessions") + 1 if "--sessions" in sys.argv else 0
    main(sys.argv[1], show="-v" in sys.argv[2:], sessions=sys.argv[at] if at else "")
