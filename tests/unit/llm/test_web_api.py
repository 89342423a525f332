"""The web APIs against a server that really speaks them, and goes wrong in every way."""

import logging
import sys
from collections.abc import Callable
from typing import Any

import pytest

from recollect.core.errors import ProviderDown, ProviderError, ProviderRefused, ProviderTimeout
from recollect.llm.anthropic import MODEL, AnthropicProvider
from recollect.llm.base import ModelRequest, Provider
from recollect.llm.openai import OpenAIProvider
from tests.fakes.llm_server import Behaviour, LlmServer
from tests.make import NAMESPACE

SECRET = "sk-test-Zq81xJvP0aLw7KdMfn3tYbRc"


def ask(timeout_s: float = 20, max_tokens: int = 500) -> ModelRequest:
    return ModelRequest(
        NAMESPACE, "extract", "Answer in XML.", "What happened?", timeout_s, max_tokens
    )


def anthropic(server: LlmServer) -> Provider:
    return AnthropicProvider("", server.url)


def openai(server: LlmServer) -> Provider:
    return OpenAIProvider("qwen3:8b", server.openai_url)


BOTH = pytest.mark.parametrize("make", [anthropic, openai])
Make = Callable[[LlmServer], Provider]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)


@BOTH
def test_an_answer_comes_with_what_it_used(make: Make) -> None:
    with LlmServer(["<skip/> because"]) as server:
        provider = make(server)
        done = provider.complete(ask())
        provider.close()
    assert (done.text, done.input_tokens, done.output_tokens) == ("<skip/> because", 11, 7)
    assert not done.estimated and done.model == provider.model
    (seen,) = server.seen
    assert seen.body["model"] == provider.model and seen.body["max_tokens"] == 500
    assert "Answer in XML." in str(seen.body) and "What happened?" in str(seen.body["messages"])


def test_the_small_model_is_pinned_and_does_not_think_first() -> None:
    with LlmServer() as server:
        anthropic(server).complete(ask())
    assert server.seen[0].body["model"] == MODEL
    assert server.seen[0].body["thinking"] == {"type": "disabled"}


@BOTH
def test_a_server_that_does_not_count_is_estimated(make: Make) -> None:
    with LlmServer([Behaviour(usage=None)]) as server:
        done = make(server).complete(ask())
    assert done.estimated and done.input_tokens > 5 and done.output_tokens > 1


def test_a_server_that_does_not_stream_is_understood() -> None:
    long, error = Behaviour("whole", text="x " * 4000), Behaviour("status", status=200)
    with LlmServer([Behaviour("whole"), long, error]) as server:
        done = openai(server).complete(ask())
        assert (done.text, done.input_tokens, done.output_tokens) == ("an answer", 11, 7)
        with pytest.raises(ProviderRefused, match="more than 500 tokens"):
            openai(server).complete(ask())
        with pytest.raises(ProviderDown, match="not its protocol"):
            openai(server).complete(ask())


@BOTH
@pytest.mark.parametrize(
    ("how", "error", "spent"),
    [
        (Behaviour("hang"), ProviderTimeout, True),
        (Behaviour("slow"), ProviderTimeout, True),
        (Behaviour("cut", text="<memory_record>half"), ProviderDown, True),
        (Behaviour("garbage"), ProviderDown, True),
        (Behaviour("wrong-types"), ProviderDown, True),
        (Behaviour("over-long"), ProviderRefused, True),
        (Behaviour("status", status=401), ProviderRefused, False),
        (Behaviour("status", status=404), ProviderRefused, False),
        (Behaviour("status", status=429), ProviderDown, False),
        (Behaviour("status", status=500), ProviderDown, False),
    ],
    ids=lambda value: f"{value.kind}{value.status}" if isinstance(value, Behaviour) else None,
)
def test_every_way_to_fail_is_one_of_ours_and_asked_once(
    make: Make, how: Behaviour, error: type[ProviderError], spent: bool
) -> None:
    patience = 1.0 if how.kind in ("hang", "slow") else 20
    with LlmServer([how]) as server:
        with pytest.raises(error) as caught:
            make(server).complete(ask(patience))
        assert caught.value.spent is spent
        assert len(server.seen) == 1, "the SDK tried again"


@BOTH
def test_nobody_there_costs_nothing(make: Make) -> None:
    with LlmServer() as server:
        provider = make(server)
    with pytest.raises(ProviderDown, match="cannot be reached") as caught:
        provider.complete(ask())
    assert not caught.value.spent


@BOTH
@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_the_key_is_in_no_log_and_no_error(
    make: Make, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = Behaviour("status", status=status, message=f"Incorrect API key provided: {SECRET}.")
    with LlmServer([echo]) as server:
        with pytest.raises(ProviderError) as caught:
            make(server).complete(ask())
        assert SECRET in str(server.seen[0].headers)
    import traceback

    told = "".join(traceback.format_exception(caught.value))
    for text in (told, caught.value.hint, caplog.text):
        assert SECRET not in text and SECRET[:12] not in text and SECRET[-12:] not in text
        assert "What happened?" not in text


def test_a_local_server_needs_no_key_and_a_far_one_says_where_to_put_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setattr("recollect.llm.api_keys.find", lambda name: "")
    with LlmServer() as server:
        for local in (openai(server), anthropic(server)):
            assert local.complete(ask()).text == "an answer"
    for far in (OpenAIProvider("m", "https://openrouter.ai/api/v1"), AnthropicProvider()):
        with pytest.raises(ProviderRefused) as caught:
            far.complete(ask())
        assert "API_KEY" in caught.value.hint


def test_the_keychain_is_asked_when_the_environment_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import keyring

    monkeypatch.delenv("ANTHROPIC_API_KEY")
    kept = {("recollect", "ANTHROPIC_API_KEY"): SECRET}
    monkeypatch.setattr(keyring, "get_password", lambda *where: kept.get(where))
    with LlmServer() as server:
        anthropic(server).complete(ask())
    assert SECRET in str(server.seen[0].headers)

    def broken(*_: object) -> str:
        raise RuntimeError("no keychain here")

    monkeypatch.setattr(keyring, "get_password", broken)
    with pytest.raises(ProviderRefused, match="no key"):
        AnthropicProvider().complete(ask())


@pytest.mark.parametrize(("package", "make"), [("anthropic", anthropic), ("openai", openai)])
def test_a_missing_package_says_how_to_get_it(
    package: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with LlmServer() as server, pytest.raises(ProviderRefused) as caught:
        make(server).complete(ask())
    assert caught.value.hint == f"pip install 'recollect[{package}]'"


@BOTH
def test_a_closed_provider_answers_nobody(make: Make) -> None:
    with LlmServer() as server:
        provider = make(server)
        provider.close()
        provider.close()
        with pytest.raises(ProviderDown, match="stopping"):
            provider.complete(ask())
    assert server.seen == []


def test_the_fake_also_answers_without_streaming() -> None:
    import anthropic as sdk
    import openai as other

    with LlmServer(["whole"]) as server:
        messages: list[Any] = [{"role": "user", "content": "x"}]
        with sdk.Anthropic(api_key="x", base_url=server.url, max_retries=0) as client:
            one = client.messages.create(model="m", max_tokens=5, messages=messages)
        with other.OpenAI(api_key="x", base_url=server.openai_url, max_retries=0) as chat:
            two = chat.chat.completions.create(model="m", messages=messages)
    assert one.content[0].text == two.choices[0].message.content == "whole"  # type: ignore[union-attr]
