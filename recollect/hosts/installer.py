"""What every installer does: plan changes over the files that a host names.

In: a Context and the host's pieces. Out: changes, states, notes; files are read, never written.
A file that is not what its format says raises BadInput before anything is planned.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from recollect.core.tool_schemas import READING, WRITING
from recollect.hosts.changes import FileChange, digest, read
from recollect.hosts.context import SERVER, Context
from recollect.hosts.facts import Facts
from recollect.hosts.json_edit import Path
from recollect.hosts.ledger import InstallLedger
from recollect.hosts.marker import HookRun, prompt_call
from recollect.hosts.pieces import Allowed, Hooks, JsonFile, OwnFile, Piece, Server
from recollect.hosts.switches import OffSwitch

State = Literal["installed", "partial", "absent", "foreign"]


@dataclass(frozen=True)
class FoundHost:
    """How we know that a host is on this machine."""

    how: tuple[str, ...]
    program: str | None = None


class Installer:
    """A host's installer: a subclass names the pieces, and what a person must still do."""

    plugin_root = "${PLUGIN_ROOT}"  # what the hooks of a plugin call its folder

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.name = facts.name
        self.title = facts.title

    def pieces(self, context: Context) -> list[Piece]:
        raise NotImplementedError

    def all_pieces(self, context: Context) -> list[Piece]:
        commands = [] if context.in_project else self.slash_command(context)
        return [*self.pieces(context), *commands]

    def slash_command(self, context: Context) -> list[Piece]:
        """The file of `/recollect`, where the host has such commands; the user's alone."""
        return []

    def notes(self, context: Context) -> list[str]:
        return [f"Restart {self.title} so that it reads its new configuration."]

    def prompt_call(self, text: str, session: str, cwd: str) -> HookRun:
        """How the host reports that somebody typed this text."""
        return prompt_call(self.facts.prompts[0], text, session, cwd)

    def plugin(self, context: Context, cwd: str) -> str:
        """The folder of Recollect's plugin that the host installed by itself and that is switched
        on in this directory; empty when there is none."""
        return ""

    def hook_command(self, context: Context, event: str) -> tuple[str, ...] | None:
        """What the host runs for this event, read from its own files; None when it runs nothing of
        ours."""
        pieces, plugin = self.pieces(context), self.plugin(context, context.home)
        if plugin:
            hooks = os.path.join(plugin, "hooks", "hooks.json")
            pieces.append(JsonFile(hooks, "", (grouped_hooks(self.facts, context),)))
        for piece in pieces:
            now = read(piece.path)
            found = piece.command(now, event) if now is not None else None
            if found:
                return tuple(one.replace(self.plugin_root, plugin) for one in found)
        return None

    def off_switches(self, context: Context, cwd: str) -> list[OffSwitch]:
        """What keeps the host from running our hooks in this directory."""
        return []

    def needs_trust(self, context: Context) -> bool:
        """Whether the host runs our hooks only after the user has trusted them."""
        return False

    def plan_writes(self, context: Context) -> list[FileChange]:
        """The changes that let our tools change memory without asking; none where the host has no
        list of tools, or where they are made already."""
        return self.plan_install(replace(context, allow_writes=True))

    def plan_trust(self, context: Context) -> list[FileChange]:
        """The changes that make the host trust our hooks; for a user who said so."""
        return []

    def detect(self, home: str, env: Mapping[str, str]) -> FoundHost | None:
        """Looks only; never starts a program."""
        how = [
            f"{variable}={env[variable]}"
            for variable in self.facts.variables
            if env.get(variable) and os.path.isdir(os.path.expanduser(env[variable]))
        ]
        places = (os.path.join(home, place) for place in self.facts.places)
        how += [place for place in places if os.path.isdir(place)]
        search = env.get("PATH", "")
        programs = (shutil.which(program, path=search) for program in self.facts.programs)
        found = next(filter(None, programs), None)
        if found:
            how.append(found)
        return FoundHost(tuple(how), found) if how else None

    def plan_install(self, context: Context) -> list[FileChange]:
        changes = []
        for piece in self.all_pieces(context):
            before = read(piece.path)
            after = piece.put(before)
            if after != before:
                changes.append(FileChange(piece.path, before, after, piece.why, piece.mode))
        return changes

    def plan_uninstall(self, context: Context) -> list[FileChange]:
        """The original bytes where nobody touched the file since; else all but ours."""
        ledger = InstallLedger.load(context.data_dir)
        changes = []
        for piece in self.all_pieces(context):
            now = read(piece.path)
            record = ledger.files.get(piece.path)
            if now is None or (record and set(record.hosts) - {self.name}):
                continue  # a file that another host of ours still needs stays
            original = ledger.original(piece.path) if record else None
            if record and digest(now) == record.after:
                after = original
            else:
                after = piece.strip(now, original)
            if after != now:
                changes.append(FileChange(piece.path, now, after, f"remove: {piece.why}"))
        return changes

    def state(self, context: Context) -> State:
        """`partial` is also what an older version of ours gives: install again to mend it."""
        holding, wanting, foreign = 0, 0, 0
        for piece in self.all_pieces(context):
            now = read(piece.path)
            ours = now is not None and piece.holds(now)
            holding += ours
            if now is not None and not ours and isinstance(piece, OwnFile):
                foreign += 1
            else:
                wanting += piece.put(now) != now
        if holding and not wanting and not foreign:
            return "installed"
        return "partial" if holding else "foreign" if foreign else "absent"


def server_file(path: str, context: Context, *, allow: str = "", **extra: object) -> JsonFile:
    """Our MCP server in a JSON file, as most hosts write it; `allow` is the host's name for the
    list of its tools that run without asking."""
    place = ("mcpServers", SERVER)
    server = Server(place, context.server(**extra), kept=(allow,) if allow else ())
    if not allow:
        return JsonFile(path, "the MCP server", (server,))
    why = "the MCP server, whose reading tools run without asking"
    return JsonFile(path, why, (server, allowed((*place, allow), context, "{}")))


def allowed(path: Path, context: Context, form: str, *wider: str) -> Allowed:
    """Rules, in the form that a host writes them, for our tools that read; for those that write
    only when the user has said so."""
    reading = tuple(form.format(name) for name in READING)
    writing = tuple(form.format(name) for name in WRITING)
    rules = (*reading, *writing) if context.allow_writes else reading
    return Allowed(path, rules, writing, wider)


def grouped_hooks(facts: Facts, context: Context, milliseconds: bool = False) -> Hooks:
    """Hooks in the form that Claude Code invented and Codex, Gemini and Qwen share."""
    return Hooks(
        {
            hook.event: {
                **hook.matched,
                "hooks": [
                    {
                        "type": "command",
                        "command": context.hook(facts.name, hook.event),
                        "timeout": hook.timeout_ms if milliseconds else hook.timeout_s,
                    }
                ],
            }
            for hook in facts.hooks
        },
        groups=True,
    )
