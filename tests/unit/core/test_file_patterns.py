"""Patterns of paths: what they match, what they refuse, what they may cost."""

import os
import pathlib
import time

import pytest

from recollect.core import keepout_rules


@pytest.mark.parametrize(
    ("given", "base", "path", "fits"),
    [
        ("*.pem", "", "/work/a/b/key.pem", True),
        ("*.pem", "", "/work/a/key.pem.txt", False),
        (".env", "", "/work/.env", True),
        (".env", "", "/work/.envrc", False),
        (".env*", "", "/work/x/.env.local", True),
        ("secrets/", "", "/work/secrets/deep/a.txt", True),
        ("secrets", "", "/work/notsecrets/a.txt", False),
        ("conf/prod", "", "/work/x/conf/prod/a", True),
        ("conf/prod", "", "/work/conf/x/prod/a", False),
        ("conf/**/prod", "", "/work/conf/x/y/prod/a", True),
        ("/srv/data", "", "/srv/data/x", True),
        ("/srv/data", "", "/home/srv/data/x", False),
        ("/data", "/work/shop", "/work/shop/data/x.csv", True),
        ("/data", "/work/shop", "/work/shop/api/data/x.csv", False),
        ("data/*.csv", "/work/shop", "/work/shop/data/x.csv", True),
        ("data/*.csv", "/work/shop", "/work/shop/data/deep/x.csv", False),
        ("data/**", "/work/shop", "/work/shop/data/deep/x.csv", True),
        ("*.csv", "/work/shop", "/work/shop2/x.csv", False),
        ("[st]ecret?", "/w", "/w/a/secrets/b", True),
        ("**", "/w", "/w/a", True),
        ("[abc]x", "", "/w/bx", True),
    ],
)
def test_patterns_are_those_of_gitignore(given: str, base: str, path: str, fits: bool) -> None:
    assert keepout_rules.file_pattern(given, base).matches(path) is fits


@pytest.mark.parametrize(
    "given", ["", "/", "!keep", "a" * 300, "../x", "a/" * 30, "a\0b", "*" * 20]
)
def test_what_is_no_pattern_is_refused(given: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        keepout_rules.file_pattern(given)


def test_a_repository_cannot_hold_anybody_up_with_its_patterns() -> None:
    """Growth, not time: ten times the text may cost little more, because work is bounded."""

    def cost(size: int) -> float:
        files = [keepout_rules.file_pattern("**/" + "*[a-y]" * 4 + "[z]", "/w") for _ in range(200)]
        text = " ".join("/".join("a" * 20 for _ in range(30)) + str(n) for n in range(size))
        began = time.process_time()
        assert keepout_rules.matching_file_pattern(files, "/w", {"output": text})
        return time.process_time() - began

    small = max(cost(200), 0.01)
    assert cost(20_000) < 20 * small


@pytest.mark.parametrize(
    ("tree", "found"),
    [
        ({"command": "cat secrets/prod.env"}, True),
        ({"command": 'cat "secrets/prod.env"'}, True),
        ({"files": ["/work/shop/secrets/prod.env"]}, True),
        ({"input": {"file_path": "./x/../secrets/prod.env"}}, True),
        ({"output": "diff --git a/secrets/prod.env b/secrets/prod.env\n+KEY=1"}, True),
        ({"output": "secrets/prod.env:3:KEY=1"}, True),
        ({"output": ["deep", {"nested": "see /work/shop/secrets/prod.env."}]}, True),
        ({"command": "cat keys/bx.key"}, True),
        ({"command": "type Secrets\\x & cat SECRETS/prod.env"}, True),
        ({"command": "cat keys/BX.KEY"}, True),
        ({"command": "cat README.md", "output": "no secret here"}, False),
        ({"command": "cat other/secrets.txt"}, False),
    ],
)
def test_a_call_that_names_a_file_anywhere_touches_it(tree: object, found: bool) -> None:
    files = [keepout_rules.file_pattern(one, "/work/shop") for one in ("secrets/", "[abc]x.*")]
    assert bool(keepout_rules.matching_file_pattern(files, "/work/shop", tree)) is found


def test_a_link_to_a_file_is_that_file(tmp_path: pathlib.Path) -> None:
    root = pathlib.Path(os.path.realpath(tmp_path))
    (root / "secrets").mkdir()
    (root / "secrets" / "a").touch()
    (root / "link").symlink_to("secrets/a")
    files = [keepout_rules.file_pattern("/secrets", str(root))]
    assert not keepout_rules.matching_file_pattern(files, str(root), {"command": "cat other"})
    # The name says nothing of it; it must be looked at all the same when the pattern may be near.
    assert keepout_rules._first(files, str(root), "link") == "/secrets"
