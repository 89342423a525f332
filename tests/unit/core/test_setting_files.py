"""Settings are written without disturbing what stands beside them, and faults have an address."""

import pathlib
import tomllib

import pytest

from recollect.core import settings
from recollect.core.errors import BadSetting

FILE = """\
# mine
port = 7000  # because of the other one

actor = "ada"
[later]
port = 1
"""


def test_a_setting_is_changed_in_place_and_comments_stay() -> None:
    changed = settings.written(FILE, "port", 7001)
    assert changed == FILE.replace("port = 7000", "port = 7001")
    assert settings.written(FILE, "port", None) == FILE.replace(
        "port = 7000  # because of the other one\n", ""
    )


def test_a_new_setting_comes_before_the_first_table() -> None:
    changed = settings.written(FILE, "embedding", False)
    assert changed.index("embedding = false") < changed.index("[later]")
    assert tomllib.loads(changed) == {**tomllib.loads(FILE), "embedding": False}
    assert settings.written("", "actor", 'a "b" \\c') == 'actor = "a \\"b\\" \\\\c"\n'


def test_a_line_inside_a_text_is_not_taken_for_a_setting() -> None:
    text = 'text = """\nport = 5\n"""\n'
    assert tomllib.loads(settings.written(text, "port", 6)) == {"text": "port = 5\n", "port": 6}
    lists = settings.written("", "ignore", ("file:*.pem", "tool:Bash"))
    assert tomllib.loads(lists) == {"ignore": ["file:*.pem", "tool:Bash"]}


def test_what_is_no_toml_is_not_written_to() -> None:
    with pytest.raises(BadSetting, match="not valid TOML"):
        settings.written("not toml", "port", 6)


def test_a_bad_value_is_told_with_where_it_stands_and_what_to_try(tmp_path: pathlib.Path) -> None:
    (tmp_path / "settings.toml").write_text("port = 1\n")
    with pytest.raises(BadSetting, match="out of range") as refused:
        settings.load({"RECOLLECT_HOME": str(tmp_path)})
    assert str(refused.value).endswith(f"(set in {tmp_path}/settings.toml)")
    assert refused.value.hint == "recollect settings unset port"
    (tmp_path / "settings.toml").write_text("")
    with pytest.raises(BadSetting) as refused:
        settings.load({"RECOLLECT_HOME": str(tmp_path), "RECOLLECT_PORT": "x"})
    assert str(refused.value).endswith("(set in the environment)")
    assert refused.value.hint == "unset RECOLLECT_PORT"


def test_a_mistyped_variable_is_noticed() -> None:
    known = {"RECOLLECT_PORT": "1", "RECOLLECT_INTERNAL": "1", "OTHER": "x"}
    assert settings.ignored_names(known) == []
    (told,) = settings.ignored_names({"RECOLLECT_PROT": "1"})
    assert told == "RECOLLECT_PROT is not a setting and is ignored (did you mean RECOLLECT_PORT?)"


def test_a_file_that_cannot_be_read_is_told_with_a_way_out(tmp_path: pathlib.Path) -> None:
    (tmp_path / "settings.toml").mkdir()
    with pytest.raises(BadSetting, match="cannot be read: Is a directory") as caught:
        settings.load({"RECOLLECT_HOME": str(tmp_path)})
    assert f"ls -ld {tmp_path}" in caught.value.hint and "RECOLLECT_HOME" in caught.value.hint
