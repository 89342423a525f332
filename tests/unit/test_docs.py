"""The docs say what is true: places exist, settings, commands and errors are told."""

import pathlib
import re

from recollect.cli import COMMANDS
from recollect.core import settings
from tests import docs

ROOT = pathlib.Path(__file__).resolve().parents[2]
FEATURES = (ROOT / "docs" / "reference" / "features.md").read_text()


def test_every_place_named_in_the_features_table_exists() -> None:
    named = re.findall(r"`((?:recollect|tests)/[\w./-]+)`", FEATURES)
    assert len(named) > 100
    missing = [place for place in named if not (ROOT / place).exists()]
    assert missing == []


def test_a_feature_has_both_code_and_test_or_neither() -> None:
    for line in FEATURES.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.fullmatch(r"[A-P]\d\d", cells[0]):
            assert bool(cells[-2]) == bool(cells[-1]), line


def test_every_link_in_the_tour_and_the_readme_leads_somewhere() -> None:
    for page in (ROOT / "docs" / "tour.md", ROOT / "README.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), (page, target)


def test_every_setting_and_command_is_in_the_reference() -> None:
    told = (ROOT / "docs" / "reference" / "settings.md").read_text()
    for one in settings.described():
        assert f"`{one['name']}`" in told and one["help"] in told, one["name"]
    commands = (ROOT / "docs" / "reference" / "commands.md").read_text()
    for name, (_, what) in COMMANDS.items():
        assert f"`recollect {name}`" in commands and what in commands, name


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 130


def test_the_reference_is_what_the_code_says() -> None:
    for name, text in docs.pages().items():
        path = docs.REFERENCE / name
        assert path.read_text() == text, f"{path}: python -m tests.docs --write"
