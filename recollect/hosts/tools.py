"""What the tools of all hosts are called, and what a call of one did.

In: a tool's name, input and output. Out: its class, the files, the command, whether it failed, and
the part of input and output that is worth keeping. An unknown tool is a `tool-use`.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Any

from recollect.capture.foreign import strip_own
from recollect.core.values import Author, ToolClass
from recollect.hosts.payloads import ToolFacts

# --- names ---------------------------------------------------------------------------------------


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_CLASSES: dict[ToolClass, str] = {
    "file-write": """
        write edit multiedit notebookedit create createfile strreplace strreplaceeditor
        strreplacebasededittool applypatch applydiff writefile editfile writetofile replace
        replaceinfile replacefilecontent insert inserteditintofile fswrite fsappend fsreplace
        writecode deletefile delete searchreplace smartrelocate afterfileedit editnotebook patch
        editor savefile removefiles
    """,
    "file-read": """
        read readfile readmanyfiles readfiles view viewimage fsread glob grep ls rg list listdir
        listdirectory listfiles searchfiles searchfilecontent grepsearch filesearch codebasesearch
        readnotebook notebookread listcodedefinitionnames code codesearch readcode semanticsearch
        readlints viewfile getdiagnostics lsp readcodesymbols searchcodebase
    """,
    "command": """
        bash shell sh zsh powershell pwsh runshellcommand execcommand executebash executecommand
        executepwsh runcommand runterminalcmd runinterminal localshell terminal container.exec
        bashoutput readbash writebash writestdin controlbashprocess useaws execute unifiedexec
        controlpwshprocess getprocessoutput runcommands launchprocess runterminalcommand
    """,
    "research": """
        webfetch websearch fetch googlewebsearch webcrawl browseraction browser remotewebsearch
        fetchwebpage fetchrules searchweb accessmcpresource fetchcopilotclidocumentation
        webresearch urlfetch fetchwebcontent
    """,
    "delegation": """
        task agent delegate usesubagent subagent invokesubagent spawnagent newtask dispatchagent
        delegatetoagent waitagent sendinput contextgatherer
    """,
}
CLASSES: dict[str, ToolClass] = {
    name: tool_class for tool_class, names in _CLASSES.items() for name in _words(names)
}

# Tools that say nothing about the work: bookkeeping, thinking aloud, the host's own switches (A24).
IGNORED = _words(
    """
    introspect thinking think sequentialthinking todo todolist todowrite todoread writetodos
    readtodos updatetodo updatetodos updateplan taskcreate taskupdate tasklist taskget taskstop
    taskoutput enterplanmode planmoderespond planenter toolsearch
    reportintent killshell killbash stopbash listbash statusupdate attemptcompletion focuschain
    structuredoutput taskprogress croncreate crondelete cronlist
    """
)

# Tools with one name for reading and writing: this sub-command reads.
_VIEWS = {"strreplaceeditor", "strreplacebasededittool", "fswrite"}
_MCP = re.compile(r"^(?:mcp_|@)|/")
_OWN_SERVER = "recollect"


def _plain_name(name: str) -> str:
    return re.sub(r"[^a-z.]", "", name[:200].lower())


def is_own(name: str, server: str = "") -> bool:
    """Recollect's own MCP tools, under every spelling that hosts give them."""
    return _OWN_SERVER in re.split(r"[^a-z0-9]+", f"{server} {name}"[:300].lower())


def ignored(name: str, server: str = "") -> str:
    """Why a call of this tool is not worth an event; empty when it is."""
    if not name:
        return "tool without a name"
    if is_own(name, server):
        return "own tool"
    if not _MCP.search(name) and _plain_name(name) in IGNORED:
        return "ignored tool"
    if "sequentialthinking" in _plain_name(name):
        return "ignored tool"
    return ""


def classify(name: str, arguments: Any = None) -> ToolClass:
    """The class of a tool (A23)."""
    if _MCP.search(name):
        return "tool-use"
    plain = _plain_name(name)
    if plain in _VIEWS and isinstance(arguments, dict) and arguments.get("command") == "view":
        return "file-read"
    found = CLASSES.get(plain, "tool-use")
    if found == "command" and "*** Begin Patch" in _command(arguments)[:2000]:
        return "file-write"
    return found


def author(tool_class: ToolClass) -> Author:
    """Who wrote what a tool brought back."""
    match tool_class:
        case "research":
            return "web"
        case "file-read":
            return "file"
        case _:
            return "tool"


# --- calls ---------------------------------------------------------------------------------------

_FILE_FIELDS = (
    *("file_path", "filePath", "path", "absolute_path", "notebook_path", "file", "filename"),
    *("target_file", "targetFile", "file_name", "fileName", "relative_path", "relativePath"),
    *("dir_path", "directory", "TargetFile", "AbsolutePath", "filepath"),
)
_FILE_LISTS = ("files", "paths", "file_paths", "filePaths", "operations", "edits", "changes")
_COMMAND_FIELDS = (
    "command",
    "cmd",
    "command_line",
    "commandLine",
    "CommandLine",
    "script",
    "commands",
)
_PATCH_FILE = re.compile(
    r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$", re.MULTILINE
)
_MAX_FILES = 50
_DEEPEST = 4  # of `texts`
_MAX_PATH = 500

# What stays of a read-only call: where it looked and for what (A25).
_READ_FIELDS = _words(
    """
    pattern glob include exclude query regex offset limit start_line end_line startline endline
    head_limit output_mode type mode symbol name recursive view_range
    """
)
# Whole files as they were before: not what the agent did, and often large.
_BEFORE_IMAGES = frozenset(["originalFile", "originalContent", "newContent", "original_file"])


def facts(name: str, arguments: Any, output: Any = None, failed: bool | None = None) -> ToolFacts:
    """What this call did."""
    tool_class = classify(name, arguments)
    return ToolFacts(
        name=name[:200],
        tool_class=tool_class,
        files=_files(arguments) if tool_class.startswith("file-") else (),
        command=_command(arguments) if tool_class == "command" else "",
        failed=has_failed(output) if failed is None else failed,
    )


def kept_input(tool: ToolFacts, arguments: Any) -> Any:
    if tool.tool_class != "file-read":
        return _own_stripped(arguments)
    if not isinstance(arguments, dict):
        return None
    names = _READ_FIELDS.union(map(str.lower, _FILE_FIELDS))
    kept = {key: item for key, item in arguments.items() if key.lower() in names}
    return {key: item for key, item in kept.items() if not isinstance(item, dict | list)}


def kept_output(tool: ToolFacts, output: Any) -> Any:
    if tool.tool_class == "file-read" or runs_recollect(tool.command):
        return None
    return _own_stripped(output)


def defined_names(tool: ToolFacts, arguments: Any, output: Any) -> list[str]:
    """Names that are defined in what was written to a file, or read of one. What was read is not
    kept; these names say what is to be found there."""
    if len(tool.files) != 1:
        return []
    match tool.tool_class:
        case "file-write":
            return _defined_in("\n".join(texts(arguments)))
        case "file-read" if not tool.failed:
            return _defined_in("\n".join(texts(output)))
    return []


def texts(value: Any, depth: int = 0) -> Iterator[str]:
    """The texts within what a tool was given or gave back."""
    if isinstance(value, str):
        yield value
    elif depth < _DEEPEST and isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item, depth + 1)


def runs_recollect(command: str) -> bool:
    """Our own command line: what it prints are memories already."""
    return os.path.basename(command[:1000].lstrip().split(" ", 1)[0]) == _OWN_SERVER


def _own_stripped(value: Any) -> Any:
    if isinstance(value, str):
        return strip_own(value)
    if isinstance(value, dict):
        return {
            key: _own_stripped(item) for key, item in value.items() if key not in _BEFORE_IMAGES
        }
    if isinstance(value, list):
        return [_own_stripped(item) for item in value]
    return value


def _files(arguments: Any) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for path in _paths(arguments):
        path = path.strip()
        if path and len(path) <= _MAX_PATH:
            found[path] = None
        if len(found) == _MAX_FILES:
            break
    return tuple(found)


def _paths(arguments: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(arguments, str):
        yield from _PATCH_FILE.findall(arguments)
    if not isinstance(arguments, dict):
        return
    for name in _FILE_FIELDS:
        if isinstance(arguments.get(name), str):
            yield arguments[name]
    for name in ("input", "patch", "command", "patchText"):
        if isinstance(arguments.get(name), str):
            yield from _PATCH_FILE.findall(arguments[name])
    for name in _FILE_LISTS:
        items = arguments.get(name)
        if isinstance(items, dict):
            items = list(items)
        if isinstance(items, list) and depth < 2:
            for item in items[:_MAX_FILES]:
                if isinstance(item, str):
                    yield item
                else:
                    yield from _paths(item, depth + 1)


def _command(arguments: Any) -> str:
    if isinstance(arguments, str):
        return arguments
    if not isinstance(arguments, dict):
        return ""
    for name in _COMMAND_FIELDS:
        value = arguments.get(name)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
            if name == "commands":  # whole commands, one after the other
                return "\n".join(value)
            # ["bash", "-lc", "make test"]: the script is what was run
            return value[2] if len(value) == 3 and value[1] in ("-lc", "-c") else shlex.join(value)
    return ""


# --- outcomes ------------------------------------------------------------------------------------

_TRUE_IS_BAD = ("isError", "is_error", "interrupted", "timedOut", "timed_out", "is_interrupt")
_FALSE_IS_BAD = ("success", "ok")
_CODES = ("exit", "exitCode", "exit_code", "exit_status", "returncode")
_VERDICTS = ("resultType", "result_type", "status", "outcome")
_BAD_VERDICTS = frozenset(
    ["failure", "failed", "error", "denied", "rejected", "timeout", "cancelled", "canceled"]
)
# "Exit Code: 2" (Gemini, Qwen), "<shellId: 0 completed with exit code 2>" (Copilot)
_EXIT_TEXT = re.compile(r"^(?:<shellId: \d+ completed with )?exit code:? (\d+)>?$", re.I | re.M)
_TEXTS = ("llmContent", "textResultForLlm", "text_result_for_llm")


def has_failed(output: Any, depth: int = 0) -> bool:
    """Whether a tool's output says that it failed, in any of the hosts' ways to say it."""
    if isinstance(output, list) and depth < 1:  # one call that ran several commands (Cline)
        return any(has_failed(one, depth + 1) for one in output)
    if not isinstance(output, dict):
        return False
    if any(output.get(name) is True for name in _TRUE_IS_BAD):
        return True
    if any(output.get(name) is False for name in _FALSE_IS_BAD):
        return True
    if any(type(code) is int and code != 0 for code in map(output.get, _CODES)):
        return True
    if any(str(output.get(name)).lower() in _BAD_VERDICTS for name in _VERDICTS):
        return True
    if isinstance(output.get("error"), str | dict) and output["error"]:
        return True
    if any(_exit_code_in(output.get(name)) for name in _TEXTS):
        return True
    return depth < 1 and has_failed(output.get("metadata"), depth + 1)


def _exit_code_in(text: Any) -> bool:
    # The last such line is the host's own; earlier ones may be what the command printed.
    codes: Iterable[str] = _EXIT_TEXT.findall(text[-2000:]) if isinstance(text, str) else ()
    return any(code.strip("0") for code in list(codes)[-1:])


_MOST_NAMES = 60
_MOST_CODE = 100_000
_DEFINITION = re.compile(
    r"^[ \t+]{0,40}(?:\d{1,7}[→\t:|])?[ \t]{0,40}"
    r"(?:(?:export|default|pub(?:\([a-z]{1,20}\))?|public|private|protected|internal|static|final|"
    r"abstract|async|override|virtual|unsafe|inline|extern|open|data|sealed|const)[ \t]{1,8}){0,4}"
    r"(?:func(?:[ \t]{0,4}\([^()\n]{0,80}\))?|def|class|type|fn|function\*?|interface|struct|enum|"
    r"trait|impl|module|object|record|protocol|const)[ \t]{1,8}"
    r"(?P<name>[A-Za-z_$][\w$]{3,79})",
    re.MULTILINE,
)


def _defined_in(code: str) -> list[str]:
    """The functions, classes and types that begin in a piece of code, also as an editor or a diff
    shows it (with line numbers or plus signs), each once, in their order."""
    found: dict[str, None] = {}
    for match in _DEFINITION.finditer(code[:_MOST_CODE]):
        found.setdefault(match["name"])
        if len(found) == _MOST_NAMES:
            break
    return list(found)
