"""Plugins in real processes: what they are told, what they answer, and what their faults cost."""

import json
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

from recollect.core.clock import SystemClock
from recollect.core.errors import NotFound, ProviderDown
from recollect.core.settings import Settings
from recollect.llm.base import ModelRequest
from recollect.llm.choose import choose
from recollect.plugins import host, process
from recollect.plugins.available import available
from recollect.portable.importing import ImportRequest
from tests.fakes.runtime import RuntimeHome
from tests.fakes.waiting import wait_until
from tests.unit.plugins import sample


class Home(RuntimeHome):
    """A runtime whose plugin `sample` is installed and switched on."""

    @property
    def log(self) -> list[list[str]]:
        path = self.home / "log"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def options(self, text: str = "") -> None:
        (self.home / "plugins").mkdir(exist_ok=True)
        (self.home / "plugins" / "sample.toml").write_text(f'log = "{self.home}/log"\n{text}')

    def begin(self, options: str = "") -> None:
        self.options(options)
        self.runtime.plugins.start()
        wait_until(lambda: self.log)

    def prompt(self, text: str) -> None:
        payload = {"session_id": "s1", "prompt": text, "cwd": str(self.home)}
        self.run_hook("claude-code", "UserPromptSubmit", payload)

    @property
    def state(self) -> dict[str, Any]:
        (found,) = [one for one in self.runtime.plugins.status() if one["name"] == "sample"]
        return found


@pytest.fixture
def home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    sample.install(tmp_path / "packages", monkeypatch)
    made = Home(tmp_path / "home", plugins=("sample",))
    yield made
    made.close()


def test_what_happens_is_passed_on(home: Home) -> None:
    home.begin()
    home.prompt("hello there")
    note = home.client.ask("POST", "/api/notes", {"text": "retries stop at five"})["record"]
    wait_until(lambda: ["memory", "retries stop at five"] in home.log)
    home.client.ask("DELETE", f"/api/memories/{note['record_id']}")
    wait_until(lambda: ["gone", ""] in home.log)
    assert home.log[0] == ["start", str(home.home)]
    assert ["event", "hello there"] in home.log
    assert home.state["state"] == "running" and home.state["problem"] == ""
    assert home.state["package"] == "sample-plugin" and home.state["version"] == "1.2"
    assert set(home.state["hooks"]) == {
        "event_stored", "memory_made", "before_inject", "import_source", "llm_provider",
    }  # fmt: skip


def test_nothing_of_a_plugin_runs_that_is_not_switched_on(tmp_path: pathlib.Path) -> None:
    made = Home(tmp_path / "home")
    try:
        made.options()
        made.runtime.plugins.start()
        made.prompt("hello there")
        assert made.log == [] and made.runtime.plugins.running() == []
    finally:
        made.close()


def test_three_failures_in_a_row_switch_it_off_and_that_is_said(home: Home) -> None:
    home.begin()
    for text in ("raise one", "fine", "raise two", "raise three", "raise four", "never seen"):
        home.prompt(text)
    wait_until(lambda: home.state["state"] == "off")
    assert [text for what, text in home.log if what == "event"][-1] == "raise four"
    assert "ValueError: as told" in home.state["problem"]
    (told,) = home.client.get("/healthz")["plugins"]
    assert told["state"] == "off"
    alarm = [one for one in home.client.get("/api/alarms")["items"] if one["name"] == "plugin_off"]
    assert "the plugin sample is switched off" in alarm[0]["message"]
    home.client.ask("PUT", "/api/plugins/sample", {"enabled": True})
    home.prompt("seen again")
    wait_until(lambda: ["event", "seen again"] in home.log)
    assert home.state["state"] == "running"


@pytest.mark.parametrize("fault", ["exit", "hang"])
def test_a_process_that_ends_or_hangs_is_replaced(
    home: Home, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setitem(process.LIMITS_S, "event_stored", 1.0)
    home.begin()
    first = home.state["pid"]
    home.prompt(f"please {fault}")
    home.prompt("and on")
    wait_until(lambda: ["event", "and on"] in home.log)
    assert home.state["pid"] != first and home.state["state"] == "running"


def remembered(home: Home) -> None:
    for text in ("the billing retries stop at five", "the unwanted billing retries are at nine"):
        body = {"type": "constraint", "title": text, "project": str(home.home)}
        home.client.ask("POST", "/api/knowledge", body)


def test_a_plugin_leaves_lines_out_of_a_brief_and_the_receipt_says_so(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host, "BRIEF_S", 60.0)  # a busy machine is no fault of the plugin
    home.begin()
    wait_until(lambda: home.state["hooks"])
    remembered(home)
    query = {"query": "how many billing retries?", "project": str(home.home), "receipt": "true"}
    context = home.client.get("/api/context", **query)
    assert "stop at five" in context["context"] and "unwanted" not in context["context"]
    receipt = home.client.get(f"/api/receipts/{context['receipt_id']}")
    assert "left out by the plugin sample" in json.dumps(receipt)


def test_a_brief_does_not_wait_for_a_plugin_that_hangs(home: Home) -> None:
    home.begin("hang_in_briefs = true")
    wait_until(lambda: home.state["hooks"])
    remembered(home)
    for number in range(5):
        found = home.runtime.plugins.left_out(lambda: {"lines": []})
        assert found == {}, number
    assert home.state["state"] == "off" and "before_inject" in home.state["problem"]
    query = {"query": "how many billing retries?", "project": str(home.home)}
    assert "stop at five" in home.client.get("/api/context", **query)["context"]


def test_a_plugin_for_another_version_is_not_run(home: Home) -> None:
    home.runtime.plugins.enable("future")

    def state() -> dict[str, Any]:
        (found,) = [one for one in home.runtime.plugins.status() if one["name"] == "future"]
        return found

    wait_until(lambda: state()["state"] == "off")
    assert "made for version 99 of the plugin API" in state()["problem"]


def test_a_name_that_nothing_has_is_reported(tmp_path: pathlib.Path) -> None:
    made = Home(tmp_path / "home", plugins=("nowhere",))
    try:
        made.runtime.plugins.start()
        assert [one["state"] for one in made.runtime.plugins.running()] == ["missing"]
        with pytest.raises(NotFound):
            made.runtime.plugins.enable("nowhere")
    finally:
        made.close()


def test_a_plugin_brings_memories(home: Home) -> None:
    home.begin()
    wanted = ImportRequest(sources=("plugin:sample:wiki",))
    for stored, known in ((3, 0), (0, 3)):
        done = home.runtime.importing.run(wanted).sources["plugin:sample"]
        assert (done.stored, done.known) == (stored, known)
    titles = [one["title"] for one in home.client.get("/api/memories", project="all")["items"]]
    assert "wiki number 2 of the imported notes" in titles


def test_a_plugin_is_the_language_model(home: Home) -> None:
    home.begin()
    wait_until(lambda: home.state["hooks"])
    chosen = Settings(provider="plugin", llm_model="tiny")
    provider = choose(
        chosen, home.runtime.store.usage, SystemClock(), home.runtime.plugins.complete
    )
    assert provider is not None
    request = ModelRequest("/actor/ada/", "extract", "", "two and two?", 30.0)
    answer = provider.complete(request)
    assert (answer.text, answer.model, answer.input_tokens) == ("tiny: two and two?", "tiny", 7)
    with pytest.raises(ProviderDown, match="no model"):
        provider.complete(ModelRequest("/actor/ada/", "extract", "", "fail", 30.0))


def test_those_that_come_with_recollect_are_listed_and_cannot_be_replaced(home: Home) -> None:
    found = available()
    assert found["vault"].package == found["webhooks"].package == "recollect"
    assert {"sample", "future"} <= set(found)
