"""Recollect: a local-first memory for AI coding agents."""

__version__ = "0.1.0"

TYPE_CHECKING = False  # spares the import of `typing`; type checkers take the name for true
if TYPE_CHECKING:
    from recollect.memory import Memory

__all__ = ["Memory", "__version__"]


def __getattr__(name: str) -> object:
    """`from recollect import Memory` costs its import only to those who ask for it."""
    if name == "Memory":
        from recollect.memory import Memory

        return Memory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
