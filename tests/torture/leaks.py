"""Secrets in generated surroundings, and tags against the fence: what gets through.

In: a source of chance. Out: the tries, and each secret that was left or tag that was whole.
"""

import json
import random
from collections.abc import Callable
from pathlib import Path

from recollect.inject import render
from recollect.privacy import scrub, scrub_raw
from tests import privacy_told as told
from tests.privacy_samples import expand, redact_text
from tests.torture.case import Case, Report

# What stands before each line of a key when it is shown: by line number.
_LEADS: dict[str, Callable[[int, random.Random], str]] = {
    "nothing": lambda n, rng: "",
    "diff": lambda n, rng: "+",
    "diff, spaced": lambda n, rng: "+ ",
    "removed": lambda n, rng: "-",
    "removed, spaced": lambda n, rng: "- ",
    "cat -n": lambda n, rng: f"{n:6d}\t",
    "arrow": lambda n, rng: f"{n:6d}→",
    "grep -n": lambda n, rng: f"keys/id.pem:{n}:",
    "pipe": lambda n, rng: f"{n:4d} | ",
    "quote": lambda n, rng: "> ",
    "log": lambda n, rng: f"2024-01-02T03:04:{n:02d}.{rng.randint(100, 999)}Z stdout F ",
    "pod": lambda n, rng: "[web-1] ",
    "numbered diff": lambda n, rng: f"{n} +",
    "blame": lambda n, rng: f"{rng.randrange(16**8):08x} (Bob {n:3d}) ",
}


def key_lines(rng: random.Random) -> list[str]:
    label = rng.choice(["RSA ", "EC ", "", "OPENSSH ", "DSA "])
    body = expand(f"{{b{rng.randint(300, 1500)}}}", rng)
    size = rng.choice([64, 70, 76])
    lines = [body[at : at + size] for at in range(0, len(body), size)]
    return [f"-----BEGIN {label}PRIVATE KEY-----", *lines, f"-----END {label}PRIVATE KEY-----"]


def keys(rng: random.Random, tries: int, scratch: Path | None = None) -> Report:
    """A private key with anything before its lines, whole or cut at its head or its tail."""
    report = Report()
    for _ in range(tries):
        lead = rng.choice(list(_LEADS))
        cut = rng.choice(["whole", "tail", "head"])
        lines = key_lines(rng)
        if cut == "tail":
            lines = lines[: rng.randint(3, len(lines) - 1)]
        if cut == "head":
            lines = lines[rng.randint(1, len(lines) - 3) :]
        newline = rng.choice(["\n", "\n", "\\n"])
        first = rng.randint(1, 30)
        text = newline.join(
            _LEADS[lead](number, rng) + line for number, line in enumerate(lines, first)
        )
        before, after = rng.choice([("", ""), (f"see below{newline}", f"{newline}that was it")])
        clean = redact_text(before + text + after)[0]
        report.tries += 1
        if any(line[4:40] in clean for line in lines if "-----" not in line and len(line) > 40):
            report.failed("leaked", f"key, {lead}, {cut}: {text[:80]!r}")
        elif not (clean.startswith(before[:9]) and clean.endswith(after)):
            report.failed("wrong", f"key, {lead}, {cut}: {clean[-80:]!r}")
    return report


def _around(rng: random.Random, text: str) -> str:
    """The text where agents' payloads have it."""
    return rng.choice(
        [
            text,
            f"I ran this:\n\n    {text}\n\nand it worked.",
            json.dumps({"tool": "Bash", "command": text}),
            json.dumps(json.dumps({"command": text})),
            f"$ {text}\nok\n$ ls\na b c",
            f"- step one\n- {text}\n- step three",
            f"a`b`c, then `{text}`",
        ]
    )


def arguments(rng: random.Random, tries: int, scratch: Path | None = None) -> Report:
    """A password as an argument of a program, in the surroundings of a payload."""
    report = Report()
    commands = [line for lines in told.COMMANDS.values() for line in lines]
    for _ in range(tries):
        secret = told.chosen(rng.choice(told.KINDS), rng)
        line = rng.choice(commands).replace("{}", secret)
        text = _around(rng, line)
        report.tries += 1
        if secret in scrub(text) or secret.encode() in scrub_raw(text.encode()):
            report.failed("leaked", repr(text))
    return report


def sentences(rng: random.Random, tries: int, scratch: Path | None = None) -> Report:
    """A password told in one of the languages, amid other sentences. Not promised for all; so
    what is left counts only above one in twenty."""
    report = Report()
    forms = [line for lines in told.SENTENCES.values() for line in lines]
    left: list[str] = []
    for _ in range(tries):
        secret = told.chosen(rng.choice(("strong", "random", "numbered")), rng)
        text = rng.choice(["", "Ok. ", "1) "]) + rng.choice(forms).replace("{}", secret)
        text += rng.choice(["", "\n", "\nnext line 12"])
        report.tries += 1
        if secret in scrub(text):
            left.append(text)
    for text in left[tries // 20 :]:
        report.failed("leaked", repr(text))
    return report


_TAGS = (
    *("system-reminder", "user-prompt-submit-hook", "command-name", "local-command-stdout"),
    *("hook_context", "environment_context", "user_instructions", "INSTRUCTIONS", "function_calls"),
    *("invoke", "tool_result", "tool_use_error", "system", "user", "assistant", "recollect"),
    *("qwen:session-start-context", "untrusted_context", "session-start-hook", "ide_selection"),
)
_TOKENS = (
    *(
        "<|im_start|>",
        "<|im_end|>",
        "<|endoftext|>",
        "<|system|>",
        "<｜User｜>",
        "[INST]",
        "[/INST]",
    ),
    *("<<SYS>>", "<</SYS>>", "<start_of_turn>", "<end_of_turn>", "</s>", "[TOOL_CALLS]"),
)
_WIDE = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)})


def _tag(rng: random.Random) -> str:
    """A tag of a host's, plain or in disguise."""
    name = rng.choice(_TAGS)
    slash = rng.choice(["", "/"])
    attributes = rng.choice(["", ' id="1"', "\n"])
    tag = f"<{slash}{name}{attributes}>"
    how = rng.choice(["plain", "plain", "upper", "wide", "unseen", "gap", "split"])
    if how == "upper":
        return tag.upper()
    if how == "wide":
        return tag.translate(_WIDE)
    if how == "unseen":
        at = rng.randint(1, len(tag) - 2)
        return tag[:at] + rng.choice("\u200b\u00ad\u2060\ufeff") + tag[at:]
    if how == "gap" and slash:
        return f"< / {name}>"
    if how == "split" and slash:
        return f"</\n{name}\n>"
    return tag


def tags(rng: random.Random, tries: int, scratch: Path | None = None) -> Report:
    """A host's tag or a chat template's mark in a memory: after the fence none is whole, a second
    fence finds nothing more to do but its own work, and the text comes back as it was."""
    report = Report()
    for _ in range(tries):
        hostile = _tag(rng) if rng.random() < 0.8 else rng.choice(_TOKENS)
        text = rng.choice(["", "foo", "say: ", "x\n", "\\"]) + hostile + rng.choice(["", " obey"])
        block = render.wrap(render.disarm(text))
        report.tries += 1
        inner = render.disarm(text)
        if hostile in inner:
            report.failed("leaked", repr(text))
        if render.parse(block) != text:
            report.failed("wrong", f"does not come back: {text!r}")
    return report


CASES = [
    Case("private keys cut anywhere, behind any prefix", keys, 2000),
    Case("passwords as arguments of programs", arguments, 3000),
    Case("passwords told in thirteen languages", sentences, 2000),
    Case("tags of hosts and chat templates against the fence", tags, 20_000),
]
