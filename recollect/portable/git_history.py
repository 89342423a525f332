"""Reads a project's git history: what was changed, why, and in which files.

In: a directory within a repository. Out: one memory per commit, newest first, as many as asked for.
Merge commits are left out. Without a repository or git nothing is found.
"""

import codecs
import logging
from collections.abc import Iterator
from datetime import datetime

from recollect.core import projects, safe_git
from recollect.core.safe_git import GitFailed, GitRefused
from recollect.hosts.reading import moment
from recollect.portable.imported_records import FoundRecord

log = logging.getLogger(__name__)

PROGRAM = "git"
MOST = 2000
PATIENCE_S = 120.0  # for a whole history
MOST_BYTES = 64 << 20
MOST_OF_ONE = 1 << 20
_FIELDS = ("%H", "%aI", "%an", "%s", "%b")
_END = "\x1e"
_FORMAT = "--format=" + _END + "%x1f".join(_FIELDS) + "%x1f"
_MOST_FILES = 50


def repository(directory: str) -> str:
    """The top of the work tree; empty when there is none."""
    found = projects.repository(directory)
    return found.top if found else ""


def count(directory: str, since: datetime | None = None, most: int = MOST) -> int:
    found = projects.repository(directory)
    if found is None:
        return 0
    arguments = ["rev-list", "--count", "--no-merges", f"--max-count={most}", *_since(since)]
    try:
        return int(safe_git.output(found, *arguments, "HEAD"))
    except (GitFailed, ValueError):
        return 0


def commits(
    directory: str, namespace: str, since: datetime | None = None, most: int = MOST
) -> Iterator[FoundRecord]:
    """Read as a stream, so that a long history takes little memory. A partial clone without trees
    cannot tell which files a commit changed: then the rest comes without them."""
    seen = set[str]()
    for names in (["--name-only", "--no-renames"], ["--no-patch"]):
        try:
            for found in _log(directory, namespace, names, since, most):
                if found.key not in seen:
                    seen.add(found.key)
                    yield found
            return
        except GitRefused as error:
            log.info("%s: %s", directory, error)
        except GitFailed as error:
            log.warning("%s: %s", directory, error)
            return


def _log(
    directory: str, namespace: str, names: list[str], since: datetime | None, most: int
) -> Iterator[FoundRecord]:
    place = projects.repository(directory)
    if place is None:
        return
    arguments = [
        "log", "--no-merges", f"--max-count={most}", *_since(since), *names, "--no-ext-diff",
        "--no-textconv", "--no-show-signature", "--no-color", _FORMAT, "HEAD",
    ]  # fmt: skip
    rest = ""
    decode = codecs.getincrementaldecoder("utf-8")("replace").decode
    for chunk in safe_git.stream(place, *arguments, most=MOST_BYTES, patience_s=PATIENCE_S):
        *whole, rest = (rest + decode(chunk)).split(_END)
        rest = rest[:MOST_OF_ONE]
        for raw in whole:
            found = _commit(raw, namespace)
            if found is not None:
                yield found
    last = _commit(rest, namespace)
    if last is not None:
        yield last


def _commit(raw: str, namespace: str) -> FoundRecord | None:
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
    return FoundRecord(
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


def _since(since: datetime | None) -> list[str]:
    return [f"--since={since.isoformat()}"] if since else []
