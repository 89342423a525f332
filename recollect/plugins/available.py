"""Which plugins there are: those that come with Recollect, and those that other packages bring.

In: the installed packages. Out: names and where their classes are; nothing of a plugin is loaded.
"""

from dataclasses import dataclass

from recollect import __version__
from recollect.plugins import GROUP

# With the product, and no more privileged than any other.
BUILT_IN = {
    "vault": "recollect.plugins.vault:Vault",
    "webhooks": "recollect.plugins.webhooks:Webhooks",
}


@dataclass(frozen=True)
class AvailablePlugin:
    name: str
    target: str  # module:class
    package: str
    version: str


def available() -> dict[str, AvailablePlugin]:
    """By name. A package cannot take the name of a plugin that comes with Recollect."""
    from importlib import metadata  # slow to import: only for whoever asks

    found = {
        name: AvailablePlugin(name, target, "recollect", __version__)
        for name, target in BUILT_IN.items()
    }
    for point in metadata.entry_points(group=GROUP):
        package = point.dist
        found.setdefault(
            point.name,
            AvailablePlugin(
                point.name,
                point.value,
                package.name if package else "",
                package.version if package else "",
            ),
        )
    return dict(sorted(found.items()))
