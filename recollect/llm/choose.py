"""The provider that the settings name, metered; none is the default.

In: settings, the store's usage and a clock. Out: a Provider, or None for rules alone. Nothing is
started here: what is missing is reported by the first call.
"""

import os

from recollect.core.addresses import is_local
from recollect.core.clock import Clock
from recollect.core.oslayer import private_directory
from recollect.core.settings import Settings
from recollect.llm.acp import AcpProvider
from recollect.llm.anthropic import AnthropicProvider
from recollect.llm.base import Provider
from recollect.llm.claude_code import ClaudeCodeProvider
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
            return ClaudeCodeProvider(settings.llm_model, _empty(settings))
    return None


def _empty(settings: Settings) -> str:
    """An empty directory for agents to run in, without files or hooks of a project."""
    path = settings.path("llm")
    private_directory(path)
    return os.path.realpath(path)
