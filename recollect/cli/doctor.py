"""`recollect doctor`: checks everything, and says what is wrong and what to do about it."""

import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import click

from recollect import __version__
from recollect.capture import launcher
from recollect.cli import hosts_context, process
from recollect.cli.options import json_option, yes_option
from recollect.cli.output import agreed, filled, many, memories, minute, print_json
from recollect.cli.status import health_of, kept_out_of, not_answering, private_sessions_in
from recollect.client import Client, NotRunning
from recollect.core import keepout_rules, oslayer, private_sessions, settings, store_key
from recollect.core.errors import DamagedDatabase, RecollectError
from recollect.core.projects import PROOF
from recollect.core.settings import Settings
from recollect.hosts import registry
from recollect.hosts.context import Context
from recollect.hosts.install import installer, is_bystander
from recollect.hosts.installer import Installer
from recollect.hosts.proof import SESSION_PREFIX, Daemon, prove
from recollect.portable.backups import plain_files

Verdict = Literal["ok", "warn", "fail"]
SIGNS = {"ok": ("ok  ", "green"), "warn": ("warn", "yellow"), "fail": ("FAIL", "red")}
LOW_SPACE = 200 << 20
SILENT = timedelta(days=7)
DOORS = {
    "hooks": "the hooks' socket",
    "socket": "the socket of the command line",
    "tcp": "the dashboard's port",
}


@dataclass(frozen=True)
class Finding:
    """What was checked, the outcome, and what to do about it."""

    what: str
    verdict: Verdict
    told: str
    hint: str = ""
    fix: Callable[[], object] | None = None


@click.command()
@click.option("--fix", is_flag=True, help="Repair what can be repaired.")
@click.option(
    "--prove",
    "proving",
    is_flag=True,
    help="Send a marker through each connected agent's hook and look for it in the store.",
)
@click.option(
    "--live",
    metavar="AGENT",
    help="Run this agent once in a scratch project and see whether its model answers from memory. "
    "Its model may cost a few tokens: you are asked first.",
)
@yes_option
@json_option
def command(fix: bool, proving: bool, live: str | None, yes: bool, as_json: bool) -> int:
    """Check Recollect and the agents it is connected to. Exit code 1 when something fails."""
    real = installer(live) if live else None
    chosen = settings.load()
    findings = list(examine(chosen))
    if fix:
        findings = [_repaired(one) for one in findings]
    if (proving or real) and Client(chosen).alive():
        if proving:
            findings += prove_hosts(chosen)
        if real and agreed(_cost(real), yes=yes, as_json=as_json, default=True):
            findings += _prove_live(chosen, real)
    if as_json:
        keys = ("what", "verdict", "told", "hint")
        print_json([{key: getattr(one, key) for key in keys} for one in findings])
    else:
        for one in findings:
            print_finding(one)
    return 1 if any(one.verdict == "fail" for one in findings) else 0


def examine(chosen: Settings) -> Iterator[Finding]:
    yield _directory(chosen)
    if not os.path.isdir(chosen.directory):
        return
    yield from _modes(chosen)
    for sentence in settings.ignored_names():
        yield Finding("settings", "warn", sentence, "recollect settings unset NAME, or unset it")
    yield from _settings_file(chosen)
    yield from _encryption(chosen)
    yield _hook_program(chosen)
    yield from _kept_out(chosen)
    client = Client(chosen)
    try:
        health = health_of(chosen)
    except NotRunning as error:
        down = not_answering(chosen, error)
        # If the last start failed for a reason, another one would fail too.
        able = down["status"] == "down" and not down["problem"]
        start = (lambda: process.start(chosen)) if able else None
        verdict: Verdict = "warn" if down["status"] in ("starting", "stopping") else "fail"
        yield Finding("daemon", verdict, f"it {down['told']}", down["hint"], start)
        yield from _hosts(chosen, None)
        return
    yield _daemon(chosen, health)
    yield from _doors(health)
    yield from _database(client, health)
    yield _spool(health)
    yield _cut(health)
    if counted := kept_out_of(health):
        yield Finding("kept out", "ok", f"ignored since the daemon started: {counted}")
    if private := private_sessions_in(health):
        yield Finding("private session", "ok", " ".join(private_sessions.describe(private)))
    yield _errors(health)
    for alarm in health.get("alarms", ()):  # none of an older daemon
        # Hosts are checked below; a private session is not a problem.
        if alarm["name"] not in ("silent_host", "private_session"):
            yield Finding("alarm", "warn", alarm["message"], alarm["hint"])
    yield from _hosts(chosen, health["hosts"])


def prove_hosts(chosen: Settings) -> list[Finding]:
    """For each connected agent: send a marker through its hook and look for it in the store."""
    context = hosts_context.context(chosen)
    connected = [
        host
        for host in registry.installers().values()
        if _state(host, context) == "installed" or host.plugin(context, os.getcwd())
    ]
    if not connected:
        return [Finding("prove", "warn", "no agent is connected", "recollect install")]
    proofs = [_prove(chosen, host) for host in connected]
    return [*proofs, *_cleaned_up(chosen, proofs)]


# --- checks --------------------------------------------------------------------------


def _directory(chosen: Settings) -> Finding:
    try:
        free = oslayer.free_bytes(chosen.directory)
    except FileNotFoundError:
        return Finding(
            "data directory", "fail", f"{chosen.directory} does not exist", "recollect up"
        )
    if free < LOW_SPACE:
        told = f"only {free >> 20} MB are free for {chosen.directory}"
        return Finding("data directory", "warn", told, "Free some space.")
    return Finding("data directory", "ok", f"{chosen.directory}, {free >> 30} GB free")


def _modes(chosen: Settings) -> Iterator[Finding]:
    """Everything in the data directory is the user's alone."""
    open_paths = [
        path
        for path in [chosen.directory, *oslayer.files_under(chosen.directory)]
        if not os.path.islink(path) and stat.S_IMODE(os.lstat(path).st_mode) & 0o077
    ]
    if not open_paths:
        yield Finding("permissions", "ok", "only you can read the data")
        return

    def close() -> None:
        for path in open_paths:
            os.chmod(path, stat.S_IMODE(os.lstat(path).st_mode) & 0o700)

    told = f"{many(len(open_paths), 'file')} can be read by others, such as {open_paths[0]}"
    yield Finding("permissions", "fail", told, "recollect doctor --fix", close)


def _hook_program(chosen: Settings) -> Finding:
    path = chosen.path("bin", launcher.NAME)
    put = lambda: hosts_context.put_hook(chosen)  # noqa: E731
    try:
        done = subprocess.run(
            [path, "doctor", "check"],
            input=b"",
            env={**os.environ, "RECOLLECT_INTERNAL": "1"},
            capture_output=True,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        told = f"{path} does not run ({error})"
        return Finding("hook program", "fail", told, "recollect doctor --fix", put)
    if done.returncode or done.stderr:
        told = f"{path} ended with {done.returncode}"
        return Finding("hook program", "fail", told, "recollect doctor --fix", put)
    with open(path, "rb") as file:
        script = file.read(2) == b"#!"
    return Finding("hook program", "ok", "Python (no C compiler)" if script else "compiled")


def _encryption(chosen: Settings) -> Iterator[Finding]:
    """Whether the store is as the setting says, and what lies beside it."""
    if chosen.store or not chosen.encryption_key:
        return
    if store_key.header_of(chosen.path(store_key.DATABASE)) is None:
        told = f"encryption_key is {chosen.encryption_key}, but the store is not encrypted"
        yield Finding("encryption", "warn", told, "recollect encrypt")
    elif store_key.others_can_read(chosen.encryption_key):
        path = chosen.encryption_key.removeprefix(store_key.FILE)
        yield Finding("encryption", "warn", "others can read the key file", f"chmod 600 {path}")
    elif plain := plain_files(chosen.directory):
        told = f"the store is encrypted, but anyone can read {', '.join(plain[:3])}"
        yield Finding("encryption", "warn", told, "recollect encrypt, or delete them")
    else:
        told = f"store, backups and spool; the key is from {chosen.encryption_key}"
        yield Finding("encryption", "ok", told)


def _kept_out(chosen: Settings) -> Iterator[Finding]:
    """Why nothing is captured in the current directory, if so."""
    holds = keepout_rules.rules_in(os.getcwd(), chosen.ignore)
    if private_sessions.private_environment(os.environ):
        told = (
            f"{private_sessions.PRIVATE_VARIABLE} is set: sessions begun in this shell are private"
        )
        yield Finding("here", "warn", told, f"unset {private_sessions.PRIVATE_VARIABLE}")
    if holds.off:
        told = f"nothing is captured here: {holds.off}"
        yield Finding("here", "warn", told, "recollect ignore list")
    for warning in holds.warnings:
        yield Finding("here", "warn", warning, "Correct the file; see docs/howto/keep-out.md")


def _daemon(chosen: Settings, health: dict[str, Any]) -> Finding:
    if health["version"] != __version__:
        told = f"version {health['version']} runs, {__version__} is installed"

        def restart() -> None:
            process.stop(chosen)
            process.start(chosen)

        return Finding("daemon", "warn", told, "recollect restart", restart)
    told = f"process {health['pid']}, version {health['version']}, port {health['port']}"
    if health["status"] != "ok":
        return Finding("daemon", "fail", f"{told}: {health['status']}", "recollect logs")
    return Finding("daemon", "ok", told)


def _doors(health: dict[str, Any]) -> Iterator[Finding]:
    for name, door in health.get("doors", {}).items():  # none of an older daemon
        if not door["answers"]:
            told = f"{DOORS.get(name, name)} has not answered since {minute(door['since'])}"
            yield Finding("doors", "fail", f"{told}: {door['problem']}", "recollect restart")
    if renewed := health.get("token_renewed"):
        yield Finding("token", "warn", renewed, "recollect open")


def _settings_file(chosen: Settings) -> Iterator[Finding]:
    """Recollect never leaves an empty file; a crash of the machine or a full disk may."""
    path = chosen.path("settings.toml")
    if os.path.isfile(path) and os.path.getsize(path) == 0:
        told = f"{path} is empty: every setting is at its default"
        yield Finding(
            "settings",
            "warn",
            told,
            "recollect settings list; if that is intended, remove the file",
        )


def _database(client: Client, health: dict[str, Any]) -> Iterator[Finding]:
    store = health.get("store", {"kind": "sqlite", "problem": ""})  # none of an older daemon
    try:
        checked = client.get("/api/doctor")
    except RecollectError as error:  # the server is down; the other checks still work
        yield Finding("database", "fail", str(error), error.hint)
        return
    if store["problem"]:
        since = f" (since {minute(store['since'])})" if store.get("since") else ""
        yield Finding("database", "fail", f"{store['problem']}{since}", "docs/howto/scale.md")
    if checked["problems"]:
        told = f"{many(len(checked['problems']), 'problem')}, such as: {checked['problems'][0]}"
        yield Finding(
            "database", "fail", told, "recollect doctor --fix", lambda: _rebuild_index(client)
        )
    else:
        yield Finding(
            "database",
            "ok",
            f"{many(checked['events'], 'event')}, {memories(checked['records'])}, intact",
        )
    if checked["orphans"]:
        drop = lambda: client.ask("POST", "/api/doctor", {"what": "orphans"})  # noqa: E731
        told = ", ".join(f"{count} {kind}" for kind, count in checked["orphans"].items())
        yield Finding("orphans", "warn", f"orphaned rows: {told}",
                      "recollect doctor --fix", drop)  # fmt: skip
    if misfits := checked.get("misfits"):  # none of an older daemon
        told = f"{memories(len(misfits))} with a vector of the wrong length, such as {misfits[0]}"
        yield Finding(
            "vectors", "warn", f"{told}: search leaves it out", "recollect model backfill"
        )
    if store["kind"] == "sqlite":
        yield _backups(client, checked)
    else:
        yield Finding("backups", "ok", "made on the server: pg_dump --schema=recollect")


def _rebuild_index(client: Client) -> None:
    """A rebuilt index mends what is wrong with the index; other damage needs a backup."""
    client.ask("POST", "/api/doctor", {"what": "index"})
    left = client.get("/api/doctor")["problems"]
    if left:
        raise DamagedDatabase(left[0])


def _backups(client: Client, checked: dict[str, Any]) -> Finding:
    make = lambda: client.ask("POST", "/api/backups")  # noqa: E731
    newest, days = checked["last_backup"], checked["backup_days"]
    if newest is None:
        if not checked["events"]:
            return Finding("backups", "ok", "none yet, and nothing to back up")
        return Finding("backups", "warn", "there is none yet", "recollect backup create", make)
    age = datetime.now(UTC) - datetime.fromisoformat(newest)
    told = f"{checked['backups']}, the newest of {minute(newest)}"
    if days and age > timedelta(days=2 * days):
        return Finding("backups", "warn", f"{told}: overdue", "recollect backup create", make)
    return Finding("backups", "ok", told)


def _spool(health: dict[str, Any]) -> Finding:
    spool = health["spool"]
    if spool["dropped"] or spool["damaged"]:
        told = f"events dropped (spool full): {spool['dropped']}; damaged: {spool['damaged']}"
        return Finding("spool", "warn", told, f"Look in {health['home']}/spool")
    return Finding("spool", "ok", f"{many(spool['events'], 'event')} waiting")


def _cut(health: dict[str, Any]) -> Finding:
    """Payloads that arrived incomplete: too large, endless, impossible to scrub, or cut off by the
    host."""
    counts = health["counts"]
    cut = counts.get("payloads cut", 0) + counts.get("payloads not readable", 0)
    if cut:
        told = f"{many(cut, 'payload')} arrived incomplete since the daemon started"
        return Finding("hooks", "warn", told, "recollect logs")
    return Finding("hooks", "ok", "every payload arrived complete")


def _errors(health: dict[str, Any]) -> Finding:
    recent = health["errors_last_hour"]
    renewed = health.get("token_renewed")  # a finding of its own
    latest = [one for one in recent["latest"] if one != renewed]
    count = recent["count"] - len(recent["latest"]) + len(latest)
    if latest:
        told = f"{count} in the last hour, the latest: {latest[-1]}"
        return Finding("errors", "warn", told, "recollect logs")
    return Finding("errors", "ok", "none in the last hour")


def _hosts(chosen: Settings, heard: dict[str, str] | None) -> Iterator[Finding]:
    """`heard` says when each agent last sent an event; None when there is no daemon to ask."""
    context = hosts_context.context(chosen)
    for host in registry.installers().values():
        finding = _host(host, context, heard)
        if finding is not None:
            yield finding


def _host(host: Installer, context: Context, heard: dict[str, str] | None) -> Finding | None:
    """A finding for an agent that is found or connected; None for others."""
    state = _state(host, context)
    found = host.detect(context.home, context.env)
    plugin = host.plugin(context, os.getcwd())
    connected = "connected by its plugin" if plugin else "connected"
    if plugin and state != "absent":
        told = "connected twice, by `recollect install` and by a plugin, which stays silent"
        hint = f"Uninstall the plugin in {host.title}, or: recollect uninstall {host.name}"
        return Finding(host.name, "warn", told, hint)
    if state == "absent" and not plugin:
        if found is None:
            return None
        return Finding(
            host.name, "warn", "found, but not connected", f"recollect install {host.name}"
        )
    if state != "installed" and not plugin:
        hint = f"recollect install {host.name}"
        return Finding(host.name, "fail", f"only partly connected ({state})", hint)
    off = host.off_switches(context, os.getcwd())
    if off:
        told = "; ".join(one.what for one in off)
        return Finding(
            host.name,
            "fail",
            f"{connected}, but it runs no hooks of Recollect: {told}",
            off[0].hint,
        )
    if not host.facts.hooks:
        return Finding(host.name, "ok", "connected by MCP and rules; without hooks it only asks")
    if heard is None:
        return Finding(host.name, "ok", connected)
    last = heard.get(host.name)
    if last is None:
        told = f"{connected}, but it has not sent an event yet"
        if not host.facts.verified:
            told += " (unverified: written from its documentation)"
        return Finding(
            host.name, "warn", told, f"Use {host.title} once, or: recollect doctor --prove"
        )
    silent = datetime.now(UTC) - datetime.fromisoformat(last)
    if silent > SILENT:
        told = f"{connected}, but it has sent no event for {silent.days} days"
        return Finding(host.name, "warn", told, "recollect doctor --prove")
    return Finding(host.name, "ok", f"{connected}, last event at {minute(last)}")


def _state(host: Installer, context: Context) -> str:
    try:
        return "absent" if is_bystander(host, context) else host.state(context)
    except RecollectError as error:
        return str(error)


def _prove(chosen: Settings, host: Installer) -> Finding:
    client = Client(chosen)
    daemon = Daemon(
        events=lambda place: [str(one["body"]) for one in _events(client, place)],
        remember=lambda place, text: _remember(client, place, text),
    )
    proof = prove(hosts_context.context(chosen), host, daemon, os.getcwd())
    seen: Verdict = "ok" if host.facts.verified else "warn"
    return Finding(f"prove {host.name}", seen if proof.ok else "fail", proof.message, proof.hint)


def _events(client: Client, place: str) -> list[dict[str, Any]]:
    page = client.get("/v1/events", project_path=place, limit=20)
    return [row["event"] for row in page["items"]]


def _remember(client: Client, place: str, text: str) -> object:
    return client.ask("POST", "/api/notes", {"project": place, "text": text})


def _cost(host: Installer) -> str:
    return (
        f"This runs {host.title} once, in a scratch project: its model is asked one question, "
        "which may cost a few tokens. Go on?"
    )


def _prove_live(chosen: Settings, host: Installer) -> list[Finding]:
    from recollect.hosts.live_proof import LiveDaemon, prove_live

    client = Client(chosen)

    def of_the_agent(row: dict[str, Any]) -> bool:
        session = row["session_id"]
        return bool(session) and not session.startswith(SESSION_PREFIX)

    daemon = LiveDaemon(
        events=lambda place: [
            str(one["body"]) for one in _events(client, place) if of_the_agent(one)
        ],
        remember=lambda place, text: _remember(client, place, text),
        briefs=lambda place: [
            str(one["detail"])
            for one in client.get("/api/receipts", project=place, limit=20)["items"]
            if one["injected"] and of_the_agent(one)
        ],
    )
    proof = prove_live(hosts_context.context(chosen), host, daemon)
    seen: Verdict = "ok" if proof.ok else "fail"
    finding = Finding(f"live {host.name}", seen, proof.message, proof.hint)
    return [finding, *_cleaned_up(chosen, [finding])]


def _cleaned_up(chosen: Settings, proofs: list[Finding]) -> Iterator[Finding]:
    """Erase what proofs stored; of one that failed it stays, because its hint leads there."""
    if any(one.verdict == "fail" for one in proofs):
        return
    wanted = {"project": chosen.path(PROOF), "everything": True, "dry_run": False}
    try:
        Client(chosen).ask("POST", "/api/forget", wanted)
    except RecollectError as error:
        told = f"what the proof stored could not be erased: {error}"
        yield Finding("prove", "warn", told, f"recollect forget --all -p {chosen.path(PROOF)}")


# --- printing ------------------------------------------------------------------------------------


def _repaired(finding: Finding) -> Finding:
    if finding.verdict == "ok" or finding.fix is None:
        return finding
    try:
        finding.fix()
    except (RecollectError, OSError) as error:
        hint = error.hint if isinstance(error, RecollectError) else ""
        return Finding(finding.what, "fail", f"{finding.told}; repairing it failed: {error}", hint)
    return Finding(finding.what, "ok", f"repaired ({finding.told})")


def print_finding(finding: Finding) -> None:
    sign, colour = SIGNS[finding.verdict]
    told = filled(f"{finding.what}: {finding.told}", len(sign) + 2)
    click.echo(f"{click.style(sign, fg=colour)}  {told}")
    if finding.hint and finding.verdict != "ok":
        click.echo(f"      try: {finding.hint}")
