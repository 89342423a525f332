"""Events of a forge (GitHub, Gitea, GitLab) as notes.

In: the name of an event and its payload, as the forge posts it to a webhook. Out: a note with its
topics, or nothing for an event that tells little. Titles are other people's words: short, on one
line, and stored as found on the web, so that no belief is made of them.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Payload = Mapping[str, Any]

_CHARS = 160
_COMMITS = 5
# What was done to an issue or a change, in the words of each forge; other acts tell little.
_ACTS = {
    "opened": "was opened", "open": "was opened", "reopened": "was reopened",
    "reopen": "was reopened", "closed": "was closed", "close": "was closed",
    "merged": "was merged", "merge": "was merged", "published": "was published",
    "create": "was published",
}  # fmt: skip


@dataclass(frozen=True)
class ForgeNote:
    title: str
    content: str
    concepts: tuple[str, ...]
    repository: str  # its name alone, as projects are called


def verified(secret: str, body: bytes, signature: str) -> bool:
    """Whether GitHub's or Gitea's signature (`X-Hub-Signature-256`) is that of the body."""
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, signature.strip().removeprefix("sha256="))


def note(event: str, payload: Payload) -> ForgeNote | None:
    """The note of an event; None when it tells little."""
    repository = _text(payload, "repository", "full_name") or _text(
        payload, "project", "path_with_namespace"
    )
    if not repository:
        return None
    event = event.lower().removesuffix(" hook").replace(" ", "_")
    told = (
        _change(event, payload)
        or _push(event, payload)
        or _release(event, payload)
        or _run(event, payload)
    )
    if not told:
        return None
    what, number, link = told
    concepts = (repository, f"{repository}#{number}") if number else (repository,)
    return ForgeNote(f"{repository}: {what}", link, concepts, repository.rpartition("/")[2])


def _change(event: str, payload: Payload) -> tuple[str, str, str] | None:
    """An issue or a change (pull request, merge request) was opened, closed or merged."""
    names = {"issues": "issue", "issue": "issue", "pull_request": "pull_request",
             "merge_request": "object_attributes"}  # fmt: skip
    if event not in names:
        return None
    found = payload.get(names[event]) or payload.get("object_attributes")
    if not isinstance(found, Mapping):
        return None
    act = str(payload.get("action") or found.get("action") or "")
    if found.get("merged") is True and act == "closed":
        act = "merged"
    if act not in _ACTS:
        return None
    number = str(found.get("number") or found.get("iid") or "")
    kind = "issue" if event in ("issues", "issue") else "change"
    who = _text(payload, "sender", "login") or _text(payload, "user", "username")
    by = f" by {_line(who)}" if who else ""
    title = _line(str(found.get("title", "")))
    link = str(found.get("html_url") or found.get("url") or "")
    return f'{kind} #{number} "{title}" {_ACTS[act]}{by}', number, _line(link)


def _push(event: str, payload: Payload) -> tuple[str, str, str] | None:
    commits = payload.get("commits")
    if event != "push" or not isinstance(commits, list) or not commits:
        return None
    branch = _line(str(payload.get("ref", "")).removeprefix("refs/heads/"))
    first = [_line(str(one.get("message", "")).split("\n")[0]) for one in commits[-_COMMITS:]]
    many = f"{len(commits)} commits were" if len(commits) > 1 else "a commit was"
    return (
        f"{many} pushed to {branch}: {'; '.join(first)}",
        "",
        _line(str(payload.get("compare", ""))),
    )


def _release(event: str, payload: Payload) -> tuple[str, str, str] | None:
    found = payload.get("release") if event == "release" else None
    if not isinstance(found, Mapping) or str(payload.get("action")) not in _ACTS:
        return None
    name = _line(str(found.get("tag_name") or found.get("tag") or ""))
    return f"release {name} was published", "", _line(str(found.get("html_url", "")))


def _run(event: str, payload: Payload) -> tuple[str, str, str] | None:
    """A check that ended badly; that one passed tells little."""
    found = payload.get("workflow_run") if event == "workflow_run" else None
    if not isinstance(found, Mapping) or found.get("conclusion") != "failure":
        return None
    name, branch = _line(str(found.get("name", ""))), _line(str(found.get("head_branch", "")))
    return f'the check "{name}" failed on {branch}', "", _line(str(found.get("html_url", "")))


def _text(tree: Any, *names: str) -> str:
    for name in names:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return tree if isinstance(tree, str) else ""


def _line(text: str) -> str:
    """One short line without marks that could end a quotation."""
    return " ".join(text.replace('"', "'").split())[:_CHARS]
