"""The language model of a plugin.

In: a ModelRequest, passed on to the plugin. Out: its Completion. A plugin that fails is
ProviderDown; its process and its limits are the plugins' own.
"""

from collections.abc import Callable

from recollect.core.errors import PluginFailed, ProviderDown
from recollect.llm.base import Completion, ModelRequest

Complete = Callable[[ModelRequest, str], Completion]


class PluginProvider:
    name = "plugin"

    def __init__(self, complete: Complete, model: str) -> None:
        self._complete = complete
        self.model = model

    def complete(self, request: ModelRequest) -> Completion:
        try:
            return self._complete(request, self.model)
        except PluginFailed as error:
            raise ProviderDown(str(error), hint=error.hint) from error

    def close(self) -> None:
        """The plugin is stopped with the others."""
