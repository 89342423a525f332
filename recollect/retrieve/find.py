"""The one search behind every door: words, meaning, graph and time together.

In: a prompt, namespaces, the time it is asked. Out: the ranked memories, and what the graph knows
of what the prompt names. Hooks, REST, MCP, CLI and previews all ask here, so that a receipt can be
reproduced by a search.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core.clock import to_micros
from recollect.retrieve.engine import SearchEngine
from recollect.retrieve.graph import GraphCache, GraphWalk
from recollect.retrieve.results import Mode, Ranked


@dataclass(frozen=True)
class Found:
    ranked: Ranked  # whatever its confidence: the caller decides whether that is enough
    walks: list[GraphWalk]  # one per namespace that has a graph


def find(
    engine: SearchEngine,
    graphs: GraphCache,
    text: str,
    namespaces: Sequence[str],
    *,
    at: datetime,
    limit: int,
    mode: Mode = "hybrid",
) -> Found:
    """The best memories for a prompt that is asked at this moment."""
    walks, reached = graphs.walk(text, namespaces)
    ranked = engine.search(
        text,
        namespaces,
        limit=limit,
        mode=mode,
        floor=False,
        now=to_micros(at),
        reached=reached,
    )
    return Found(ranked, walks)
