import pytest

from recollect.core import ids


def test_a_ulid_tells_its_time_and_sorts_by_it() -> None:
    early, late = ids.new_ulid(1_700_000_000_000), ids.new_ulid(1_700_000_000_001)
    assert ids.ulid_ms(early) == 1_700_000_000_000
    assert early < late


def test_ids_derived_from_one_frame_are_stable_distinct_and_of_its_time() -> None:
    frame = ids.new_ulid()
    derived = [ids.derive_ulid(frame, index) for index in range(50)]
    assert derived == [ids.derive_ulid(frame, index) for index in range(50)]
    assert derived[0] == frame
    assert len(set(derived)) == 50
    assert {ids.ulid_ms(one) for one in derived} == {ids.ulid_ms(frame)}


@pytest.mark.parametrize(
    "text",
    ["", "8" + "0" * 25, "0" * 25, "0" * 27, "0" * 25 + "I", "0" * 25 + "u", "0" * 25 + "\n"],
)
def test_what_is_no_ulid_is_refused(text: str) -> None:
    assert not ids.is_ulid(text)
    with pytest.raises(ValueError, match="not a ULID"):
        ids.parse(text)


def test_a_fresh_id_is_a_ulid_with_its_prefix() -> None:
    fresh = ids.new_id(ids.RECORD)
    assert fresh.startswith("mr_")
    assert ids.is_ulid(fresh.removeprefix("mr_"))
