"""`recollect forget`: gone everywhere, after showing what goes."""

from datetime import datetime

import click

from recollect.cli import process
from recollect.cli.output import (
    agreed,
    confirmed,
    daemon_client,
    json_option,
    many,
    print_json,
    print_memories,
)
from recollect.cli.selection_options import (
    counted,
    refuse_bad_ids,
    request_body,
    selection_options,
    show,
)
from recollect.client import Client
from recollect.core import settings

SLOW_S = 600.0


@click.command()
@selection_options
@click.option("--backups", is_flag=True, help="In the backups at once, not within one rotation.")
@click.option("--for-good", is_flag=True, help="Memories by id: erase, instead of a delete that "
              "undo brings back.")  # fmt: skip
@click.option("--reason", default="", help="Of a delete; kept in the log.")
@click.option("--never-again", is_flag=True, help="And do not learn it again.")
@json_option
def command(
    memories: tuple[str, ...],
    session: str | None,
    entity: str | None,
    text: str | None,
    older_than: datetime | None,
    project: str | None,
    everything: bool,
    yes: bool,
    dry_run: bool,
    backups: bool,
    for_good: bool,
    reason: str,
    never_again: bool,
    as_json: bool,
) -> int:
    """Erase memories, with all that they were made from and that was made from them.

    MEMORY is the id of one: it is deleted, and what else was made of the same words is not told
    any more, at any door; `recollect undo` brings all of it back, unless you say --for-good. Said
    again, it is learned again, unless you say --never-again. Everything else is for good: nothing
    of it stays in the database, its log, the spool or the log files; backups lose it within one
    rotation, or at once with --backups, also what was forgotten before.
    """
    if memories and not (for_good or backups):
        if dry_run:
            return _show_delete(memories, never=never_again, as_json=as_json)
        return _delete(memories, reason, never=never_again, yes=yes, as_json=as_json)
    body = request_body(memories, session, entity, text, older_than, project, everything)
    chosen = settings.load()
    process.start(chosen)
    client = Client(chosen, SLOW_S)
    shown = client.ask("POST", "/api/forget", {**body, "dry_run": True, "backups": backups})
    if dry_run:
        print_json(shown) if as_json else show(shown)
        return 0
    if not as_json:
        show(shown)
    if not agreed("Erase this for good?", yes=yes, as_json=as_json):
        return 1
    wanted = {**body, "dry_run": False, "backups": backups, "never_again": never_again}
    done = client.ask("POST", "/api/forget", wanted)
    if as_json:
        print_json(done)
        return 0
    if done["counts"] or not done["backups"]:
        click.echo(f"Erased: {many(sum(done['counts'].values()), 'row')}, bytes included.")
    if done["backups"]:
        files = "1 backup" if done["backups"] == 1 else f"{done['backups']} backups"
        click.echo(f"Erased in {files}, those that a restore kept aside included.")
    elif chosen.store:
        click.echo(
            "Backups are not changed: neither the server's, nor those of the SQLite file that was "
            f"in use before ({chosen.path('backups')})."
        )
    elif not backups and client.get("/api/backups")["items"]:
        click.echo(
            "Backups still hold it until they are rotated out, and what a restore kept aside holds "
            "it for good; --backups does it at once."
        )
    return 0


def _show_delete(ids: tuple[str, ...], *, never: bool, as_json: bool) -> int:
    """What `_delete` would do, and what --for-good would."""
    refuse_bad_ids(ids)
    client = daemon_client()
    body = request_body(ids, None, None, None, None, None, everything=False)
    erased = client.ask("POST", "/api/forget", {**body, "dry_run": True, "backups": False})
    found = client.ask("POST", "/api/memories/batch", {"ids": list(ids)})["items"]
    if as_json:
        print_json({"dry_run": True, "memories": found, "for_good": erased})
        return 0
    print_memories(found)
    what = "This memory" if len(ids) == 1 else f"These {len(ids)} memories"
    again = ", and not learned again" if never else ""
    click.echo(f"{what} would be forgotten{again}; recollect undo would take that back.")
    if any(item.get("source_event_ids") for item in found):
        click.echo(
            "What else was made of the same words (facts, summaries, lines of turns) would not be "
            "told either."
        )
    click.echo(f"With --for-good it would erase: {counted(erased['counts'])}.")
    return 0


def _delete(ids: tuple[str, ...], reason: str, *, never: bool, yes: bool, as_json: bool) -> int:
    """Out of memory and into the archive."""
    refuse_bad_ids(ids)
    client = daemon_client()
    found = client.ask("POST", "/api/memories/batch", {"ids": list(ids)})
    # One that is never to be told is not shown here either, but it can be deleted.
    if found["items"] and not yes and not as_json:
        print_memories(found["items"])
        count = len(found["items"])
        what = "this memory" if count == 1 else f"these {count} memories"
        if not confirmed(f"Forget {what}?"):
            click.echo("Kept.")
            return 1
    body = {"ids": list(ids), "reason": reason, "never": never}
    gone = client.ask("POST", "/api/memories/delete", body)
    if as_json:
        print_json(gone)
        return 0
    click.echo(f"Forgotten: {', '.join(gone['record_ids'])}")
    if never:
        click.echo("What they say is not learned again.")
    if any(item.get("source_event_ids") for item in found["items"]):
        click.echo(
            "What else was made of the same words (facts, summaries, lines of turns) is not told "
            f"either; recollect forget --for-good {' '.join(ids)} erases it."
        )
    for op_id in gone["op_ids"]:
        click.echo(f"Bring it back: recollect undo {op_id}")
    return 0
