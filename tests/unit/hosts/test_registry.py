"""One folder per host: found by its name, loaded in parts, named nowhere else."""

import ast
import pathlib
import subprocess
import sys

from recollect import hosts
from recollect.hosts import registry

ROOM = pathlib.Path(hosts.__file__).parent
# Strings that are spelt like a host and mean something else, or one host as an example.
NAMED = {
    "cli/demo.py": "the agent that the demonstration plays",
    "core/settings.py": "the agents that can be the model, and the provider claude-code",
    "llm/choose.py": "that provider",
}


def folder_of(name: str) -> pathlib.Path:
    return ROOM / name.replace("-", "_")


def test_those_seen_with_a_real_client_come_first() -> None:
    known = list(registry.facts().values())
    assert known == sorted(known, key=lambda one: (not one.verified, one.title))
    assert known[0].name == "claude-code"


def test_capture_loads_no_installer_no_transcript_reader_and_no_toml() -> None:
    code = "import sys, recollect.hosts.hooks; print(*sys.modules, sep='\\n')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = done.stdout.split()
    assert "recollect.hosts.codex.adapter" in loaded
    unwanted = [name for name in loaded if name.endswith((".installer", ".transcript"))]
    assert unwanted == [] and "tomlkit" not in loaded and "recollect.hosts.pieces" not in loaded


def test_facts_need_nothing_else_of_ours() -> None:
    files = [ROOM / "facts.py", *(folder_of(name) / "facts.py" for name in registry.facts())]
    for path in files:
        others = {one for one in imports(path) if one.startswith("recollect")}
        assert all(one.startswith("recollect.hosts.facts") for one in others), path


def test_no_host_imports_another() -> None:
    folders = {folder_of(name).name for name in registry.facts()}
    for folder in folders:
        for path in (ROOM / folder).glob("*.py"):
            inside = (one for one in imports(path) if one.startswith("recollect.hosts."))
            assert {one.split(".")[2] for one in inside} & folders <= {folder}, path


def test_no_host_is_named_outside_its_folder() -> None:
    package = ROOM.parent
    names = set(registry.facts())
    found = {}
    for path in package.rglob("*.py"):
        if ROOM in path.parents:
            continue
        nodes = ast.walk(ast.parse(path.read_text()))
        named = {node.value for node in nodes if isinstance(node, ast.Constant)} & names
        if named:
            found[str(path.relative_to(package))] = named
    assert found.keys() == NAMED.keys(), found


def imports(path: pathlib.Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{one.name}" for one in node.names} | {str(node.module)}
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return found
