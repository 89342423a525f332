"""Vectors in little memory."""

import numpy as np
from numpy.typing import NDArray

from recollect.retrieve.arrays import VectorIndex


def unit(count: int, seed: int = 1) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(count, 384)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def test_cosines_are_within_half_a_percent_of_exact() -> None:
    rows = unit(500)
    vectors = VectorIndex()
    vectors.add([row[None] for row in rows])
    near = vectors.cosines(np.arange(500), rows[3])
    assert np.abs(near - rows @ rows[3]).max() < 0.005


def test_best_part_counts_and_none_is_nan() -> None:
    rows = unit(3)
    vectors = VectorIndex()
    vectors.add([rows[:2], None, rows[2:]])
    near = vectors.cosines(np.arange(3), rows[1])
    assert near[0] > 0.99
    assert np.isnan(near[1])
    vectors.remove(0)
    assert vectors.count == 1


def test_rows_that_are_no_vectors_are_left_out() -> None:
    rows = unit(3)
    rows[0] = 0
    rows[1] = np.nan
    vectors = VectorIndex()
    vectors.add([rows])
    assert vectors.count == 1


def test_sign_bits_offer_the_nearest() -> None:
    rows = unit(5000)
    asked = rows[:50] + 0.03 * np.random.default_rng(2).normal(size=(50, 384)).astype(np.float32)
    vectors = VectorIndex()
    vectors.add([row[None] for row in rows])
    for number, query in enumerate(asked):
        offered = vectors.nearest(query, 100)
        assert number in offered
        assert 100 <= len(offered) < 300
