"""Command lines: their steps, a comparable form, commit messages, and the line of an error.

In: a shell command or its output. Out: text. Nothing is run, nothing raises.
"""

import os
import re
import shlex

from recollect.extract.normalised_text import word_set
from recollect.extract.rules.prose import plain
from recollect.extract.rules.turns import ToolCall

_STEPS = re.compile(r"(?:&&|\|\||;|\n)\s*+")
_PIPED = re.compile(r"(?<!\s)\s++(?:\d?>{1,2}\s*\S+|2>&1|\|\s.*)", re.DOTALL)
_MESSAGE = re.compile(
    r"""-[a-z]*m\s+(?:"\$\(cat\s+<<\\?['"]?(\w+)['"]?[ \t]*+\n(.+?)\n[ \t]*+\1"""
    r"""|(["'])(.+?)(?<!\\)\3)""",
    re.DOTALL,
)
_GIT_COMMIT = re.compile(r"\bgit\s+(?:-C\s+\S+\s+)?commit\b")
_CONVENTIONAL = re.compile(
    r"^(?:Merge (?:branch|remote|pull|\S+ into)|fixup!|squash!|wip\b)", re.IGNORECASE
)
_VARIABLE = (
    (re.compile(r"https?://\S+"), "<url>"),
    (re.compile(r"\bv?\d+\.\d+(?:\.\d+)?(?:[-+.]\w+)*\b"), "<version>"),
    (re.compile(r"\b[0-9a-f]{7,40}\b"), "<hash>"),
    (re.compile(r"(?<=[\s=])(?:\"[^\"]*\"|'[^']*')"), "<text>"),
    (re.compile(r"(?<=[\s=#])\d+\b"), "<n>"),
)
# How many words identify a command; one for those not listed.
_SUBCOMMANDS = (
    *(
        (program, 2)
        for program in word_set("git go cargo make mix dbt terraform helm kubectl fly php uv")
    ),
    *(
        (program, 3)
        for program in word_set("gh npm pnpm yarn bun mise docker poetry bundle rails just")
    ),
    ("python", 3),
)
_COMMIT_TEXT = re.compile(r"(?<=git commit) .*-m\b.*")
_FAILED = re.compile(
    r"(?:error\b|\bfail(?:ed|ure)?\b|exception|panic|assert|cannot|could not|not found|denied|"
    r"undefined|unresolved|unexpected|timed? ?out|no such|invalid|\bwarning\b)",
    re.IGNORECASE,
)
_NOT_TELLING = re.compile(
    r"^(?:Error: )?Exit code \d+$|^(?:npm ERR!|make(?:\[\d+\])?:) .*Error \d+|^=+|^-+$|^Traceback|"
    r"^\s*$|^\S+ \$ |^FAIL\s*$|errors? found$|\btask failed$",
    re.IGNORECASE,
)


def steps(command: str) -> list[str]:
    """The commands of a line, without pipes, redirections and `cd`."""
    if "<<" in command:
        command = command[: command.index("<<")]
    found = []
    for step in _STEPS.split(command[:2000])[:20]:
        step = _PIPED.sub("", " " + step.strip()).strip(" ()")
        if step and not step.startswith(("cd ", "#", "export ", "set ", "source ")):
            found.append(step)
    return found


def failed_step(command: str, output: str) -> str:
    """Of the steps of a line that failed, the one that did: the last whose program the output
    names, else the last one, because `&&` stops at the first failure."""
    found = steps(command)
    if len(found) < 2:
        return found[0] if found else ""
    said = output.lower()
    for step in reversed(found):
        words = [os.path.basename(word) for word in program(step) if word[:1].isalpha()]
        if words and any(len(word) > 2 and word.lower() in said for word in words[:3]):
            return step
    return found[-1]


def signature(step: str) -> str:
    """What two runs of the same command have in common."""
    return " ".join(step.split())[:200]


def template(step: str) -> str:
    """A step without what varies from run to run."""
    step = _COMMIT_TEXT.sub(" -m <text>", signature(step))
    for pattern, name in _VARIABLE:
        step = pattern.sub(name, step)
    return step[:200]


def family(step: str) -> str:
    """A step for comparison with others: program, sub-commands and options, no arguments."""
    words = template(step).split()
    depth = next((depth for start, depth in _SUBCOMMANDS if words[:1] == [start]), 1)
    return " ".join(words[:depth] + [word for word in words[depth:] if word.startswith("-")])


def commit_subject(call: ToolCall) -> str:
    """The subject of the commit that a call made; empty when it made none. A repository that the
    call itself makes is a trial's."""
    if call.failed or not _GIT_COMMIT.search(call.command) or "git init" in call.command:
        return ""
    found = _MESSAGE.search(call.command[:8000])
    if not found:
        return ""
    body = (found[2] or found[4] or "").strip()
    subject = plain(body.splitlines()[0]) if body else ""
    return "" if _CONVENTIONAL.match(subject) else subject[:200]


def program(step: str) -> list[str]:
    """The words of a step; if its quotes do not match, it is split at spaces."""
    try:
        return shlex.split(step)
    except ValueError:
        return step.split()


def error_line(output: str) -> str:
    """The line of an output that says what failed."""
    lines = [line.strip() for line in output.splitlines()[:200]]
    telling = [line for line in lines if len(line) > 5 and not _NOT_TELLING.search(line)]
    for line in telling:
        if _FAILED.search(line):
            return plain(line)[:200]
    return plain(telling[-1])[:200] if telling else ""
