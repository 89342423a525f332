"""One setting names the provider, and a wrong one is refused at load (D15, E11)."""

import dataclasses
import pathlib

import pytest

from recollect.core import settings as loading
from recollect.core.addresses import is_local
from recollect.core.clock import ManualClock
from recollect.core.errors import BadSetting
from recollect.core.settings import Settings
from recollect.llm.base import ModelRequest
from recollect.llm.choose import choose
from recollect.store.sqlite import SqliteStore
from tests.fakes.acp_agent import acp_command
from tests.fakes.llm_server import LlmServer
from tests.fakes.stored import usage_since
from tests.make import NAMESPACE


def test_none_is_the_default(store: SqliteStore, settings: Settings, clock: ManualClock) -> None:
    assert choose(settings, store.usage, clock) is None


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("acp", "claude-haiku-4.5"),
        ("anthropic", "claude-haiku-5-5"),
        ("openai", "gpt-5.4-nano"),
        ("claude-code", "claude-haiku-5-5"),
    ],
)
def test_each_route_has_a_pinned_small_model(
    name: str, model: str, store: SqliteStore, settings: Settings, clock: ManualClock
) -> None:
    provider = choose(dataclasses.replace(settings, provider=name), store.usage, clock)
    assert provider is not None
    assert (provider.name, provider.model) == (name, model)
    provider.close()


def test_what_is_chosen_is_metered_and_a_local_server_is_free(
    store: SqliteStore, settings: Settings, clock: ManualClock
) -> None:
    request = ModelRequest(NAMESPACE, "judge", "", "same?", 20)
    with LlmServer() as server:
        chosen = dataclasses.replace(
            settings, provider="openai", llm_base_url=server.openai_url, llm_model="m", daily_usd=0
        )
        provider = choose(chosen, store.usage, clock)
        assert provider is not None and provider.complete(request).text == "an answer"
    agent = dataclasses.replace(settings, provider="acp", acp_command=acp_command("counted"))
    provider = choose(agent, store.usage, clock)
    assert provider is not None and provider.complete(request).text == "an answer"
    rows = {one.provider: one for one in usage_since(store, "2026-01-01")}
    assert (rows["openai"].input_tokens, rows["openai"].cost_micros) == (11, 0)
    assert not rows["openai"].unpriced
    assert (rows["acp"].input_tokens, rows["acp"].output_tokens) == (20, 10)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("provider = 'gpt'", "provider = 'gpt' is out of range"),
        ("daily_tokens = -1", "daily_tokens = -1 is out of range"),
        ("daily_usd = 'lots'", "daily_usd = 'lots' is not of type float"),
        ("acp_command = ' '", "acp_command = ' ' is not valid: it names no program"),
        ('acp_command = "x \'y"', "acp_command = .* quotes do not close"),
        ("llm_base_url = 'localhost:1'", "llm_base_url = 'localhost:1' is not valid"),
        ("llm_base_url = 'http://far.example/v1'", "by https only"),
        ("llm_base_url = 'http://localhost:99999999/'", "is not valid"),
        (
            "provider = 'openai'\nllm_base_url = 'http://localhost:1/v1'",
            "llm_model = '' names no model",
        ),
    ],
)
def test_a_wrong_setting_is_refused_with_its_name_and_value(
    tmp_path: pathlib.Path, text: str, said: str
) -> None:
    (tmp_path / "settings.toml").write_text(text)
    with pytest.raises(BadSetting, match=said) as caught:
        loading.load({"RECOLLECT_HOME": str(tmp_path)})
    assert caught.value.field in text or caught.value.field == "llm_model"


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(BadSetting) as caught:
        loading.load({}, {"llm_base_url": "https://me:hunter2@far.example/v1"})
    assert "hunter2" not in str(caught.value)


def test_local_is_this_machine_and_its_network() -> None:
    for url in (
        "http://localhost:1",
        "http://127.0.0.1/v1",
        "http://[::1]:5",
        "http://10.0.0.2",
        "http://192.168.1.9:1234",
        "http://studio.local",
        "http://host.docker.internal",
    ):
        assert is_local(url), url
    for url in ("https://api.openai.com/v1", "https://localhost.example.com", "http://8.8.8.8"):
        assert not is_local(url), url
