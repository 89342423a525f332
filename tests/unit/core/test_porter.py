"""The stemmer against the examples of Porter's paper."""

import pytest

from recollect.core.text_words import stem

PAPER = [
    "caresses", "caress", "ponies", "poni", "ties", "ti", "caress", "caress", "cats", "cat",
    "feed", "feed", "agreed", "agre", "plastered", "plaster", "bled", "bled", "motoring", "motor",
    "sing", "sing", "conflated", "conflat", "troubled", "troubl", "sized", "size", "hopping",
    "hop", "tanned", "tan", "falling", "fall", "hissing", "hiss", "fizzed", "fizz", "failing",
    "fail", "filing", "file", "happy", "happi", "sky", "sky", "relational", "relat",
    "conditional", "condit", "rational", "ration", "valenci", "valenc", "digitizer", "digit",
    "conformabli", "conform", "radicalli", "radic", "differentli", "differ", "vileli", "vile",
    "analogousli", "analog", "vietnamization", "vietnam", "predication", "predic", "operator",
    "oper", "feudalism", "feudal", "decisiveness", "decis", "hopefulness", "hope", "callousness",
    "callous", "formaliti", "formal", "sensitiviti", "sensit", "sensibiliti", "sensibl",
    "triplicate", "triplic", "formative", "form", "formalize", "formal", "electriciti", "electr",
    "electrical", "electr", "hopeful", "hope", "goodness", "good", "revival", "reviv",
    "allowance", "allow", "inference", "infer", "airliner", "airlin", "gyroscopic", "gyroscop",
    "adjustable", "adjust", "defensible", "defens", "irritant", "irrit", "replacement", "replac",
    "adjustment", "adjust", "dependent", "depend", "adoption", "adopt", "homologou", "homolog",
    "communism", "commun", "activate", "activ", "angulariti", "angular", "homologous", "homolog",
    "effective", "effect", "bowdlerize", "bowdler", "probate", "probat", "rate", "rate", "cease",
    "ceas", "controll", "control", "roll", "roll", "yield", "yield", "syzygy", "syzygi",
    "generalizations", "gener", "oscillators", "oscil", "migrations", "migrat", "migrate",
    "migrat", "migrated", "migrat",
]  # fmt: skip


@pytest.mark.parametrize(("word", "expected"), list(zip(PAPER[::2], PAPER[1::2], strict=True)))
def test_stem_follows_the_paper(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize("word", ["", "a", "be", "v1.2.3", "naïve", "日本", "x86", "y"])
def test_stem_leaves_alone_what_is_no_english_word(word: str) -> None:
    assert stem(word) == word
