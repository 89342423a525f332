"""A project's git history as evidence: what was changed, why, and in which files.

In: a directory within a repository. Out: a memory a commit, newest first, as many as asked for.
Merges say nothing of their own and are left out. No repository, or no git: nothing is found.
"""

import os
import subprocess
from collections.abc import Iterator
from datetime import datetime

from recollect.capture.hosts.reading import moment
from recollect.portable.brought import Found

PROGRAM = "git"
MOST = 2000
TIMEOUT_S = 120
_FIELDS = ("%H", "%aI", "%an", "%s", "%b")
_END = "\x1e"
_FORMAT = "--format=" + _END + "%x1f".join(_FIELDS) + "%x1f"
_MOST_FILES = 50


def repository(directory: str) -> str:
    """The top of the work tree; empty when there is none."""
    try:
        return _git(directory, "rev-parse", "--show-toplevel").strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def count(directory: str, since: datetime | None = None, most: int = MOST) -> int:
    arguments = ["rev-list", "--count", "--no-merges", f"--max-count={most}", *_since(since)]
    try:
        return int(_git(directory, *arguments, "HEAD"))
    except (OSError, subprocess.SubprocessError, ValueError):
        return 0


def commits(
    directory: str, namespace: str, since: datetime | None = None, most: int = MOST
) -> Iterator[Found]:
    """Read as they come, so that a long history costs no memory."""
    command = [
        *_command(directory), "log", "--no-merges", f"--max-count={most}", *_since(since),
        "--name-only", "--no-renames", "--no-show-signature", "--no-color", _FORMAT, "HEAD",
    ]  # fmt: skip
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_environment()
        )
    except OSError:
        return
    assert process.stdout is not None
    try:
        rest = ""
        while chunk := process.stdout.read(1 << 16):
            *whole, rest = (rest + chunk.decode("utf-8", "replace")).split(_END)
            for raw in whole:
                found = _commit(raw, namespace)
                if found is not None:
                    yield found
        last = _commit(rest, namespace)
        if last is not None:
            yield last
    finally:
        process.stdout.close()
        process.terminate()
        process.wait()


def _commit(raw: str, namespace: str) -> Found | None:
    parts = raw.split("\x1f")
    if len(parts) != len(_FIELDS) + 1:
        return None
    sha, date, author, subject, body, named = (part.strip() for part in parts)
    at = moment(date)
    if at is None or not subject:
        return None
    files = tuple(line for line in named.splitlines() if line)[:_MOST_FILES]
    detail = [body] if body else []
    detail.append(f"Commit {sha[:12]} by {author}.")
    return Found(
        program=PROGRAM,
        key=sha,
        namespace=namespace,
        at=at,
        kind="observation",
        title=subject,
        summary=body[:1000],
        detail="\n\n".join(detail),
        files=files,
        category="commit",
        author="tool",
        importance=4,
        commit=sha,
    )


def _git(directory: str, *arguments: str) -> str:
    done = subprocess.run(
        [*_command(directory), *arguments],
        capture_output=True,
        timeout=TIMEOUT_S,
        check=True,
        env=_environment(),
    )
    return done.stdout.decode("utf-8", "replace")


def _command(directory: str) -> list[str]:
    # A repository may name programs of its own to be run; reading history needs none of them.
    return [
        "git", "-C", directory, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null",
        "-c", "log.showSignature=false", "-c", "diff.external=", "--no-pager",
    ]  # fmt: skip


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}


def _since(since: datetime | None) -> list[str]:
    return [f"--since={since.isoformat()}"] if since else []
