"""`/api/plugins`: what plugins there are, and switching one on or off until the next start."""

from recollect.core.values import Name, Value
from recollect.server.endpoints import Endpoint
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


class PluginSwitch(Value, frozen=True, kw_only=True):
    enabled: bool


def listed(runtime: ServerRuntime) -> tuple[PluginLine, ...]:
    return tuple(PluginLine(**one) for one in runtime.plugins.status())


def switch(runtime: ServerRuntime, plugin: Name, wanted: PluginSwitch) -> tuple[PluginLine, ...]:
    if wanted.enabled:
        runtime.plugins.enable(plugin)
    else:
        runtime.plugins.disable(plugin)
    return listed(runtime)


ENDPOINTS = (
    Endpoint("GET", "/api/plugins", "Plugins and their state.", listed),
    Endpoint(
        "PUT", "/api/plugins/{plugin}",
        "Start a plugin anew, or stop it; the setting `plugins` decides about the next start.",
        switch,
    ),
)  # fmt: skip
