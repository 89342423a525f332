"""Installers for all hosts: find them, put our entries in, take them out again.

In: names of hosts, a Context, and a function that asks the user. Out: a Report per host; a host
that fails is put back as it was and named with its error, the others go on.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from recollect.core.errors import BadInput, RecollectError
from recollect.hosts.apply import apply_install, apply_uninstall, diff
from recollect.hosts.base import Change, Context, Found, Installer, State
from recollect.hosts.claude_code import CLAUDE_CODE
from recollect.hosts.cline import CLINE
from recollect.hosts.codex import CODEX, codex_trust
from recollect.hosts.copilot import COPILOT
from recollect.hosts.cursor import CURSOR
from recollect.hosts.gemini import GEMINI, QWEN
from recollect.hosts.kiro import KIRO_CLI, KIRO_IDE
from recollect.hosts.ledger import Ledger
from recollect.hosts.opencode import OPENCODE
from recollect.hosts.rules import RULES
from recollect.hosts.windsurf import WINDSURF

__all__ = [
    "INSTALLERS",
    "RULES",
    "Change",
    "Context",
    "Found",
    "HostResult",
    "Installer",
    "Report",
    "State",
    "codex_trust",
    "detect_all",
    "diff",
    "install",
    "installations",
    "installer",
    "uninstall",
]

INSTALLERS: tuple[Installer, ...] = (
    CLAUDE_CODE,
    CODEX,
    GEMINI,
    COPILOT,
    QWEN,
    OPENCODE,
    KIRO_CLI,
    KIRO_IDE,
    CURSOR,
    WINDSURF,
    CLINE,
)

Outcome = Literal["installed", "removed", "unchanged", "declined", "failed"]
Confirm = Callable[[Installer, list[Change]], bool]


@dataclass(frozen=True)
class HostResult:
    host: str
    outcome: Outcome
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    error: RecollectError | None = None


@dataclass(frozen=True)
class Report:
    results: tuple[HostResult, ...]

    @property
    def ok(self) -> bool:
        return all(result.outcome != "failed" for result in self.results)


def installer(name: str) -> Installer:
    """By name or alias; BadInput lists the known ones."""
    wanted = name.strip().lower()
    for known in INSTALLERS:
        if wanted in (known.name, *known.aliases):
            return known
    names = ", ".join(known.name for known in INSTALLERS)
    raise BadInput(f"there is no host {name!r}; known are {names}", field="host")


def detect_all(home: str, env: Mapping[str, str]) -> dict[str, Found]:
    """The hosts on this machine, by name."""
    found = {known.name: known.detect(home, env) for known in INSTALLERS}
    return {name: how for name, how in found.items() if how is not None}


def installations(data_dir: str) -> list[tuple[str, str]]:
    """What was installed by us: (host, project), with "" where it was for the user."""
    return Ledger.load(data_dir).installations()


def connected_since(data_dir: str) -> dict[str, datetime]:
    """Since when each host has been connected."""
    found: dict[str, datetime] = {}
    for record in Ledger.load(data_dir).files.values():
        at = datetime.fromisoformat(record.time)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        for name in record.hosts:
            found[name] = min(found.get(name, at), at)
    return found


def install(hosts: Iterable[Installer], context: Context, confirm: Confirm) -> Report:
    """Put our entries in. `confirm` sees each host's changes before anything is written."""
    results = []
    for host in hosts:
        changes: list[Change] = []
        try:
            changes = host.plan_install(context)
            if changes and not confirm(host, changes):
                results.append(HostResult(host.name, "declined", tuple(changes)))
                continue
            apply_install(host, context, changes)
            outcome: Outcome = "installed" if changes else "unchanged"
            notes = tuple(host.notes(context)) if changes else ()
            results.append(HostResult(host.name, outcome, tuple(changes), notes))
        except RecollectError as error:
            results.append(HostResult(host.name, "failed", tuple(changes), error=error))
    return Report(tuple(results))


def uninstall(hosts: Iterable[Installer], context: Context, confirm: Confirm) -> Report:
    """Take our entries out; the original bytes come back where nobody wrote since."""
    results = []
    for host in hosts:
        changes: list[Change] = []
        try:
            changes = host.plan_uninstall(context)
            if changes and not confirm(host, changes):
                results.append(HostResult(host.name, "declined", tuple(changes)))
                continue
            apply_uninstall(host, context, changes)
            outcome: Outcome = "removed" if changes else "unchanged"
            results.append(HostResult(host.name, outcome, tuple(changes)))
        except RecollectError as error:
            results.append(HostResult(host.name, "failed", tuple(changes), error=error))
    return Report(tuple(results))
