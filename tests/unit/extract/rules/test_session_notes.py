"""What the notes of a session tell besides the best sentences of an answer."""

from recollect.extract.rules.commands import error_line
from recollect.extract.rules.outcome import outcome
from recollect.extract.rules.prose import placed_sentences, table_rows
from recollect.extract.rules.sentence_ranker import RankedSentence
from recollect.extract.rules.session_notes import turn_results
from recollect.extract.rules.summary import Summary, summary
from recollect.extract.rules.turns import turns_of
from recollect.store.sqlite import SqliteStore
from tests.unit.extract.session import Told, as_stored, extract, outcomes

CACHE = "/work/orbit/cache.py"
ADDED = "Added `with_lock()` to cache.py, so that two workers never write the same entry."
REFUSAL = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def refuse(told: Told, words: str = "", path: str = CACHE) -> Told:
    said = f"{REFUSAL} To tell you how to proceed, the user said:\n{words}" if words else REFUSAL
    change = {"file_path": path, "old_string": "a", "new_string": "b"}
    return told.use("Edit", change, {"error": said}, failed=True)


def whole(told: Told) -> Summary:
    found = summary(turn_results(turns_of(as_stored(told)), lambda texts: ()))
    assert found is not None
    return found


def test_rows_of_tables_become_sentences() -> None:
    text = (
        "## Changes\n\n| # | File | Change |\n|---|:--|---|\n"
        "| 1 | `cache.py` | Locks each entry |\n| 2 | `disk.py` | ✅ Passed |\n\n"
        "| Case | Before | After |\n|--|--|--|\n| full disk | crash | waits |\n"
    )
    assert [(one.text, one.heading) for one in table_rows(text)] == [
        ("cache.py: Locks each entry", "Changes"),
        ("full disk: Before crash; After waits", "Changes"),
    ]


def test_the_detail_tells_the_table_of_an_answer(store: SqliteStore) -> None:
    table = "| File | Fix |\n|--|--|\n| `disk.py` | waits for a full disk before it writes rows |\n"
    told = Told().ask("two workers write the same entry").edit(CACHE).answer(f"{ADDED}\n\n{table}")
    [note] = outcomes(extract(store, told))
    assert "disk.py: waits for a full disk before it writes rows." in note.detail


def test_why_an_edit_was_made_is_told_and_a_guess_that_did_not_help_is_not() -> None:
    told = Told().ask("two workers write the same entry")
    for said in (
        "The cause is that `open_entry()` in cache.py never flushes its buffer to the disk.",
        "That did not help, the entries are still written twice. Let me look at the lock.",
        "The cause is that `open_entry()` in cache.py opens the file without `LOCK_EX` at all.",
        "Now let me run the tests.",
    ):
        told.answer(said)
    told.edit(CACHE).answer(ADDED)
    [one] = turn_results(turns_of(as_stored(told)), lambda texts: ())
    assert one.outcome is not None
    assert (
        "Found before the change: The cause is that open_entry() in cache.py opens"
        in one.outcome.detail
    )
    assert "flushes its buffer" not in f"{one.outcome.summary} {one.outcome.detail}"


def test_words_of_a_refusal_go_with_the_turn_that_does_the_work(store: SqliteStore) -> None:
    told = refuse(Told().ask("lock the entries of the cache"), "we never hold a lock while we call")
    told.answer("Should the lock be released before the call, or should the call be moved?")
    told.ask("moved").edit(CACHE).answer(ADDED)
    [note] = outcomes(extract(store, told))
    assert note.title.startswith("Added with_lock()")
    assert "User refused an edit of cache.py: we never hold a lock while we call." in note.detail


def test_the_summary_says_what_was_committed_pushed_and_not_committed() -> None:
    told = Told().ask("lock the entries of the cache").edit(CACHE)
    told.run(
        "git commit -m 'Lock the cache'", "[lock-cache 1a2b3c4] Lock the cache\n 1 file changed"
    )
    told.run("git push").answer(ADDED)
    told.ask("log each lock").edit("/work/orbit/log.py").answer("Added `log_lock()` to log.py.")
    assert whole(told).facts == ("Committed on lock-cache: Lock the cache (pushed)",)
    assert "edited after the last commit: log.py" in whole(told).open_ends
    told.run("git status", "nothing to commit, working tree clean")  # the user did it
    assert whole(told).open_ends == ()


def test_the_commits_of_a_summary_are_those_that_are_left() -> None:
    told = Told().ask("lock the entries of the cache").edit(CACHE)
    told.run("git commit -m 'Lock the cache'", "[main 1a2b3c4] Lock the cache\n 1 file changed")
    told.edit(CACHE).run("git commit -m 'Log each lock'", "[main 2b3c4d5] Log each lock")
    told.edit(CACHE).run("git commit --fixup=2b3c4d5", "[main 3c4d5e6] fixup! Log each lock")
    told.run("git rebase -i --autosquash main~3").answer(ADDED)
    assert whole(told).facts == (
        "Committed on main: Log each lock",
        "Committed on main: Lock the cache",
    )
    told.run("git checkout -b locks").run("git branch -f main origin/main")
    assert whole(told).facts[0] == "Committed: Log each lock"  # on which branch, nobody said
    told.run("git revert --no-edit 1a2b3c4", '[main 4d5e6f7] Revert "Lock the cache"')
    assert whole(told).facts == ("Committed: Log each lock",)


def test_a_commit_that_is_amended_names_the_work_once() -> None:
    told = Told().ask("lock the entries of the cache").edit(CACHE)
    told.run(
        "git commit -m 'Lock entries of the cache'", "[main 1a2b3c4] Lock entries of the cache"
    ).answer(ADDED)
    told.ask("log each lock, too").edit("/work/orbit/log.py")
    told.run("git commit --amend --no-edit", "[main 2b3c4d5] Lock entries of the cache")
    told.answer("Added `log_lock()` to log.py, which writes one line for each file that is locked.")
    first, second = turn_results(turns_of(as_stored(told)), lambda texts: ())
    assert first.outcome is not None and first.outcome.title == "Lock entries of the cache"
    assert second.outcome is not None and second.outcome.title.startswith("Added log_lock()")


def test_a_new_message_of_an_amended_commit_takes_the_place_of_the_old_one() -> None:
    told = Told().ask("close the todo about the cache").edit("/work/orbit/todo.md")
    told.run("git commit -m 'Close the cache todo, it is done'", "[main 1a2b3c4] Close")
    told.answer("Moved the todo to done.md, because cache.py has no warnings.")
    told.ask("there are 25 warnings!").edit(CACHE)
    told.run("git commit --amend -m 'Mend 25 warnings of the cache'", "[main 2b3c4d5] Mend")
    told.answer("Mended all 25 warnings in cache.py with `open_entry()`.")
    results = turn_results(turns_of(as_stored(told)), lambda texts: ())
    titles = [one.outcome.title for one in results if one.outcome]
    assert "Mend 25 warnings of the cache" in titles
    assert not any("it is done" in one for one in titles)


def test_a_refused_command_is_told(store: SqliteStore) -> None:
    told = Told().ask("lock the entries of the cache").edit(CACHE)
    told.run("make test-all", "The user doesn't want to proceed with this tool use.", failed=True)
    told.answer(ADDED)
    [note] = outcomes(extract(store, told))
    assert "User refused make test-all." in note.detail


def test_a_sentence_that_the_user_quotes_is_not_told_as_it_was(store: SqliteStore) -> None:
    quoted = "The command now removes the cache by default."
    told = Told().ask("add a command that clears the cache").edit(CACHE)
    told.answer(f"Added `clear_cache()` to cache.py for the new command.\n\n{quoted}")
    told.ask(f"- {quoted}\nThis should not be so, only with the flag --force").edit(
        "/work/orbit/cli.py"
    )
    told.answer("Changed `clear_cache()` in cli.py to run with --force only.")
    notes = outcomes(extract(store, told))
    assert all("removes the cache by default" not in f"{one.summary} {one.detail}" for one in notes)


def test_options_that_were_not_chosen_are_told_as_that(store: SqliteStore) -> None:
    told = (
        Told()
        .ask("how can we lock the cache?")
        .answer(
            "There are three ways:\n\n1. A lock file beside each entry\n"
            "2. One mutex in the daemon\n3. A table in SQLite\n\nWhich one do you prefer?"
        )
    )
    told.ask("let us take the mutex in the daemon").edit(CACHE).answer(ADDED)
    [note] = outcomes(extract(store, told))
    assert "Offered, not chosen: A lock file beside each entry; A table in SQLite." in note.detail


def test_files_for_a_trial_are_no_work(store: SqliteStore) -> None:
    told = Told().ask("try whether the hook fires").write("/tmp/try/hook.sh", "echo fired\n")
    told.answer("Created hook.sh in a new folder, so that you can see whether it fires.")
    assert outcomes(extract(store, told)) == []


def test_a_note_that_is_told_again_leaves_what_the_user_said(store: SqliteStore) -> None:
    told = Told().ask("add with_lock() to the cache. the workers on Windows know no LOCK_EX at all")
    told.edit(CACHE).answer(ADDED)
    told.ask("and test it").edit(CACHE).answer(
        f"{ADDED} The test `test_two_workers` writes from two processes."
    )
    [note] = outcomes(extract(store, told))
    assert "the workers on Windows know no LOCK_EX" in note.detail


def test_a_linter_names_its_rule() -> None:
    line = "src/a.go:12:3: exec.Command must not be called (noctx)"
    output = f"[lint] ERROR task failed\n{line}\n* noctx: 1"
    assert error_line(output) == "exec.Command must not be called (noctx)"


def test_a_check_that_passed_later_is_not_open() -> None:
    told = (
        Told()
        .ask("two workers write the same entry")
        .run("make lint", "a.py:1:1: too long (E501)", failed=True)
    )
    told.edit(CACHE).run("make lint 2>&1 | tail -3").answer(ADDED)
    assert whole(told).open_ends == ()


def test_what_was_not_committed_and_not_answered_is_open() -> None:
    told = (
        Told()
        .ask("lock the entries of the cache")
        .edit(CACHE)
        .run("git commit -m 'Lock the cache'")
    )
    told.answer(ADDED)
    told.ask("log each lock").edit("/work/orbit/log.py").answer("Added `log_lock()` to log.py.")
    told.ask("does the backup hold locks too?")
    assert whole(told).open_ends == (
        "edited after the last commit: log.py",
        "not answered: does the backup hold locks too?",
    )


def test_what_an_answer_calls_open_or_names_as_next_is_open() -> None:
    for said, is_open in (
        ("Open: the dashboard still shows 10.", "the dashboard still shows 10"),
        ("**Open:** the dashboard still shows 10.", "the dashboard still shows 10"),
        ("- Open: staging needs the new cap", "staging needs the new cap"),
        ("Staging is still at 10 and needs to be changed next.",
         "Staging is still at 10 and needs to be changed next"),
    ):  # fmt: skip
        told = Told().ask("lock the entries of the cache").edit(CACHE).answer(f"{ADDED}\n\n{said}")
        assert whole(told).open_ends == (is_open,)
    told = Told().ask("lock the entries of the cache").edit(CACHE)
    told.answer(f"{ADDED}\n\nThe open file needs to be closed before the next read.")
    assert whole(told).open_ends == ()


def test_what_an_answer_offers_is_not_told_as_done(store: SqliteStore) -> None:
    told = Told().ask("lock the entries of the cache").edit(CACHE)
    told.answer(
        f"{ADDED}\n\nFor the old entries we could:\n\n- Call `migrate_locks()` at each start\n\n"
        "Option 2: `lock_all()` locks the whole folder.\n\n"
        "Do you want me to add it? It would be:\n\n- `lock_lazily()` locks them at the first read"
    )
    [note] = outcomes(extract(store, told))
    text = f"{note.title} {note.summary} {note.detail}"
    assert "with_lock()" in text
    assert not any(name in text for name in ("migrate_locks", "lock_all", "lock_lazily"))


def test_a_plan_that_is_written_is_no_work(store: SqliteStore) -> None:
    told = Told().ask("how should the cache be locked?")
    told.write("/home/ada/.claude/plans/lock-the-cache.md", "# Lock\n")
    told.answer("Added `with_lock()` to the plan, so that two workers never write one entry.")
    assert outcomes(extract(store, told)) == []


def test_tests_that_failed_on_purpose_are_not_told_as_failing(store: SqliteStore) -> None:
    told = Told().ask("write a test that shows the bug").edit("/work/orbit/test_cache.py")
    told.run("pytest test_cache.py", "1 failed", failed=True)
    told.answer(
        "Added `test_two_workers()` to test_cache.py.\n\n"
        "It fails as expected, because `open_entry()` never takes the lock."
    )
    told.ask("now mend it").edit(CACHE).run("pytest test_cache.py", "1 passed").answer(ADDED)
    first, _ = outcomes(extract(store, told))
    text = f"{first.title} {first.summary} {first.detail}"
    assert "test_cache.py" in text and "never takes the lock" not in text


def test_a_lack_ends_with_the_option_that_the_user_chooses(store: SqliteStore) -> None:
    told = Told().ask("do we log what `clean_up()` deletes?")
    told.answer(
        "`clean_up()` never logs the reason, it is computed in `find_old()` and thrown away.\n\n"
        "1. Remove the reason\n2. Log it\n\nWhich one do you prefer?"
    )
    told.ask("2").edit("/work/orbit/clean.py").answer(
        "Added a log line to `DeleteAll()` in clean.py with the reason of each deletion."
    )
    [note] = outcomes(extract(store, told))
    assert note.title.startswith("Added a log line")
    assert "Found before the change: clean_up() never logs the reason" in note.summary


def test_what_was_found_about_a_thing_goes_when_it_is_removed(store: SqliteStore) -> None:
    told = Told().ask("what does the session show command print?")
    told.answer("The session show command in cli.py prints the trailers of a commit with `show()`.")
    told.ask("remove it").edit("/work/orbit/cli.py")
    told.answer("Removed the session show command from cli.py and its registration.")
    [note] = outcomes(extract(store, told))
    assert note.title.startswith("Removed the session show command")


def test_an_item_of_a_list_is_told_with_what_leads_to_it(store: SqliteStore) -> None:
    told = Told().ask("lock the entries of the cache").edit(CACHE)
    told.answer(
        f"{ADDED}\n\n"
        "The lock in `open_entry()` of the disk cache is now released early in two cases:\n\n"
        "- The entry in cache.py was written and flushed to the disk\n"
    )
    [note] = outcomes(extract(store, told))
    text = f"{note.summary}\n{note.detail}"
    assert "is now released early in two cases: The entry in cache.py was written" in text


def test_only_what_still_says_so_is_open() -> None:
    told = Told().ask("lock the entries of the cache").edit(CACHE)
    told.answer(f"{ADDED} The name is built as a separate string and put into `open_entry()`.")
    assert whole(told).left == ()
    told.ask("why do I not see it?").answer(
        "The worker of the second project runs the installed program in `/usr/local/bin` - it was "
        "built from the tree of the last release, which does not have the lock of the cache yet."
    )
    assert whole(told).left == ()  # the clause that fits does not say that something is open


def test_what_stands_under_the_problem_is_told_as_it_was(store: SqliteStore) -> None:
    answer = (
        f"{ADDED}\n\n### The Problem\n- Two workers write the same entry of `cache.py` at once\n"
        "- Copying `cache.py` to disk.py loses every second entry of the cache\n\n"
        "### The Fix\n- The lock of `with_lock()` is held until the entry is on the disk\n"
    )
    [note] = outcomes(extract(store, Told().ask("entries are lost").edit(CACHE).answer(answer)))
    told = f"{note.title}\n{note.summary}\n{note.detail}"
    assert "Found before the change: Copying cache.py to disk.py loses every" in told
    assert "Found before the change: The lock" not in told
    assert told.count("Copying") == 1


def test_the_same_heading_over_what_was_only_looked_at_is_left_alone(store: SqliteStore) -> None:
    answer = (
        "### The Problem\nThe cause was that `open_entry()` in cache.py opens the file without "
        "`LOCK_EX`, so two workers write the same entry.\n"
    )
    [note] = outcomes(extract(store, Told().ask("why are entries lost?").answer(answer)))
    assert "Found before" not in f"{note.title} {note.summary} {note.detail}"


def test_the_body_of_a_committed_work_is_its_message(store: SqliteStore) -> None:
    more = "Changed `open_entry()` to hold the lock of cache.py until the entry is on the disk."
    message = "Lock entries of the cache\n\nTwo workers wrote the same entry of cache.py at once."
    told = Told().ask("lock the entries of the cache").edit(CACHE)
    told.run(f"git commit -m '{message}'").answer(f"{ADDED} {more}")
    [note] = outcomes(extract(store, told))
    assert note.title == "Lock entries of the cache"
    assert "Two workers wrote the same entry" in note.summary
    assert "open_entry" not in note.summary
    assert "open_entry" in note.detail


def test_other_items_of_a_list_that_the_user_quotes_to_correct_it_are_not_told() -> None:
    answer = (
        f"{ADDED}\n\n1. **Updated the installer of the cache hooks**:\n"
        "   - `setup.py` now installs the wrapper of the hooks by default\n"
        "   - The old `--local` flag of setup.py still works for compatibility\n"
    )
    told = Told().ask("lock the entries of the cache").edit(CACHE).answer(answer)
    told.ask(
        "- `setup.py` now installs the wrapper of the hooks by default\n\n"
        "Only the flag should install the wrapper"
    )
    told.edit("/work/orbit/setup.py").answer("Changed `setup.py` to keep the hooks as they were.")
    first = turn_results(turns_of(as_stored(told)), lambda texts: ())[0].outcome
    assert first is not None
    assert "--local" not in f"{first.title} {first.summary} {first.detail}"


def test_a_sentence_about_the_one_before_is_no_body_without_it() -> None:
    answer = (
        "`open_entry()` in cache.py answers from the worktree. "
        "It is asked about files that nobody has committed yet.\n\n"
        f"Readers of `Entry` objects in store.py are many{', and more' * 40}.\n\n"
        "They need the plumbing of `Entry` in store.py, which has no worktree.\n"
    )
    [turn] = turns_of(as_stored(Told().ask("does it read the worktree, or what?").answer(answer)))
    said = [
        RankedSentence(one, 0.0 if one.text.startswith("Readers") else 0.8, 0.5)
        for one in placed_sentences(answer)
    ]
    note = outcome(turn, [], said)
    assert note is not None
    assert "It is asked" in note.summary
    assert "They need" not in note.summary
    assert "They need" in note.detail


def test_talk_about_the_state_of_the_work_is_no_finding() -> None:
    told = Told().ask("Ok, so is the pull request ready to merge?").run("gh pr view 43", "OPEN")
    told.answer(
        "CI is green and PR #43 is ready to merge, because all seven checks passed on 9c8f61d.\n\n"
        "The adversarial review is running in the background and will report by itself."
    )
    [one] = turn_results(turns_of(as_stored(told)), lambda texts: ())
    assert one.outcome is None


def test_a_finding_is_named_by_what_it_says_of_the_code() -> None:
    told = Told().ask("why does the search index everything again on each run?")
    told.answer(
        "Two things come together here, and both of them are worth knowing about:\n\n"
        "The cause is that `snapshot_key()` in search_cache.py hashes the commit and the tree."
    )
    [one] = turn_results(turns_of(as_stored(told)), lambda texts: ())
    assert one.outcome is not None
    assert "snapshot_key() in search_cache.py hashes the commit" in one.outcome.title


def test_who_only_commits_what_another_turn_did_finds_nothing() -> None:
    told = Told().ask("two workers write the same entry").edit(CACHE).answer(ADDED)
    told.ask("commit").run('git commit -m "Lock entries of the cache"', "[main 1a2b3c4] Lock")
    told.answer("Committed. The cause of it was that `open_entry()` in cache.py took no lock.")
    first, second = turn_results(turns_of(as_stored(told)), lambda texts: ())
    assert first.outcome is not None
    assert first.outcome.title == "Lock entries of the cache"
    assert second.outcome is None


def test_a_message_that_git_reads_from_a_file_is_the_title() -> None:
    told = Told().ask("two workers write the same entry").edit(CACHE)
    told.run(
        "git add -A && git commit -q -F - <<'EOF'\nLock entries of the cache\n\n"
        "Generated by `lock-all`: every entry has a lock of its own.\n\n"
        "Co-Authored-By: Ada <ada@example.com>\nEOF"
    ).answer("Committed.")
    [one] = turn_results(turns_of(as_stored(told)), lambda texts: ())
    assert one.outcome is not None
    assert one.outcome.title == "Lock entries of the cache"
    assert one.outcome.summary == "Generated by lock-all: every entry has a lock of its own."


def test_a_message_that_is_not_in_the_command_has_the_subject_that_git_printed() -> None:
    told = Told().ask("two workers write the same entry").edit(CACHE)
    told.run("git commit -F notes/message.txt", "[main 1a2b3c4] Lock entries of the cache\n")
    told.answer("Committed.")
    [one] = turn_results(turns_of(as_stored(told)), lambda texts: ())
    assert one.outcome is not None
    assert one.outcome.title == "Lock entries of the cache"


def test_a_command_that_passes_without_a_change_was_not_mended() -> None:
    failed = "sh: cd: no such file or directory: engine"
    told = Told().ask("run the tests and lock the entries").edit(CACHE)
    told.run("make test-engine", failed, failed=True).run("make test-engine", "ok").answer(ADDED)
    [one] = turn_results(turns_of(as_stored(told)), lambda texts: ())
    assert one.outcome is not None
    assert one.outcome.facts == ()


def test_what_was_done_stands_before_why_a_plan_was_made() -> None:
    plan = (
        "Implement the following plan:\n\n# Lock the entries of the cache\n\n## Context\n\n"
        "Two workers of the engine write the same entry at the same time today.\n"
    )
    told = Told().ask(plan).edit(CACHE).answer(ADDED)
    [one] = turn_results(turns_of(as_stored(told)), lambda texts: ())
    assert one.outcome is not None
    body = one.outcome.summary
    assert 0 <= body.index("Added with_lock()") < body.index("Found before the change: Two workers")
