"""The table of kinds is whole, and the only place that knows a kind by its name."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import recollect
from recollect.core.kinds import (
    EDITABLE,
    KINDS,
    TYPES,
    KnowledgeType,
    ObservationType,
    RecordKind,
    kind_of,
)
from recollect.core.settings import Settings
from recollect.core.values import Record
from recollect.server.app import ENDPOINTS
from tests import make

PACKAGE = Path(recollect.__file__).parent
# The table itself may name kinds.
OTHERS = {PACKAGE / "core" / "kinds.py"}
# History: what was applied to a database cannot change.
SCHEMA = re.compile(r"schema_(?:\d+|changes)\.py$")
SQL = re.compile(rf"(?i)\bkind\s*(?:=|<>|!=|in\s*\()\s*'(?:{'|'.join(KINDS)})'")


def test_every_kind_and_type_has_its_line() -> None:
    assert tuple(KINDS) == get_args(RecordKind)
    assert set(TYPES) == {*get_args(ObservationType), *get_args(KnowledgeType)}
    assert {name for one in KINDS.values() for name in one.types} == set(TYPES)


def test_a_kind_is_added_by_a_route_that_exists() -> None:
    there = {one.path for one in ENDPOINTS if one.method == "POST"}
    assert {one.route for one in KINDS.values() if one.route} <= there


def test_a_kind_names_what_exists() -> None:
    settings = Settings()
    for one in KINDS.values():
        assert settings.kept_days(one.plural) == one.retention_days
        assert set(one.editable) <= set(EDITABLE) <= set(Record.__struct_fields__)


@pytest.mark.parametrize(
    ("observation_type", "knowledge_type", "kind"),
    [
        ("", "decision", "knowledge"),
        ("session_summary", "decision", "knowledge"),
        ("decision", None, "observation"),
        ("session_summary", None, "summary"),
        ("never heard of", None, "observation"),
    ],
)
def test_a_type_tells_the_kind(
    observation_type: str, knowledge_type: str | None, kind: str
) -> None:
    assert kind_of(observation_type, knowledge_type) == kind


def test_a_kind_of_a_newer_version_is_neither_told_nor_edited() -> None:
    later = make.record(kind="of 2031")
    assert not later.traits.section and not later.traits.editable
    assert later.traits.label == "memory"


def test_nobody_else_tests_a_kind_by_its_name() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path not in OTHERS and not SCHEMA.search(path.name)
        for line in by_name(ast.parse(path.read_text("utf-8")))
    ]
    assert not found, f"ask core/kinds.py for a property instead: {', '.join(found)}"


@pytest.mark.parametrize(
    "code",
    [
        'record.kind == "episode"',
        'record.kind not in ("summary", "knowledge")',
        '"summary" in kinds',
        'match kind:\n    case "observation" | "other":\n        pass',
        'weights = {"episode": 1, "summary": 2}',
        "sql = \"SELECT 1 FROM memory_records WHERE r.kind <> 'episode'\"",
    ],
)
def test_what_counts_as_a_test_by_name(code: str) -> None:
    assert list(by_name(ast.parse(code)))


def by_name(tree: ast.AST) -> Iterator[int]:
    """Lines where a kind's name is compared, matched, or one of several keys of a
    dictionary; in Python and in SQL."""
    for node in ast.walk(tree):
        names: list[ast.expr] = []
        match node:
            case ast.Compare():
                names = [node.left, *node.comparators]
            case ast.MatchValue():
                names = [node.value]
            case ast.Dict():
                keys = [key for key in node.keys if key is not None and _named(key)]
                names = list(keys) if len(keys) > 1 else []
            case ast.Constant(value=str(text)) if SQL.search(text):
                yield node.lineno
        yield from (one.lineno for one in names if _named(one))


def _named(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(_named(one) for one in node.elts)
    return isinstance(node, ast.Constant) and node.value in KINDS
