"""Our word pieces are those of the package `tokenizers`, which the model was published with."""

import os
import pathlib
import random
import unicodedata

import pytest
from tokenizers import Tokenizer

from recollect.embedding import weights
from recollect.embedding.wordpiece import MOST_KNOWN, WordPieces

ROOT = pathlib.Path(__file__).resolve().parents[3]
FILE = pathlib.Path(weights.directory(os.environ["RECOLLECT_MODEL_DIR"])) / "tokenizer.json"
MOST = 256
MARKS = [
    "[SEP]",
    "[CLS]",
    "[MASK]",
    "[UNK]",
    "[PAD]",
    "[sep]",
    "Σ",
    "ς",
    "ﬁ",
    "İ",
    "ß",
    "é",
    "가",
    "日本",
    "\u200d",
    "〮",
]


@pytest.fixture(scope="module")
def theirs() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(FILE))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST)
    return tokenizer


@pytest.fixture
def ours() -> WordPieces:
    return WordPieces(FILE.read_bytes())


def files_of_the_project() -> list[str]:
    texts = []
    for pattern in ("recollect/**/*.py", "recollect/**/*.js", "docs/**/*.md", "tests/data/**/*"):
        for path in sorted(ROOT.glob(pattern)):
            whole = path.read_text("utf-8", "replace") if path.is_file() else ""
            texts += [whole[at : at + 1500] for at in range(0, len(whole), 4000)]
    return texts


def later_than_the_package(char: str, theirs: Tokenizer, ours: WordPieces) -> bool:
    return theirs.encode(f"a{char}b").ids != ours.ids(f"a{char}b", MOST)


def test_the_texts_of_the_project_give_the_same_numbers(
    theirs: Tokenizer, ours: WordPieces
) -> None:
    texts = files_of_the_project()
    assert len(texts) > 800
    for text in texts:
        assert ours.ids(text, MOST) == theirs.encode(text).ids, text[:100]


def test_any_characters_give_the_same_numbers(theirs: Tokenizer, ours: WordPieces) -> None:
    chance = random.Random(19)
    any_char = [chr(code) for code in range(1, 0x30000) if not 0xD800 <= code < 0xE000]
    later: set[str] = set()
    for _ in range(3000):
        chosen = [
            chance.choice(any_char if chance.random() < 0.3 else MARKS)
            + chance.choice(("", " ", "Words", "x" * chance.choice((99, 100, 101))))
            for _ in range(chance.randrange(40))
        ]
        text = "".join(chosen)
        if ours.ids(text, MOST) != theirs.encode(text).ids:
            new = {char for char in text if later_than_the_package(char, theirs, ours)}
            assert new, ascii(text)
            later |= new
    # Marks and signs of writing systems that were added to Unicode after the package's tables.
    assert {unicodedata.category(char)[0] for char in later} <= {"M", "P", "C", "S"}


def test_a_text_is_cut_at_the_limit_with_both_marks(ours: WordPieces) -> None:
    assert ours.ids("", MOST) == [101, 102]
    assert ours.ids("word " * 1000, 5) == [101, 2773, 2773, 2773, 102]
    assert ours.ids("[SEP]" * 1000, 4) == [101, 102, 102, 102]


def test_what_is_remembered_of_words_is_bounded(ours: WordPieces) -> None:
    for number in range(0, 3 * MOST_KNOWN, 200):
        ours.ids(" ".join(f"w{one}" for one in range(number, number + 200)), 10_000)
    assert len(ours._known) <= MOST_KNOWN


def test_a_file_of_another_form_is_refused() -> None:
    with pytest.raises((KeyError, ValueError)):
        WordPieces(b'{"model": {}}')
