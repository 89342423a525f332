import os
import pathlib
import re
from typing import Any

import pytest

from recollect.core import settings
from recollect.core.errors import BadInput, BadSetting


def home(tmp_path: pathlib.Path, text: str) -> dict[str, str]:
    (tmp_path / "settings.toml").write_text(text)
    return {"RECOLLECT_HOME": str(tmp_path)}


def test_defaults_live_in_code() -> None:
    assert settings.load({}) == settings.Settings()


def test_flags_win_over_environment_over_file(tmp_path: pathlib.Path) -> None:
    environ = home(tmp_path, "port = 7400\nreserve_mb = 3\nbackup_days = 7")
    environ |= {"RECOLLECT_RESERVE_MB": "4", "RECOLLECT_BACKUP_DAYS": "8"}
    loaded = settings.load(environ, {"backup_days": 9})
    assert (loaded.port, loaded.reserve_mb, loaded.backup_days) == (7400, 4, 9)
    assert loaded.directory == str(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cache_mb = 0", "cache_mb = 0 is out of range: it takes 16 to 8192"),
        ("cache_mb = true", "cache_mb = True is not of type int"),
        ("cache_mb = 'many'", "cache_mb = 'many' is not of type int"),
        ("cahce_mb = 5", "there is no setting 'cahce_mb'"),
        ("cache_mb =", "not valid TOML"),
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
    with pytest.raises(BadSetting, match="cache_mb = 'x' is not of type int"):
        settings.load({"RECOLLECT_CACHE_MB": "x"})


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
        ("compact_backlog", "maybe"),
    ],
)
def test_what_extraction_cannot_work_with_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"{name} = '{value}'"):
        settings.load({f"RECOLLECT_{name.upper()}": value})


def test_days_are_kept_by_kind_and_what_is_not_named_keeps_its_default() -> None:
    loaded = settings.load({"RECOLLECT_RETENTION": "turns:7, beliefs:300"})
    kinds = ("turns", "notes", "summaries", "beliefs", "archive")
    assert [loaded.kept_days(kind) for kind in kinds] == [7, 90, 365, 300, 30]
    assert [settings.Settings().kept_days(kind) for kind in kinds] == [30, 90, 365, 0, 30]


@pytest.mark.parametrize("entry", ["episodes:7", "turns", "turns:-1", "turns:x", "archive:0"])
def test_days_that_mean_nothing_are_refused(entry: str) -> None:
    with pytest.raises(BadSetting, match=r"retention = .* is not valid"):
        settings.load({"RECOLLECT_RETENTION": entry})


def test_a_setting_of_an_earlier_version_is_ignored_and_reported(tmp_path: pathlib.Path) -> None:
    environ = home(tmp_path, "commit_rows = 'many'\nretention_episodes = 7\nport = 7400\n")
    assert settings.load(environ).port == 7400
    path = tmp_path / "settings.toml"
    assert settings.ignored_names(environ) == [
        f"commit_rows in {path} is no longer a setting and is ignored",
        f"retention_episodes in {path} is no longer a setting and is ignored; use retention",
    ]
    assert not settings.REMOVED & {one["name"] for one in settings.described()}


# For each setting, a value that is not its default.
OTHERS: dict[str, Any] = {
    "actor": "grace",
    "store": "postgresql://ada@db.example/recollect",
    "encryption_key": "passphrase",
    "port": 1024,
    "log_level": "error",
    "reserve_mb": 0,
    "backup_days": 0,
    "retention": ("turns:7", "archive:5"),
    "embedding": False,
    "embedding_model": "/somewhere",
    "model_dir": "/somewhere",
    "fusion": "rrf",
    "cache_mb": 16,
    "start_tokens": 0,
    "prompt_tokens": 0,
    "hints": False,
    "summary_request": True,
    "visible_line": False,
    "shadow": 1.0,
    "extract_idle_s": 5,
    "compact_backlog": True,
    "ignore": ("tool:WebFetch", "file:*.pem"),
    "share_sensitive": True,
    "provider": "plugin",
    "agent": "opencode",
    "llm_model": "small-model",
    "llm_base_url": "http://127.0.0.1:1",
    "acp_command": "agent --acp",
    "daily_tokens": 0,
    "daily_usd": 0.0,
    "plugins": ("vault",),
}


def test_every_setting_changes_what_is_read(tmp_path: pathlib.Path) -> None:
    defaults = {one["name"]: one["default"] for one in settings.described()}
    assert set(OTHERS) == set(defaults)
    for name, value in OTHERS.items():
        (tmp_path / "settings.toml").write_text(settings.written("", name, value))
        chosen = settings.load({"RECOLLECT_HOME": str(tmp_path)})
        assert getattr(chosen, name) == value != defaults[name], name


def test_a_user_without_a_name_is_an_actor_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a container that runs with a number that no file knows; what Python raises varies."""
    for error in (KeyError("uid not found"), OSError("No username set in the environment")):

        def nobody(error: Exception = error) -> str:
            raise error

        monkeypatch.setattr("getpass.getuser", nobody)
        assert settings.Settings().actor_id == f"user-{os.getuid()}"
        assert settings.Settings(actor="ada").actor_id == "ada"


def test_an_address_without_a_model_is_refused_before_it_is_written(
    tmp_path: pathlib.Path,
) -> None:
    path = str(tmp_path / "settings.toml")
    settings.write(path, "provider", "openai")
    with pytest.raises(BadInput, match="names no model") as why:
        settings.write(path, "llm_base_url", "http://127.0.0.1:1234/v1")
    assert "settings set llm_model" in why.value.hint
    settings.write(path, "llm_model", "small")
    settings.write(path, "llm_base_url", "http://127.0.0.1:1234/v1")
    with pytest.raises(BadInput, match="names no model"):
        settings.write(path, "llm_model", None)
    assert settings.load({"RECOLLECT_HOME": str(tmp_path)}).llm_model == "small"
    pathlib.Path(path).write_text('provider = "openai"\nllm_base_url = "http://127.0.0.1:1/v1"\n')
    settings.write(path, "backup_days", "2")  # a file that is so already can be changed
