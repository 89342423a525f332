"""What a session's summary and its checkpoint tell."""

from recollect.core.values import Checkpoint
from recollect.extract.rules.summary import next_steps
from recollect.store.sqlite import SqliteStore
from tests.unit.extract.session import Told, extract, records


def summary(store: SqliteStore, told: Told) -> str:
    (found,) = records(extract(store, told), kind="summary")
    return found.summary


def mended() -> Told:
    told = Told().ask("the invoice total is wrong for vouchers")
    told.run("go test ./invoice", "FAIL: want 90, got 100", failed=True).edit("invoice/total.go")
    told.run("go test ./invoice", "ok")
    return told.answer(
        "The cause was the rounding in `total.go`: vouchers were applied after tax. "
        "Moved the voucher before the tax. Next: add a test for two vouchers."
    )


def test_a_mended_error_is_learned_and_its_mending_is_done(store: SqliteStore) -> None:
    text = summary(store, mended())
    assert "Completed: Moved the voucher before the tax." in text
    assert "Learned: The cause was the rounding in total.go" in text


def test_an_error_whose_mending_nobody_told_is_fixed(store: SqliteStore) -> None:
    told = Told().ask("the login page crashes on Safari").edit("web/login.ts")
    told.answer("The root cause was a lookbehind in the regex of `login.ts`.")
    assert "Completed: Fixed: the login page crashes on Safari." in summary(store, told)


def test_a_next_step_said_in_passing_is_one(store: SqliteStore) -> None:
    assert "Next: add a test for two vouchers" in summary(store, mended())


def test_a_next_step_lasts_until_it_is_asked_for(store: SqliteStore) -> None:
    told = mended().ask("rename Total to Sum in invoice/total.go").edit("invoice/total.go")
    told.answer("Renamed `Total` to `Sum` in `invoice/total.go`.")
    assert "Next: add a test for two vouchers" in summary(store, told)
    told.ask("now add the test for two vouchers").edit("invoice/total_test.go")
    told.answer("Added `TestTwoVouchers` in `invoice/total_test.go`.")
    assert "Next:" not in summary(store, told)


def test_next_steps_are_heard_in_many_forms() -> None:
    assert next_steps("The parser is done. The next step is to drop the table.") == [
        "drop the table."
    ]
    assert next_steps("It works. Still to do: the docs.") == ["the docs."]
    assert next_steps("What remains is the French text.") == ["the French text."]
    assert next_steps("Next, I looked at the log. The next page is empty.") == []


def test_a_request_is_not_told_as_its_result(store: SqliteStore) -> None:
    told = Told().ask("We need to choose a queue library").edit("src/queue.ts")
    told.answer("Compared three of them in `src/queue.ts`.")
    assert "Completed: We need" not in summary(store, told)


def test_a_question_ends_as_it_was_asked(store: SqliteStore) -> None:
    told = Told().ask("why is the page of the cart so slow?")
    text = summary(store, told.answer("The cause is the missing index on `cart_items.user_id`."))
    assert "so slow? Learned:" in text


def checkpoint(store: SqliteStore, told: Told) -> Checkpoint:
    return extract(store, told).checkpoints[-1]


def test_progress_keeps_the_first_step(store: SqliteStore) -> None:
    told = Told().ask("move the importer to streams").edit("imp/read.py")
    told.answer("Step 1: split the reader in `imp/read.py`. Step 2: removed the buffer.")
    found = checkpoint(store, told.signal("session-end"))
    assert "split the reader" in found.progress and "removed the buffer" in found.progress


def test_progress_remembers_the_turns_before(store: SqliteStore) -> None:
    told = mended().ask("rename Total to Sum in invoice/total.go").edit("invoice/total.go")
    told.answer("Renamed `Total` to `Sum` in `invoice/total.go`.")
    found = checkpoint(store, told)
    assert found.progress.startswith("Before: Moved the voucher before the tax. Renamed Total")
    assert len(found.progress) <= 600
