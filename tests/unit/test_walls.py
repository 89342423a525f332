"""Import contracts cover every room, as `make lint` checks; public classes have unique names."""

import ast
import pathlib
import pkgutil
import tomllib
from collections import defaultdict
from typing import Any

import recollect

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
ROOMS = {one.name for one in pkgutil.iter_modules(recollect.__path__)}
MAY_NAME_AN_ENGINE = {"bench", "daemon", "store"}


def contract(words: str) -> dict[str, Any]:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    found: list[dict[str, Any]] = project["tool"]["importlinter"]["contracts"]
    (one,) = [one for one in found if words in one["name"]]
    return one


def test_every_room_and_root_module_is_in_a_layer() -> None:
    layers = contract("rooms that stand below it")
    assert layers["exhaustive"]
    assert {name for layer in layers["layers"] for name in layer.split(" | ")} == ROOMS


def test_no_room_is_missing_where_engines_are_forbidden() -> None:
    sources = contract("name a store engine")["source_modules"]
    assert {name.removeprefix("recollect.") for name in sources} == ROOMS - MAY_NAME_AN_ENGINE


def test_no_two_public_classes_have_one_name() -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for path in sorted((REPOSITORY / "recollect").rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(str(path.relative_to(REPOSITORY)))
    assert {name: found for name, found in modules.items() if len(found) > 1} == {}
