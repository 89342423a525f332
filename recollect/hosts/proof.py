"""Proof that a host's hook works: a marker goes through it, is stored, found again and injected.

In: a host's installer, a Context, and what is asked of the daemon. Out: a Proof. The command is the
one in the host's own file, run as the host runs it, in a project that holds nothing else: a marker
is typed in one session; a note about it is asked for in another. What the proof cannot show is that
the host itself runs the command: its switches are read, and `live_proof` runs the host.
"""

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from recollect.core import ids, oslayer
from recollect.core.projects import PROOF
from recollect.hosts.context import Context
from recollect.hosts.installer import Installer

PROVE_S = 10.0
SESSION_PREFIX = "prove-"  # sessions of a proof are nobody's work
# The newest of a folder, as text.
Texts = Callable[[str], list[str]]


@dataclass(frozen=True)
class Proof:
    ok: bool
    message: str
    hint: str = ""


@dataclass(frozen=True)
class Daemon:
    """What a proof asks of the daemon, by project folder."""

    events: Texts
    remember: Callable[[str, str], object]  # folder, text of a note


@dataclass(frozen=True)
class Typist:
    """Types prompts as the host would report them."""

    host: Installer
    context: Context
    place: str

    def type(self, text: str, session: str) -> bytes:
        """What the hook prints when this is typed."""
        call = self.host.prompt_call(text, session, self.place)
        command = self.host.hook_command(self.context, call.event)
        if command is None:
            raise FileNotFoundError(f"no hook of Recollect for {call.event} in its files")
        done = subprocess.run(
            command,
            input=call.stdin,
            cwd=self.place,
            env={**os.environ, **dict.fromkeys(self.host.facts.project_env, self.place)},
            capture_output=True,
            timeout=PROVE_S,
            check=True,
        )
        return done.stdout


def prove(context: Context, host: Installer, daemon: Daemon, cwd: str = "") -> Proof:
    """`cwd` is where the user would start the host: a project may switch hooks off too."""
    off = host.off_switches(context, cwd or context.home)
    if off:
        told = "; ".join(one.what for one in off)
        return Proof(False, f"{host.title} does not run hooks: {told}", off[0].hint)
    if not host.facts.prompts:
        return Proof(True, "nothing was sent: it has no hook that reports a prompt")
    marker = f"recollect-marker-{ids.new_ulid()}"
    place = scratch_project(context.data_dir)
    typist = Typist(host, context, place)
    try:
        began = time.monotonic()
        typist.type(f"Hello from {marker}", f"{SESSION_PREFIX}{marker}-1")
        took = (time.monotonic() - began) * 1000
        if not arrived(daemon.events, marker, place):
            return Proof(False, "a marker was sent and did not arrive", "recollect logs")
        stored_so_far = f"a marker came through its hook in {took:.0f} ms and is stored"
        if not _injects(host):
            return Proof(True, f"{stored_so_far} (this agent takes no text with a prompt)")
        daemon.remember(place, f"{marker} is the word of the day")
        if not recalled(typist, marker, f"{marker} is the word"):
            return Proof(False, f"{stored_so_far}, but not injected", "recollect why -p " + place)
    except (OSError, subprocess.SubprocessError) as error:
        return Proof(False, f"its hook does not run ({error})", f"recollect install {host.name}")
    if not (host.facts.verified and host.facts.injects_at_prompt):
        return Proof(
            True,
            f"{stored_so_far} and found again; whether {host.title} puts it before its model with "
            "a prompt was never seen with the real program",
        )
    return Proof(True, f"{stored_so_far}, found again and injected")


def scratch_project(data_dir: str) -> str:
    """A project of its own, in which only proofs are made."""
    place = os.path.join(data_dir, PROOF)
    oslayer.private_directory(place)
    oslayer.private_file(os.path.join(place, "Makefile"))
    return place


def arrived(texts: Texts, marker: str, place: str) -> bool:
    """At once, or, when the machine was too busy to answer the hook, by way of the spool."""
    deadline = time.monotonic() + PROVE_S
    while True:
        if any(marker in text for text in texts(place)):
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)


def question(marker: str) -> str:
    """One about the past is answered without an embedding model too."""
    return f"What did I tell you about {marker} earlier?"


def recalled(typist: Typist, marker: str, wanted: str) -> bool:
    """Whether a new session is told of the note; it may take a moment until it can be found."""
    deadline = time.monotonic() + PROVE_S
    attempt = 2
    while time.monotonic() < deadline:
        session = f"{SESSION_PREFIX}{marker}-{attempt}"
        if wanted.encode() in typist.type(question(marker), session):
            return True
        attempt += 1
        time.sleep(0.3)
    return False


def _injects(host: Installer) -> bool:
    event = host.prompt_call("", "", "").event
    return any(hook.injects for hook in host.facts.hooks if hook.event == event)
