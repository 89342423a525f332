"""Laws of the scrubber, on generated texts. Every failure names its seed.

The bulk of the cases comes from a seeded generator, which makes thousands per second; hypothesis
looks for the odd ones, and shrinks what it finds.
"""

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.privacy import scrub, scrub_raw, scrub_tree
from recollect.privacy.private_tags import scrub_text
from tests.privacy_samples import redact_text, shapes

CANARY = "cAnArY-7f3d"
FILL = ["", " ", "text", "a < b", "\n", '"', "'", "\\", "&amp;", "x > y", "é", "\u200b", "/", ">"]
SPACE = ["", "", "", " ", "\n", "\t ", "\u200b"]
ATTRIBUTES = [
    *("", "", "", ' a="1"', " a='>'", ' why="</private>"', " x=1 y", '\na\n=\n"<b>"', " =", " /"),
]


def _form(rng: random.Random, tag: str) -> str:
    """The tag as another writer or serializer would write it."""
    form = rng.randrange(9)
    if form == 1:
        return tag.upper()
    if form == 2:
        return json.dumps(tag)[1:-1].replace("<", "\\u003c").replace(">", "\\u003e")
    if form == 3:
        return tag.replace("<", "&lt;").replace(">", "&gt;")
    if form == 4:
        return tag.replace("<", "&#60;").replace(">", "&#x3E;")
    if form == 5:
        return tag.replace("<", "＜").replace(">", "＞")
    if form == 6:
        place = rng.randint(tag.index("p") + 1, tag.index("p") + 6)
        return tag[:place] + rng.choice("\u200b\u200d\ufeff\u00ad") + tag[place:]
    if form == 7:
        return tag.replace("/", "\\/")
    return tag


def _opener(rng: random.Random) -> str:
    return _form(rng, f"<private{rng.choice(ATTRIBUTES)}{rng.choice(SPACE)}>")


def _closer(rng: random.Random) -> str:
    space = rng.choice(SPACE)
    return _form(rng, f"<{space}/{rng.choice(SPACE)}private{rng.choice(SPACE)}>")


def _inside(rng: random.Random, depth: int = 0) -> str:
    """Content of a span: canaries, filling, whole spans."""
    parts: list[str] = []
    for _ in range(rng.randint(1, 3)):
        parts += rng.choice(FILL), CANARY
        if depth < 3 and rng.random() < 0.3:
            parts += _opener(rng), _inside(rng, depth + 1), _closer(rng)
    return "".join(parts)


def _private_text(rng: random.Random, late: bool = True) -> str:
    """Canaries only where the law says that they go; `late` texts may begin inside a span."""
    parts: list[str] = []
    if late and rng.random() < 0.2:
        parts += _inside(rng), _closer(rng)  # the end of a span that began in an earlier text
    for _ in range(rng.randint(0, 3)):
        parts += rng.choice(FILL), _opener(rng), _inside(rng), _closer(rng), rng.choice(FILL)
    if not parts or rng.random() < 0.3:
        parts += rng.choice(FILL), _opener(rng), _inside(rng)  # never closed
    return "".join(parts)


def test_a_canary_in_any_private_shape_never_survives_and_twice_is_once() -> None:
    for seed in range(14_000):
        text = _private_text(random.Random(seed))
        clean, count = scrub_text(text)
        assert CANARY not in clean, f"seed {seed}: {text!r} -> {clean!r}"
        assert count > 0, f"seed {seed}"
        assert scrub_text(clean) == (clean, 0), f"seed {seed}: {text!r} -> {clean!r}"


def test_a_canary_never_survives_in_a_payload_and_json_stays_json() -> None:
    for seed in range(4_000):
        rng = random.Random(seed)
        tree = {
            "keep": "seen",
            rng.choice(["k", "prompt", _private_text(rng)]): [_private_text(rng), {"n": 1.5}],
            "nested": json.dumps({"inner": _private_text(rng)}),
        }
        payload = json.dumps(tree, ensure_ascii=rng.random() < 0.5).encode()
        clean = scrub_raw(payload)
        assert CANARY.encode() not in clean, f"seed {seed}: {payload!r} -> {clean!r}"
        assert json.loads(clean)["keep"] == "seen", f"seed {seed}"
        assert scrub_raw(clean) == clean, f"seed {seed}: {payload!r} -> {clean!r}"
        assert CANARY not in repr(scrub_tree(tree)), f"seed {seed}"
        whole = json.dumps({"a": _private_text(rng, late=False), "b": "x"}).encode()
        half = whole[: rng.randrange(len(whole))]
        assert CANARY.encode() not in scrub_raw(half), f"seed {seed}: {half!r}"


GLUE = [
    *(" ", "\n", "=", ": ", '"', "'", ",", "password=", '"token": "', "api_key: ", "://u:", "@h/"),
    *("\\n", '\\"', "Bearer ", "Basic ", "--secret ", "<private>", "</private>", "[REDACTED]", "&"),
    *("[REDACTED:jwt]", "curl -u a:", "key", "_", "-", "hunter2x", "<password>", "\ud800", "İ"),
    *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "<private:", "%3D", "value="),
    *("(", ")", "{", "}", " password is ", "password ", "token to ", "&x7!", "token for a: "),
]


def test_scrubbing_twice_is_scrubbing_once_for_any_mixture() -> None:
    pool: list[str] = []
    for seed in range(4_000):
        rng = random.Random(seed)
        if seed % 500 == 0:
            pool = [secret for _, secret, _ in shapes(rng)]
        text = "".join(
            rng.choice(pool) if rng.random() < 0.15 else rng.choice(GLUE)
            for _ in range(rng.randint(2, 25))
        )
        once = scrub(text)
        removed: dict[str, int] = {}
        assert scrub(once, removed=removed) == once, f"seed {seed}: {text!r} -> {once!r}"
        assert not removed, f"seed {seed}: {text!r}"


def test_json_stays_json_when_its_raw_text_is_redacted() -> None:
    pool: list[str] = []
    for seed in range(1_500):
        rng = random.Random(seed)
        if seed % 250 == 0:
            pool = [secret for _, secret, _ in shapes(rng)]
        inner = "".join(rng.choice(pool + GLUE * 3) for _ in range(rng.randint(1, 12)))
        document = json.dumps({"password": inner, "b": [inner, json.dumps({"token": inner})]})
        clean, _ = redact_text(document)
        json.loads(clean)  # raises with the document in its message; the seed is in the frame
        json.loads(scrub_raw(document.encode("utf-8", "replace")))


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(), max_size=80))
def test_no_text_raises_and_twice_is_once(text: str) -> None:
    once = scrub(text)
    assert scrub(once) == once


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=80))
def test_no_bytes_raise_and_twice_is_once(data: bytes) -> None:
    once = scrub_raw(data)
    assert scrub_raw(once) == once


_TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda leaf: (
        st.lists(leaf, max_size=3) | st.dictionaries(st.text(max_size=8), leaf, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(_TREES, st.text(max_size=10), st.text(max_size=10))
def test_no_tree_lets_a_canary_through(tree: object, before: str, after: str) -> None:
    text = f"{before}<private>{CANARY}</private>{after}"
    clean = scrub_tree({"a": tree, text: [text, {"b": (text, tree)}]})
    assert CANARY not in repr(clean)
