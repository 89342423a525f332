"""The rules of the user and of a project: what they keep out, what is wrong with them."""

import os
import pathlib

import pytest

from recollect.core import keepout_rules, settings
from recollect.core.errors import BadSetting


def here(folder: pathlib.Path, *entries: str) -> keepout_rules.DirectoryRules:
    return keepout_rules.rules_in(str(folder), entries)


def test_a_projects_file_holds_below_it(tmp_path: pathlib.Path) -> None:
    deep = tmp_path / "shop" / "api"
    deep.mkdir(parents=True)
    assert here(deep) == keepout_rules.DirectoryRules()
    (tmp_path / "shop" / ".recollect.toml").write_text('capture = false\nignore = ["*.csv"]\n')
    found = here(deep)
    assert "capture = false" in found.off and [one.text for one in found.files] == ["*.csv"]
    assert not here(tmp_path).off
    (tmp_path / "shop" / ".recollect.toml").write_text('ignore = ["*.csv"]\n')
    assert not here(deep).off


def test_a_pattern_may_have_its_kind_before_it(tmp_path: pathlib.Path) -> None:
    (tmp_path / ".recollect.toml").write_text('ignore = ["file:secrets/**", "file:a:b"]\n')
    found = here(tmp_path, "file:file:*.pem")  # as earlier versions stored file:*.pem
    assert [one.text for one in found.files] == ["*.pem", "secrets/**", "a:b"]
    secret = os.path.join(os.path.realpath(tmp_path), "secrets", "key.txt")
    assert any(one.matches(secret) for one in found.files)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("capture = ", "not valid TOML"),
        ('capture = "no"', "neither true nor false"),
        ("ignore = 3", "not a list"),
        ('ignore = ["!x"]', "cannot take back"),
        ('ignore = ["tool:Bash"]', "takes files, not tool:"),
        ('ignore = ["files:x"]', "no kind of rule 'files'"),
        ("x = 1\n" * 20_000, "larger than"),
        ("a=" + "[" * 30_000, "TOML"),
    ],
)
def test_a_broken_file_keeps_the_project_out_and_is_told(
    tmp_path: pathlib.Path, text: str, said: str
) -> None:
    (tmp_path / ".recollect.toml").write_text(text)
    found = here(tmp_path)
    assert found.off and said in found.warnings[0]


def test_what_is_no_file_neither_hangs_nor_is_read(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / ".recollect.toml")
    assert "not a file" in here(tmp_path).warnings[0]
    os.unlink(tmp_path / ".recollect.toml")
    (tmp_path / ".recollect.toml").symlink_to("/dev/zero")
    assert here(tmp_path).off
    os.unlink(tmp_path / ".recollect.toml")
    (tmp_path / ".recollect.toml").mkdir()
    assert here(tmp_path).off


def test_a_directory_with_a_name_too_long_to_exist_keeps_nothing_out(
    tmp_path: pathlib.Path,
) -> None:
    assert here(tmp_path / ("x" * 300)) == keepout_rules.DirectoryRules()


def test_unknown_keys_are_said_and_the_rest_counts(tmp_path: pathlib.Path) -> None:
    (tmp_path / ".recollect.toml").write_text('capture = true\ncommand = "rm -rf /"\n')
    found = here(tmp_path)
    assert not found.off and "no key 'command'" in found.warnings[0]


def test_the_setting_is_checked_and_takes_lists_and_text(tmp_path: pathlib.Path) -> None:
    (tmp_path / "settings.toml").write_text('ignore = ["tool:Web*", "file:*.pem"]\n')
    environ = {"RECOLLECT_HOME": str(tmp_path)}
    assert settings.load(environ).ignore == ("tool:Web*", "file:*.pem")
    environ["RECOLLECT_IGNORE"] = "project:/srv/x, tool:Read"
    assert settings.load(environ).ignore == ("project:/srv/x", "tool:Read")
    for wrong in ("x", "project:relative", "file:!a", "tool:"):
        with pytest.raises(BadSetting, match="ignore"):
            settings.load({"RECOLLECT_HOME": str(tmp_path), "RECOLLECT_IGNORE": wrong})
    text = settings.written("# mine\nport = 7000\n", "ignore", ("tool:a", "file:b"))
    assert text == '# mine\nport = 7000\nignore = ["tool:a", "file:b"]\n'
