"""Which folders are taken for a project that is known, and which are not."""

import pathlib
import random
import shutil
from collections.abc import Callable

import pytest

from recollect.core import oslayer, safe_git
from recollect.portable.clones import FIRST_USE, Clones
from tests.torture import repositories
from tests.torture.repositories import git, grow, repository
from tests.unit.portable.conftest import Desk

REMOTE = "git@example.org:team/shop.git"


@pytest.fixture
def clones(desk: Desk) -> Clones:
    return repositories.looker(desk)


@pytest.fixture
def shop(desk: Desk, clones: Clones) -> pathlib.Path:
    """A project with a history and a memory; looked at as the daemon does."""
    path = repository(desk.home / "work" / "shop", commits=5)
    git(path, "remote", "add", "origin", REMOTE)
    repositories.remember(desk, path, "The till rounds down")
    clones.look()
    return path


def clone(shop: pathlib.Path, name: str, *options: str) -> pathlib.Path:
    """As from its server: another folder, the same remote."""
    path = shop.parent / name
    git(shop.parent, "clone", "-q", *options, f"file://{shop}", name)
    git(path, "remote", "set-url", "origin", REMOTE)
    return path


def texts(desk: Desk, path: pathlib.Path) -> set[str]:
    page = desk.store.events.page(desk.namespace(str(path)), limit=100)
    return {getattr(one.event.body, "content", "") for one in page.items}


def test_a_second_clone_is_joined_with_what_was_captured_meanwhile(
    desk: Desk, clones: Clones, shop: pathlib.Path
) -> None:
    second = clone(shop, "second")
    grow(second, 2)
    repositories.remember(desk, second, "Before it was joined")
    assert texts(desk, second) == {"Before it was joined"}, "nothing is told before it is known"
    clones.look({desk.namespace(str(second))})
    repositories.remember(desk, second, "After it was joined")
    assert desk.namespace(str(second)) == desk.namespace(str(shop))
    assert texts(desk, shop) == {
        "The till rounds down", "Before it was joined", "After it was joined",
    }  # fmt: skip
    assert clones.offers == [] and clones.joined == {str(second): "shop"}
    assert len(desk.store.projects.all()) == 1


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_clones_of_a_repository_on_this_disk_are_joined(
    desk: Desk, clones: Clones, form: str
) -> None:
    work = desk.home / "work"
    git(work, "clone", "-q", "--bare", str(repository(work / "source", commits=3)), "shop.git")
    git(work, "clone", "-q", str(work / "shop.git"), "first")
    git(work, "clone", "-q", form.format(work / "shop.git"), "second")
    repositories.remember(desk, work / "first", "Of the first")
    repositories.remember(desk, work / "second", "Of the second")
    claim = repository(work / "unpacked")
    git(claim, "remote", "add", "origin", form.format(work / "shop.git"))
    repositories.remember(desk, claim, "Of an archive")
    clones.look()
    assert texts(desk, work / "first") == {"Of the first", "Of the second"}
    assert clones.joined == {str(work / "second"): "first"}
    assert texts(desk, claim) == {"Of an archive"}
    assert [one.root for one in clones.offers] == [str(claim)]


def test_a_join_can_be_taken_back_and_stays_taken_back(
    desk: Desk, clones: Clones, shop: pathlib.Path
) -> None:
    from recollect.core.projects import locate

    second = clone(shop, "second")
    repositories.remember(desk, second, "Of the second")
    clones.look()
    assert desk.namespace(str(second)) == desk.namespace(str(shop))
    assert clones.joined == {str(second): "shop"}
    desk.erasure.separate(locate(str(second)), desk.settings.actor_id)
    assert clones.joined == {}, "it is not told any more, before anybody looks again"
    clones.look()
    assert texts(desk, second) == {"Of the second"}
    assert texts(desk, shop) == {"The till rounds down"}
    assert clones.offers == []
    # and joined again when asked
    old, new = desk.namespace(str(second)), desk.namespace(str(shop))
    desk.erasure.join(old, new, desk.settings.actor_id)
    assert desk.namespace(str(second)) == new and len(texts(desk, shop)) == 2


def test_an_event_that_came_while_its_project_was_joined_is_brought_after(
    desk: Desk, clones: Clones, shop: pathlib.Path
) -> None:
    second = clone(shop, "second")
    repositories.remember(desk, second, "Early")
    old = desk.namespace(str(second))
    clones.look()
    repositories.remember(desk, second, "Late", namespace=old)
    clones.look({old})
    assert texts(desk, second) == {"The till rounds down", "Early", "Late"}


def _moved(shop: pathlib.Path) -> pathlib.Path:
    return shop.rename(shop.parent / "moved")


def _moved_without_remote(shop: pathlib.Path) -> pathlib.Path:
    git(shop, "remote", "remove", "origin")
    return _moved(shop)


def _copied(shop: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(shutil.copytree(shop, shop.parent / "copied", symlinks=True))


def _shallow_with_the_commit(shop: pathlib.Path) -> pathlib.Path:
    return clone(shop, "shallow", "--depth=1")


def _detached(shop: pathlib.Path) -> pathlib.Path:
    path = clone(shop, "detached")
    git(path, "checkout", "-q", "--detach", "HEAD~1")
    return path


@pytest.mark.parametrize("make", [_moved, _copied, _shallow_with_the_commit, _detached])
def test_what_holds_the_history_keeps_the_memory(
    desk: Desk, clones: Clones, shop: pathlib.Path, make: Callable[[pathlib.Path], pathlib.Path]
) -> None:
    path = make(shop)
    assert texts(desk, path) == set()
    clones.look()
    assert texts(desk, path) == {"The till rounds down"}


def test_a_project_without_a_remote_may_move_too(
    desk: Desk, clones: Clones, tmp_path: pathlib.Path
) -> None:
    path = repository(desk.home / "work" / "alone")
    repositories.remember(desk, path, "Kept")
    clones.look()
    copy = pathlib.Path(shutil.copytree(path, path.parent / "copy"))
    repositories.remember(desk, copy, "Of the copy")
    clones.look()
    assert texts(desk, copy) == {"Of the copy"}, "both are there: nobody moved"
    moved = _moved(path)
    repositories.remember(desk, moved, "Moved")
    clones.look()
    assert texts(desk, moved) == {"Kept", "Moved"}


def _shallow_without(shop: pathlib.Path) -> pathlib.Path:
    path = clone(shop, "shallow", "--depth=1")
    grow(shop, 20)
    return path


def _unpacked(shop: pathlib.Path) -> pathlib.Path:
    path = repository(shop.parent / "unpacked")
    git(path, "remote", "add", "origin", REMOTE)
    return path


def _shared(shop: pathlib.Path) -> pathlib.Path:
    path = shop.parent / "shared"
    git(shop.parent, "clone", "-q", "--shared", str(shop), "shared")
    git(path, "remote", "set-url", "origin", REMOTE)
    return path


def _of_the_template(shop: pathlib.Path) -> pathlib.Path:
    """Someone has what the project began with, and knows where it is kept."""
    path = clone(shop, "template")
    grow(shop, 20)
    grow(path, 3)
    return path


@pytest.mark.parametrize("make", [_shallow_without, _unpacked, _shared, _of_the_template])
def test_what_does_not_is_a_project_of_its_own_and_offered(
    desk: Desk, clones: Clones, shop: pathlib.Path, make: Callable[[pathlib.Path], pathlib.Path]
) -> None:
    path = make(shop)
    repositories.remember(desk, path, "Captured there")
    clones.look()
    assert texts(desk, path) == {"Captured there"}
    (offer,) = clones.offers
    assert (offer.root, offer.claims_root, offer.claims_name) == (str(path), str(shop), "shop")
    assert offer.why
    desk.erasure.join(desk.namespace(str(path)), desk.namespace(str(shop)), "ada")
    clones.look()
    assert clones.offers == []


def test_a_repository_of_another_user_is_not_believed(
    desk: Desk, clones: Clones, shop: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = clone(shop, "owned")
    repositories.remember(desk, path, "Captured there")
    monkeypatch.setattr(oslayer, "user_id", lambda: path.stat().st_uid + 1)
    clones.look()
    assert texts(desk, path) == {"Captured there"}
    assert clones.offers[0].why == "it belongs to another user"


def test_what_was_in_use_before_is_only_offered(
    desk: Desk, clones: Clones, shop: pathlib.Path
) -> None:
    second = clone(shop, "second")
    repositories.remember(desk, second, "Long before")
    desk.clock.advance(days=FIRST_USE.days, seconds=1)
    clones.look()
    assert texts(desk, second) == {"Long before"}
    assert clones.offers[0].why == "it was already used as a project of its own"


def test_a_new_work_tree_and_a_submodule_need_no_look(
    desk: Desk, clones: Clones, shop: pathlib.Path
) -> None:
    tree = shop.parent / "tree"
    git(shop, "worktree", "add", "-q", str(tree), "-b", "feature")
    assert texts(desk, tree) == {"The till rounds down"}
    library = repository(shop.parent / "library")
    git(shop, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "lib")
    repositories.remember(desk, shop / "lib", "Of the submodule")
    assert texts(desk, shop / "lib") == {"Of the submodule"}


def test_work_trees_of_a_bare_repository_that_moved_keep_their_memory(
    desk: Desk, clones: Clones, shop: pathlib.Path
) -> None:
    bare = shop.parent / "bare"
    git(shop.parent, "clone", "-q", "--bare", f"file://{shop}", "bare")
    git(bare, "remote", "remove", "origin")
    git(bare, "worktree", "add", "-q", str(shop.parent / "one"))
    repositories.remember(desk, shop.parent / "one", "Of the bare one")
    clones.look()
    moved = bare.rename(shop.parent / "bare2")
    git(moved, "worktree", "repair", str(shop.parent / "one"))
    repositories.remember(desk, shop.parent / "one", "After")
    clones.look()
    assert texts(desk, shop.parent / "one") == {"Of the bare one", "After"}


def test_the_way_of_a_hook_starts_no_git(
    desk: Desk, shop: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> object:
        raise AssertionError("git was started")

    monkeypatch.setattr(safe_git, "_started", refuse)
    second = clone(shop, "second")
    repositories.remember(desk, second, "Hello")
    assert texts(desk, second) == {"Hello"}


def test_no_shape_of_git_directory_opens_another_project(tmp_path: pathlib.Path) -> None:
    tries = len(repositories.SHAPES)
    report = repositories.false_claims(random.Random(20), tries, tmp_path)
    assert report.failures == [] and report.tries == tries
