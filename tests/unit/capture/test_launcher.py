import os
import subprocess
import sys
from pathlib import Path

import pytest

from recollect.capture import launcher, launcher_file, paths
from recollect.core.errors import BadInput
from tests.fakes.hooks import Hook, compiled, install
from tests.fakes.waiting import PATIENCE_S


def test_the_launcher_names_python_script_and_package(tmp_path: Path) -> None:
    path = Path(launcher.write(str(tmp_path)))
    python, script, package = launcher_file.read(str(tmp_path))
    assert python == sys.executable
    assert script == str(tmp_path / "bin" / "hook.py") and os.path.exists(script)
    assert os.path.samefile(package, Path(launcher.__file__).parents[2])
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(os.listdir(tmp_path)) == ["bin", "launcher"]


def test_a_python_that_cannot_stand_on_a_line_is_refused(tmp_path: Path) -> None:
    for python in ("/usr/bin/py\nthon", "python3"):
        with pytest.raises(BadInput):
            launcher.write(str(tmp_path), python)
    assert os.listdir(tmp_path) == []


def test_a_launcher_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    for text in ("", "python3\nx\ny\n", "/usr/bin/python3\n"):
        (tmp_path / "launcher").write_text(text)
        with pytest.raises(ValueError, match="launcher"):
            launcher_file.read(str(tmp_path))


def test_the_hook_can_be_replaced_while_it_runs(tmp_path: Path) -> None:
    hook = install("compiled", tmp_path / "data")
    with hook.start("host", "Stop") as running:
        assert launcher.install_hook(str(hook.directory), compiled=compiled()) == hook.program
        assert running.stdin
        running.stdin.close()
        assert running.wait(PATIENCE_S) == 0
    assert Path(hook.program).stat().st_mode & 0o777 == 0o700
    assert sorted(os.listdir(Path(hook.program).parent)) == ["hook.py", "recollect-hook"]


def test_without_a_compiled_program_a_script_is_installed(tmp_path: Path) -> None:
    hook = install("python", tmp_path / "data")
    first = Path(hook.program).read_text().splitlines()[0]
    assert first == f"#!{sys.executable} -ISE"
    assert hook.call("host", "Stop").code == 0
    assert len(hook.spooled()) == 1


@pytest.mark.parametrize("name", ["a blank", "x" * 150, "it's"])
def test_a_script_works_where_the_python_has_an_odd_path(tmp_path: Path, name: str) -> None:
    python = tmp_path / name
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o700)
    hook = install("python", tmp_path / "data", str(python))
    result = hook.call("host", "Stop", stdin=b"in")
    assert (result.code, result.stderr) == (0, b"")
    assert [frame.stdin for frame in hook.spooled()] == [b"in"]


def test_a_script_whose_python_is_gone_is_silent(tmp_path: Path) -> None:
    hook = install("python", tmp_path / "data", str(tmp_path / "no such python"))
    result = hook.call("host", "Stop")
    assert (result.code, result.stdout, result.stderr) == (0, b"", b"")


def test_a_script_whose_package_is_gone_is_silent(tmp_path: Path) -> None:
    hook = install("python", tmp_path / "data")
    text = Path(hook.program).read_text()
    Path(hook.program).write_text(text.replace(repr(launcher.PACKAGE), repr("/nonexistent")))
    result = hook.call("host", "Stop")
    assert (result.code, result.stdout, result.stderr) == (0, b"", b"")


@pytest.mark.parametrize("kind", ["compiled", "python"])
def test_a_package_that_moved_to_another_version_of_python_is_found(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pipx reinstall --python` and `uv tool install --python` keep only the program's path."""
    python = tmp_path / "tool" / "bin" / "python"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    packages = tmp_path / "tool" / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    python.parent.mkdir()
    python.symlink_to(os.path.realpath(sys.executable))
    (packages / "recollect").symlink_to(Path(launcher.PACKAGE) / "recollect")
    monkeypatch.setattr(launcher, "PACKAGE", str(tmp_path / "tool" / "lib" / "python3.1"))
    hook = install(kind, tmp_path / "data", str(python))
    result = hook.call("host", "Stop", stdin=b"in")
    assert (result.code, result.stdout, result.stderr) == (0, b"", b"")
    assert [frame.stdin for frame in hook.spooled()] == [b"in"]


# --- both kinds find the same places ------------------------------------------------------------


def where(hook: Hook, env: dict[str, str], cwd: Path) -> list[str]:
    result = hook.call("--where", env=env, cwd=cwd)
    assert (result.code, result.stderr) == (0, b"")
    return result.stdout.decode().splitlines()


@pytest.mark.parametrize(
    "env",
    [
        {},
        {"HOME": ""},
        {"HOME": "/somewhere/"},
        {"HOME": "relative"},
        {"RECOLLECT_HOME": ""},
        {"RECOLLECT_HOME": "/a/../b//c/./"},
        {"RECOLLECT_HOME": "//two"},
        {"RECOLLECT_HOME": "///three/.."},
        {"RECOLLECT_HOME": "/.."},
        {"RECOLLECT_HOME": "/"},
        {"RECOLLECT_HOME": "relative/../x"},
        {"RECOLLECT_HOME": "~", "HOME": "/h"},
        {"RECOLLECT_HOME": "~/x", "HOME": "/h/"},
        {"RECOLLECT_HOME": "~/x"},
        {"RECOLLECT_HOME": "/" + "d" * 96},
        {"RECOLLECT_HOME": "/" + "d" * 97},
        {"RECOLLECT_HOME": "/" + "d" * 200},
        {"RECOLLECT_HOME": "/é" * 60},
        {"RECOLLECT_HOME": "/" + "d" * 200, "XDG_RUNTIME_DIR": "/run/user/1"},
        {"RECOLLECT_HOME": "/" + "d" * 200, "XDG_RUNTIME_DIR": ""},
    ],
)
def test_compiled_and_python_hook_find_the_same_places(
    tmp_path: Path, env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lone").mkdir()
    fast, slow = install("compiled", tmp_path / "x"), install("python", tmp_path / "y")
    os.rename(fast.program, tmp_path / "lone" / "c")
    os.rename(slow.program, tmp_path / "lone" / "p")
    found = [
        where(Hook(kind, tmp_path, str(tmp_path / "lone" / kind[0])), env, tmp_path)
        for kind in ("compiled", "python")
    ]
    assert found[0] == found[1]
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "RECOLLECT_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    directory = paths.data_directory()
    assert found[0] == [directory, paths.socket_path(directory)]


@pytest.mark.parametrize("kind", ["compiled", "python"])
def test_an_installed_hook_knows_its_directory(tmp_path: Path, kind: str) -> None:
    hook = install(kind, tmp_path / "data")
    assert where(hook, {}, tmp_path)[0] == str(tmp_path / "data")
    link = tmp_path / "link"
    link.symlink_to(hook.program)
    assert where(Hook(kind, tmp_path, str(link)), {}, tmp_path)[0] == str(tmp_path / "data")


def test_a_runtime_directory_of_others_is_not_trusted(tmp_path: Path) -> None:
    socket = str(tmp_path / "run" / "hook.sock")
    assert not paths.is_ours(socket, "/long")
    paths.prepare_socket_directory(socket, "/long")
    assert paths.is_ours(socket, "/long")
    os.chmod(tmp_path / "run", 0o755)
    assert not paths.is_ours(socket, "/long")
    with pytest.raises(PermissionError):
        paths.prepare_socket_directory(socket, "/long")
    os.chmod(tmp_path / "run", 0o700)
    os.symlink(tmp_path / "run", tmp_path / "other")
    assert not paths.is_ours(str(tmp_path / "other" / "hook.sock"), "/long")
    assert paths.is_ours("/short/hook.sock", "/short")
    paths.prepare_socket_directory("/short/hook.sock", "/short")


def test_the_compiled_hook_builds_without_a_warning() -> None:
    assert subprocess.run([compiled(), "--where"], env={}, capture_output=True).returncode == 0
