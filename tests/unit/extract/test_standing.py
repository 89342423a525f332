"""The shipped weights find statements of what holds from now on, with the real model."""

import os

import numpy as np

from recollect.embedding.embedder import Embedder
from recollect.extract.standing import own_sentences, standing

# Not among the prompts that the weights were fitted on.
STATED = (
    "never commit the .idea folder",
    "we use uv for everything in this repo, pip is not used any more",
    "please always write the tests before the code",
    "I prefer snake_case for JSON keys",
    "the payment team decided to keep Stripe, Adyen is off the table",
    "from today on the main branch is called develop",
    "you can stop adding screenshots to the PRs",
    "Fix the date picker. By the way, dates are shown as DD.MM.YYYY in this product.",
    "wir verwenden hier nur noch Vitest, kein Jest mehr",
    "no, the staging host is blue-2, not blue-1",
)
PASSING = (
    "can you check whether the upload works again",
    "fix the lint errors",
    "why does the second test fail?",
    "commit and push",
    "add a column with the date of the last login to the user list",
    "go on",
    "the build is red again, have a look at the log",
    "what does the retry wrapper do?",
    "rename this function and update the callers",
    "yes, option 2",
)


def test_statements_are_found_and_requests_are_not() -> None:
    embedder = Embedder(os.environ["RECOLLECT_MODEL_DIR"], timeout=60)
    stated = {text: standing(text, embedder.embed([text])[0]).fires for text in STATED}
    passing = {text: standing(text, embedder.embed([text])[0]).fires for text in PASSING}
    assert sum(stated.values()) >= 9, [text for text, fires in stated.items() if not fires]
    assert sum(passing.values()) <= 1, [text for text, fires in passing.items() if fires]


def test_the_sentence_that_states_it_is_named() -> None:
    found = standing("Fix the export of invoices. From now on we never use semicolons in CSV.")
    assert found.sentence == "From now on we never use semicolons in CSV."


def test_without_a_vector_the_form_of_the_sentence_decides() -> None:
    rule = standing("from now on never use default exports")
    assert rule.probability > standing("can you explain the default export?").probability


def test_a_pasted_plan_is_not_read_as_the_users_words() -> None:
    plan = "Implement the following plan:\n\n# Plan\nAlways use tabs.\nNever use spaces.\n"
    assert own_sentences(plan) == ["Implement the following plan:"]


def test_a_prompt_without_sentences_states_nothing() -> None:
    assert standing("", np.zeros(384, dtype=np.float32)).probability == 0.0
    assert not standing("```\nalways\n```").fires
