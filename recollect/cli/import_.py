"""`recollect import`: history that is on this machine already, after showing what there is."""

import os
import sys
import time
from datetime import UTC, datetime
from typing import Any

import click

from recollect.cli import passphrase
from recollect.cli.date_options import iso, since_option, until_option
from recollect.cli.options import directory_option, dry_run_option, json_option, yes_option
from recollect.cli.output import (
    SLOW_S,
    confirmed,
    daemon_client,
    many,
    print_json,
    print_table,
    prompted,
)
from recollect.client import Client, NotRunning
from recollect.core import safe_files, sealing, settings, store_key
from recollect.core.errors import BadInput, RecollectError
from recollect.hosts import registry
from recollect.hosts.facts import Facts

LOOK_S = 0.3


@click.command()
@click.argument("sources", nargs=-1, metavar="[SOURCE]...")
@directory_option("Only what was done in this directory.")
@since_option
@until_option
@click.option("--commits", default=2000, show_default=True, type=click.IntRange(1, 100_000),
              help="The most commits of git history to read.")  # fmt: skip
@click.option("--key", metavar="keychain|file:PATH|passphrase",
              help="Where the key of an encrypted export of another store is kept.")  # fmt: skip
@click.option("--llm", is_flag=True, help="Extract with the language model of the settings too.")
@dry_run_option
@yes_option
@json_option
def command(
    sources: tuple[str, ...],
    project: str | None,
    since: datetime | None,
    until: datetime | None,
    commits: int,
    key: str | None,
    llm: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Import history that is on this machine, after showing what there is.

    SOURCE is an agent that keeps its sessions on this machine (such as claude-code or codex),
    another memory (kiro-learn, kiro-memory, claude-mem), git or git:DIR for a repository's commits,
    plugin:NAME or plugin:NAME:ARGUMENT for what a plugin brings, or a file: an export of Recollect,
    a transcript, a database. Without SOURCE, everything that is found is offered.

    Importing again adds nothing twice. Secrets are removed on the way in.
    """
    client = daemon_client(SLOW_S)
    body = {**request(sources, project, since, until, commits), "llm": llm}
    if key:
        body["keys"] = _keys(sources, key)
    found = client.ask("POST", "/api/import/offers", body)
    if not found["offers"]:
        if as_json:
            print_json({"state": "nothing", "sources": {}})
        else:
            click.echo("Nothing was found to import.")
        _mention_git(sources, as_json=as_json)
        return 0
    if not as_json:
        show(found["offers"])
        _mention_git(sources, as_json=as_json)
        if llm:
            tokens = found["llm_estimate"]["tokens"]
            click.echo(f"{settings.load().provider} would be sent up to about "
                       f"{tokens / 1e6:.1f} million tokens, within the day's budget.")  # fmt: skip
    if not dry_run and not yes:
        if as_json or not sys.stdin.isatty():
            click.echo("Nothing was imported: add --yes to import without being asked.", err=True)
            return 1
        body["sources"] = list(_chosen(sources, found["offers"]))
        if not body["sources"]:
            return 1
    return run(client, {**body, "dry_run": dry_run}, as_json=as_json)


def _keys(sources: tuple[str, ...], key: str) -> str:
    """The keys of encrypted exports, for the daemon that reads them."""
    if problem := store_key.wrong_source(key):
        raise BadInput(f"--key {key!r} is not valid: {problem}", field="key")
    store_key.use(key)
    for path in sources:
        try:
            label = sealing.label_of(safe_files.read_start(path, sealing.PREFIX_BYTES))
        except OSError:
            continue  # the name of an agent
        if label is not None and key == "passphrase":
            passphrase.ask_for(label, f"Passphrase of {path}")
        elif label is not None:
            store_key.find(label, path)
    return store_key.handed_over().decode()


def request(
    sources: tuple[str, ...],
    project: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    commits: int = 2000,
) -> dict[str, Any]:
    paths = [os.path.abspath(one) if os.path.exists(one) else one for one in sources]
    return {
        "sources": paths,
        "project": os.path.abspath(project) if project else None,
        "since": iso(since),
        "until": iso(until),
        "home": os.path.expanduser("~"),
        "directory": os.getcwd(),
        "env": {
            name: os.environ[name]
            for name in registry.transcript_environment()
            if os.environ.get(name)
        },
        "most_commits": commits,
    }


def offer(*, ask: bool, yes: bool = False) -> bool:
    """Say what there is, and import it if the answer is yes. False when there is nothing."""
    if not yes and (not ask or not sys.stdin.isatty()):
        click.echo("Your history can be imported too: recollect import")
        return True
    try:
        client = daemon_client(SLOW_S)
        body = request(())
        found = client.ask("POST", "/api/import/offers", body)["offers"]
        if not found:
            return False
        click.echo("\nHistory on this machine that can be imported:")
        show(found)
        if yes or confirmed("Import it now?", default=False):
            run(client, body, as_json=False)
        else:
            click.echo("Any time later: recollect import")
    except RecollectError as error:
        click.echo(f"History was not looked at: {error}", err=True)
    return True


def tokens_a_day(agent: Facts) -> int:
    """What extraction by an agent would take, judged by the sessions on this machine; 0 when there
    are none, or they cannot be looked at."""
    try:
        found = daemon_client(SLOW_S).ask("POST", "/api/import/offers", request(()))
    except RecollectError:
        return 0
    told = [one for one in found["offers"] if one["sessions"] and one["first"] and one["last"]]
    if not told or agent.model_run is None:
        return 0
    first = min(datetime.fromisoformat(one["first"]) for one in told)
    last = max(datetime.fromisoformat(one["last"]) for one in told)
    days = max(1, (last - first).days)
    sessions: int = sum(one["sessions"] for one in told)
    tokens: int = found["llm_estimate"]["tokens"]
    return round((tokens + sessions * agent.model_run.own_tokens) / days)


def show(offers: list[dict[str, Any]]) -> None:
    rows = [
        [
            one["source"],
            str(one["sessions"] or ""),
            str(one["messages"] or ""),
            f"{one['bytes'] / 1e6:.1f} MB" if one["bytes"] else "",
            _day(one["first"]),
            _day(one["last"]),
            _projects(one["projects"]) or one["path"],
        ]
        for one in offers
    ]
    print_table(["Source", "Sessions", "Messages", "Size", "From", "To", "Projects"], rows)


def run(client: Client, body: dict[str, Any], *, as_json: bool) -> int:
    state = client.ask("POST", "/api/import", body)
    try:
        if as_json or not sys.stdout.isatty():
            while state["state"] == "running":
                time.sleep(LOOK_S)
                state = client.get("/api/import")
        else:
            state = _watched(client, state)
    except NotRunning as error:
        raise NotRunning(
            "The daemon stopped during the import; what is stored is kept.",
            hint="Run the same command again; it continues from there.",
        ) from error
    if as_json:
        print_json(state)
    else:
        summary(state, dry_run=body.get("dry_run", False), llm=body.get("llm", False))
    return 0 if state["state"] == "done" else 1


def _watched(client: Client, state: dict[str, Any]) -> dict[str, Any]:
    """A bar that moves, with the rate and what remains."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("Importing"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
               TextColumn("{task.fields[rate]} messages/s"), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, transient=True) as bar:
        task = bar.add_task("import", total=max(1, state["total"]), rate=0)
        while state["state"] == "running":
            time.sleep(LOOK_S)
            state = client.get("/api/import")
            bar.update(task, total=max(1, state["total"]), completed=state["done"],
                       rate=f"{state['rate']:.0f}")  # fmt: skip
    return state


def summary(state: dict[str, Any], *, dry_run: bool, llm: bool = False) -> None:
    verb = "would be new" if dry_run else "new"
    for source, tally in state["sources"].items():
        parts = [f"{tally['stored']} {verb}"]
        named = {
            "known": "there already",
            "captured": "captured by its hooks",
            "forgotten": "forgotten once, left out",
            "kept_out": "kept out on purpose",
            "refused": "refused",
        }
        parts += [f"{tally[name]} {words}" for name, words in named.items() if tally[name]]
        sessions = tally["sessions"]
        within = f" in {many(sessions, 'session')}" if sessions else ""
        click.echo(f"{source}: {tally['read']} read{within}; {', '.join(parts)}.")
    for problem in state["problems"][:5]:
        click.echo(f"  {problem}", err=True)
    if state["state"] != "done":
        told = state["problem"] or "It was stopped; run it again to go on."
        click.secho(f"The import {state['state']}: {told}", fg="red", err=True)
    elif not dry_run and not any(tally["stored"] for tally in state["sources"].values()):
        click.echo(f"Done in {state['seconds']:.0f} s; there was nothing new.")
    elif not dry_run:
        how = "by the language model" if llm else "by rules; no language model is asked"
        click.echo(f"Done in {state['seconds']:.0f} s.")
        click.echo(f"Memories are extracted in the background, {how}.")


def _chosen(asked: tuple[str, ...], offers: list[dict[str, Any]]) -> list[str]:
    if asked:
        return list(asked) if confirmed("Import this?", default=True) else []
    names = list(dict.fromkeys(one["source"] for one in offers))
    while True:
        told = prompted("Which? (all, none, or names)", default="all").strip()
        wanted = told.replace(",", " ").split()
        unknown = [one for one in wanted if one not in (*names, "all", "none")]
        if not unknown:
            break
        click.echo(f"{unknown[0]!r} is none of them. Type all, none, or: {', '.join(names)}")
    return [
        f"git:{one['path']}" if one["source"] == "git" else str(one["source"])
        for one in offers
        if "all" in wanted or one["source"] in wanted
    ]


def _mention_git(sources: tuple[str, ...], *, as_json: bool) -> None:
    """Commits are not looked at unasked; whoever stands in a repository may want them."""
    from recollect.core import projects

    if not sources and not as_json and projects.locate(os.getcwd()).git_dir:
        click.echo("The commits of this repository can be imported too: recollect import git")


def _day(moment: str | None) -> str:
    return datetime.fromisoformat(moment).astimezone(UTC).strftime("%Y-%m-%d") if moment else ""


def _projects(projects: dict[str, int]) -> str:
    names = [f"{name} ({count})" for name, count in list(projects.items())[:4]]
    more = len(projects) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")
