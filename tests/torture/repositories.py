"""Repositories that are not what they seem.

Two attacks. A repository names programs in its configuration, its attributes, its hooks, its
objects; none may be run, whatever of it is read. A folder's `.git` claims to be another project's;
nothing of that project may be told to it.
"""

import contextlib
import os
import random
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from recollect.core import safe_git
from recollect.core.clock import ManualClock
from recollect.core.settings import Settings
from recollect.core.values import EventSource
from recollect.portable import git_history as history
from recollect.portable.clones import Clones
from recollect.portable.importing import ImportRequest
from tests.fakes.waiting import PATIENCE_S
from tests.make import event
from tests.torture.case import Case, Report
from tests.unit.portable.conftest import NOW, Desk, wire

ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org", "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null", "PATH": "/usr/bin:/bin:/usr/local/bin", "HOME": "/nowhere",
    "GIT_TEMPLATE_DIR": "/nowhere",
}  # fmt: skip


def git(where: Path, *arguments: str, told: bytes = b"") -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=where, env=ENVIRONMENT, input=told, check=True, capture_output=True
    )
    return done.stdout.decode().strip()


def repository(path: Path, commits: int = 3) -> Path:
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    (path / ".git" / "info").mkdir()
    grow(path, commits)
    return path


def grow(path: Path, commits: int) -> None:
    for _ in range(commits):
        number = int(git(path, "rev-list", "--count", "--all"))
        (path / f"part{number}.py").write_text(f"{number} of {path}\n")
        git(path, "add", ".")
        git(path, "commit", "-q", "-m", f"Add part {number} of {path.name}")


# --- programs that a repository names ------------------------------------------------------------

Trap = Callable[[Path, str], None]  # the repository, and the program that must not be run


def _lacking(repository: Path, url: str) -> None:
    """A clone that fetches what it lacks when it is asked for it, and lacks a commit and a tree."""
    for name, value in (
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", url),
    ):
        git(repository, "config", name, value)
    for name in ("HEAD^{tree}", "HEAD~2"):
        found = git(repository, "rev-parse", name)
        (repository / ".git" / "objects" / found[:2] / found[2:]).unlink()


def _config(**settings: str) -> Trap:
    def lay(repository: Path, trap: str) -> None:
        for name, value in settings.items():
            key = name.replace("__", "-").replace("_", ".")
            git(repository, "config", key, value.replace("TRAP", trap))

    return lay


def _fetching(url: str, **settings: str) -> Trap:
    def lay(repository: Path, trap: str) -> None:
        _config(**settings)(repository, trap)
        _lacking(repository, url.replace("TRAP", trap).replace("HERE", str(repository)))

    return lay


def _attributes(*settings: tuple[str, str]) -> Trap:
    def lay(repository: Path, trap: str) -> None:
        (repository / ".gitattributes").write_text("* diff=evil filter=evil merge=evil\n")
        git(repository, "add", ".gitattributes")
        git(repository, "commit", "-q", "-m", "Attributes")
        shutil.copy(repository / ".gitattributes", repository / ".git" / "info" / "attributes")
        for name, value in settings:
            git(repository, "config", name, value.replace("TRAP", trap))

    return lay


def _signed(repository: Path, trap: str) -> None:
    """A commit that says it is signed, and programs that would look at the signature."""
    text = git(repository, "cat-file", "commit", "HEAD")
    head, _, message = text.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n xxxx\n -----END PGP SIGNATURE-----"
    forged = f"{head}\n{signature}\n\n{message}\n".encode()
    commit = git(repository, "hash-object", "-t", "commit", "-w", "--stdin", told=forged)
    git(repository, "update-ref", "refs/heads/main", commit)
    _config(log_showSignature="true", gpg_program="TRAP", gpg_ssh_program="TRAP")(repository, trap)


def _hooks(repository: Path, trap: str) -> None:
    for folder in (repository / ".git" / "hooks", repository / "hooks"):
        folder.mkdir(exist_ok=True)
        for name in (
            "post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc",
            "fsmonitor-watchman", "query-watchman", "post-merge", "pre-commit",
        ):  # fmt: skip
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(trap)
    git(repository, "config", "core.hooksPath", str(repository / "hooks"))


def _included(condition: str) -> Trap:
    def lay(repository: Path, trap: str) -> None:
        elsewhere = repository.parent / "included"
        elsewhere.write_text(f"[core]\n\tsshCommand = {trap}\n\tfsmonitor = {trap}\n")
        git(repository, "config", condition, str(elsewhere))
        _lacking(repository, "ssh://example.invalid/x")

    return lay


def _per_work_tree(repository: Path, trap: str) -> None:
    _lacking(repository, "ssh://example.invalid/x")
    git(repository, "config", "extensions.worktreeConfig", "true")
    (repository / ".git" / "config.worktree").write_text(f"[core]\n\tsshCommand = {trap}\n")


def _submodule(repository: Path, trap: str) -> None:
    inner = repository / "lib"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    git(inner, "commit", "-q", "--allow-empty", "-m", "Inner")
    git(inner, "config", "core.fsmonitor", trap)
    (repository / ".gitmodules").write_text(
        f'[submodule "lib"]\n\tpath = lib\n\turl = ext::{trap}\n\tupdate = !{trap}\n'
    )
    git(repository, "-c", "core.fsmonitor=false", "add", ".gitmodules", "lib")
    git(repository, "commit", "-q", "-m", "Submodule")
    settings = {"submodule_lib_update": "!TRAP", "diff_submodule": "log"}
    _config(status_submoduleSummary="true", submodule_recurse="true", **settings)(repository, trap)


def _linked(repository: Path, trap: str) -> None:
    """The work tree that is looked at is linked; its repository lies elsewhere."""
    main = repository.parent / f"{repository.name}-main"
    repository.rename(main)
    git(main, "worktree", "add", "-q", "--detach", str(repository))
    _lacking(main, "ssh://example.invalid/x")
    git(main, "config", "core.sshCommand", trap)


SSH = "ssh://example.invalid/x"
TRAPS: dict[str, Trap] = {
    "lazy fetch, core.sshCommand": _fetching(SSH, core_sshCommand="TRAP"),
    "lazy fetch, ssh.variant": _fetching(SSH, core_sshCommand="TRAP", ssh_variant="simple"),
    "lazy fetch, ext::": _fetching("ext::TRAP", protocol_ext_allow="always"),
    "lazy fetch, uploadpack": _fetching(
        "file://HERE", protocol_allow="always", remote_origin_uploadpack="TRAP"
    ),
    "lazy fetch, gitProxy": _fetching("git://example.invalid/x", core_gitProxy="TRAP"),
    "lazy fetch, credentials": _fetching(
        "http://WEB/x.git", credential_helper="!TRAP", core_askPass="TRAP"
    ),
    "lazy fetch, insteadOf": lambda repository, trap: (
        git(repository, "config", f"url.ext::{trap} .insteadOf", "ssh://"),
        _fetching(SSH, protocol_ext_allow="always")(repository, trap),
    )[1],
    "include": _included("include.path"),
    "includeIf": _included("includeIf.gitdir:/.path"),
    "config.worktree": _per_work_tree,
    "a linked work tree": _linked,
    "fsmonitor": _config(core_fsmonitor="TRAP", core_untrackedCache="true"),
    "hooks": _hooks,
    "pagers": _config(
        core_pager="TRAP", pager_log="TRAP", pager_rev__list="TRAP", pager_rev__parse="TRAP"
    ),
    "external diff": _attributes(("diff.external", "TRAP"), ("diff.evil.command", "TRAP")),
    "textconv": _attributes(("diff.evil.textconv", "TRAP"), ("log.diffMerges", "on")),
    "filters": _attributes(
        ("filter.evil.clean", "TRAP"),
        ("filter.evil.smudge", "TRAP"),
        ("filter.evil.process", "TRAP"),
        ("filter.evil.required", "true"),
        ("merge.evil.driver", "TRAP"),
    ),
    "signatures": _signed,
    "aliases": _config(
        alias_log="!TRAP", alias_rev__list="!TRAP", alias_rev__parse="!TRAP", help_autoCorrect="1"
    ),
    "editors and askpass": _config(
        core_editor="TRAP", sequence_editor="TRAP", core_askPass="TRAP", credential_helper="!TRAP"
    ),
    "alternate references": _config(core_alternateRefsCommand="TRAP"),
    "packing": _config(
        uploadpack_packObjectsHook="TRAP",
        core_packedRefsTimeout="0",
        gc_auto="1",
        gc_recentObjectsHook="TRAP",
        maintenance_auto="true",
    ),
    "submodules": _submodule,
    "a work tree elsewhere": _config(core_worktree="/tmp", core_fsmonitor="TRAP"),
}
DOORS = ("offers", "dry run", "import")
# What stands in our own environment when an agent of a hostile project has started the daemon.
VARIABLES = (
    "GIT_SSH_COMMAND", "GIT_SSH", "GIT_PROXY_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "PAGER",
    "GIT_ASKPASS", "SSH_ASKPASS", "GIT_EDITOR",
)  # fmt: skip


class Web:
    """A server that asks for a password, and counts who came."""

    def __init__(self) -> None:
        self.asked = 0

    @contextlib.contextmanager
    def serving(self) -> Iterator[str]:
        web = self

        class Refusing(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked += 1
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="x"')
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = HTTPServer(("127.0.0.1", 0), Refusing)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


def lay(name: str, base: Path, path: Path, web: str) -> Path:
    """A copy of a repository, with one trap. Returns the file that is there once it was sprung."""
    canary = path.parent / f"{path.name}.sprung"
    program = path.parent / f"{path.name}.trap"
    program.write_text(f"#!/bin/sh\ntouch '{canary}'\nexit 1\n")
    program.chmod(0o755)
    shutil.copytree(base, path)
    TRAPS[name](path, str(program))
    config = path / ".git" / "config"
    if config.is_file():
        config.write_text(config.read_text().replace("WEB", web))
    return canary


@contextlib.contextmanager
def _desk(scratch: Path) -> Iterator[Desk]:
    scratch.mkdir(parents=True, exist_ok=True)
    home = scratch / "person"
    home.mkdir()
    desk = wire(home, Settings(home=str(scratch / "data"), actor="ada"), ManualClock(start=NOW))
    try:
        yield desk
    finally:
        desk.turn_writer.close()
        desk.store.close()


def _enter(desk: Desk, door: str, path: Path) -> None:
    request = ImportRequest(
        sources=(f"git:{path}",), home=str(desk.home), dry_run=door == "dry run"
    )
    if door == "offers":
        desk.importing.offers(request)
    else:
        desk.importing.run(request)


def named_programs(chance: random.Random, tries: int, scratch: Path) -> Report:
    """Each trap at each door. A trap that is sprung, or a connection that is made, has leaked."""
    report = Report()
    ways = [(name, door) for name in TRAPS for door in DOORS]
    chance.shuffle(ways)
    web = Web()
    base = repository(scratch / "base")
    with web.serving() as address, _desk(scratch / "desk") as desk:
        for number in range(tries):
            name, door = ways[number % len(ways)]
            path = scratch / f"r{number}" / "repository"
            path.parent.mkdir()
            canary = lay(name, base, path, address)
            with _environment({one: str(canary.with_suffix(".trap")) for one in VARIABLES}):
                _enter(desk, door, path)
            report.tries += 1
            if canary.exists():
                report.failed("leaked", f"{name}, {door}: its program was run")
            if web.asked:
                report.failed("leaked", f"{name}, {door}: a connection was made")
                web.asked = 0
    return report


@contextlib.contextmanager
def _environment(more: dict[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(more)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


# --- repositories without an end -----------------------------------------------------------------


def _pipe(*names: str) -> Callable[[Path], None]:
    def spoil(repository: Path) -> None:
        path = repository.joinpath(".git", *names)
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)

    return spoil


def _loose_pipe(repository: Path) -> None:
    found = git(repository, "rev-parse", "HEAD")
    _pipe("objects", found[:2], found[2:])(repository)


def _long_message(repository: Path) -> None:
    text = git(repository, "cat-file", "commit", "HEAD").encode() + b"\n" + b"x" * (8 << 20)
    commit = git(repository, "hash-object", "-t", "commit", "-w", "--stdin", told=text)
    git(repository, "update-ref", "refs/heads/main", commit)


ENDLESS: dict[str, Callable[[Path], None]] = {
    "a branch": _pipe("refs", "heads", "main"),
    "packed references": _pipe("packed-refs"),
    "an object": _loose_pipe,
    "alternates": _pipe("objects", "info", "alternates"),
    "shallow": _pipe("shallow"),
    "a message of 8 MB": _long_message,
}


def endless(chance: random.Random, tries: int, scratch: Path) -> Report:
    """Pipes where git expects files, and more text than anybody wants: every call ends, and
    leaves no process behind."""
    report = Report()
    before = (safe_git.PATIENCE_S, history.PATIENCE_S, history.MOST_BYTES)
    safe_git.PATIENCE_S, history.PATIENCE_S, history.MOST_BYTES = 0.3, 0.3, 4 << 20
    names = list(ENDLESS)
    chance.shuffle(names)
    base = repository(scratch / "base")
    try:
        with _desk(scratch / "desk") as desk:
            for number in range(tries):
                name, door = names[number % len(names)], chance.choice(DOORS)
                path = scratch / f"r{number}"
                shutil.copytree(base, path)
                ENDLESS[name](path)
                worker = threading.Thread(target=_enter, args=(desk, door, path), daemon=True)
                worker.start()
                worker.join(PATIENCE_S)
                report.tries += 1
                if worker.is_alive():
                    report.failed("frozen", f"{name}, {door}")
                if left := _gits_in("recollect-git-"):
                    report.failed("frozen", f"{name}, {door}: processes {left} go on")
    finally:
        safe_git.PATIENCE_S, history.PATIENCE_S, history.MOST_BYTES = before
    return report


def _gits_in(place: str) -> list[int]:
    """Our own children that work in such a directory."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = (entry / "stat").read_text().rpartition(") ")[2].split()[1]
            if int(parent) == os.getpid() and place in os.readlink(entry / "cwd"):
                found.append(int(entry.name))
    return found


# --- folders that claim another project ----------------------------------------------------------

REMOTE = "git@example.org:team/shop.git"


def remember(desk: Desk, path: Path, text: str, namespace: str | None = None) -> str:
    """Something is said in a folder; the namespace it went to."""
    where = namespace or desk.namespace(str(path))
    said = event(
        text,
        namespace=where,
        session_id=str(path),
        source=EventSource(surface="test", project_path=str(path)),
    )
    desk.pipeline.event(said, said.event_id)
    return where


def _victim(work: Path) -> Path:
    """A project with all that a repository may have around it."""
    path = repository(work / "shop", commits=4)
    git(path, "remote", "add", "origin", REMOTE)
    library = repository(work / "library", commits=1)
    git(path, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    git(path, "commit", "-q", "-m", "Submodule")
    git(path, "worktree", "add", "-q", "--detach", str(work / "tree"))
    git(work, "clone", "-q", "--bare", f"file://{path}", "bare")
    git(work / "bare", "worktree", "add", "-q", "--detach", str(work / "bare-tree"))
    return path


Shape = Callable[[Path, Path], None]  # the folder that claims, and the project that it claims


def _real(folder: Path, victim: Path) -> None:
    git(folder, "init", "-q", "-b", "main")
    (folder / ".git" / "info").mkdir()
    grow(folder, 2)
    git(folder, "remote", "add", "origin", REMOTE)


def _pointer(target: str) -> Shape:
    def write(folder: Path, victim: Path) -> None:
        work = str(victim.parent)
        away = os.path.relpath(work, folder)
        written = target.replace("WORK", work).replace("AWAY", away)
        (folder / ".git").write_text(f"gitdir: {written}\n")

    return write


def _link(target: str) -> Shape:
    def link(folder: Path, victim: Path) -> None:
        (folder / ".git").symlink_to(victim.parent / target)

    return link


def _commondir(inner: str) -> Shape:
    """A git directory of the folder's own that says it shares the victim's."""

    def write(folder: Path, victim: Path) -> None:
        own = folder / inner
        own.mkdir(parents=True)
        (own / "HEAD").write_text("ref: refs/heads/main\n")
        (own / "commondir").write_text(f"{victim}/.git\n")
        (own / "gitdir").write_text(f"{folder}/.git\n")
        if inner != ".git":
            (folder / ".git").write_text(f"gitdir: {own}\n")

    return write


def _borrowed(name: str) -> Shape:
    """A repository of its own, parts of which are links into the victim's."""

    def borrow(folder: Path, victim: Path) -> None:
        _real(folder, victim)
        head = git(victim, "rev-parse", "HEAD")
        (folder / ".git" / "refs" / "heads" / "main").write_text(head + "\n")
        objects, theirs = folder / ".git" / "objects", victim / ".git" / "objects"
        if name == "objects":
            shutil.rmtree(objects)
            objects.symlink_to(theirs)
        elif name == "folders":
            for one in theirs.iterdir():
                if not (objects / one.name).exists():
                    (objects / one.name).symlink_to(one)
        elif name == "files":
            for one in theirs.glob("??/*"):
                (objects / one.parent.name).mkdir(exist_ok=True)
                if not (objects / one.parent.name / one.name).exists():
                    (objects / one.parent.name / one.name).symlink_to(one)
        elif name == "packs":
            git(victim, "repack", "-q", "-a", "-d")
            for one in (theirs / "pack").iterdir():
                (objects / "pack" / one.name).symlink_to(one)
        else:
            (objects / "info" / name).write_text(f"{theirs}\n")

    return borrow


def _forged(folder: Path, victim: Path) -> None:
    """References to commits that it has not, with all that can make a history look longer."""
    _real(folder, victim)
    git_dir, head = folder / ".git", git(victim, "rev-parse", "HEAD")
    ours = git(folder, "rev-parse", "HEAD")
    (git_dir / "refs" / "heads" / "theirs").write_text(head + "\n")
    (git_dir / "shallow").write_text(head + "\n")
    (git_dir / "info" / "grafts").write_text(f"{ours} {head}\n")
    replaced = git_dir / "refs" / "replace"
    replaced.mkdir()
    (replaced / head).write_text(ours + "\n")
    shutil.copytree(victim / ".git" / "logs", git_dir / "logs", dirs_exist_ok=True)


def _taken_commit(folder: Path, victim: Path) -> None:
    """The very commit lies among its objects, but no reference leads to it."""
    _real(folder, victim)
    head = git(victim, "rev-parse", "HEAD")
    text = subprocess.run(
        ["git", "cat-file", "commit", head], cwd=victim, env=ENVIRONMENT, capture_output=True
    ).stdout
    git(folder, "hash-object", "-t", "commit", "-w", "--stdin", told=text)


def _worktree_of_its_own(folder: Path, victim: Path) -> None:
    _real(folder, victim)
    git(folder, "config", "core.worktree", str(victim))


def _above(folder: Path, victim: Path) -> None:
    """An archive was unpacked where all projects lie."""
    (victim.parent / ".git").write_text("gitdir: shop/.git\n")


SHAPES: dict[str, Shape] = {
    "the same remote": _real,
    "a pointer": _pointer("WORK/shop/.git"),
    "a relative pointer": _pointer("AWAY/shop/.git"),
    "a pointer to a work tree's": _pointer("WORK/shop/.git/worktrees/tree"),
    "a pointer to a submodule's": _pointer("WORK/shop/.git/modules/lib"),
    "a pointer to a bare one": _pointer("WORK/bare"),
    "a pointer to a bare one's": _pointer("WORK/bare/worktrees/bare-tree"),
    "a link": _link("shop/.git"),
    "a link to a work tree's": _link("shop/.git/worktrees/tree"),
    "a link to a bare one": _link("bare"),
    "commondir": _commondir(".git"),
    "commondir behind a pointer": _commondir("worktrees/tree"),
    "objects that are linked": _borrowed("objects"),
    "folders that are linked": _borrowed("folders"),
    "files that are linked": _borrowed("files"),
    "packs that are linked": _borrowed("packs"),
    "alternates": _borrowed("alternates"),
    "http-alternates": _borrowed("http-alternates"),
    "a forged history": _forged,
    "a commit that was taken": _taken_commit,
    "core.worktree": _worktree_of_its_own,
    "a pointer above": _above,
}


def looker(desk: Desk) -> Clones:
    """As the daemon has it, but looking only when told to."""
    actor = desk.settings.actor_id
    return Clones(
        desk.store, desk.clock, actor, lambda old, new: desk.erasure.join(old, new, actor)
    )


def false_claims(chance: random.Random, tries: int, scratch: Path) -> Report:
    """A folder that looks like a project in a way that it must not: it never gets that project's
    namespace, neither at once nor after it was looked at, nor any folder in it."""
    report = Report()
    names = list(SHAPES)
    chance.shuffle(names)
    pattern = _victim(scratch / "pattern")
    for number in range(tries):
        name = names[number % len(names)]
        work = scratch / f"w{number}"
        work.mkdir()
        victim = _again(pattern, work)
        folder = work / "unpacked" if name != "a pointer above" else work / "beside"
        inner = folder / "src"
        inner.mkdir(parents=True)
        SHAPES[name](folder, victim)
        with _desk(scratch / f"desk{number}") as desk:
            first = chance.random() < 0.7  # which of them is known first
            theirs = _namespaces(desk, victim) if first else set()
            clones = looker(desk)
            if first and chance.random() < 0.5:
                clones.look()
            seen = {remember(desk, chance.choice([folder, inner]), "x")}
            theirs |= _namespaces(desk, victim)
            seen |= {desk.namespace(str(one)) for one in (folder, inner)}
            clones.look()
            theirs |= _namespaces(desk, victim)
            seen |= {desk.namespace(str(one)) for one in (folder, inner)}
            report.tries += 1
            common = f"/actor/{desk.settings.actor_id}/"
            if theirs & seen - {common}:
                report.failed("leaked", f"{name}, {'second' if first else 'first'}")
            if len(seen - {common}) > 1:
                report.failed("wrong", f"{name}: it is two projects")
    return report


def _again(pattern: Path, work: Path) -> Path:
    """The same project elsewhere, with its pointers mended."""
    shutil.copytree(pattern.parent, work, dirs_exist_ok=True, symlinks=True)
    for path in (*work.rglob(".git"), *work.rglob("gitdir"), *work.rglob("commondir")):
        if path.is_file():
            path.write_text(path.read_text().replace(str(pattern.parent), str(work)))
    return work / pattern.name


def _namespaces(desk: Desk, victim: Path) -> set[str]:
    names = ("shop", "tree", "shop/lib", "bare-tree")
    return {desk.namespace(str(victim.parent / name)) for name in names}


CASES = [
    Case("repositories that name programs", named_programs, 3 * len(TRAPS)),
    Case("repositories without an end", endless, len(ENDLESS)),
    Case("folders that claim another project", false_claims, 3 * len(SHAPES)),
]
