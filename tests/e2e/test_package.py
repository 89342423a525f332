"""The built package in an environment of its own, as `pipx install` and `uv tool install` leave it.

Nothing is fetched: what Recollect depends on is lent from the environment that runs the tests, and
the package itself is the wheel's. The checkout is not on the path.
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from recollect.client import Client, NotRunning
from recollect.core.settings import Settings
from tests.fakes.waiting import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAYLOADS = ROOT / "tests" / "data" / "hosts" / "claude-code"
SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE", "bin", "recollect")
BUILD_S = 300


def build(folder: pathlib.Path, *, compiler: bool) -> pathlib.Path:
    """A source package, and a wheel made from it; gives the folder that holds both."""
    source = folder / "source"
    skipped = shutil.ignore_patterns("__pycache__", "recollect-hook")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=skipped)
        else:
            source.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, source / name)
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", source],
        env=os.environ | ({} if compiler else {"CC": "/nonexistent/cc"}),
        check=True,
        capture_output=True,
        timeout=BUILD_S,
    )
    return folder / "dist"


@pytest.fixture(scope="module", params=["compiled", "without a compiler"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    return build(tmp_path_factory.mktemp("build"), compiler=request.param == "compiled")


@dataclass
class Installed:
    """A person's machine with the wheel installed, Claude Code, and no compiler."""

    home: pathlib.Path
    wheel: pathlib.Path

    @property
    def python(self) -> pathlib.Path:
        return self.home / "tool" / "bin" / "python"

    @property
    def env(self) -> dict[str, str]:
        model = os.environ["RECOLLECT_MODEL_DIR"]
        return {"HOME": str(self.home), "PATH": "/nonexistent", "RECOLLECT_MODEL_DIR": model}

    def install(self) -> None:
        pip = [sys.executable, "-m", "pip", "--python", str(self.python), "install", "--quiet"]
        options = ("--no-deps", "--no-index", "--force-reinstall", "--disable-pip-version-check")
        subprocess.run([*pip, *options, self.wheel], check=True, timeout=BUILD_S)

    def recollect(self, *arguments: str) -> str:
        program = self.python.with_name("recollect")
        done = subprocess.run(
            [program, *arguments], cwd=self.home, env=self.env, capture_output=True, text=True,
            timeout=120, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def agent_reports(self, event: str, session: str, **more: str) -> None:
        """Runs what stands in Claude Code's own file for this event, with a recorded payload."""
        settings = json.loads((self.home / ".claude" / "settings.json").read_text())
        command = settings["hooks"][event][0]["hooks"][0]["command"]
        recorded = next(PAYLOADS.glob(f"{event}*.json"))
        payload = json.loads(recorded.read_text())
        payload = payload.get("payload", payload)
        payload |= {"session_id": session, "cwd": str(self.home / "work"), **more}
        done = subprocess.run(
            shlex.split(command), env=self.env, input=json.dumps(payload).encode(),
            capture_output=True, timeout=30,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")

    def stored(self) -> str:
        """The events of the project in which the agent works, as the daemon knows them; nothing
        while it starts."""
        client = Client(Settings(home=str(self.home / ".recollect")))
        try:
            return json.dumps(client.get("/v1/events", project_path=str(self.home / "work")))
        except NotRunning:
            return ""


@pytest.fixture
def installed(built: pathlib.Path, tmp_path: pathlib.Path) -> Iterator[Installed]:
    (wheel,) = built.glob("*.whl")
    machine = Installed(tmp_path / "home", wheel)
    for name in (".claude", "work"):
        (machine.home / name).mkdir(parents=True)
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", machine.home / "tool"], check=True
    )
    machine.install()
    packages = next((machine.home / "tool" / "lib").glob("python3*")) / "site-packages"
    (packages / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    yield machine
    machine.recollect("uninstall", "--yes", "--delete-data")


def test_the_packages_hold_what_runs_and_the_source_package_no_program(
    built: pathlib.Path,
) -> None:
    (wheel,) = built.glob("*.whl")
    (source,) = built.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    with tarfile.open(source) as archive:
        sources = {name.partition("/")[2] for name in archive.getnames()}
    data = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "recollect").rglob("*")
        if path.is_file() and path.suffix not in (".pyc",) and path.name != "recollect-hook"
    }
    assert data <= held and data <= sources
    program = "recollect/capture/recollect-hook"
    assert program not in sources
    assert (program in held) == (not wheel.name.endswith("-any.whl"))


def test_an_installed_package_sets_up_captures_is_upgraded_and_leaves_nothing(
    installed: Installed,
) -> None:
    told = installed.recollect("setup", "--yes")
    assert "claude-code: connected" in told and "stored, found again and injected" in told
    kind = "Python (no C compiler)" if installed.wheel.name.endswith("-any.whl") else "compiled"
    assert f"hook program: {kind}" in installed.recollect("doctor")
    agent_files = [installed.home / ".claude.json", installed.home / ".claude" / "settings.json"]
    agent_files.append(installed.home / ".recollect" / "launcher")
    for file in agent_files:
        assert str(ROOT) not in file.read_text(), f"{file} names the checkout"
    installed.agent_reports("UserPromptSubmit", "s1", prompt="the walrus sings at noon")
    wait_until(lambda: "walrus" in installed.stored())

    installed.recollect("down")
    installed.install()  # an upgrade replaces the files in place; a session begins afterwards
    installed.agent_reports("SessionStart", "s2")
    installed.agent_reports("UserPromptSubmit", "s2", prompt="the ibis dances at dusk")
    wait_until(lambda: "ibis" in installed.stored())

    installed.recollect("uninstall", "--yes", "--delete-data")
    left = {one.name for one in installed.home.iterdir()}
    assert left == {".claude", "tool", "work"}
    assert [one for one in (installed.home / ".claude").rglob("*") if one.is_file()] == []
