import pathlib
import re

import pytest

from recollect.core import settings
from recollect.core.errors import BadSetting


def home(tmp_path: pathlib.Path, text: str) -> dict[str, str]:
    (tmp_path / "settings.toml").write_text(text)
    return {"RECOLLECT_HOME": str(tmp_path)}


def test_defaults_live_in_code() -> None:
    assert settings.load({}) == settings.Settings()


def test_flags_win_over_environment_over_file(tmp_path: pathlib.Path) -> None:
    environ = home(tmp_path, "commit_rows = 10\nreserve_mb = 3\narchive_days = 7")
    environ |= {"RECOLLECT_RESERVE_MB": "4", "RECOLLECT_ARCHIVE_DAYS": "8"}
    loaded = settings.load(environ, {"archive_days": 9})
    assert (loaded.commit_rows, loaded.reserve_mb, loaded.archive_days) == (10, 4, 9)
    assert loaded.directory == str(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("commit_rows = 0", "commit_rows = 0 is out of range: it takes 1 to 1024"),
        ("commit_rows = true", "commit_rows = True is not of type int"),
        ("commit_rows = 'many'", "commit_rows = 'many' is not of type int"),
        ("comit_rows = 5", "there is no setting 'comit_rows'"),
        ("commit_rows =", "not valid TOML"),
    ],
)
def test_a_bad_value_is_refused_with_its_name_and_value(
    tmp_path: pathlib.Path, text: str, said: str
) -> None:
    with pytest.raises(BadSetting, match=said):
        settings.load(home(tmp_path, text))


def test_a_file_that_is_not_text_is_refused(tmp_path: pathlib.Path) -> None:
    (tmp_path / "settings.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadSetting, match=r"settings\.toml"):
        settings.load({"RECOLLECT_HOME": str(tmp_path)})


def test_a_bad_environment_value_is_refused() -> None:
    with pytest.raises(BadSetting, match="commit_rows = 'x' is not of type int"):
        settings.load({"RECOLLECT_COMMIT_ROWS": "x"})


def test_every_setting_has_help_and_a_default_inside_its_range() -> None:
    for one in settings.described():
        assert one["help"].endswith("."), one
        settings.load({}, {one["name"]: one["default"]})


def test_every_setting_is_read_somewhere() -> None:
    package = pathlib.Path(settings.__file__).parent.parent
    code = "\n".join(path.read_text() for path in package.rglob("*.py"))
    for one in settings.described():
        used = re.search(rf"(settings|chosen|self)\.{one['name']}\b", code)
        assert used, f"nobody reads the setting {one['name']}"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("extract_idle_s", "4"),
        ("extract_idle_s", "301"),
        ("extract_kb", "0"),
        ("batch_similarity", "1.01"),
        ("neighbour_similarity", "0.4"),
        ("compact_backlog", "maybe"),
    ],
)
def test_what_extraction_cannot_work_with_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"{name} = '{value}'"):
        settings.load({f"RECOLLECT_{name.upper()}": value})
