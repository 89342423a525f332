"""Commands in this process: `terminal("search", "words")` against a Runtime without a socket."""

import io
import pathlib
from dataclasses import dataclass
from typing import Any

import pytest

from recollect.cli import output
from recollect.cli.run import run
from recollect.client import Client
from tests.fakes.runtime import RuntimeHome


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


class Keyboard(io.StringIO):
    """Standard input at which somebody sits."""

    def isatty(self) -> bool:
        return True


class Terminal:
    """Types commands, as `recollect` would get them, and reads what they print."""

    def __init__(
        self, home: pathlib.Path, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.home = home
        self.patch = patch
        self._capsys = capsys

    def __call__(self, *arguments: str, typed: str = "", person: bool = False) -> Done:
        piped = io.TextIOWrapper(io.BytesIO(typed.encode()), "utf-8")
        self.patch.setattr("sys.stdin", Keyboard(typed) if person else piped)
        self.patch.setattr(output, "_asked", [])
        self._capsys.readouterr()
        code = run(list(arguments))
        printed = self._capsys.readouterr()
        return Done(code, printed.out, printed.err)

    def lead_to(self, home: RuntimeHome) -> None:
        """What is typed from now on is answered by this Runtime."""
        client = home.client
        self.patch.setenv("RECOLLECT_HOME", str(home.home))
        self.patch.setattr(Client, "alive", lambda self: True)
        self.patch.setattr(Client, "send", lambda self, *request: client.send(*request))
        self.patch.setattr(Client, "stream", lambda self, path: client.stream(path))


@pytest.fixture
def alone(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    """A person's home without a daemon; nothing that is typed here may start one."""
    person = tmp_path / "person"
    person.mkdir()
    for name, value in {
        "HOME": str(person), "PATH": "/usr/bin:/bin", "NO_COLOR": "1",
        "RECOLLECT_HOME": str(tmp_path / "home"), "RECOLLECT_ACTOR": "ada",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("recollect.cli.process._spawn", _refuse_to_start)
    return Terminal(tmp_path / "home", monkeypatch, capsys)


@pytest.fixture
def terminal(alone: Terminal, runtime_home: RuntimeHome) -> Terminal:
    """The same with everything behind the doors in this process."""
    alone.lead_to(runtime_home)
    return alone


def _refuse_to_start(*_: Any) -> None:
    raise AssertionError("this command starts a daemon: it needs `terminal`, or a real process")
