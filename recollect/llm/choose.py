"""The provider that the settings name, metered; none is the default.

In: settings, the store's usage and a clock. Out: a Provider, or None for rules alone. Nothing is
started here: what is missing is reported by the first call.
"""

import os
import shlex

from recollect.core.addresses import is_local
from recollect.core.clock import Clock
from recollect.core.oslayer import private_directory
from recollect.core.settings import Settings
from recollect.hosts import registry
from recollect.llm.acp import AcpProvider
from recollect.llm.anthropic import AnthropicProvider
from recollect.llm.base import Provider
from recollect.llm.headless import HeadlessProvider, program_of
from recollect.llm.meter import Budget, MeteredProvider
from recollect.llm.openai import OpenAIProvider
from recollect.llm.plugin import Complete, PluginProvider
from recollect.store.interface import Usages


def choose(
    settings: Settings, usages: Usages, clock: Clock, plugins: Complete | None = None
) -> Provider | None:
    """`plugins` answers for the provider `plugin`."""
    provider = _bare(settings, plugins)
    if provider is None:
        return None
    free = bool(settings.llm_base_url) and is_local(settings.llm_base_url)
    web = provider.name in ("anthropic", "openai")
    return MeteredProvider(provider, usages, clock, budget(settings), free=free and web)


def budget(settings: Settings) -> Budget:
    return Budget(settings.daily_tokens, settings.daily_usd)


def _bare(settings: Settings, plugins: Complete | None) -> Provider | None:
    match settings.provider:
        case "plugin" if plugins is not None:
            return PluginProvider(plugins, settings.llm_model)
        case "acp":
            return AcpProvider(settings.acp_command, settings.llm_model, _empty(settings))
        case "anthropic":
            return AnthropicProvider(settings.llm_model, settings.llm_base_url)
        case "openai":
            return OpenAIProvider(settings.llm_model, settings.llm_base_url)
        case "claude-code":
            return of_agent("claude-code", settings.llm_model, _empty(settings))
        case "agent":
            return of_agent(settings.agent, settings.llm_model, _empty(settings))
    return None


def of_agent(host: str, model: str, directory: str) -> Provider:
    """A connected agent as the model: by itself, or by the protocol that it speaks."""
    facts = registry.facts()[host]
    run = facts.model_run
    assert run is not None, host  # the setting takes only hosts that have one
    if run.route != "acp":
        return HeadlessProvider(facts, run, model, directory)
    named = model or run.model
    by_option = model if not run.model_arguments else ""
    command = shlex.join([program_of(facts, run), *run.command(named)])
    provider = AcpProvider(command, by_option, directory, dict(run.env), run.own_tokens)
    provider.name = host
    provider.model = named or provider.model
    return provider


def _empty(settings: Settings) -> str:
    """An empty directory for agents to run in, without files or hooks of a project."""
    path = settings.path("llm")
    private_directory(path)
    return os.path.realpath(path)
