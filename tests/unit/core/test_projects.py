import os
import pathlib
import subprocess
import unicodedata

import pytest

from recollect.core import projects
from recollect.core.projects import ProjectPlace, locate


def git(*arguments: str, cwd: pathlib.Path) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> pathlib.Path:
    root = tmp_path / "work" / "engine"
    root.mkdir(parents=True)
    git("init", "-q", cwd=root)
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=root)
    git("remote", "add", "origin", "git@example.org:team/engine.git", cwd=root)
    return root


def test_a_subfolder_belongs_to_its_repository(repository: pathlib.Path) -> None:
    inner = repository / "src" / "deep"
    inner.mkdir(parents=True)
    (inner / "package.json").write_text("{}")  # a marker inside a repository changes nothing
    place = locate(str(inner), home="/nowhere")
    assert place == locate(str(repository), home="/nowhere")
    assert (place.root, place.remote) == (str(repository), "example.org/team/engine")
    assert place.name == "engine"


def test_a_linked_work_tree_belongs_to_the_main_one(repository: pathlib.Path) -> None:
    linked = repository.parent / "elsewhere"
    git("worktree", "add", "-q", str(linked), "-b", "feature", cwd=repository)
    assert locate(str(linked), home="/nowhere") == locate(str(repository), home="/nowhere")


def test_work_trees_of_a_bare_repository_share_one_project(
    repository: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    bare = tmp_path / "engine-bare"
    git("clone", "-q", "--bare", str(repository), str(bare), cwd=tmp_path)
    trees = [tmp_path / "one", tmp_path / "two"]
    for tree in trees:
        git("worktree", "add", "-q", str(tree), "-b", tree.name, cwd=bare)
    one, two = (locate(str(tree), home="/nowhere") for tree in trees)
    assert one == two
    assert one.root == str(bare)


def test_a_submodule_is_a_project_of_its_own(repository: pathlib.Path) -> None:
    library = repository.parent / "library"
    library.mkdir()
    git("init", "-q", cwd=library)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=library)
    allow = ["-c", "protocol.file.allow=always"]
    git(*allow, "submodule", "add", "-q", str(library), "lib", cwd=repository)
    assert locate(str(repository / "lib"), home="/nowhere").root == str(repository / "lib")


def test_without_a_repository_the_nearest_marker_decides(tmp_path: pathlib.Path) -> None:
    inner = tmp_path / "app" / "packages" / "web"
    inner.mkdir(parents=True)
    (tmp_path / "app" / "Makefile").touch()
    assert locate(str(inner), home="/nowhere").root == str(tmp_path / "app")
    (inner / "package.json").touch()
    assert locate(str(inner), home="/nowhere").root == str(inner)


def test_home_and_what_lies_above_it_is_never_a_project(tmp_path: pathlib.Path) -> None:
    home = tmp_path / "users" / "ada"
    notes = home / "notes"
    notes.mkdir(parents=True)
    for directory in (home, tmp_path / "users", tmp_path):
        (directory / "Makefile").touch()
    git("init", "-q", cwd=home)  # dotfiles kept in git
    git("init", "-q", cwd=tmp_path)
    for directory in (notes, home, tmp_path / "users"):
        assert locate(str(directory), home=str(home)).is_global
    outside = tmp_path / "other"
    outside.mkdir()
    assert locate(str(outside), home=str(home)).is_global


def test_a_link_and_a_trailing_slash_are_the_same_place(
    repository: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(repository)
    spelled = [str(link), f"{repository}/", f"{repository}/./src/..", str(repository)]
    assert len({locate(path, home="/nowhere") for path in spelled}) == 1


def test_composed_and_decomposed_names_are_one_root(tmp_path: pathlib.Path) -> None:
    name = unicodedata.normalize("NFD", "café")
    (tmp_path / name).mkdir()
    (tmp_path / name / "Makefile").touch()
    root = locate(str(tmp_path / name), home="/nowhere").root
    assert os.path.basename(root) == unicodedata.normalize("NFC", "café")
    assert projects.canonical(root) == root


def test_a_directory_that_vanished_still_has_an_answer(tmp_path: pathlib.Path) -> None:
    (tmp_path / "Makefile").touch()
    assert locate(str(tmp_path / "gone" / "deep"), home="/nowhere").root == str(tmp_path)


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("git@example.org:team/engine.git", "example.org/team/engine"),
        ("https://user:token@Example.org/team/engine", "example.org/team/engine"),
        ("ssh://git@example.org:2222/team/engine.git/", "example.org/team/engine"),
        ("git://example.org/team//engine", "example.org/team/engine"),
        ("file:///srv/git/engine", "/srv/git/engine"),
        ("/srv/git/engine", "/srv/git/engine"),
        ("/srv/git//x/../engine.git/", "/srv/git/engine"),
        ("//srv/git/engine/.git", "/srv/git/engine"),
        ("file://host/srv/git/engine", ""),
        ("/", ""),
        ("/.git", ""),
        ("../engine", ""),
        ("C:/git/engine", ""),
        ("", ""),
    ],
)
def test_remotes_are_compared_by_host_and_path_or_by_path(url: str, same: str) -> None:
    assert projects.normalise_remote(url) == same


def test_the_name_of_a_place_is_short() -> None:
    assert ProjectPlace().name == "global"
    assert ProjectPlace(root="/src/engine").name == "engine"
    assert ProjectPlace(root="/src/x", remote="example.org/team/engine").name == "engine"


@pytest.mark.parametrize("name", ["a/b", "%", "_", "a b", "..", "x\ny", "é", "'; DROP TABLE"])
def test_a_hostile_name_stays_inside_its_segment(name: str) -> None:
    spelled = projects.namespace(name, name)
    assert spelled.count("/") == 5
    assert spelled != projects.namespace(name, name + "2")
    assert projects.namespace("a", "") == "/actor/a/"


def test_the_branch_is_what_the_work_tree_has_checked_out(
    repository: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    git("checkout", "-q", "-b", "alex/retry-cap", cwd=repository)
    assert projects.locate(str(repository)).branch == "alex/retry-cap"
    git("worktree", "add", "-q", "-b", "other", str(tmp_path / "tree"), cwd=repository)
    assert projects.locate(str(tmp_path / "tree")).branch == "other"
    assert projects.branch_of(str(tmp_path / "tree")) == "other"
    assert projects.locate(str(repository)) == projects.locate(str(tmp_path / "tree"))


def test_a_commit_without_a_branch_and_an_odd_head_have_none(repository: pathlib.Path) -> None:
    git("checkout", "-q", "--detach", cwd=repository)
    assert projects.branch_of(str(repository)) == ""
    head = repository / ".git" / "HEAD"
    for text in ("ref: refs/heads/" + "x" * 5000, "ref: refs/heads/a\nb", "ref: refs/tags/v1", ""):
        head.write_text(text)
        assert projects.branch_of(str(repository)) == ""
    head.unlink()
    os.mkfifo(head)
    assert projects.branch_of(str(repository)) == ""
