"""Proof that a host's hook works: a marker goes through it, is stored, found again and injected.

In: a host's installer, and a function that reads what was stored. Out: a Proof. The hook runs as
the host would run it, in a project that holds nothing else: a marker is typed in one session, and
asked for in another.
"""

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from recollect.core import ids, oslayer
from recollect.core.settings import Settings
from recollect.hosts.installer import Installer

PROVE_S = 10.0
SESSION_PREFIX = "prove-"  # sessions of a proof are nobody's work
# The newest events of a folder, as text.
Stored = Callable[[str], list[str]]


@dataclass(frozen=True)
class Proof:
    ok: bool
    message: str
    hint: str = ""


def prove(chosen: Settings, host: Installer, stored: Stored) -> Proof:
    marker = f"recollect-marker-{ids.new_ulid()}"
    place = chosen.path("prove")
    oslayer.private_directory(place)
    oslayer.private_file(os.path.join(place, "Makefile"))  # so that this is a project of its own
    try:
        began = time.monotonic()
        _type(
            chosen, host, f"{marker} is the word of the day", f"{SESSION_PREFIX}{marker}-1", place
        )
        took = (time.monotonic() - began) * 1000
        if not _arrived(stored, marker, place):
            return Proof(False, "a marker was sent and did not arrive", "recollect logs")
        stored_so_far = f"a marker came through its hook in {took:.0f} ms and is stored"
        if not _injects(host):
            return Proof(True, f"{stored_so_far} (this host takes no text with a prompt)")
        if _asked_for(chosen, host, marker, place):
            return Proof(True, f"{stored_so_far}, found again and injected")
    except (OSError, subprocess.SubprocessError) as error:
        return Proof(False, f"its hook does not run ({error})", "recollect doctor --fix")
    return Proof(False, f"{stored_so_far}, but not injected", "recollect why -p " + place)


def _arrived(stored: Stored, marker: str, place: str) -> bool:
    """At once, or, when the machine was too busy to answer the hook, by way of the spool."""
    deadline = time.monotonic() + PROVE_S
    while True:
        if any(marker in body for body in stored(place)):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)


def _type(chosen: Settings, host: Installer, text: str, session: str, place: str) -> bytes:
    """What the hook prints when this is typed."""
    call = host.prompt_call(text, session, place)
    done = subprocess.run(
        [chosen.path("bin", "recollect-hook"), host.name, call.event],
        input=call.stdin,
        cwd=place,
        env={**os.environ, "RECOLLECT_HOME": chosen.directory},
        capture_output=True,
        timeout=PROVE_S,
        check=True,
    )
    return done.stdout


def _asked_for(chosen: Settings, host: Installer, marker: str, place: str) -> bool:
    """The next prompt ends the first turn, which makes it a memory; another session asks."""
    _type(chosen, host, "thanks", f"{SESSION_PREFIX}{marker}-1", place)
    deadline = time.monotonic() + PROVE_S
    attempt = 2
    while time.monotonic() < deadline:
        session = f"{SESSION_PREFIX}{marker}-{attempt}"
        if marker.encode() in _type(chosen, host, f"what is {marker}?", session, place):
            return True
        attempt += 1
        time.sleep(0.3)
    return False


def _injects(host: Installer) -> bool:
    event = host.prompt_call("", "", "").event
    return any(hook.injects for hook in host.facts.hooks if hook.event == event)
