"""What is kept out on purpose is nowhere: canaries from ignored projects, files and tools and from
private sessions, by every way in, with the daemon up, killed and down; then every byte of the data
directory is searched.

In: a seed, how many canaries, a directory. Out: those that were found, and what should have been
stored and was not.
"""

import json
import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.fakes import transcripts
from tests.fakes.daemons import RealDaemon
from tests.fakes.waiting import PATIENCE_S
from tests.torture.case import Case, Report

HOST = "claude-code"
LETTERS = "abcdefghijkmnopqrstuvwxyz"
RULES = ["file:*.pem", "file:vault/", "tool:WebFetch", "tool:mcp__jira__*"]


class Field:
    """A machine with projects of all kinds and one data directory."""

    def __init__(self, chance: random.Random, directory: Path) -> None:
        self.chance = chance
        self.person = directory / "person"
        self.daemon = RealDaemon(directory / "home")
        self.daemon.environment["HOME"] = str(self.person)
        self.birds: list[str] = []
        self.seen = 0
        work = self.person / "work"
        self.plain, self.ignored = work / "plain", work / "ignored"
        self.team, self.broken = work / self.bird("team"), work / self.bird("broken")
        for project in (self.plain, self.ignored, self.team, self.broken):
            project.mkdir(parents=True)
            (project / "Makefile").touch()
        (self.plain / ".recollect.toml").write_text('ignore = ["/private-data"]\n')
        (self.team / ".recollect.toml").write_text("capture = false\n")
        (self.broken / ".recollect.toml").write_text("capture = maybe\n")
        self.daemon.install_hook()
        rules = json.dumps([*RULES, f"project:{self.ignored}"])
        (self.daemon.home / "settings.toml").write_text(f"ignore = {rules}\n")

    def bird(self, kind: str) -> str:
        bird = f"{kind}{''.join(self.chance.choices(LETTERS, k=16))}"
        self.birds.append(bird)
        return bird

    def hook(self, event: str, where: Path, session: str, env: Any = None, **more: Any) -> None:
        payload = {"session_id": session, "cwd": str(where), "hook_event_name": event, **more}
        done = self.daemon.run_hook(HOST, event, payload, env=env or {}, cwd=str(where))
        assert (done.returncode, done.stderr) == (0, b""), done

    def tool(self, where: Path, session: str, name: str, given: Any, output: Any) -> None:
        self.hook(
            "PostToolUse", where, session, tool_name=name, tool_input=given, tool_response=output,
            tool_use_id=f"t{self.chance.random()}",
        )  # fmt: skip

    def ordinary(self, number: int) -> None:
        """Something that must be stored, so that silence is not taken for safety."""
        self.seen += 1
        self.hook("UserPromptSubmit", self.plain, f"s{number}", prompt=f"ordinary {number}")

    def found(self) -> list[str]:
        hits = []
        for folder, _, names in os.walk(self.daemon.home):
            for name in names:
                path = Path(folder, name)
                content = path.read_bytes() if path.is_file() else b""
                hits += [
                    f"{bird} in {path.relative_to(self.daemon.home)}"
                    for bird in self.birds
                    if bird.encode() in content or bird in name
                ]
        return hits

    def settled(self) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while self.daemon.client.get("/healthz")["spool"]["events"]:
            assert time.monotonic() < deadline, "the spool is not drained"
            time.sleep(0.05)


# --- ways ----------------------------------------------------------------------------------------


def of_a_project(field: Field, number: int) -> None:
    where = field.chance.choice([field.ignored, field.team, field.broken])
    session = f"p{number}"
    field.hook("UserPromptSubmit", where, session, prompt=f"about {field.bird('project')}")
    field.tool(where, session, "Bash", {"command": f"echo {field.bird('project')}"}, "x")
    field.hook("Stop", where, session, last_assistant_message=f"It is {field.bird('project')}.")


def of_a_file(field: Field, number: int) -> None:
    bird, where = field.bird("file"), field.plain
    path = field.chance.choice(["keys/tls.pem", "vault/a.txt", "private-data/x.csv"])
    whole = str(where / path)
    name, given, output = field.chance.choice(
        [
            ("Read", {"file_path": whole}, {"file": {"filePath": whole, "content": bird}}),
            ("Write", {"file_path": whole, "content": bird}, {"filePath": whole}),
            ("Bash", {"command": f"cat ./{path}"}, {"stdout": bird, "stderr": ""}),
            ("Bash", {"command": "git diff"},
             {"stdout": f"diff --git a/{path} b/{path}\n+{bird}\n", "stderr": ""}),
            ("Bash", {"command": "git show HEAD~1"}, {"stdout": f"+++ b/{path}\n+{bird}\n"}),
            ("Grep", {"pattern": "x"}, {"content": f"{path}:3:{bird}"}),
            ("mcp__files__read", {"p": {"q": [path]}}, {"result": bird}),
        ]
    )  # fmt: skip
    field.tool(where, f"f{number}", name, given, output)


def of_a_tool(field: Field, number: int) -> None:
    name = field.chance.choice(["WebFetch", "mcp__jira__search"])
    field.tool(field.plain, f"t{number}", name, {"url": "x"}, {"result": field.bird("tool")})


def of_a_private_session(field: Field, number: int) -> None:
    session = f"w{number}"
    line = field.chance.choice(["recollect: private", "Recollect:Private"])
    field.hook("UserPromptSubmit", field.plain, session, prompt=f"{line}\n{field.bird('word')}")
    field.tool(field.plain, session, "Bash", {"command": f"echo {field.bird('word')}"}, "x")
    if field.daemon.process is not None and field.chance.random() < 0.2:
        field.daemon.kill()
        field.daemon.start()
    field.hook("UserPromptSubmit", field.plain, session, prompt=f"and {field.bird('word')}")
    field.hook("Stop", field.plain, session, last_assistant_message=f"{field.bird('word')}.")
    if field.chance.random() < 0.5:
        prompt = f"{field.bird('word')}\nrecollect: public"
        field.hook("UserPromptSubmit", field.plain, session, prompt=prompt)
        field.seen += 1
        field.hook("UserPromptSubmit", field.plain, session, prompt=f"public again {number}")


def of_a_private_environment(field: Field, number: int) -> None:
    env = {"RECOLLECT_PRIVATE": field.chance.choice(["1", "yes", "true"])}
    session, where = f"e{number}", field.plain
    bird = field.bird("environment")
    field.hook("UserPromptSubmit", where, session, env, prompt=f"about {bird}")
    if number % 2:  # one that has ended is kept out as well
        field.hook("SessionEnd", where, session, env, reason="exit")
    written = transcripts.claude_code(field.person, str(where), session)
    text = written.read_text().replace(transcripts.ANSWERS[0], f"It is {bird}")
    moments = time.strftime("%Y-%m-%d", time.gmtime())
    now = time.strftime("T%H:%M:", time.gmtime())
    written.write_text(text.replace("2026-03-02", moments).replace("T09:00:", now))


def of_a_transcript(field: Field, number: int) -> None:
    where = field.chance.choice([field.ignored, field.team, field.plain])
    written = transcripts.claude_code(field.person, str(where), f"h{number}")
    text = written.read_text()
    if where == field.plain:  # the word is in the transcript, and nothing else
        text = text.replace(transcripts.PROMPTS[0], "recollect: private")
    for answer in transcripts.ANSWERS:
        text = text.replace(answer, field.bird("transcript"))
    written.write_text(text)


def of_the_api(field: Field, number: int) -> None:
    if field.daemon.process is None:
        return
    where, session = field.chance.choice([field.ignored, field.team, field.plain]), f"a{number}"
    texts = [f"about {field.bird('api')}", f"more of {field.bird('api')}"]
    if where == field.plain:
        texts[0] += "\nrecollect: private"
    for text in texts:
        body = {
            "session_id": session, "kind": "prompt", "body": {"type": "text", "content": text},
            "source": {"surface": "test", "project_path": str(where)},
        }  # fmt: skip
        field.daemon.client.ask("POST", "/v1/events?retrieve=true", body)


WAYS: tuple[Callable[[Field, int], None], ...] = (
    of_a_project,
    of_a_file,
    of_a_tool,
    of_a_private_session,
    of_a_private_environment,
    of_a_transcript,
    of_the_api,
)
# What must not even lie in the spool, because the hook itself can know.
KNOWN_TO_THE_HOOK = ("project", "word", "environment")


def attack(chance: random.Random, tries: int, directory: Path) -> Report:
    report = Report()
    field = Field(chance, directory)
    daemon = field.daemon.start()
    try:
        for number in range(tries):
            if number == tries // 2:
                daemon.stop()
            WAYS[number % len(WAYS) if number < len(WAYS) else chance.randrange(len(WAYS))](
                field, number
            )
            field.ordinary(number)
            report.tries += 1
        early = [hit for hit in field.found() if hit.startswith(KNOWN_TO_THE_HOOK)]
        for hit in early:
            report.failed("leaked", f"{hit}, while the daemon was down")
        daemon.start()
        field.settled()
        body = {"sources": [HOST], "home": str(field.person), "env": {}}
        daemon.client.ask("POST", "/api/import", body)
        deadline = time.monotonic() + PATIENCE_S
        while daemon.client.get("/api/import")["state"] == "running":
            assert time.monotonic() < deadline, "the import does not end"
            time.sleep(0.05)
        for hit in field.found():
            report.failed("leaked", hit)
        stored = [
            one for one in daemon.events(str(field.plain), expected=field.seen)
            if str(one["body"].get("content", "")).startswith(("ordinary", "public again"))
        ]  # fmt: skip
        if len(stored) < field.seen:
            report.failed("lost", f"{field.seen - len(stored)} of {field.seen} ordinary prompts")
        elif len(stored) > field.seen:
            report.failed("doubled", f"{len(stored) - field.seen} ordinary prompts")
        named = [one["name"] for one in daemon.client.get("/api/projects")["items"]]
        if set(named) - {"plain", "global"}:
            report.failed("leaked", f"projects that are kept out are known: {named}")
    finally:
        if daemon.process is not None:
            daemon.stop()
    return report


CASES = [Case("kept out on purpose", attack, 200)]
