"""No command stores what is private or secret: a canary in every text that one can be given.

Every command is named here: with the arguments that take text, or as one that stores no words.
"""

import itertools
import json
import pathlib
import re
from typing import Any

import click

from recollect.cli import COMMANDS
from recollect.cli.groups import ROOT
from tests.fakes.canaries import Canaries, found_on_disk
from tests.fakes.runtime import RuntimeHome
from tests.unit.cli.conftest import Terminal

# {text} is the canary; {note} and {belief} are ids, {here} a project; after | what is typed.
WRITING: dict[str, tuple[str, ...]] = {
    "add": (
        "add {text}", "add x --content {text}", "add --type decision x --reason {text}",
        "add --type decision x --alternative {text}", "add x --concept {text}",
        "add x --file {text}", "add x --session {text}",
        "add --kind summary x --investigated {text}",
        "add --kind summary x --completed {text}", "add --kind summary x --learned {text}",
        "add --kind summary x --next {text}",
    ),
    "edit": (
        "edit {note} --title {text}", "edit {note} --text {text}",
        "edit {note} --title {new} --reason {text}",
    ),
    "forget": (
        "forget {note} -y --reason {text}", "forget --text {text} -y --never-again",
        "forget --entity {text} -y", "forget --session {text} -y",
    ),
    "move": (
        "move {note} --to {elsewhere} -y --reason {text}", "move --to {elsewhere} -y --text {text}",
        "move --to {elsewhere} -y --entity {text}", "move --to {elsewhere} -y --session {text}",
    ),
    "profile": ("profile add {text}",),
    "review": ("review | c\n{text}\n",),
    "relay": ("relay issues --project {here} | {issue}",),
}  # fmt: skip
# They store no words of their caller: they read, start and stop, or write the user's configuration,
# which may hold a key (`settings`, `ignore`, `plugins`). What `import` reads is scrubbed as it is
# read (tests/unit/portable), what `mcp` passes on by the tools (tests/unit/server).
NO_WORDS = {
    "search", "context", "why", "show", "receipt", "resume", "today", "report", "open", "rules",
    "reflect", "pin", "undo",
    "change", "separate", "install", "uninstall", "import", "trial", "statusline", "mcp", "backup",
    "export", "ignore", "scrub", "maintain", "store", "encrypt", "decrypt", "up", "down", "restart",
    "status", "doctor", "queue", "jobs", "logs", "service", "setup", "settings", "model", "plugins",
    "completion", "bench",
}  # fmt: skip
# Options of the commands above that take no free text.
TYPED = {"project", "kind", "type", "to", "path", "until", "secret-file", "signature"}


def test_every_command_is_known_here() -> None:
    assert {*WRITING, *NO_WORDS} == set(COMMANDS) and not {*WRITING} & NO_WORDS


def test_no_command_stores_what_is_private(
    terminal: Terminal, runtime_home: RuntimeHome, tmp_path: pathlib.Path
) -> None:
    birds, number = Canaries(seed=11), itertools.count()
    for name in ("here", "elsewhere"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "Makefile").touch()
    terminal.patch.chdir(tmp_path / "here")
    came_by: dict[str, str] = {}

    def made(kind: str, text: str) -> str:
        new = f"title {next(number)}"
        where = {"project": str(tmp_path / "here")}
        match kind:
            case "text":
                return text
            case "new":
                return new
            case "issue":
                issue = {"title": text, "number": 1, "body": text, "html_url": text}
                repository = {"name": "here", "full_name": "me/here"}
                return json.dumps({"action": "opened", "issue": issue, "repository": repository})
            case "note":
                added: Any = runtime_home.client.ask("POST", "/api/notes", {"text": new, **where})
                return str(added["record"]["record_id"])
        return str(tmp_path / kind)

    for lines in WRITING.values():
        for line, text in itertools.product(lines, (birds.private, birds.secret)):
            planted = text()
            came_by[birds.planted[-1]] = line
            command, _, typed = line.partition(" | ")
            if command == "review":
                belief = {"type": "constraint", "title": made("new", "")}
                runtime_home.client.ask("POST", "/mcp", tool_call("store_knowledge", belief))
            words = [fill(word, made, planted) for word in command.split()]
            done = terminal(*words, typed=fill(typed, made, planted.replace("\n", " ")))
            matches_nothing = words[0] in ("forget", "move") and "--reason" not in words
            assert done.returncode == 0 or matches_nothing, (line, done)
    runtime_home.runtime.recall().receipts.flush()
    found = found_on_disk(runtime_home.home, birds.planted)
    assert sorted({f"{came_by[bird]} in {path}" for path, bird in found}) == []


def test_every_option_that_takes_text_is_tried() -> None:
    for name, lines in WRITING.items():
        command = ROOT.get_command(click.Context(ROOT), name)
        assert command is not None
        options = [one for one in command.params if isinstance(one, click.Option)]
        strings = [one for one in options if isinstance(one.type, click.types.StringParamType)]
        texts = {one.opts[-1].removeprefix("--") for one in strings}
        tried = {found for line in lines for found in re.findall(r"--(\S+) {text}", line)}
        assert texts - TYPED <= tried, name


def fill(word: str, made: Any, text: str) -> str:
    return re.sub(r"{(\w+)}", lambda found: made(found.group(1), text), word)


def tool_call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
