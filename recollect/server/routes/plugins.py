"""`/api/plugins`: what plugins there are, and switching one on or off until the next start."""

from recollect.core.values import Name, Value
from recollect.server.endpoints import Endpoint, NoParameters
from recollect.server.runtime import ServerRuntime


class PluginLine(Value, frozen=True, kw_only=True):
    """`state`: disabled, running, stopped (it starts again by itself), off (it failed three times
    in a row) or missing (the settings name it and it is not installed)."""

    name: str
    package: str
    version: str
    state: str
    pid: int | None
    hooks: tuple[str, ...]
    calls: int
    dropped: int
    problem: str


class PluginList(Value, frozen=True, kw_only=True):
    items: tuple[PluginLine, ...]


class OnePlugin(Value, frozen=True, kw_only=True):
    plugin: Name


class PluginSwitch(Value, frozen=True, kw_only=True):
    enabled: bool


def listed(runtime: ServerRuntime, parameters: NoParameters) -> PluginList:
    return PluginList(items=tuple(PluginLine(**one) for one in runtime.plugins.status()))


def switch(runtime: ServerRuntime, which: OnePlugin, wanted: PluginSwitch) -> PluginList:
    if wanted.enabled:
        runtime.plugins.enable(which.plugin)
    else:
        runtime.plugins.disable(which.plugin)
    return listed(runtime, NoParameters())


ENDPOINTS = (
    Endpoint("GET", "/api/plugins", "Plugins and their state.", listed, PluginList),
    Endpoint(
        "PUT", "/api/plugins/{plugin}",
        "Start a plugin anew, or stop it; the setting `plugins` decides about the next start.",
        switch, PluginList, OnePlugin, body=PluginSwitch,
    ),
)  # fmt: skip
