"""`recollect trial`: what Recollect would have done in the sessions that you have had already.

The daemon is neither needed nor disturbed: everything happens in this process and in a temporary
directory, which is removed in the end.
"""

import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from tempfile import TemporaryDirectory
from types import FrameType
from typing import TYPE_CHECKING, TextIO

import click

from recollect.cli.options import json_option
from recollect.cli.output import console, print_json
from recollect.core import settings
from recollect.core.errors import BadInput, NotFound
from recollect.hosts import registry

if TYPE_CHECKING:
    from recollect.trial.replay import Answer
    from recollect.trial.transcripts import Source

NEWEST = 100


@click.command()
@click.argument("source", required=False, metavar="[AGENT|DIR]")
@click.option("--split", is_flag=True, help="DIR holds sessions of several projects, not of one.")
@click.option("--history", metavar="DIR", help="Sessions that are remembered, but not asked about.")
@click.option("--sessions", "newest", default=NEWEST, show_default=True,
              type=click.IntRange(1, 100_000), help="Replay only the newest sessions.")  # fmt: skip
@click.option("--no-embedding", is_flag=True, help="By words alone: faster, and finds less.")
@click.option("--log", metavar="FILE", help="Write what was told at each prompt, as JSON lines.")
@json_option
def command(
    source: str | None,
    split: bool,
    history: str | None,
    newest: int,
    no_embedding: bool,
    log: str | None,
    as_json: bool,
) -> None:
    """Show what Recollect would have done in sessions that you have had already.

    Replays the transcripts of AGENT (such as claude-code or codex), of all agents, or those in DIR
    (.jsonl, also .jsonl.gz; one project unless --split is given), in the order of time. At each
    prompt it asks what would have been put before the agent by a memory of the sessions that had
    ended by then, and compares it with what the session went on to do.

    Everything happens in a temporary directory: nothing leaves this machine, nothing is kept, and
    the daemon is not needed.
    """
    from recollect.trial import report, screen, transcripts

    chosen = settings.load()
    chosen = replace(chosen, embedding=chosen.embedding and not no_embedding)
    logging.getLogger("recollect").addHandler(logging.NullHandler())
    temporary = TemporaryDirectory(prefix="recollect-trial-", ignore_cleanup_errors=True)
    with _ended_by_signals(), _log_file(log) as file, temporary as home:
        with _bar("Reading sessions"):
            sources, left_out = _sources(source, split, history, newest, home)
            sessions = transcripts.read(sources, chosen.ignore)
        if not sessions:
            raise NotFound("No session can be replayed: the transcripts contain no prompts.")

        def answered(answer: "Answer") -> None:
            if file is not None:
                file.write(report.log_line(answer) + "\n")

        with _bar("Replaying", sum(len(one.turns) for one in sessions)) as advance:
            made = report.make(
                sessions,
                chosen,
                os.path.join(home, "home"),
                reached=lambda session: advance(len(session.turns)),
                answered=answered,
            )
    if as_json:
        print_json({**made.as_json(), "left_out": left_out})
    else:
        console(screen.WIDTH).print(screen.render(made, left_out))


def _sources(
    source: str | None, split: bool, history: str | None, newest: int, unpack_into: str
) -> "tuple[list[Source], int]":
    from recollect.trial import transcripts

    is_folder = source is not None and os.path.isdir(source)
    if not is_folder and (split or history):
        raise BadInput("--split and --history go with a folder of transcripts", field="source")
    if source is not None and is_folder:
        if history and not os.path.isdir(history):
            raise BadInput(f"{history} is not a folder", field="history")
        unpack = os.path.join(unpack_into, "unpacked")
        found = transcripts.in_folder(source, unpack, newest, split=split, history=history or "")
        where = f"{source} (*.jsonl, *.jsonl.gz)"
    else:
        hosts = _hosts(source)
        env = {name: os.environ.get(name, "") for name in registry.transcript_environment()}
        found = transcripts.of_agents(hosts, os.path.expanduser("~"), env, newest)
        where = ", ".join(_places(hosts))
    if not found[0]:
        raise NotFound(
            f"No sessions were found in {where}.",
            hint="recollect trial DIR reads a folder of transcripts. Or try again after some work.",
        )
    return found


def _hosts(source: str | None) -> list[str]:
    readable = list(registry.readers())
    if source is None:
        return readable
    host = registry.names().get(source.strip().lower())
    if host in readable:
        return [host]
    if host is not None:
        problem = f"the sessions of {host} cannot be read"
    else:
        problem = f"{source} is neither a folder nor an agent"
    raise BadInput(f"{problem}; agents whose sessions can be replayed: {', '.join(readable)}",
                   field="source")  # fmt: skip


def _places(hosts: Sequence[str]) -> Iterator[str]:
    """Where agents keep their sessions, for people."""
    for known in (registry.facts()[host] for host in hosts):
        moved = [value for name in known.transcript_env if (value := os.environ.get(name))]
        yield from moved or [os.path.join("~", place) for place in known.places]


@contextlib.contextmanager
def _bar(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A progress bar on the terminal's standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    if not sys.stderr.isatty():
        yield lambda step: None
        return
    columns = (TextColumn(what), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
               TimeRemainingColumn())  # fmt: skip
    shown = columns if total else columns[:2]
    with Progress(*shown, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda step: bar.update(task, advance=step)


@contextlib.contextmanager
def _log_file(path: str | None) -> Iterator[TextIO | None]:
    if path is None:
        yield None
        return
    try:
        file = open(path, "w", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise BadInput(f"{path} cannot be written: {error.strerror}", field="log") from error
    with file:
        yield file


# Windows has no SIGHUP.
_ENDING = (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and a closed terminal end it as Ctrl-C does, so that the temporary home goes."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
