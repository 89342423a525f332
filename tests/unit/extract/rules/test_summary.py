"""What a session's summary and its checkpoint tell."""

import pytest

from recollect.core.values import Checkpoint, Record
from recollect.extract.rules.summary import MOST_CHARS, next_steps
from recollect.store.sqlite import SqliteStore
from tests.unit.extract.session import Told, extract, records


def summary(store: SqliteStore, told: Told) -> Record:
    (found,) = records(extract(store, told), kind="summary")
    return found


def checkpoint(store: SqliteStore, told: Told) -> Checkpoint:
    return extract(store, told).checkpoints[-1]


def mended() -> Told:
    told = Told().ask("the invoice total is wrong for vouchers")
    told.run("go test ./invoice", "FAIL: want 90, got 100", failed=True).edit("invoice/total.go")
    told.run("go test ./invoice", "ok")
    return told.answer(
        "The cause was the rounding in `total.go`: vouchers were applied after tax. "
        "Moved the voucher before the tax. Next: add a test for two vouchers."
    )


def commit(subject: str) -> str:
    return f'git commit -am "{subject}"'


def test_the_newest_commit_is_the_title_and_the_others_are_done(store: SqliteStore) -> None:
    told = mended().ask("commit it").run(commit("Apply vouchers before the tax"))
    told.answer("Committed.").ask("now rename Total to Sum, and commit").edit("invoice/total.go")
    told.run(commit("Rename invoice.Total to Sum")).answer("Renamed and committed.")
    found = summary(store, told)
    assert found.title == "Rename invoice.Total to Sum"
    assert "Done: Apply vouchers before the tax." in found.summary


def test_a_commit_that_failed_or_went_to_a_trial_repository_is_none(store: SqliteStore) -> None:
    told = Told().ask("make the importer stream").edit("imp/read.py")
    told.run(commit("Stream the rows of the importer"), "hook failed", failed=True)
    told.run("cd /tmp/x && git init && " + commit("Add the first test file"))
    found = summary(store, told.answer("Split the reader of `imp/read.py` into two classes."))
    assert found.title == "Split the reader of imp/read.py into two classes"


def test_alike_steps_with_other_numbers_are_not_taken_for_one(store: SqliteStore) -> None:
    told = Told()
    for number in range(1, 6):
        told.ask(f"now step {number} of the migration").edit(f"steps/s{number}.py")
        told.run(commit(f"Implement step {number} of the migration to streams"))
        told.answer("Committed.")
    told.ask("and a test for it").edit("steps/test_s5.py")
    told.run(commit("Implement the migration to streams, step 5")).answer("Committed.")
    found = summary(store, told)
    assert "step 5" in found.title
    assert all(f"step {number} of the migration" in found.summary for number in (4, 3))
    assert "step 5 of the migration" not in found.summary  # what the title says


@pytest.mark.parametrize(
    "prompt",
    [
        "# Plan: Move the importer to streams\n\n## Context\nIt is slow.",
        "Implement the following plan:\n\n# Move the importer to streams\n\n1. Split it.",
    ],
)
def test_without_a_commit_an_approved_plan_is_the_title(store: SqliteStore, prompt: str) -> None:
    told = Told().ask(prompt).edit("imp/read.py").answer("Split the reader in `imp/read.py`.")
    assert summary(store, told).title == "Move the importer to streams"


def test_without_both_what_was_done_is_the_title_and_the_cause_is_found(
    store: SqliteStore,
) -> None:
    found = summary(store, mended())
    assert found.title == "Moved the voucher before the tax"
    assert "Found: The cause was the rounding in total.go" in found.summary
    assert "Last check: go test ./invoice passed" in found.summary


def test_a_cause_is_the_title_where_nobody_said_what_was_done(store: SqliteStore) -> None:
    told = Told().ask("the login page crashes on Safari").edit("web/login.ts")
    told.answer("The root cause was a lookbehind in the regex of `login.ts`.")
    assert "lookbehind" in summary(store, told).title


@pytest.mark.parametrize(
    ("files", "title"),
    [
        (["retry.py"], "Edited retry.py"),
        (["retry.py", "cli.py"], "Edited retry.py and cli.py"),
        (["retry.py", "cli.py", "a/b.py", "retry.py"], "Edited retry.py and 2 more files"),
    ],
)
def test_else_the_title_says_what_was_edited(
    store: SqliteStore, files: list[str], title: str
) -> None:
    told = Told().ask("can you fix the local branch?")
    for name in files:
        told.edit(name)
    told.edit("/tmp/notes.md").answer("Let me look at the list of handlers first.")
    found = summary(store, told)
    assert found.title == title and found.summary == ""


def test_a_session_that_did_nothing_has_none(store: SqliteStore) -> None:
    told = Told().ask("what does the importer do?").run("ls").answer("Let me read it. It imports.")
    found = extract(store, told.ask("Always use tabs in Go files.").answer("Noted."))
    assert records(found, kind="knowledge") and records(found, kind="summary") == []
    assert found.checkpoints == ()


def test_a_check_that_failed_last_is_open(store: SqliteStore) -> None:
    told = Told().ask("move the importer to streams").edit("imp/read.py")
    told.run("pytest -q", "E   KeyError: 'rows'\n1 failed", failed=True)
    told.answer("Split the reader in `imp/read.py` into two classes.")
    found = extract(store, told)
    (record,) = records(found, kind="summary")
    assert record.summary == "Last check: pytest -q failed: E KeyError: 'rows'"
    assert found.checkpoints[-1].questions == ("pytest -q failed: E KeyError: 'rows'",)


@pytest.mark.parametrize(
    ("command", "output", "failed"),
    [
        ("pytest -q | tail -3", "1 failed, 3 passed", False),  # it is `tail` that passed
        ("pytest -q && git merge main", "error: local changes", True),
        ("pytest -q -k 'one of the many tests of the importer' imp/", "1 passed", False),
    ],
)
def test_how_a_check_ended_is_said_only_when_it_is_known(
    store: SqliteStore, command: str, output: str, failed: bool
) -> None:
    told = Told().ask("move the importer to streams").edit("imp/read.py")
    told.run(command, output, failed=failed).answer("Split the reader in `imp/read.py` in two.")
    assert "check" not in summary(store, told).summary


def test_a_check_before_the_last_edit_says_nothing(store: SqliteStore) -> None:
    told = Told().ask("move the importer to streams").run("pytest -q", "3 passed")
    told.edit("imp/read.py").answer("Split the reader in `imp/read.py` into two classes.")
    assert "check" not in summary(store, told).summary


def test_a_test_that_passed_says_more_than_a_build(store: SqliteStore) -> None:
    told = Told().ask("move the importer to streams").edit("imp/read.go")
    told.run("go test ./imp", "ok").run("go build ./...").run("golangci-lint run")
    told.answer("Split the reader in `imp/read.go` into two types.")
    assert summary(store, told).summary == "Last check: go test ./imp passed"


def test_a_next_step_lasts_until_it_is_asked_for(store: SqliteStore) -> None:
    told = mended()
    assert "Next: add a test for two vouchers" in summary(store, told).summary
    told.ask("rename Total to Sum in invoice/total.go").edit("invoice/total.go")
    told.answer("Renamed `Total` to `Sum` in `invoice/total.go`.")
    assert "Next: add a test for two vouchers" in summary(store, told).summary
    told.ask("now add the test for two vouchers").edit("invoice/total_test.go")
    told.answer("Added `TestTwoVouchers` in `invoice/total_test.go`.")
    assert "Next:" not in summary(store, told).summary


def test_next_steps_are_read_in_many_forms() -> None:
    assert next_steps("The parser is done. The next step is to drop the table.") == [
        "drop the table."
    ]
    assert next_steps("It works. Still to do: the docs.") == ["the docs."]
    assert next_steps("What remains is the French text.") == ["the French text."]
    assert next_steps("Next, I looked at the log. The next page is empty.") == []


@pytest.mark.parametrize(
    "answer",
    [
        "Changed `fmt.Fprintf(os.Stderr, ...` to `message := fmt.Sprintf(...)`.",
        "Let me check the handlers. I'll change them now.",
        "Replaced it with the new one. This fixes the order.",
        "Added the following three new handlers of the queue with their routes, their tests, "
        "their fixtures, their translations, their help texts, their metrics and their alerts.",
    ],
)
def test_what_is_cut_or_narrated_is_not_told(store: SqliteStore, answer: str) -> None:
    told = Told().ask("can you fix the local branch?").edit("src/queue.ts").answer(answer)
    found = summary(store, told)
    assert found.title == "Edited queue.ts" and found.summary == ""


def test_a_long_sentence_ends_with_its_first_clause(store: SqliteStore) -> None:
    told = Told().ask("can you fix the local branch?").edit("src/queue.ts")
    told.answer(
        "Added retries to the queue of `src/queue.ts:20-41` - a job that fails is tried again "
        "after a second, after a minute and after an hour, then it is put aside and told."
    )
    assert summary(store, told).title == "Added retries to the queue of src/queue.ts"


def test_title_and_text_keep_to_their_bounds(store: SqliteStore) -> None:
    told = Told()
    for number in range(40):
        told.ask(f"add the handler number {number} to api/h{number}.py").edit(f"api/h{number}.py")
        told.run(commit(f"Add handler h{number} of queue q{number}x to its table t{number}z"))
        told.answer(f"Added handler `h{number}`. Next: write the help of handler {number}.")
    found = summary(store, told)
    assert len(found.title) + len(found.summary) <= MOST_CHARS and len(found.files) <= 20
    assert found.title == "Add handler h39 of queue q39x to its table t39z"


def test_a_checkpoint_tells_what_was_done(store: SqliteStore) -> None:
    told = mended().ask("rename Total to Sum in invoice/total.go").edit("invoice/total.go")
    told.answer("Renamed `Total` to `Sum` in `invoice/total.go`.")
    found = checkpoint(store, told)
    assert found.task == "Rename Total to Sum in invoice/total.go"
    moved, renamed = "Moved the voucher before the tax", "Renamed Total to Sum in invoice/total.go"
    assert found.progress.startswith(f"{moved}; {renamed}; The cause was")
    assert found.next_steps == ("add a test for two vouchers",)


def test_a_session_without_work_leaves_a_checkpoint_if_it_names_what_is_open(
    store: SqliteStore,
) -> None:
    told = (
        Told()
        .ask("How should refunds be retried?")
        .answer(
            "By the nightly job, with a cap.\n\nNext steps:\n- write the retry policy down\n\n"
            "Open question: Should partial refunds also be retried by the nightly job?"
        )
    )
    found = extract(store, told)
    assert records(found, kind="summary") == []
    (stop,) = found.checkpoints
    assert stop.task == "How should refunds be retried?" and stop.progress == ""
    assert stop.next_steps == ("write the retry policy down",)
    assert stop.questions == ("Should partial refunds also be retried by the nightly job?",)


def test_many_turns_of_edits_are_progress(store: SqliteStore) -> None:
    told = Told()
    for number in range(13):
        told.ask(f"Change rule {number} so that field{number} is checked for every tenant")
        told.edit(f"rules/r{number}.py").answer(f"Rule {number} checks `field{number}` now.")
    found = checkpoint(store, told)
    assert found.task == "Change rule 12 so that field12 is checked for every tenant"
    assert found.progress == "; ".join(
        f"Change rule {number} so that field{number} is checked for every tenant"
        for number in (11, 10)
    )


@pytest.mark.parametrize(("later", "title"), [(49, "Bring the invoices in order"), (50, "Edited")])
def test_a_summary_tells_of_the_last_fifty_turns(
    store: SqliteStore, later: int, title: str
) -> None:
    told = Told().ask("sort the invoices, and commit").edit("invoice/sort.go")
    told.run(commit("Bring the invoices in order")).answer("Committed.")
    for number in range(later):
        told.ask(f"go on with file {number}").edit(f"api/h{number}.py").answer("Ok.")
    found = summary(store, told)
    assert found.title.startswith(title)
    assert len(found.files) == 20


def test_three_things_done_one_found_and_five_next_steps_are_enough(store: SqliteStore) -> None:
    subjects = ("Rename the queue", "Split the reader", "Drop the old cache", "Sort the invoices")
    told = Told()
    for number, subject in enumerate(subjects):
        told.ask(f"do part {number}, and commit").edit(f"api/h{number}.py")
        told.run(commit(subject)).answer("Committed.")
    for cause in ("a lookbehind in the regex of `login.ts`", "the rounding in `total.go`"):
        told.ask("why does it crash?").edit("web/login.ts")
        told.answer(f"The root cause was {cause}.")
    found = checkpoint(store, told)
    assert found.task == "Sort the invoices"
    causes = found.progress.removeprefix("Drop the old cache; Split the reader; ")
    assert causes != found.progress and causes.count("root cause was") == 1
    steps = "".join(f"\n- add test number {number} of the importer" for number in range(7))
    assert len(next_steps(f"Next steps:{steps}")) == 5
