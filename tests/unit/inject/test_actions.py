"""Rules are found by the action they are about, in prompts and in shell lines."""

import json
from collections import Counter

import pytest

from recollect.inject.actions import ActionRule, RuleIndex
from recollect.inject.clauses import clauses, tokens
from tests.regexes import ROOT

DATA = json.loads((ROOT.parent / "tests" / "data" / "actions.json").read_text())


def heads(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.head, one.object) for one in clauses(tokens(text)) if not one.definite]


def brings(rule: str, prompt: str = "", command: str = "", about_tools: bool = False) -> bool:
    index = RuleIndex([ActionRule("r", rule, about_tools=about_tools)])
    return bool(index.for_prompt(prompt) if prompt else index.for_command(command))


def test_forty_rules_are_brought_by_what_they_are_about_and_by_nothing_else() -> None:
    index = RuleIndex([ActionRule(name, **fields) for name, fields in DATA["rules"].items()])
    told: Counter[str] = Counter()
    for case in DATA["cases"]:
        by_prompt = "prompt" in case
        found = (
            index.for_prompt(case["prompt"]) if by_prompt else index.for_command(case["command"])
        )
        names, wanted = {match.rule.id for match in found}, set(case["wanted"])
        told["hit"] += len(names & wanted)
        told["missed"] += len(wanted - names)
        assert names <= wanted | set(case["allowed"]), case
    assert told["missed"] <= 5, told


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("commit this", [("commit", ())]),
        ("can you please deploy it to staging?", [("deploi", ())]),
        ("let's cut the 2.0 release", [("cut", ("releas",))]),
        ("how do we release?", [("releas", ())]),
        ("we need a hotfix for the crash", [("hotfix", ())]),
        ("how does undo work?", []),
        ("I messed up the branches", []),
        ("the schema changed", []),
        ("Never commit or push without asking", [("commit", ()), ("push", ())]),
    ],
)
def test_a_clause_is_a_verb_with_its_object(text: str, found: list[object]) -> None:
    assert heads(text) == found


@pytest.mark.parametrize(
    ("rule", "prompt"),
    [
        ("Use uv, not pip", "pip install requests"),
        ("Use uv, never pip", "add httpx with pip"),
        ("Do not use `npm`, `pnpm`, or `yarn` here", "add zod with yarn"),
        ("Never run terraform apply", "lance terraform apply"),
        ("Migrations must be reversible", "write a migration for the users table"),
        ("Run make test-fast before every commit", "ok, commit and push"),
        ("No Co-Authored-By trailer in commits", "commit"),
        ("Do not edit poetry.lock by hand", "set urllib3 to 2.2 in ./poetry.lock"),
        ("Do not delete anything under data/golden", "clean up data/golden/old"),
    ],
)
def test_a_prompt_brings_the_rule_about_what_it_asks_for(rule: str, prompt: str) -> None:
    assert brings(rule, prompt)


@pytest.mark.parametrize(
    ("rule", "prompt"),
    [
        ("Use tabs, not spaces", "use the API to fetch the invoices"),
        ("Use tabs, not spaces", "convert the tabs component"),
        ("Use httpx instead of requests", "open a pull request"),
        ("Use httpx instead of requests", "add the requests that were dropped"),
        ("Use uv, not pip", "add httpx with uv"),
        ("Never mock the database", "update the database"),
        ("Never mock the database", "mock the clock"),
        ("Write comments in English", "write a function that sums a list"),
        ("Keep answers short", "keep going"),
        ("Commit messages in the imperative", "the commit hash is in the footer"),
        ("Commit messages in the imperative", "```\ngit commit failed\n```\nwhat is this?"),
        ("Every release needs an entry", "explain the release notes page component"),
        ("Branch names start with the ticket", "where is the branch office stored?"),
        ("Tags must be signed", "a tag in the sidebar is cut off"),
        ("The API is versioned by URL, not by header", "add a header to the page"),
    ],
)
def test_a_shared_word_does_not_bring_a_rule(rule: str, prompt: str) -> None:
    assert not brings(rule, prompt, about_tools="httpx" in rule)


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Use uv, not pip", "cd api && sudo python3 -m pip install -q requests"),
        ("Never run terraform apply, only terraform plan", "terraform apply -auto-approve"),
        ("Ask before kubectl delete in prod", "kubectl delete pod api-7f9c"),
        ("Never `git push --force`", "git push origin main --force"),
        ("Never force-push", "git push --force"),
        ("Never use `git add -A` or `git add .`", "git add ."),
        ("Don't push to main", "git add x && git push"),
        ("No deploys on Friday", "make deploy-prod"),
        ("Do NOT use `vitest` directly", "npx vitest run src"),
        ("Do not delete anything under data/golden", "rm -rf ./data/golden/old"),
        ("Commit messages in the imperative", "git commit -am 'fix the parser'"),
    ],
)
def test_a_command_brings_the_rule_about_what_it_does(rule: str, command: str) -> None:
    assert brings(rule, command=command)


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("Use uv, not pip", "uv pip install requests"),
        ("Use uv, not pip", "grep -rn 'pip install' docs"),
        ("Use uv, not pip", "git commit -m 'no pip any more'"),
        ("Use uv, not pip", "cat <<EOF > notes\npip install x\nEOF"),
        ("Never run terraform apply, only terraform plan", "terraform plan"),
        ("Never run terraform apply, only terraform plan", "terraform fmt"),
        ("Use docker compose, not docker-compose", "docker compose up -d"),
        ("Run make test-fast before every commit", "make test-fast"),
        ("Run make test-fast before every commit", "make build"),
        ("Do not delete anything under data/golden", "ls data/golden"),
        ("Always run `pulumi preview` before `up`", "docker compose up -d"),
        ("Never force-push", "git push"),
        ("Rebase feature branches, never merge main", "git merge-base main HEAD"),
    ],
)
def test_a_command_that_looks_or_follows_the_rule_brings_nothing(rule: str, command: str) -> None:
    assert not brings(rule, command=command)


def test_a_procedure_comes_by_its_name_and_its_trigger() -> None:
    index = RuleIndex([ActionRule("p", "Release", trigger="asked to release")])
    for prompt in ("release 1.3", "do the release", "let's cut the 2.0 release"):
        assert [match.reason for match in index.for_prompt(prompt)], prompt
    assert index.for_command("gh release create v1.3")
    deploy = RuleIndex([ActionRule("p", "Deploy", trigger="asked to deploy")])
    for prompt in ("deploy to staging", "Can you deploy the Kira app like we did last time?"):
        assert deploy.for_prompt(prompt), prompt
    assert not index.for_prompt("why is the release page slow?")


def test_in_a_long_prompt_only_its_beginning_and_its_end_ask() -> None:
    log = "step done. Commit the file now.\n" * 100
    assert not brings("No commits on Friday", "What failed here?\n" + "x " * 400 + log + "y " * 200)
    assert brings("No commits on Friday", "What failed here?\n" + log + "Fix it, then commit.")


@pytest.mark.parametrize(
    "text", ["", "`", "``` x", "- , .", "\0", "`  `", "never", "'\"", "ж " * 500]
)
def test_no_text_is_too_odd(text: str) -> None:
    index = RuleIndex(
        [
            ActionRule("a", text),
            ActionRule("b", "Use uv, not pip"),
            ActionRule("c", text, trigger=text),
        ]
    )
    index.for_prompt(text)
    index.for_command(text)
