"""Power cuts under the real commands: the spool, settings, install, backup, restore, export and
the database, each cut at every step that it wrote to the disk.

In: a workload of real processes, recorded once. Out: failures. After a cut everything must be the
old or the new, whole, and what the user was told before the cut must be there.
"""

import contextlib
import dataclasses
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw
import msgspec

from recollect.capture import spool
from recollect.core import settings as settings_module
from recollect.core import store_key
from recollect.core.clock import SystemClock
from recollect.core.errors import RecollectError
from recollect.core.settings import Settings
from recollect.hosts.context import Context
from recollect.hosts.install import installer, uninstall
from recollect.portable import backups
from recollect.store.sqlite import DATABASE, SqliteStore, upkeep
from tests.fakes.daemons import RealDaemon
from tests.fakes.hooks import install
from tests.fakes.waiting import PATIENCE_S
from tests.torture.case import Case, Report
from tests.torture.disk import Disk, Recording, instants, replaced

RECOLLECT = Path(sys.executable).with_name("recollect")
OWN = b"""{
  "model": "opus",
  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}
}
"""


@dataclass
class Scene:
    """A home and a data directory, with every process in them recorded."""

    root: Path
    recording: Recording

    @property
    def data(self) -> Path:
        return self.root / "data"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def daemon(self) -> RealDaemon:
        daemon = RealDaemon(self.data)
        daemon.environment |= self.recording.environment | {"HOME": str(self.home)}
        return daemon

    def run(self, *arguments: str) -> None:
        subprocess.run(
            [RECOLLECT, *arguments],
            env=self.daemon.environment,
            check=True,
            capture_output=True,
            timeout=PATIENCE_S,
        )


Look = Callable[[Scene, list[str]], list[str]]


@dataclass(frozen=True)
class Workload:
    """What is there before (durable), what is done under the recorder, and how to look at what a
    cut left: a sentence for each thing that is wrong."""

    prepare: Callable[[Scene], None]
    act: Callable[[Scene], None]
    look: Look


def attack(workload: Workload) -> Callable[[random.Random, int, Path], Report]:
    def run(chance: random.Random, tries: int, scratch: Path) -> Report:
        root = scratch / "root"
        scene = Scene(root, Recording(root))
        for folder in (scene.root, scene.data, scene.home):
            folder.mkdir(mode=0o700)
        workload.prepare(scene)
        scene.recording.forget()
        disk = Disk(root)
        workload.act(scene)
        steps = scene.recording.steps()
        points = instants(len(steps), tries, chance)
        report = Report()
        for instant, step in enumerate([*steps, None]):
            while report.tries < len(points) and points[report.tries] == instant:
                report.tries += 1
                replaced(root, disk, chance)
                for problem in workload.look(scene, list(disk.told)):
                    report.failed("lost", f"cut before step {instant} of {len(steps)}: {problem}")
            if step is not None:
                disk.apply(step)
        return report

    return run


def _nothing(scene: Scene) -> None:
    """Nothing was there before."""


# --- the spool ---


def _spool(scene: Scene) -> None:
    """Hooks that find no daemon."""
    hook = install("python", scene.data)
    for number in range(3):
        environment = hook.environment(**scene.recording.environment)
        payload = {"session_id": "s", "cwd": "/", "prompt": f"prompt {number}"}
        hook.call(
            "claude-code", "UserPromptSubmit", stdin=json.dumps(payload).encode(), env=environment
        )
        while spool.statistics(str(scene.data)).count <= number:  # a detached child writes it
            os.sched_yield()
        scene.recording.told(f"prompt {number}")


def _look_at_spool(scene: Scene, told: list[str]) -> list[str]:
    found = [frame.stdin for _, frame, _ in spool.drain(str(scene.data))]
    lost = [f"{text} is gone" for text in told if not any(text.encode() in raw for raw in found)]
    damaged = spool.statistics(str(scene.data)).damaged
    return lost + ([f"{damaged} spooled files cannot be read"] if damaged else [])


# --- settings ---


def _settings_before(scene: Scene) -> None:
    scene.run("settings", "set", "backup_days", "20")


def _settings(scene: Scene) -> None:
    for days in ("21", "22"):
        scene.run("settings", "set", "backup_days", days)
        scene.recording.told(days)


def _look_at_settings(scene: Scene, told: list[str]) -> list[str]:
    try:
        days = settings_module.load(environ={"RECOLLECT_HOME": str(scene.data)}).backup_days
    except RecollectError as error:
        return [str(error)]
    return [] if days >= int(["20", *told][-1]) else [f"backup_days is {days}, told {told}"]


# --- install and uninstall ---


def _install_before(scene: Scene) -> None:
    (scene.home / ".claude").mkdir()
    (scene.home / ".claude" / "settings.json").write_bytes(OWN)


def _install(scene: Scene) -> None:
    scene.run("install", "claude-code", "--yes")
    scene.recording.told("installed")
    scene.recording.told("uninstalling")
    scene.run("uninstall", "claude-code", "--yes")
    scene.recording.told("uninstalled")


def _look_at_install(scene: Scene, told: list[str]) -> list[str]:
    path = scene.home / ".claude" / "settings.json"
    problems = []
    try:
        if told == ["installed"] and "recollect-hook" not in path.read_text():
            problems.append("the hooks are not there")
        if told[-1:] == ["uninstalled"] and path.read_bytes() != OWN:
            problems.append("uninstall did not put the file back")
        json.loads(path.read_text())
        context = Context(
            home=str(scene.home),
            data_dir=str(scene.data),
            hook_command=str(scene.data / "bin" / "recollect-hook"),
            mcp_command=("recollect", "mcp"),
        )
        done = uninstall([installer("claude-code")], context, lambda *_: True)
        problems += [f"uninstall: {one.error}" for one in done.results if one.error]
        if path.read_bytes() != OWN:
            problems.append(f"uninstall after the cut gives {path.read_bytes()!r}")
    except (OSError, ValueError, RecollectError) as error:
        problems.append(repr(error))
    return problems


# --- the database, backups, restore, export ---


def _note(daemon: RealDaemon, number: int) -> str:
    text = f"The answer to question {number} is kept in drawer {number}."
    daemon.client.ask("POST", "/api/notes", {"text": text})
    return text


def _with_daemon(work: Callable[[Scene, RealDaemon], None]) -> Callable[[Scene], None]:
    def act(scene: Scene) -> None:
        daemon = scene.daemon.start()
        try:
            work(scene, daemon)
        finally:
            daemon.stop()

    return act


def _notes(scene: Scene, daemon: RealDaemon) -> None:
    for number in range(4):
        scene.recording.told(_note(daemon, number))


def _memories(path: Path) -> set[str]:
    """Every memory of a database, opened as the daemon opens it."""
    store = SqliteStore(Settings(home=str(path), reserve_mb=0), SystemClock())
    try:
        problems = store.upkeep.check()
        assert not problems, problems
    finally:
        store.close()
    with contextlib.closing(apsw.Connection(str(path / DATABASE))) as db:
        return {text for (text,) in db.execute("SELECT title FROM memory_records")}


def _look_at_database(scene: Scene, told: list[str]) -> list[str]:
    try:
        there = _memories(scene.data)
    except (RecollectError, AssertionError) as error:
        return [f"the database cannot be opened: {error}"]
    return [f"{text} is gone" for text in told if text not in there]


def _backup(scene: Scene, daemon: RealDaemon) -> None:
    scene.run("backup", "create")
    scene.recording.told("backup")


def _look_at_backups(scene: Scene, told: list[str]) -> list[str]:
    made = backups.made_in(str(scene.data / "backups")) if (scene.data / "backups").exists() else []
    problems = [] if made or not told else ["the backup is gone"]
    for path in made:
        try:
            if upkeep.verify_file(path).records != 4:
                problems.append(f"{path} does not hold what was there")
        except RecollectError as error:
            problems.append(str(error))
    return problems


def _restore_before(scene: Scene) -> None:
    _with_daemon(_notes)(scene)
    daemon = scene.daemon.start()
    scene.run("backup", "create")
    _note(daemon, 4)
    daemon.stop()


def _restore(scene: Scene) -> None:
    scene.run("backup", "restore", "--yes")
    scene.recording.told("restored")
    scene.run("down")


def _look_at_restore(scene: Scene, told: list[str]) -> list[str]:
    try:
        count = len(_memories(scene.data))
    except (RecollectError, AssertionError) as error:
        return [f"the database cannot be opened: {error}"]
    if told:
        return [] if count == 4 else [f"{count} memories after the restore"]
    if count not in (4, 5):
        return [f"{count} memories, neither the old nor the new"]
    aside = [
        path
        for path in (scene.data / "backups").iterdir()
        if path.name.startswith("before-restore")
    ]
    if count == 4 and not any(upkeep.inspect(str(path)).records == 5 for path in aside):
        return ["the database as it was is not kept"]
    return []


def _export(scene: Scene, daemon: RealDaemon) -> None:
    scene.run("export", str(scene.home / "out.jsonl"))
    scene.recording.told("exported")


def _look_at_export(scene: Scene, told: list[str]) -> list[str]:
    path = scene.home / "out.jsonl"
    if not path.exists():
        return ["the export is gone"] if told else []
    rows = path.read_bytes().splitlines()
    try:
        kinds = [msgspec.json.decode(row) for row in rows]
    except msgspec.DecodeError as error:
        return [f"the export is not whole: {error}"]
    return [] if sum("drawer" in json.dumps(row) for row in kinds) >= 4 else ["rows are missing"]


# --- encryption ---


def _encrypt_before(scene: Scene) -> None:
    _with_daemon(_notes)(scene)
    _with_daemon(_backup)(scene)
    _spool(scene)


def _encrypt(scene: Scene) -> None:
    scene.run("encrypt", "--key", f"file:{scene.home / 'key'}", "--yes")
    scene.recording.told("encrypted")


def _decrypt_before(scene: Scene) -> None:
    _encrypt_before(scene)
    scene.run("encrypt", "--key", f"file:{scene.home / 'key'}", "--yes")


def _decrypt(scene: Scene) -> None:
    scene.run("decrypt", "--yes")
    scene.recording.told("decrypted")


def _look_at_encryption(scene: Scene, told: list[str]) -> list[str]:
    """With the settings that a cut left, everything opens and is complete."""
    for held in (store_key._known, store_key._sources):
        held.clear()
    chosen = settings_module.load({"RECOLLECT_HOME": str(scene.data)})
    problems = []
    try:
        store = SqliteStore(dataclasses.replace(chosen, reserve_mb=0))
        count = store.upkeep.stats().records
        problems += store.upkeep.check()
        store.close()
        problems += [] if count == 4 else [f"{count} memories"]
        for path in backups.made_in(str(scene.data / "backups")):
            upkeep.verify_file(path)
    except RecollectError as error:
        return [f"{error}; encryption_key = {chosen.encryption_key!r}"]
    waiting = len(list(spool.drain(str(scene.data))))
    problems += [] if waiting == 3 else [f"{waiting} spooled events can be read"]
    if "encrypted" in told:
        problems += [f"{path.name} can be read" for path in scene.data.rglob("*")
                     if path.is_file() and b"drawer" in path.read_bytes()]  # fmt: skip
    if "decrypted" in told:
        problems += ["encryption_key is still set"] if chosen.encryption_key else []
    return problems


_MADE = _with_daemon(_notes)

WORKLOADS = {
    "spool": Workload(_nothing, _spool, _look_at_spool),
    "settings": Workload(_settings_before, _settings, _look_at_settings),
    "install": Workload(_install_before, _install, _look_at_install),
    "database": Workload(_nothing, _MADE, _look_at_database),
    "backup": Workload(_MADE, _with_daemon(_backup), _look_at_backups),
    "restore": Workload(_restore_before, _restore, _look_at_restore),
    "export": Workload(_MADE, _with_daemon(_export), _look_at_export),
    "encrypt": Workload(_encrypt_before, _encrypt, _look_at_encryption),
    "decrypt": Workload(_decrypt_before, _decrypt, _look_at_encryption),
}

CASES = [Case(f"power cut, {name}", attack(workload), 400) for name, workload in WORKLOADS.items()]
