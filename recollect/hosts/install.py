"""Find hosts on this machine, put our entries into their files, take them out again.

In: names of hosts, a Context, and a function that asks the user. Out: a result per host; a host
that fails is put back as it was and named with its error, the others go on.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from recollect.core.errors import BadInput, RecollectError
from recollect.hosts import registry
from recollect.hosts.apply import apply_install, apply_uninstall
from recollect.hosts.changes import FileChange
from recollect.hosts.context import Context
from recollect.hosts.installer import FoundHost, Installer
from recollect.hosts.ledger import InstallLedger

Outcome = Literal["installed", "removed", "unchanged", "declined", "failed"]
Confirm = Callable[[Installer, list[FileChange]], bool]


@dataclass(frozen=True)
class HostResult:
    host: str
    outcome: Outcome
    changes: tuple[FileChange, ...] = ()
    notes: tuple[str, ...] = ()
    error: RecollectError | None = None


@dataclass(frozen=True)
class InstallReport:
    results: tuple[HostResult, ...]

    @property
    def ok(self) -> bool:
        return all(result.outcome != "failed" for result in self.results)

    def with_notes(self, host: str, notes: Iterable[str]) -> "InstallReport":
        """The report with what is left to do for this host, where something was installed."""
        return InstallReport(
            tuple(
                replace(one, notes=tuple(notes)) if one.host == host and one.notes else one
                for one in self.results
            )
        )


def installer(name: str) -> Installer:
    """By name or alias; BadInput lists the known ones."""
    known = registry.names().get(name.strip().lower())
    if known is None:
        names = ", ".join(registry.facts())
        raise BadInput(f"there is no host {name!r}; known are {names}", field="host")
    return registry.installers()[known]


def detect_all(home: str, env: Mapping[str, str]) -> dict[str, FoundHost]:
    """The hosts on this machine, by name."""
    found = {name: known.detect(home, env) for name, known in registry.installers().items()}
    return {name: how for name, how in found.items() if how is not None}


def installations(data_dir: str) -> list[tuple[str, str]]:
    """What was installed by us: (host, project), with "" where it was for the user."""
    return InstallLedger.load(data_dir).installations()


def connected_since(data_dir: str) -> dict[str, datetime]:
    """Since when each host has been connected."""
    found: dict[str, datetime] = {}
    for record in InstallLedger.load(data_dir).files.values():
        at = datetime.fromisoformat(record.time)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        for name in record.hosts:
            found[name] = min(found.get(name, at), at)
    return found


def is_bystander(host: Installer, context: Context) -> bool:
    """Whether a host is not on this machine and was not connected, although its files have our
    entries: Kiro IDE and Kiro CLI read the same hook file."""
    found = host.detect(context.home, context.env) is not None
    return not found and host.name not in connected_since(context.data_dir)


def install(hosts: Iterable[Installer], context: Context, confirm: Confirm) -> InstallReport:
    """Put our entries in. `confirm` sees each host's changes before anything is written."""
    return InstallReport(tuple(_changed(host, context, confirm, "installed") for host in hosts))


def uninstall(hosts: Iterable[Installer], context: Context, confirm: Confirm) -> InstallReport:
    """Take our entries out; the original bytes come back where nobody wrote since."""
    return InstallReport(tuple(_changed(host, context, confirm, "removed") for host in hosts))


def _changed(
    host: Installer, context: Context, confirm: Confirm, wanted: Literal["installed", "removed"]
) -> HostResult:
    adding = wanted == "installed"
    changes: list[FileChange] = []
    try:
        changes = host.plan_install(context) if adding else host.plan_uninstall(context)
        if changes and not confirm(host, changes):
            return HostResult(host.name, "declined", tuple(changes))
        (apply_install if adding else apply_uninstall)(host, context, changes)
        notes = tuple(host.notes(context)) if adding and changes else ()
    except RecollectError as error:
        return HostResult(host.name, "failed", tuple(changes), error=error)
    return HostResult(host.name, wanted if changes else "unchanged", tuple(changes), notes)
