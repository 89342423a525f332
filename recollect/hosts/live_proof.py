"""Proof with the real agent: one headless run in a project that holds nothing but a fact.

In: a host's installer, a Context, and functions that read what came of it. Out: a Proof. The agent
asks its own model once, which may cost a few tokens: the caller asks the user. An agent that does
not end in time is stopped.
"""

import secrets
import subprocess
from dataclasses import dataclass

from recollect.core import ids, oslayer
from recollect.hosts.context import Context
from recollect.hosts.installer import Installer
from recollect.hosts.proof import (
    Daemon,
    Proof,
    Texts,
    Typist,
    arrived,
    question,
    recalled,
    scratch_project,
)

RUN_S = 180.0
# The guard of our own model calls would silence the hooks.
_NOT_PASSED_ON = ("RECOLLECT_INTERNAL",)


@dataclass(frozen=True)
class LiveDaemon(Daemon):
    """`events` are those of the agent's own sessions, `briefs` what was injected into them."""

    briefs: Texts


def command_line(host: Installer, context: Context, prompt: str) -> tuple[str, ...] | None:
    """How the agent is run once, headless; None when it is not here, or that is not known."""
    found = host.detect(context.home, context.env)
    if found is None or found.program is None or not host.facts.headless:
        return None
    return (found.program, *(prompt if one == "{}" else one for one in host.facts.headless))


def prove_live(context: Context, host: Installer, daemon: LiveDaemon) -> Proof:
    place = scratch_project(context.data_dir)
    key, value = f"recollect-marker-{ids.new_ulid()}", f"lantern{secrets.randbelow(10**6):06d}"
    command = command_line(host, context, question(key))
    if command is None:
        told = f"Recollect cannot start {host.title} by itself"
        return Proof(False, told, "recollect doctor --prove")
    typist = Typist(host, context, place)
    try:
        daemon.remember(place, f"{key} is the word of the day, {value}")
        if not recalled(typist, key, value):
            return Proof(False, "its hook finds no memory", "recollect doctor --prove")
        code, printed = _run(command, place, context)
    except (OSError, subprocess.SubprocessError) as error:
        return Proof(False, f"it does not run ({error})", f"recollect install {host.name}")
    ended = f"{host.title} ended with {code}: {printed[-300:].strip()}"
    if not arrived(daemon.events, key, place):
        return Proof(False, f"no prompt of it arrived; {ended}", "recollect doctor --prove")
    if not arrived(daemon.briefs, value, place):
        told = f"its prompt arrived, but nothing was injected; {ended}"
        return Proof(False, told, f"recollect why -p {place}")
    if value not in printed:
        told = f"its prompt arrived and a memory was injected, but its answer lacks it; {ended}"
        return Proof(False, told, f"recollect why -p {place}")
    return Proof(True, "it was run: its prompt arrived, and its model answered from memory")


def _run(command: tuple[str, ...], place: str, context: Context) -> tuple[int, str]:
    env = {name: value for name, value in context.env.items() if name not in _NOT_PASSED_ON}
    process = subprocess.Popen(
        command,
        cwd=place,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        out, _ = process.communicate(timeout=RUN_S)
    except subprocess.TimeoutExpired:
        oslayer.signal_group(process.pid, oslayer.KILL)
        out, _ = process.communicate()
    return process.returncode, out.decode("utf-8", "replace")
