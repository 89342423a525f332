"""Laws of the JSON editor: an edit changes what it says and nothing else, and can be taken back."""

import json
import re
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from recollect.core.errors import BadInput
from recollect.hosts.json_edit import BOM, JsonDocument, Path

# No "explain" phase: it traces every line and costs minutes when something fails.
settings.register_profile(
    "jsonedit", max_examples=120, deadline=None, phases=set(Phase) - {Phase.explain}
)
LAW = settings.get_profile("jsonedit")
KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
SPACE = st.sampled_from(["", "", " ", "\n", "\n  ", "\r\n\t", "\n\n    ", "\t", "\r"])
COMMENT = st.sampled_from(
    ["", "", "", "/* c */", "// d, }\n", '/* " ] \n */', "// e\r\n", "// f \r"]
)


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """The value as JSONC in some handwriting."""

    def trivia() -> str:
        return draw(SPACE) + draw(COMMENT) + draw(SPACE)

    def write(entry: Any) -> str:
        if isinstance(entry, dict):
            parts = [
                f"{trivia()}{json.dumps(key)}{trivia()}:{trivia()}{write(inner)}{trivia()}"
                for key, inner in entry.items()
            ]
            return "{" + closed(parts) + "}"
        if isinstance(entry, list):
            return "[" + closed([trivia() + write(inner) + trivia() for inner in entry]) + "]"
        return json.dumps(entry, ensure_ascii=draw(st.booleans()))

    def closed(parts: list[str]) -> str:
        if not parts:
            return draw(st.sampled_from(["", " /* only */ ", "// only\n", "\n  // a\n  // b\n"]))
        tail = "," + trivia() if draw(st.booleans()) else ""
        return ",".join(parts) + tail

    return draw(st.sampled_from(["", BOM])) + trivia() + write(value) + trivia()


OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, str]:
    value = draw(OBJECTS)
    return value, draw(written(value))


def containers(value: Any, path: Path = ()) -> list[tuple[Path, Any]]:
    found: list[tuple[Path, Any]] = []
    if isinstance(value, dict | list):
        found.append((path, value))
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        for step, inner in steps:
            found += containers(inner, (*path, step))
    return found


@LAW
@given(documents())
def test_parsing_reads_what_was_written(document: tuple[Any, str]) -> None:
    value, text = document
    assert JsonDocument(text, "f").plain() == value
    assert JsonDocument.read(text.encode(), "f").raw == text.encode()


@LAW
@given(documents(), VALUES, KEYS, st.data())
def test_an_insert_adds_itself_only_and_its_removal_restores_every_byte(
    document: tuple[Any, str], new: Any, key: str, data: st.DataObject
) -> None:
    value, text = document
    path, holder = data.draw(st.sampled_from(containers(value)))
    before = JsonDocument(text, "f")
    if isinstance(holder, list):
        after = before.append(path, new)
        place: Path = (*path, len(holder))
        holder.append(new)
    else:
        if key in holder:
            return
        after = before.set((*path, key), new)
        place = (*path, key)
        holder[key] = new
    assert after.plain() == value
    assert after.get(place) == new
    assert after.remove(place).text == text
    if isinstance(holder, dict):
        assert after.set(place, new).text == after.text


@LAW
@given(documents(), VALUES, st.data())
def test_a_replacement_keeps_all_other_bytes(
    document: tuple[Any, str], new: Any, data: st.DataObject
) -> None:
    value, text = document
    places = [(path, holder) for path, holder in containers(value) if holder]
    if not places:
        return
    path, holder = data.draw(st.sampled_from(places))
    steps = list(holder) if isinstance(holder, dict) else range(len(holder))
    step = data.draw(st.sampled_from(steps))
    node = JsonDocument(text, "f")._find((*path, step))
    after = JsonDocument(text, "f").set((*path, step), new)
    holder[step] = new
    assert node is not None
    assert after.plain() == value
    assert after.text.startswith(text[: node.start])
    assert after.text.endswith(text[node.end :])


@LAW
@given(documents(), st.data())
def test_a_removal_takes_one_thing_and_keeps_every_comment(
    document: tuple[Any, str], data: st.DataObject
) -> None:
    value, text = document
    places = [(path, holder) for path, holder in containers(value) if holder]
    if not places:
        return
    path, holder = data.draw(st.sampled_from(places))
    steps = list(holder) if isinstance(holder, dict) else range(len(holder))
    step = data.draw(st.sampled_from(steps))
    after = JsonDocument(text, "f").remove((*path, step))
    del holder[step]
    assert after.plain() == value


@LAW
@given(st.text() | st.text(alphabet='{}[]",:/* \n\r1atrue\\', max_size=40))
def test_any_text_is_read_or_refused_with_its_line(text: str) -> None:
    try:
        document = JsonDocument.read(text.encode("utf-8", "surrogatepass"), "the-file")
        document.set(("a", "b"), 1)
    except BadInput as error:
        assert re.search(r"the-file", str(error))


@LAW
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:
    try:
        JsonDocument.read(raw, "the-file")
    except BadInput as error:
        assert "the-file" in str(error)
