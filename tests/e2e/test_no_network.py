"""A daemon with the settings of a new user speaks to nobody outside this machine.

Every connection and every name that its processes ask for is written down as Python reports it
(audit events), and at the end the kernel is asked which sockets they have.
"""

import contextlib
import ipaddress
import os
import pathlib
import re
import socket
import sys

import pytest

from tests.e2e.test_daemon_life import PROMPT
from tests.fakes import processes
from tests.fakes.daemons import REPOSITORY, RealDaemon

WATCH = """
import os, sys

def heard(event, given, told={path!r}):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo",
                 "socket.gethostbyname", "socket.bind"):
        line = f"{{event}}\\t{{[one for one in given if isinstance(one, (str, bytes, tuple))]}}\\n"
        fd = os.open(told, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(fd, line.encode())
        os.close(fd)

sys.addaudithook(heard)
"""


def watched(tmp_path: pathlib.Path) -> tuple[RealDaemon, pathlib.Path]:
    """A home whose processes write down whom they speak to, and where they do."""
    (folder := tmp_path / "watch").mkdir()
    told = tmp_path / "told"
    told.touch()
    (folder / "sitecustomize.py").write_text(WATCH.format(path=str(told)))
    daemon = RealDaemon(tmp_path / "home")
    daemon.environment["PYTHONPATH"] = f"{folder}:{REPOSITORY}"
    daemon.environment.pop("RECOLLECT_MODEL_DIR", None)  # a new user has no model yet
    return daemon, told


def test_the_watch_sees_a_connection_outside(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "told"
    scope: dict[str, object] = {}
    source = WATCH.format(path=str(path)).replace("sys.addaudithook(heard)", "")
    exec(compile(source, "watch", "exec"), scope)  # noqa: S102  an audit hook cannot be removed
    heard = scope["heard"]
    assert callable(heard)
    heard("socket.connect", (object(), ("192.0.2.1", 443)))
    heard("socket.getaddrinfo", ("example.org", 443, 0, 0, 0))
    heard("socket.connect", (object(), ("127.0.0.1", 80)))
    heard("socket.connect", (object(), "/run/x.sock"))
    assert len(abroad(path.read_text())) == 2


def test_a_daemon_with_default_settings_opens_no_connection_but_loopback(
    tmp_path: pathlib.Path,
) -> None:
    daemon, told = watched(tmp_path)
    (project := tmp_path / "project").mkdir()
    (project / "Makefile").touch()
    here = {"cwd": str(project), "session_id": "s"}
    daemon.install_hook()
    daemon.start()
    try:
        ask = daemon.client.ask
        daemon.run_hook("claude-code", "SessionStart", {**here, "source": "startup"})
        daemon.run_hook("claude-code", "UserPromptSubmit", {**PROMPT, **here, "prompt": "use uv"})
        ran = {"tool_name": "Bash", "tool_input": {"command": "curl https://example.org"},
               "tool_response": {"stdout": "ok"}}  # fmt: skip
        daemon.run_hook("claude-code", "PostToolUse", {**here, **ran})
        daemon.run_hook("claude-code", "Stop", {**here, "last_assistant_message": "Done."})
        ask("POST", "/api/queue/run", {"wait_s": 20})
        ask("POST", "/api/notes", {"text": "see https://example.org", "project": str(project)})
        ask("GET", "/api/search?query=uv")
        ask("GET", "/api/context?query=uv")
        for path in ("/api/maintain", "/api/backups", "/api/embeddings/backfill"):
            ask("POST", path)
        ask("POST", "/api/import/offers", {})
        assert daemon.http("GET", "/api/stats")[0] == 200  # by TCP, as the dashboard
        family = processes.naming(str(daemon.home))
        assert daemon.process is not None and daemon.process.pid in family
        assert remote_addresses(family) == []
    finally:
        daemon.stop()
    heard = told.read_text()
    assert f"'127.0.0.1', {daemon.environment['RECOLLECT_PORT']}" in heard  # the door is its own
    assert abroad(heard) == []


def abroad(told: str) -> list[str]:
    """Lines that name an address or a name outside this machine."""
    found = []
    for line in told.splitlines():
        event, _, rest = line.partition("\t")
        names = re.findall(r"b?['\"]([^'\"]*)['\"]", rest)
        local = [name for name in names if not name or name.startswith(("/", "\0")) or own(name)]
        if len(local) < len(names) or (event.startswith("socket.gethost") and not names):
            found.append(line)
    return found


def own(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost" or name.isdecimal()  # a port as a word


def remote_addresses(pids: dict[int, str]) -> list[str]:
    """The other ends of the sockets of these processes that are not on this machine."""
    if not sys.platform.startswith("linux"):
        return []
    held = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    held.add(os.readlink(entry.path))
    found = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in pathlib.Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            address, _, port = fields[2].partition(":")
            if f"socket:[{fields[9]}]" in held and port != "0000" and not loopback(address):
                found.append(f"{table} {address}:{port}")
    return found


def loopback(address: str) -> bool:
    """An address as /proc/net writes it: words in the order of this machine's bytes."""
    words = [address[at : at + 8] for at in range(0, len(address), 8)]
    raw = b"".join(int(word, 16).to_bytes(4, sys.byteorder) for word in words)
    family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
    found = ipaddress.ip_address(socket.inet_ntop(family, raw))
    mapped = getattr(found, "ipv4_mapped", None)
    return (mapped or found).is_loopback


@pytest.mark.parametrize(("written", "own_one"), [
    ("0100007F", True), ("0101A8C0", False), ("0000000000000000FFFF00000100007F", True),
    ("00000000000000000000000001000000", True),
])  # fmt: skip
def test_addresses_of_the_kernel_are_read(written: str, own_one: bool) -> None:
    assert sys.byteorder == "big" or loopback(written) is own_one
