"""Text becomes the numbers of word pieces that the model was trained on (BERT's, uncased).

In: the model's tokenizer.json, texts. Out: for each text at most a given count of numbers, between
the marks of beginning and end: the numbers that the package `tokenizers` gives, but for some 500
characters of Unicode 9 and later (docs/decisions/dependencies.md). ValueError or KeyError when the
file is of another form.
"""

import re
import unicodedata

import msgspec

LONGEST_WORD = 100  # a longer one is unknown as a whole
MOST_KNOWN = 20_000  # words whose pieces are remembered
_LONGEST_PIECE = 18

# Each is a word of its own. The fifth range should begin at 2B820; the model was trained with this.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class _Cleaned(dict[int, str]):
    """What a character becomes before accents are taken off; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char in "\t\n\r" or unicodedata.category(char).startswith("Z"):
            found = " "
        elif code == 0xFFFD or unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs"):
            found = ""
        elif any(first <= code <= last for first, last in _IDEOGRAPHS):
            found = f" {char} "
        else:
            found = char
        self[code] = found
        return found


class _Separated(dict[int, str]):
    """What a character becomes after that: small, with punctuation apart from words."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if category == "Mn":
            found = ""
        elif category.startswith("P") or (code < 128 and category.startswith("S")):
            found = f" {char} "
        else:
            found = char.lower()
        self[code] = found
        return found


class WordPieces:
    """The vocabulary, and the pieces of the words that were seen lately."""

    def __init__(self, tokenizer_json: bytes) -> None:
        file = msgspec.json.decode(tokenizer_json)
        self.vocabulary: dict[str, int] = file["model"]["vocab"]
        marks = {one["content"]: one["id"] for one in file["added_tokens"]}
        self._marks = marks
        self._first, self._last, self._unknown = marks["[CLS]"], marks["[SEP]"], marks["[UNK]"]
        self._split = re.compile("(" + "|".join(map(re.escape, marks)) + ")").split
        self._known: dict[str, tuple[int, ...]] = {}
        self._cleaned = _Cleaned()
        self._separated = _Separated()

    def ids(self, text: str, most: int) -> list[int]:
        found = [self._first]
        for at, part in enumerate(self._split(text)):
            if at % 2:  # a mark of the model, written out in the text
                found.append(self._marks[part])
            else:
                clean = part.translate(self._cleaned)
                if not clean.isascii():
                    clean = unicodedata.normalize("NFD", clean)
                for word in clean.translate(self._separated).split():
                    found += self._known.get(word) or self._pieces(word)
                    if len(found) >= most:
                        break
            if len(found) >= most:
                break
        del found[most - 1 :]
        found.append(self._last)
        return found

    def _pieces(self, word: str) -> tuple[int, ...]:
        """The longest piece that fits at each place; when none does, the word is unknown."""
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        found: list[int] = []
        start, end = 0, len(word)
        while start < end <= LONGEST_WORD:
            prefix = "##" if start else ""
            for stop in range(min(end, start + _LONGEST_PIECE), start, -1):
                number = self.vocabulary.get(prefix + word[start:stop])
                if number is not None:
                    found.append(number)
                    start = stop
                    break
            else:
                break
        pieces = tuple(found) if start == end else (self._unknown,)
        self._known[word] = pieces
        return pieces
