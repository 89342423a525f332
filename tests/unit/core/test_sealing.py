"""What is sealed comes back whole to the one who holds the key, and to nobody else."""

import os

import pytest

from recollect.core import sealing

LABEL = bytes(range(16))


def sealed(data: bytes, private: bytes, context: bytes = b"") -> bytes:
    return b"".join(sealing.seal(sealing.public_key(private), LABEL, [data], context))


def test_the_curve_is_the_one_of_the_standard() -> None:
    # RFC 7748, section 5.2 and 6.1
    scalar = bytes.fromhex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4")
    point = bytes.fromhex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c")
    expected = "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
    assert sealing.x25519(scalar, point).hex() == expected
    bob = bytes.fromhex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    assert sealing.public_key(bob).hex() == (
        "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
    )
    alice = os.urandom(32)
    shared = sealing.x25519(alice, sealing.public_key(bob))
    assert shared == sealing.x25519(bob, sealing.public_key(alice))


def test_the_curve_agrees_with_the_standard_after_a_thousand_rounds() -> None:
    k = u = bytes((9,)) + bytes(31)
    for _ in range(1000):
        k, u = sealing.x25519(k, u), k
    assert k.hex() == "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51"


@pytest.mark.parametrize("size", [0, 1, 31, 1000, sealing.PIECE_BYTES, 3 * sealing.PIECE_BYTES + 7])
def test_what_was_sealed_is_given_back(size: int) -> None:
    private, data = os.urandom(32), os.urandom(size)
    text = sealed(data, private)
    assert sealing.label_of(text) == LABEL
    assert size < 31 or data[:31] not in text
    assert sealing.unseal(private, text) == data


def test_a_long_text_is_opened_as_it_is_read() -> None:
    private, data = os.urandom(32), os.urandom(700_000)
    text = sealed(data, private)
    opening = sealing.Unsealer(private, text[:100])
    found = b"".join(opening.feed(text[at : at + 999]) for at in range(100, len(text), 999))
    opening.close()
    assert found == data


def test_the_same_text_is_never_sealed_the_same_way() -> None:
    private = os.urandom(32)
    assert sealed(b"again", private) != sealed(b"again", private)


def test_another_key_opens_nothing() -> None:
    with pytest.raises(sealing.NotSealed):
        sealing.unseal(os.urandom(32), sealed(b"for the owner", os.urandom(32)))


def test_every_changed_byte_is_noticed() -> None:
    private = os.urandom(32)
    text = sealed(b"a short text", private, b"context")
    for at in range(len(text)):
        changed = bytearray(text)
        changed[at] ^= 1
        with pytest.raises(sealing.NotSealed):
            sealing.unseal(private, bytes(changed), b"context")
    with pytest.raises(sealing.NotSealed):
        sealing.unseal(private, text, b"another context")


def test_a_text_that_was_cut_off_or_added_to_is_refused() -> None:
    private = os.urandom(32)
    text = sealed(b"x" * 600_000, private)
    whole_pieces = sealing.PREFIX_BYTES + 37 + sealing.PIECE_BYTES
    for cut in (sealing.PREFIX_BYTES, whole_pieces, len(text) - 37, len(text) - 1):
        with pytest.raises(sealing.NotSealed):
            sealing.unseal(private, text[:cut])
    with pytest.raises(sealing.NotSealed):
        sealing.unseal(private, text + text[sealing.PREFIX_BYTES :])
