"""Codex's trust in our hooks: it runs none that the user has not trusted.

In: a context, the user's config.toml, and a `codex` to ask. Out: what is trusted, and the changes
that give or withdraw trust. A `codex` that cannot be asked raises CannotAsk, which says to use
/hooks instead.
"""

import json
import os
import re
import selectors
import shutil
import subprocess
import sys
import time
from typing import Any

from recollect.core.errors import BadInput, RecollectError
from recollect.hosts import toml_edit
from recollect.hosts.changes import FileChange, read
from recollect.hosts.codex.facts import FACTS
from recollect.hosts.context import SERVER, Context
from recollect.hosts.installer import grouped_hooks
from recollect.hosts.json_edit import JsonDocument
from recollect.hosts.switches import OffSwitch

ASK_SECONDS = 20.0
_WORD = re.compile(r"(?<!^)(?=[A-Z])")  # where a word of an event's name begins
TRUST_HINT = "recollect install codex --trust"


class CannotAsk(RecollectError):
    """Codex did not say which hooks it knows."""

    hint = "Start codex, type /hooks and trust Recollect's hooks there."


def folder(context: Context) -> str:
    if context.in_project:
        return os.path.join(context.project, ".codex")
    return context.at("CODEX_HOME", ".codex")


def hooks_path(context: Context) -> str:
    return os.path.join(folder(context), "hooks.json")


def hook_keys(context: Context) -> list[str]:
    """The names under which Codex keeps its trust in our hooks: file, event, group, position."""
    path = hooks_path(context)
    try:
        found = grouped_hooks(FACTS, context).places(JsonDocument.read(read(path), path))
    except BadInput:
        return []  # planning the file itself will say what is wrong with it
    files = dict.fromkeys((path, os.path.realpath(path)))
    return [
        f"{file}:{_WORD.sub('_', event).lower()}:{group}:{position}"
        for file in files
        for event, group, position in found
    ]


def trusted(context: Context) -> bool:
    """Whether Codex has some trust for each hook of ours (it alone can tell if it is current)."""
    path = user_config_path(context)
    state = toml_edit.get(read(path), ("hooks", "state"), path) or {}
    known = {key for key in hook_keys(context) if "trusted_hash" in (state.get(key) or {})}
    return len(known) >= len(FACTS.hooks)


def user_config_path(context: Context) -> str:
    """Trust is the user's, so it is in their file even for hooks of a project."""
    return os.path.join(context.at("CODEX_HOME", ".codex"), "config.toml")


def withdrawn(context: Context, changes: list[FileChange]) -> list[FileChange]:
    """The changes, and the user's config.toml without trust in our present hooks."""
    path, why = user_config_path(context), "remove: trust in Recollect's earlier hooks"
    before = read(path)
    planned = next((change for change in changes if change.path == path), None)
    after = planned.after if planned else before
    for key in hook_keys(context) if after is not None else []:
        after = toml_edit.remove(after or b"", ("hooks", "state", key), path)
    if after == (planned.after if planned else before):
        return changes
    others = [change for change in changes if change.path != path]
    return [*others, FileChange(path, before, after, planned.why if planned else why)]


def planned(context: Context, seconds: float = ASK_SECONDS) -> list[FileChange]:
    """Plan Codex's trust in our hooks as they are now; only for a user who consented.

    Codex itself says their keys and hashes; only entries that run our hook are taken. Make the
    change with `apply_install`, so that uninstall knows of it.
    """
    path = user_config_path(context)
    before = after = read(path)
    for hook in _listed(context, seconds):
        key, current = hook.get("key"), hook.get("currentHash")
        if hook.get("command") not in _commands(context) or hook.get("trustStatus") == "trusted":
            continue
        if not isinstance(key, str) or not isinstance(current, str):
            raise CannotAsk("Codex listed a hook without its key or hash")
        after = toml_edit.put(after, ("hooks", "state", key), {"trusted_hash": current}, path)
    if after is None or after == before:
        return []
    return [FileChange(path, before, after, "trust in Recollect's hooks")]


def doubts(context: Context, cwd: str, seconds: float = ASK_SECONDS) -> list[OffSwitch]:
    """Hooks of ours that Codex does not run: it says so itself, or has no trust on record."""
    if not trusted(context):
        return [OffSwitch("Codex has not been told to trust Recollect's hooks", TRUST_HINT)]
    try:
        listed = _listed(context, seconds, cwd)
    except CannotAsk:
        return []  # what it has on record is all that can be known
    own = [hook for hook in listed if hook.get("command") in _commands(context)]
    if not own:
        told = f"Codex does not read Recollect's hooks in {hooks_path(context)}"
        return [OffSwitch(told, "Start codex and type /hooks: it says what is wrong with the file")]
    changed = [hook for hook in own if hook.get("trustStatus") not in ("trusted", "managed")]
    stopped = [hook for hook in own if hook.get("enabled") is False]
    found = []
    if changed:
        events = ", ".join(str(hook.get("eventName")) for hook in changed)
        told = f"Codex's trust is in other hooks than those of {hooks_path(context)} ({events})"
        found.append(OffSwitch(told, TRUST_HINT))
    if stopped:
        events = ", ".join(str(hook.get("eventName")) for hook in stopped)
        told = f"hooks are disabled in {user_config_path(context)} ({events})"
        found.append(OffSwitch(told, "Start codex, type /hooks and enable them"))
    return found


def plugin_doubts(context: Context, cwd: str, seconds: float = ASK_SECONDS) -> list[OffSwitch]:
    """Hooks of our plugin that Codex does not run; only Codex itself can say so."""
    try:
        listed = _listed(context, seconds, cwd)
    except CannotAsk:
        return []
    own = [hook for hook in listed if str(hook.get("pluginId")).startswith(f"{SERVER}@")]
    if own and all(hook.get("trustStatus") in ("trusted", "managed") for hook in own):
        return []
    told = "Codex has not been told to trust the hooks of Recollect's plugin"
    return [OffSwitch(told, "Start codex, type /hooks and trust Recollect's hooks")]


def _commands(context: Context) -> set[str]:
    entries = grouped_hooks(FACTS, context).entries.values()
    return {hook["command"] for entry in entries for hook in entry["hooks"]}


def _listed(context: Context, seconds: float, cwd: str = "") -> list[dict[str, Any]]:
    program = shutil.which("codex", path=context.env.get("PATH", ""))
    if program is None:
        raise CannotAsk("codex is not on the PATH")
    cwd = cwd or context.project or context.home
    asked: list[dict[str, Any]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {"clientInfo": {"name": "recollect", "title": "Recollect", "version": "1"}},
        },
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [cwd]}},
    ]
    reply = _ask(program, context, cwd, asked, seconds)
    data = reply.get("data")
    found = data[0].get("hooks") if isinstance(data, list) and data else None
    if not isinstance(found, list):
        raise CannotAsk("Codex answered hooks/list in an unknown form")
    return [hook for hook in found if isinstance(hook, dict)]


def _ask(
    program: str, context: Context, cwd: str, asked: list[dict[str, Any]], seconds: float
) -> dict[str, Any]:
    """Say the lines to `codex app-server` and wait for the answer to the last one."""
    # The guard keeps our own hooks quiet in a session that we started.
    env = {**context.env, "HOME": context.home, "RECOLLECT_INTERNAL": "1"}
    lines = "".join(json.dumps(message) + "\n" for message in asked).encode()
    try:
        process = subprocess.Popen(
            [program, "app-server"],
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError as error:
        raise CannotAsk(f"{program} cannot be started: {error.strerror}") from error
    with process:
        try:
            return _answer(process, lines, int(asked[-1]["id"]), time.monotonic() + seconds)
        except OSError as error:
            raise CannotAsk(f"codex app-server went away: {error.strerror}") from error
        finally:
            process.kill()


def _answer(
    process: "subprocess.Popen[bytes]", lines: bytes, wanted: int, deadline: float
) -> dict[str, Any]:
    if process.stdin is None or process.stdout is None:
        raise CannotAsk
    process.stdin.write(lines)
    process.stdin.flush()
    if sys.platform != "win32":
        os.set_blocking(process.stdout.fileno(), False)
    buffer = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := deadline - time.monotonic()) > 0:
            if not selector.select(left):
                break
            chunk = os.read(process.stdout.fileno(), 65536)
            if not chunk:
                raise CannotAsk("codex app-server ended without an answer")
            *whole, buffer = (buffer + chunk).split(b"\n")
            for line in whole:
                message = _message(line)
                if message.get("id") == wanted and "error" in message:
                    raise CannotAsk(f"Codex refused hooks/list: {message['error']}")
                if message.get("id") == wanted and isinstance(message.get("result"), dict):
                    return dict(message["result"])
    raise CannotAsk("codex app-server did not answer in time")


def _message(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}
