"""What is left of a turn's note when later turns of its session change the same code."""

from recollect.extract.rules.later_edits import LaterEdits, code_names
from recollect.extract.rules.outcome import outcome
from recollect.extract.rules.prose import placed_sentences
from recollect.extract.rules.sentence_ranker import RankedSentence
from recollect.extract.rules.turns import turns_of
from recollect.store.sqlite import SqliteStore
from tests.unit.extract.session import Told, as_stored, extract, outcomes, records

LOGIN = "src/login.py"


def edit(told: Told, old: str, new: str, path: str = LOGIN) -> Told:
    change = {"file_path": path, "old_string": old, "new_string": new}
    return told.use("Edit", change, {"filePath": path})


def later(told: Told) -> LaterEdits:
    turns = turns_of(as_stored(told))
    return LaterEdits(turns, [[turn.answered] for turn in turns])


def test_names_in_code_are_told_from_words() -> None:
    text = "The Session class calls check_token() and readRows, but not Open or open."
    assert code_names(text) == {"check_token", "readRows"}


def test_a_finding_about_a_lack_ends_with_the_edit_that_mends_it() -> None:
    told = Told().ask("why is nobody logged out?").answer("x")
    edit(told.ask("mend it"), "    pass\n", "    end_session(user)\n").answer("y")
    edits = later(told)
    assert edits.outdated(0, "logout() does not call end_session() at all.") == 1
    assert edits.outdated(0, "Sessions are kept for 30 days.") is None


def test_a_change_holds_while_its_lines_stand() -> None:
    told = edit(Told().ask("retry"), "call()\n", "with_retry(call)\nlog_attempt()\n").answer("x")
    edit(told.ask("and the docs"), "old\n", "new\n", "README.md").answer("y")
    assert later(told).undone(0) is None


def test_lines_that_are_taken_out_again_undo_a_change() -> None:
    told = edit(Told().ask("retry"), "call()\n", "with_retry(call)\nlog_attempt()\n").answer("x")
    edit(told.ask("simpler please"), "with_retry(call)\nlog_attempt()\n", "call()\n").answer("y")
    assert later(told).undone(0) == 1


def test_git_takes_back_what_was_edited_last() -> None:
    told = edit(Told().ask("retry"), "call()\n", "with_retry(call)\n").answer("x")
    told.ask("no good").run(f"git checkout -- {LOGIN}").answer("y")
    assert later(told).undone(0) == 1
    other = edit(Told().ask("retry"), "call()\n", "with_retry(call)\n").answer("x")
    other.ask("and that").run("git checkout -- src/other.py").answer("y")
    assert later(other).undone(0) is None


def test_a_name_that_left_again_takes_its_sentence_along() -> None:
    told = edit(Told().ask("helper"), "a_line\n", "a_line\ndef old_helper():\n").answer("x")
    edit(told.ask("other way"), "def old_helper():\n", "def shared_one():\n").answer("y")
    edits = later(told)
    assert edits.outdated(0, "Added old_helper() to read the rows.") == 1
    assert edits.outdated(1, "Added shared_one() to read the rows.") is None


def test_a_value_that_was_changed_from_one_to_another_replaces_the_old_one() -> None:
    told = edit(Told().ask("column"), "a_line\n", "width = 20\n").answer("x")
    told.ask("wider").answer("Increased the branch column from 20 to 30 characters.")
    assert later(told).outdated(0, "Added a branch column, 20 characters wide.") == 1


def test_a_file_that_was_removed_takes_its_note_along(store: SqliteStore) -> None:
    told = Told().ask("write down the options").write("docs/adr-1.md", "# Options\nfirst one\n")
    told.answer("Created docs/adr-1.md with the options for line ownership and their reasons.")
    told.ask("not so many files").run("rm docs/adr-1.md").answer("Removed it.")
    assert outcomes(extract(store, told)) == []


def test_what_was_found_is_told_by_the_note_of_the_fix(store: SqliteStore) -> None:
    told = Told().ask("why is agent_type missing in metadata.json?")
    told.answer("The root cause: `to_session()` in state.py does not copy `agent_type` at all.")
    told.ask("fix this")
    edit(told, "    name=state.name,\n", "    name=state.name,\n    agent_type=state.agent_type,\n")
    told.answer("Added `agent_type` to the mapping in state.py, so that metadata.json has it.")
    [note] = outcomes(extract(store, told))
    assert note.title.startswith("Added agent_type to the mapping")
    assert (
        "Found before the change: The root cause: to_session() in state.py does not copy"
        in note.summary
    )


def test_the_message_of_a_commit_is_told_with_its_body(store: SqliteStore) -> None:
    told = edit(Told().ask("make the hook faster"), "a_line\n", "b_line\n").answer("Done.")
    told.ask("commit this").run(
        "git commit -m \"$(cat <<'EOF'\nperf: call git status once in the stop hook\n\n"
        "Both functions opened the repository on their own. This saves\n"
        "40 to 80 ms in repositories with 400 files.\n\n"
        'Co-Authored-By: Ada <ada@example.org>\nEOF\n)"'
    ).answer("Committed.")
    [note] = outcomes(extract(store, told))
    assert note.title == "Perf: call git status once in the stop hook"
    assert "This saves 40 to 80 ms in repositories with 400 files." in note.summary
    assert "Ada" not in note.summary + note.detail


def test_a_reported_problem_is_no_title_as_if_it_were_still_there(store: SqliteStore) -> None:
    told = Told().ask("git fetch is run without a timeout and can hang for ever.")
    edit(told, "a_line\n", "b_line\n").answer("Done.")
    [note] = outcomes(extract(store, told))
    assert (
        note.title == "Fixed: Git fetch is run without a timeout and can hang for ever (login.py)"
    )


def test_an_item_of_a_list_keeps_the_heading_that_it_needs() -> None:
    answer = (
        "Merged the checks of `agent_type` into test_flow.py.\n\n"
        "**Removed:**\n- `agent_type_test.go`, whose checks stand in test_flow.py now\n"
    )
    turn = turns_of(as_stored(Told().ask("one test is enough").edit(LOGIN).answer(answer)))[0]
    said = [RankedSentence(one, 0.9, 0.1) for one in placed_sentences(answer) if not one.is_heading]
    came = outcome(turn, [], said)
    assert came is not None and "Removed: agent_type_test.go, whose checks" in came.summary


def test_a_note_of_a_plan_says_how_it_was_before(store: SqliteStore) -> None:
    plan = (
        "Implement the following plan:\n\n# Keep one log file\n\n## Context\n\n"
        "Each session writes a log file of its own, which nobody finds while it runs.\n\n"
        "## Steps\n\n1. Write to app.log\n"
    )
    told = edit(Told().ask(plan), "a_line\n", "b_line\n").answer("Done.")
    [note] = outcomes(extract(store, told))
    assert note.title == "Keep one log file"
    assert note.summary == (
        "Found before the change: Each session writes a log file of its own, which nobody finds "
        "while it runs."
    )


def test_a_sentence_goes_with_the_lines_that_it_is_about() -> None:
    old = "# copy the selected directories into one commit\ncopy_selected(ids)\n"
    told = edit(Told().ask("import them"), "a_line\n", old + "retry_push(branch)\n").answer("x")
    edit(told.ask("keep the commits"), old, "cherry_pick(commits)\n").answer("y")
    edits = later(told)
    assert edits.undone(0) == 1
    assert edits.outdated(0, "It copies only the selected directories.") == 1
    assert edits.outdated(0, "The push is tried again on its branch.") is None


def test_a_diagnosis_whose_fix_did_not_last_is_not_kept(store: SqliteStore) -> None:
    told = Told().ask("why does the start crash with an invalid date?")
    told.answer("The cause was that ids in test.sh lack the date which the parser expects.")
    edit(told.ask("mend it"), "id=$(date +%s)\n", "id=$(date +%F)-uuid\n", "test.sh").answer("x")
    told.ask("none of the real files has a date in front")
    edit(told, "id=$(date +%F)-uuid\n", "id=$(uuidgen)\n", "test.sh")
    told.answer("Changed test.sh to make plain ids with `uuidgen`, as the real files have them.")
    [note] = outcomes(extract(store, told))
    assert "uuidgen" in note.title


def test_answers_before_a_short_last_one_say_what_was_done(store: SqliteStore) -> None:
    told = edit(Told().ask("it says that there are changes"), "a_line\n", "b_line\n")
    told.answer(
        "The issue was that `status()` of the library does not read the global ignore file."
    )
    told.answer("Build complete.")
    [note] = outcomes(extract(store, told))
    assert "does not read the global ignore file" in note.title


def test_what_an_answer_offers_at_the_end_is_open(store: SqliteStore) -> None:
    told = edit(Told().ask("mend the harness"), "a_line\n", "b_line\n")
    told.answer("Changed `make_id()` in test.sh to plain ids.\n\nWant me to test the empty id too?")
    [summary] = records(extract(store, told), kind="summary")
    assert "Open: offered: test the empty id too" in summary.summary
    told.ask("no").answer("Ok. Do you want me to commit these changes?")
    [summary] = records(extract(store, told), kind="summary")
    assert "commit" not in f"{summary.summary} {summary.detail}"  # the user may have done it


def stashed(*later_commands: str) -> Told:
    told = edit(Told().ask("retry"), "call()\n", "with_retry(call)\n").answer("x")
    for command in later_commands:
        told.ask("and the docs of it").run(command).answer("y")
    return told


def test_a_stash_that_is_dropped_takes_its_edits_along() -> None:
    assert later(stashed("git stash", "git stash drop")).undone(0) == 2
    assert later(stashed("git stash push -m later", "git stash drop")).undone(0) == 2
    assert later(stashed("git stash", "git stash pop", "git stash drop")).undone(0) is None
    assert later(stashed("git stash", "git stash apply && git stash drop")).undone(0) is None
    assert later(stashed("git commit -m retry", "git stash", "git stash drop")).undone(0) is None
    assert later(stashed("git stash")).undone(0) is None


def test_a_stash_whose_pop_failed_and_that_is_dropped_takes_its_edits_along() -> None:
    printed = "Saved working directory and index state WIP on main\nerror: would be overwritten"
    told = stashed().ask("lint it").run("git stash; make lint; git stash pop", printed, failed=True)
    told.answer("y").ask("clean up").run("git stash drop").answer("z")
    assert later(told).undone(0) == 2
