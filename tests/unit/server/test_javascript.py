"""The dashboard's JavaScript, as far as its linter (Biome, in `make lint`) does not look."""

import re
from pathlib import Path

import pytest

import recollect.server

ROOT = Path(recollect.server.__file__).parent / "static" / "js"
MODULES = {path: path.read_text(encoding="utf-8") for path in sorted(ROOT.rglob("*.js"))}
MAIN = ROOT / "main.js"

IMPORT = re.compile(r'^(?:import|export) (?:[^;"]* from )?"(\.[^"]+)";', re.MULTILINE)
NAMED = re.compile(r'^import \{([^}]*)\} from "([^"]+)";', re.MULTILINE)
WHOLE = re.compile(r'^import \* as (\w+) from "([^"]+)";', re.MULTILINE)
EXPORT = re.compile(r"^export (?:async )?(?:const|let|function|class) (\w+)", re.MULTILINE)


def _target(module: Path, name: str) -> Path:
    return (module.parent / name).resolve()


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(ROOT)))
def test_a_line_has_fewer_than_100_characters(module: Path) -> None:
    long = [n for n, line in enumerate(MODULES[module].split("\n"), 1) if len(line) >= 100]
    assert long == []


def test_every_module_is_reached_from_the_page() -> None:
    reached, waiting = set(), [MAIN]
    while waiting:
        module = waiting.pop()
        if module in MODULES and module not in reached:
            reached.add(module)
            waiting += [_target(module, name) for name in IMPORT.findall(MODULES[module])]
    assert set(MODULES) - reached == set()


def test_every_exported_name_is_used_by_another_module() -> None:
    used: set[tuple[Path, str]] = set()
    for module, text in MODULES.items():
        for names, source in NAMED.findall(text):
            used |= {
                (_target(module, source), name.split()[0])
                for name in names.split(",")
                if name.strip()
            }
        for alias, source in WHOLE.findall(text):
            used |= {
                (_target(module, source), name) for name in re.findall(rf"\b{alias}\.(\w+)", text)
            }
    exported = {(module, name) for module, text in MODULES.items() for name in EXPORT.findall(text)}
    unused = exported - used
    assert {f"{module.relative_to(ROOT)}: {name}" for module, name in unused} == set()
