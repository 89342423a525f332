"""Proof that a host works: a marker goes through its hook, is stored, found again and injected.

In: a host's name, and a way to read what was stored. Out: a Proof in words. The hook is run exactly
as the host would, in a project that holds nothing else: a marker is typed in one session, and asked
for in another.
"""

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from recollect.capture.hosts import HOSTS
from recollect.core import ids, oslayer
from recollect.core.settings import Settings
from recollect.hosts.prove import prompt_call

PROVE_S = 10.0
# The newest events of a folder, as text.
Stored = Callable[[str], list[str]]


@dataclass(frozen=True)
class Proof:
    ok: bool
    told: str
    hint: str = ""


def prove(chosen: Settings, host: str, stored: Stored) -> Proof:
    marker = f"recollect-marker-{ids.new_ulid()}"
    place = chosen.path("prove")
    oslayer.private_directory(place)
    oslayer.private_file(os.path.join(place, "Makefile"))  # so that this is a project of its own
    try:
        began = time.monotonic()
        _type(chosen, host, f"{marker} is the word of the day", f"prove-{marker}-1", place)
        took = (time.monotonic() - began) * 1000
        if not _arrived(stored, marker, place):
            return Proof(False, "a marker was sent and did not arrive", "recollect logs")
        told = f"a marker came through its hook in {took:.0f} ms and is stored"
        if not _injects(host):
            return Proof(True, f"{told} (this host takes no text with a prompt)")
        if _asked_for(chosen, host, marker, place):
            return Proof(True, f"{told}, found again and injected")
    except (OSError, subprocess.SubprocessError) as error:
        return Proof(False, f"its hook does not run ({error})", "recollect doctor --fix")
    return Proof(False, f"{told}, but not injected", "recollect why -p " + place)


def _arrived(stored: Stored, marker: str, place: str) -> bool:
    """At once, or, when the machine was too busy to answer the hook, by way of the spool."""
    deadline = time.monotonic() + PROVE_S
    while True:
        if any(marker in body for body in stored(place)):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)


def _type(chosen: Settings, host: str, text: str, session: str, place: str) -> bytes:
    """What the hook prints when this is typed."""
    call = prompt_call(host, text, session, place)
    done = subprocess.run(
        [chosen.path("bin", "recollect-hook"), host, call.event],
        input=call.stdin,
        cwd=place,
        env={**os.environ, **call.env, "RECOLLECT_HOME": chosen.directory},
        capture_output=True,
        timeout=PROVE_S,
        check=True,
    )
    return done.stdout


def _asked_for(chosen: Settings, host: str, marker: str, place: str) -> bool:
    """The next prompt ends the first turn, which makes it a memory; another session asks."""
    _type(chosen, host, "thanks", f"prove-{marker}-1", place)
    deadline = time.monotonic() + PROVE_S
    attempt = 2
    while time.monotonic() < deadline:
        session = f"prove-{marker}-{attempt}"
        if marker.encode() in _type(chosen, host, f"what is {marker}?", session, place):
            return True
        attempt += 1
        time.sleep(0.3)
    return False


def _injects(host: str) -> bool:
    event = prompt_call(host, "", "", "").event
    return any(spec.injects for spec in HOSTS[host].events if spec.event == event)
