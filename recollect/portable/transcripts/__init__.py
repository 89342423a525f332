"""Sessions that agents have kept on this machine, by host.

In: the home and the environment. Out: transcripts. A host that is not here gives none; a file that
cannot be read is passed over.
"""

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from recollect.portable.transcripts import claude_code, codex, copilot, gemini, opencode, qwen
from recollect.portable.transcripts.told import Told, Transcript

__all__ = ["ENVIRONMENT", "FINDERS", "Told", "Transcript", "find"]

Finder = Callable[[str, Mapping[str, str]], Iterator[Transcript]]

FINDERS: Mapping[str, Finder] = MappingProxyType(
    {
        claude_code.HOST: claude_code.find,
        codex.HOST: codex.find,
        gemini.HOST: gemini.find,
        copilot.HOST: copilot.find,
        qwen.HOST: qwen.find,
        opencode.HOST: opencode.find,
    }
)
# Where hosts may have been told to keep their files.
ENVIRONMENT = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "QWEN_HOME",
    "XDG_DATA_HOME",
)


def find(host: str, home: str, env: Mapping[str, str]) -> list[Transcript]:
    return list(FINDERS[host](home, env))
