"""Scrubs a raw payload before it is parsed.

In: bytes: JSON, several JSON documents, half of one, or anything else. Out: bytes of the same sort.
What can go wrong: broken JSON or UTF-8. In JSON each string is scrubbed by itself and everything
else is kept byte for byte; anything else is scrubbed as one text, which can only hide more.
"""

from collections.abc import Callable

from recollect.privacy.patterns import pattern

Clean = Callable[[str, str], str]


_STRING = r'"((?:[^"\\]++|\\[\s\S])*+)("?)'
# What JSON has outside its strings: brackets, commas, colons, numbers and three words.
_BETWEEN = r"(?:[\s{}\[\],:]++|-?[0-9][0-9.eE+-]*+|true|false|null|NaN|-?Infinity)*+\Z"


def clean_raw(data: bytes, clean: Clean) -> bytes:
    """The payload with its texts cleaned, in the encoding it came in."""
    encoding = _encoding(data)
    text = data.decode(encoding, "surrogateescape" if encoding == "utf-8" else "replace")
    cleaned = _clean_json(text, clean)
    if cleaned is None:
        cleaned = clean(text, "")
    if cleaned == text:
        return data
    return cleaned.encode(encoding, "surrogateescape" if encoding == "utf-8" else "replace")


def _encoding(data: bytes) -> str:
    """UTF-8 unless the first bytes say otherwise: a Windows shell may pipe UTF-16."""
    if b"\0" not in data or b"priv" in data.lower():
        return "utf-8"  # in UTF-16 each of these letters has a zero beside it
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    if len(data) >= 4 and data[1] == 0 and data[3] == 0 and data[0] and data[2]:
        return "utf-16-le"
    if len(data) >= 4 and data[0] == 0 and data[2] == 0 and data[1] and data[3]:
        return "utf-16-be"
    return "utf-8"


def _clean_json(text: str, clean: Clean) -> str | None:
    parts: list[str] = []
    end = 0
    names: list[str] = [""]  # of the open brackets, innermost last
    name = ""
    for found in pattern(_STRING).finditer(text):
        between = text[end : found.start()]
        if not pattern(_BETWEEN).match(between):
            return None
        parts.append(between)
        for char in between:
            if char in "[{":
                names.append(name)
            elif char in "]}":
                name = names.pop() if len(names) > 1 else ""
            elif char == ",":
                name = names[-1]
        body = found[1]
        is_key = text[found.end() : found.end() + 40].lstrip()[:1] == ":"
        plain = _unescape(body)
        cleaned = clean(plain, "" if is_key else name)
        if cleaned != plain:
            body = _escape(cleaned)
        parts += '"', body, found[2]
        if is_key:
            name = plain
        end = found.end()
    rest = text[end:]
    if not parts or not pattern(_BETWEEN).match(rest):
        return None
    parts.append(rest)
    return "".join(parts)


def _unescape(body: str) -> str:
    if "\\" not in body:
        return body
    from json import JSONDecodeError, loads

    try:
        return str(loads(f'"{body}"', strict=False))
    except JSONDecodeError:
        return body


def _escape(text: str) -> str:
    """As JSON writes it; lone surrogates, which UTF-8 cannot carry, as escapes."""
    from json.encoder import encode_basestring, encode_basestring_ascii

    try:
        text.encode()
    except UnicodeEncodeError:
        return encode_basestring_ascii(text)[1:-1]
    return str(encode_basestring(text))[1:-1]
