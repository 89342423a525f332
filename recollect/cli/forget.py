"""`recollect forget`: memories deleted, or erased everywhere, after showing them."""

from typing import Any

import click

from recollect.cli.options import json_option
from recollect.cli.output import (
    SLOW_S,
    confirmed,
    daemon_client,
    many,
    print_json,
    print_memories,
)
from recollect.cli.selection_options import (
    count_rows,
    go_on,
    refuse_bad_ids,
    request_body,
    selection_options,
)
from recollect.core import settings


@click.command()
@selection_options
@click.option(
    "--backups", is_flag=True, help="Also erase it in the backups now, not within one rotation."
)
@click.option("--for-good", is_flag=True, help="Erase memories given by id; undo cannot bring them "
              "back.")  # fmt: skip
@click.option("--reason", default="", help="Why; kept in the log of a delete.")
@click.option("--never-again", is_flag=True, help="Also never learn it again.")
@json_option
def command(
    memories: tuple[str, ...],
    yes: bool,
    dry_run: bool,
    backups: bool,
    for_good: bool,
    reason: str,
    never_again: bool,
    as_json: bool,
    **selection: Any,
) -> int:
    """Delete memories by id, or erase a selection together with the events it was made from.

    MEMORY is an id, or the end of it that a brief shows. The memory goes, and so do others that
    were made of the same words; `recollect undo` brings them back, unless you add --for-good. If it
    is said again, it is learned again, unless you add --never-again.

    What --session, --entity, --text, --until and --all select is erased for good: nothing of it
    stays in the database, its log, the spool or the log files. Backups lose it within one rotation,
    or at once with --backups, which also erases there what was forgotten before.
    """
    if memories and not (for_good or backups):
        if dry_run:
            return _show_delete(memories, never=never_again, as_json=as_json)
        return _delete(memories, reason, never=never_again, yes=yes, as_json=as_json)
    body = request_body(memories, **selection)
    client = daemon_client(SLOW_S)
    shown = client.ask("POST", "/api/forget", {**body, "dry_run": True, "backups": backups})
    if not go_on("Erase this for good?", shown, dry_run=dry_run, yes=yes, as_json=as_json):
        return 0 if dry_run else 1
    wanted = {**body, "dry_run": False, "backups": backups, "never_again": never_again}
    done = client.ask("POST", "/api/forget", wanted)
    if as_json:
        print_json(done)
        return 0
    if done["counts"] or not done["backups"]:
        click.echo(f"Erased: {many(sum(done['counts'].values()), 'row')}, bytes included.")
    if done["backups"]:
        files = "1 backup" if done["backups"] == 1 else f"{done['backups']} backups"
        click.echo(f"Erased in {files}, including those that a restore kept aside.")
    elif (chosen := settings.load()).store:
        click.echo(
            "Backups are not changed: neither the server's, nor those of the SQLite file that was "
            f"in use before ({chosen.path('backups')})."
        )
    elif not backups and client.get("/api/backups")["items"]:
        click.echo(
            "Backups contain it until they are rotated out, and what a restore kept aside "
            "contains it for good; --backups erases it there now."
        )
    return 0


def _show_delete(ids: tuple[str, ...], *, never: bool, as_json: bool) -> int:
    """What `_delete` would do, and what --for-good would."""
    refuse_bad_ids(ids)
    client = daemon_client()
    body = request_body(ids)
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
            "Nothing else made of the same words (facts, summaries, lines of turns) would be "
            "shown either."
        )
    click.echo(f"With --for-good it would erase: {count_rows(erased['counts'])}.")
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
            "Nothing else made of the same words (facts, summaries, lines of turns) is shown "
            f"any more; recollect forget --for-good {' '.join(ids)} erases it."
        )
    for op_id in gone["op_ids"]:
        click.echo(f"Undo: recollect undo {op_id}")
    return 0
