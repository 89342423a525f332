"""Paths as a project knows them.

In: a path that a tool named, where it ran, the root of the work tree. Out: the path inside the
repository, or nothing for what is outside it, generated, or kept for a moment only. What git
ignores is known by the usual names: the file that says so may be gone when old events are read.
"""

import posixpath
import re
from collections.abc import Collection, Iterable

MOST_CHARS = 400


def words_of(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORK_TREE = re.compile(r"^(?:\.worktrees|\.claude/worktrees|\.git/worktrees|worktrees)/[^/]+/")
_IN_WORK_TREE = re.compile(
    r"/(?:\.worktrees|\.claude/worktrees|\.git/worktrees|worktrees)/.*", re.S
)
# Folders that tools fill: what is in them is made, fetched or kept by the tool itself.
_GENERATED = words_of(
    """
    .git .hg .svn node_modules __pycache__ .venv venv .mypy_cache .ruff_cache .pytest_cache .tox
    .gradle .next .nuxt .terraform bower_components site-packages .idea .cache .direnv
    """
)
# Folders that builds fill, unless a project keeps sources in them: what was edited there counts.
_OUTPUT = words_of(
    """
    build dist out target coverage htmlcov _build .output .svelte-kit .turbo .parcel-cache obj
    DerivedData storybook-static .eggs
    """
)
_SCRATCH = words_of("tmp temp .tmp .scratch")
_MADE = re.compile(
    r"\.(?:py[co]|o|obj|a|so|dylib|dll|class|exe|log|tmp|swp|bak|orig|rej|min\.js|min\.css|map)$|"
    r"(?:^|/)\.DS_Store$"
)
_FILE = re.compile(r"[\w.+/-]{1,400}")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}$")
# Of sources and of what configures, describes and ships them.
_SOURCES = words_of(
    """
    adoc astro bash bat bazel c cc cfg clj cljs cmake conf cpp cs css csv cts cxx dart elm env erl
    ex exs fish fs go gradle graphql groovy h hcl hpp hrl hs htm html ini ipynb java jinja jl js
    json json5 jsonc jsonl jsx kt kts less lock lua m make md mdx mjs mk ml mli mm mts nim nix php
    pl pm po prisma properties proto ps1 py pyi pyx r rb rego rs rst sass scala scss sh sol spec sql
    svelte svg swift tex tf tfvars toml ts tsv tsx txt vb vue xml yaml yml zig zsh
    """
)
_NAMES = words_of("Makefile Dockerfile Justfile Rakefile Gemfile Procfile Vagrantfile Jenkinsfile")


def base(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]  # also of a path of Windows


def inside(path: str, where: str, root: str) -> str:
    """The path relative to the root of the repository, or "" when it is none of its files. `where`
    is the directory in which the tool ran; a work tree below the root counts as the root."""
    root = root.rstrip("/")
    if not path or not root or len(path) > MOST_CHARS or "\0" in path or "://" in path:
        return ""
    whole = posixpath.normpath(posixpath.join(where or root, path))
    if not whole.startswith(root + "/"):
        return ""
    found = _WORK_TREE.sub("", whole[len(root) + 1 :])
    folders = found.split("/")[:-1]
    if _GENERATED.intersection(found.split("/")) or _SCRATCH.intersection(folders):
        return ""
    return "" if _MADE.search(found) else found


def is_output(path: str) -> bool:
    """Whether a path inside the repository is likely to be made by a build."""
    return not _OUTPUT.isdisjoint(path.split("/")[:-1])


def main_root(directory: str) -> str:
    """The root of the repository of which a directory is a work tree; else the directory."""
    return _IN_WORK_TREE.sub("", directory.rstrip("/"))


def looks_like_file(word: str) -> bool:
    """Whether a word of a command line is likely to be a file of the project."""
    if not _FILE.fullmatch(word) or word.startswith("-") or ".." in word:
        return False
    name = base(word)
    return name in _NAMES or (bool(_EXTENSION.search(name[1:])) and not name.startswith("."))


def is_source(word: str) -> bool:
    """Whether a word of a sentence is the name of a source or of a file that configures. Node.js is
    written like one: who knows the names of tools has to ask for them first."""
    name = base(word)
    known = name in _NAMES or name.rpartition(".")[2].lower() in _SOURCES
    return known and looks_like_file(word)


def shortest_unique(paths: Iterable[str], known: dict[str, set[str]]) -> list[str]:
    """Each path as the shortest part of its end that names no other file. `known` has the paths of
    the repository by their base name."""
    return [_short(path, known.get(base(path), set())) for path in paths]


def _short(path: str, same_name: Collection[str]) -> str:
    parts = path.split("/")
    others = [one for one in same_name if one != path]
    for count in range(1, len(parts)):
        tail = "/".join(parts[-count:])
        if not any(one == tail or one.endswith("/" + tail) for one in others):
            return tail
    return path


# How the files of tests are called; the name of what they test is what is left.
_TESTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"^(?P<name>.+)_test\.(?P<ext>go|py|rb|rs|exs|dart|cc|cpp|c|lua|nim|zig|jl)$",
        r"^test_(?P<name>.+)\.(?P<ext>py|rb|c|cc|cpp|lua|jl|R|sh)$",
        r"^(?P<name>.+)\.(?:test|spec|cy|e2e)\.(?P<ext>[cm]?[jt]sx?|vue|svelte)$",
        r"^(?P<name>.+)_spec\.(?P<ext>rb|lua|cr)$",
        r"^(?P<name>.+?)(?:Tests?|TestCase|Spec|IT)\."
        r"(?P<ext>java|kt|cs|php|scala|swift|groovy|fs|vb)$",
        r"^(?P<name>.+)[-.]test\.(?P<ext>el|clj|cljs|R|r)$",
    )
)


def subject_of(name: str) -> str:
    """The name of the file that a test of this name tests; "" when it is no test."""
    found = next((found for form in _TESTS if (found := form.match(name))), None)
    if found is None:
        return ""
    return f"{found['name']}.{'ex' if found['ext'] == 'exs' else found['ext']}"
