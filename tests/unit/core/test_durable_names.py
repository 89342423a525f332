"""Files that get their names durably, and nobody who renames behind the helper's back."""

import ast
import os
import pathlib

import pytest

import recollect
from recollect.cli import export
from recollect.core import oslayer

PACKAGE = pathlib.Path(recollect.__file__).parent
# The helper itself, and the hook's own, which has no time to load it.
MAY_RENAME = {"core/oslayer.py", "capture/spool_writer.py"}


def test_every_rename_goes_through_the_one_that_syncs() -> None:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                called = (node.value.id, node.attr)
                if called in {("os", "replace"), ("os", "rename"), ("shutil", "move")}:
                    found.add(str(path.relative_to(PACKAGE)))
    assert found == MAY_RENAME


class Calls:
    """What reached the file system, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[str] = []
        fsync, replace = os.fsync, os.replace

        def synced(fd: int) -> None:
            self.seen.append(f"sync {os.path.basename(os.readlink(f'/proc/self/fd/{fd}'))}")
            fsync(fd)

        def renamed(source: str, target: str) -> None:
            self.seen.append(f"rename {os.path.basename(target)}")
            replace(source, target)

        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(os, "replace", renamed)


def test_an_export_has_its_name_when_its_content_and_its_directory_are_on_the_disk(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out.jsonl"
    calls = Calls(monkeypatch)
    assert export._write(str(target), iter([b"one", b"two"])) == 6
    assert calls.seen == ["sync out.jsonl.part", "rename out.jsonl", f"sync {tmp_path.name}"]
    assert target.read_bytes() == b"onetwo"


def test_a_file_that_moves_is_gone_from_the_old_directory_durably(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "aside").mkdir()
    (tmp_path / "file").write_bytes(b"x")
    calls = Calls(monkeypatch)
    oslayer.rename(str(tmp_path / "file"), str(tmp_path / "aside" / "file"))
    assert calls.seen == ["rename file", "sync aside", f"sync {tmp_path.name}"]


def test_a_file_is_replaced_with_the_mode_asked_for(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "program"
    oslayer.replace_file(str(path), b"#!", 0o700)
    assert path.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == [path]
