"""`recollect plugins`: the list, and switching on and off with and without a daemon."""

import json
import pathlib

import pytest

from recollect.core import settings
from tests.fakes.runtime import RuntimeHome
from tests.fakes.waiting import wait_until
from tests.unit.cli.conftest import Terminal
from tests.unit.plugins import sample


def test_without_a_daemon_the_setting_is_changed(alone: Terminal) -> None:
    listed = alone("plugins", "list")
    assert "vault" in listed.stdout and "disabled" in listed.stdout
    assert "when the daemon starts" in alone("plugins", "enable", "vault").stdout
    assert settings.load().plugins == ("vault",)
    assert "enabled" in alone("plugins", "list").stdout
    assert alone("plugins", "disable", "vault").returncode == 0
    assert settings.load().plugins == ()


def test_a_name_that_nothing_has_is_refused(alone: Terminal) -> None:
    refused = alone("plugins", "enable", "nowhere")
    assert refused.returncode == 1 and "there is no plugin 'nowhere'" in refused.stderr
    assert settings.load().plugins == ()


def test_a_running_daemon_follows_at_once(
    alone: Terminal, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample.install(tmp_path / "packages", monkeypatch)
    home = RuntimeHome(tmp_path / "daemon")
    alone.lead_to(home)
    (home.home / "plugins").mkdir()
    (home.home / "plugins" / "sample.toml").write_text(f'log = "{tmp_path}/log"')
    try:
        assert "switched on, now" in alone("plugins", "enable", "sample").stdout
        wait_until(lambda: "event_stored" in alone("plugins", "list").stdout)
        alone("plugins", "enable", "future")
        wait_until(lambda: "made for version 99" in alone("plugins", "list").stdout)
        alone("plugins", "disable", "sample")
        items = json.loads(alone("plugins", "list", "--json").stdout)["items"]
        assert {one["name"]: one["state"] for one in items}["sample"] == "disabled"
    finally:
        home.close()
