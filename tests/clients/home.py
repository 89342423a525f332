"""A clean home with a small git project, a Recollect of its own, and a real agent in it.

In: a client and a fake model. Out: turns that were run, events that were stored, files before and
after. Everything lives below one directory and every process is ended with the home.
"""

import hashlib
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import time
import venv
from dataclasses import dataclass
from typing import Any

from recollect.client import Client as DaemonClient
from recollect.client import NotRunning
from recollect.core.settings import Settings
from tests.clients.clients import Client

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("RECOLLECT_CLIENTS", "/var/tmp/recollect-clients"))
TURN_SECONDS = 180
SETTLE_SECONDS = 15


@dataclass(frozen=True)
class Run:
    """One run of a client."""

    code: int
    stdout: str
    stderr: str
    cpu_s: float  # of the client and of what it started and waited for


def fetch(client: Client) -> pathlib.Path:
    """Install a client from npm, once; gives its program."""
    folder = _npm(client.host, f"{client.package}@{client.version}")
    return folder / "node_modules" / ".bin" / client.program


def node() -> pathlib.Path:
    """A node that is new enough for all clients: on an older one npm gives older clients."""
    return _npm("node", "node@22") / "node_modules" / ".bin"


def _npm(name: str, package: str) -> pathlib.Path:
    folder = CACHE / name
    done = folder / f"{package.replace('/', '_')}.done"
    if done.exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"private": true}\n')
    path = os.environ["PATH"]
    if name != "node":
        path = f"{node()}:{path}"
    env = {**os.environ, "PATH": path, "npm_config_cache": str(CACHE / "npm-cache")}
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-progress", package]
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, timeout=600)
    done.touch()
    return folder


class Home:
    def __init__(self, name: str, parts: dict[str, str] | None = None) -> None:
        (CACHE / "homes").mkdir(parents=True, exist_ok=True)
        self.path = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}-", dir=CACHE / "homes"))
        self.project = self.path / "work" / "shop"
        self.settings = Settings(home=str(self.path / ".recollect"))
        self._daemon: subprocess.Popen[bytes] | None = None
        self._python = self._make_python()
        self._make_project()
        self.write(parts or {})

    def write(self, parts: dict[str, str]) -> None:
        for place, content in parts.items():
            target = self.path / place
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(content)

    def __enter__(self) -> "Home":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_daemon()

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)

    # --- making ---

    def _make_python(self) -> str:
        """A Python that runs this checkout and none other, wherever it is started from."""
        folder = self.path / "python"
        venv.create(folder, symlinks=True, with_pip=False)
        site = next((folder / "lib").glob("python*/site-packages"))
        dependencies = sysconfig.get_path("purelib")
        (site / "recollect-under-test.pth").write_text(f"{REPOSITORY}\n{dependencies}\n")
        python = str(folder / "bin" / "python")
        script = folder / "bin" / "recollect"
        script.write_text(
            f"#!{python}\nimport sys\nfrom recollect.cli import main\nsys.exit(main())\n"
        )
        script.chmod(0o755)
        return python

    def _make_project(self) -> None:
        self.project.mkdir(parents=True)
        (self.project / "README.md").write_text("# Shop\n")
        git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
        for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "First"]):
            subprocess.run([*git, *command], cwd=self.project, check=True, env=self.env())

    def env(self, **more: str) -> dict[str, str]:
        """As after a login, with nothing of the environment that runs the test."""
        path = os.pathsep.join((str(node()), "/usr/local/bin", "/usr/bin", "/bin"))
        return {
            "HOME": str(self.path),
            "USER": "ada",
            "LOGNAME": "ada",
            "PATH": path,
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "TERM": "dumb",
            "NO_COLOR": "1",
            **more,
        }

    # --- Recollect ---

    def recollect(
        self, *arguments: str, client: Client | None = None, url: str = "", fails: bool = False
    ) -> str:
        """Run our command line as the user would; its output. With the address of a model, the
        client can be started from it."""
        env = self.agent_env(client, url) if client and url else self.env()
        if client is not None:
            env["PATH"] = f"{fetch(client).parent}:{env['PATH']}"
        run = subprocess.run(
            [self._python, "-m", "recollect", *arguments],
            cwd=self.path,
            env=env,
            capture_output=True,
            text=True,
            timeout=TURN_SECONDS,
        )
        if run.returncode and not fails:
            raise RuntimeError(f"recollect {' '.join(arguments)}: {run.stdout}{run.stderr}")
        return run.stdout

    def python(self, program: str, client: Client, url: str) -> "subprocess.CompletedProcess[str]":
        """Run a program of ours that starts a client, as the daemon would. Claude Code gets no key
        there, but the token of a subscription."""
        env = {**self.agent_env(client, url), "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-fake"}
        env["PATH"] = f"{fetch(client).parent}:{env['PATH']}"
        return subprocess.run(
            [self._python, "-c", program], cwd=self.path, env=env,
            capture_output=True, text=True, timeout=TURN_SECONDS,
        )  # fmt: skip

    def start_daemon(self, module: str = "recollect.daemon", **more: str) -> None:
        if self._daemon is not None:
            self._daemon.wait(timeout=20)  # it was killed
        self._daemon = subprocess.Popen(
            [self._python, "-m", module],
            cwd="/",
            env=self.env(**more),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + 30
        while not self.client.alive():
            if self._daemon.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the daemon did not start; see " + self.settings.path("logs"))
            time.sleep(0.02)

    def stop_daemon(self) -> None:
        """Ours, or the one that a hook started."""
        self.recollect("down")
        if self._daemon is not None:
            self._daemon.wait(timeout=20)
            self._daemon = None

    def signal_daemon(self, number: int) -> None:
        if self._daemon is None:
            raise RuntimeError("no daemon was started here")
        self._daemon.send_signal(number)

    @property
    def client(self) -> DaemonClient:
        return DaemonClient(self.settings)

    @property
    def health(self) -> dict[str, Any]:
        return dict(self.client.get("/healthz"))

    def events(self) -> list[dict[str, Any]]:
        """All events of the project, oldest first."""
        found: list[dict[str, Any]] = []
        before = ""
        while True:
            page = self.client.get(f"/v1/events?limit=200&project_path={self.project}{before}")
            found += [row["event"] for row in page["items"]]
            if page["next"] is None:
                return found[::-1]
            before = f"&before={page['next']}"

    def settled(self, enough: int, turns: tuple[str, ...] = ()) -> list[dict[str, Any]]:
        """The events (of the sessions in which these turns were typed), once there are so many and
        no more are on their way. Those that the spool brings back take some seconds."""
        deadline = time.monotonic() + SETTLE_SECONDS
        last: list[dict[str, Any]] = []
        while time.monotonic() < deadline:
            try:
                now = _with_turns(self.events(), turns)
                if len(now) == len(last) >= enough and not self.health["spool"]["events"]:
                    return now
                last = now
            except NotRunning:
                pass  # a hook may be starting it
            time.sleep(1)
        return last

    # --- the agent ---

    def agent_env(self, client: Client, url: str) -> dict[str, str]:
        proxy = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), url)
        return self.env(**client.env(url), **proxy, NO_PROXY="127.0.0.1,localhost")

    def turn(self, client: Client, url: str, prompt: str, *, again: bool = False) -> Run:
        arguments = client.again if again and client.again else client.first
        return self.run(client, url, arguments(url, prompt))

    def run(self, client: Client, url: str, arguments: list[str]) -> Run:
        env = self.agent_env(client, url)
        before = _cpu_of_children()
        process = subprocess.Popen(
            [str(fetch(client)), *arguments],
            cwd=self.project,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=TURN_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            err += f"\n(killed after {TURN_SECONDS} s)"
        cpu_s = _cpu_of_children() - before
        if client.stop:
            stop = [str(fetch(client)), *client.stop]
            subprocess.run(stop, cwd=self.project, env=env, capture_output=True, timeout=60)
        return Run(process.returncode, out, err, cpu_s)

    # --- files ---

    def files(self) -> dict[str, str]:
        """The digest of every file in the home that is neither ours nor the project's."""
        ours = (".recollect", "python", "work")
        return {
            str(path.relative_to(self.path)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.path.rglob("*"))
            if path.is_file()
            and not path.is_symlink()
            and path.relative_to(self.path).parts[0] not in ours
        }


def _cpu_of_children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _with_turns(events: list[dict[str, Any]], turns: tuple[str, ...]) -> list[dict[str, Any]]:
    sessions = {
        event["session_id"]
        for event in events
        if not turns or any(turn in json.dumps(event["body"]) for turn in turns)
    }
    return [event for event in events if event["session_id"] in sessions]
