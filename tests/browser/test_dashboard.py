"""The dashboard in a real browser, with a real daemon behind it."""

import json
import re
import urllib.parse
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Page, Response, expect

from recollect.core.kinds import KINDS
from tests.browser.browsers import VIEWS, enter, say
from tests.fakes.daemons import RealDaemon

PROBLEMS = ".state.error"


def see(page: Page, daemon: RealDaemon, address: str) -> None:
    page.goto(f"http://127.0.0.1:{daemon.port}/#/{address}")


def add(daemon: RealDaemon, title: str, **more: Any) -> str:
    body = {"title": title, "project": "billing-api", **more}
    return str(daemon.client.ask("POST", "/api/observations", body)["record"]["record_id"])


def watched(page: Page) -> list[str]:
    """What the page complains about while it is used."""
    told: list[str] = []
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("console", lambda line: told.append(line.text) if line.type == "error" else None)
    return told


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_shows_real_data_and_complains_of_nothing(
    view: str, window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished)
    told = watched(page)
    page.get_by_role("navigation").get_by_role("link", name=VIEWS[view]).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(VIEWS[view])
    expect(page.locator(".loading")).to_have_count(0)
    expect(page.locator(PROBLEMS)).to_have_count(0)
    if view != "settings":
        shown = page.locator("#main :not(option)").get_by_text("billing-api")
        expect(shown.locator("visible=true").first).to_be_visible()
    assert told == []


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_no_view_has_an_accessibility_finding_or_is_wider_than_its_window(
    width: int, browser: Browser, furnished: RealDaemon
) -> None:
    def first(path: str, name: str) -> str:
        return str(furnished.client.get(path)["items"][0][name])

    extra = (
        "beliefs?show=waiting",
        "beliefs?show=ended",
        "beliefs?show=facts",
        "sessions?show=events",
        "sessions?show=changes",
        f"projects/{first('/api/projects', 'project_id')}",
        f"entity/{first('/api/entities?limit=1', 'entity_id')}",
        f"memories/{first('/api/memories?limit=1', 'record_id')}",
        "memories/mr_mistyped",
        f"why/{first('/api/receipts?limit=1&project=all', 'receipt_id')}",
        "why?try=1&q=retry",
        "sessions/session-0",
        "nowhere",
    )
    context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    page = enter(context, furnished)
    page.evaluate(AXE_SCRIPT)
    found: list[tuple[str, ...]] = []
    for address in (*VIEWS, *extra):
        page.evaluate(f"location.hash = '#/{address}'")
        page.wait_for_timeout(150)
        expect(page.locator(".loading")).to_have_count(0)
        root = "document.documentElement"
        if page.evaluate(f"{root}.scrollWidth > {root}.clientWidth"):
            found.append((address, "wider than the window"))
        # Only colours differ between the themes.
        for scheme, rules in (("light", None), ("dark", {"runOnly": ["color-contrast"]})):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            expect(page.locator("html")).to_have_attribute("data-theme", scheme)
            told = page.evaluate("rules => axe.run(document, rules ?? {})", rules)
            found += [
                (address, scheme, one["id"], one["nodes"][0]["html"][:200])
                for one in told["violations"]
            ]
    context.close()
    assert found == []


def test_a_new_memory_arrives_without_a_reload(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished)
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    page.evaluate("window.stayed = true")
    add(furnished, "The lamp in the hall is blue")
    expect(page.get_by_text("The lamp in the hall is blue").first).to_be_visible()
    assert page.evaluate("window.stayed") is True


def test_edit_then_undo(window: BrowserContext, furnished: RealDaemon) -> None:
    record = add(furnished, "The cache lives for a minute", content="As measured.")
    page = enter(window, furnished)
    see(page, furnished, f"memories/{record}")
    panel = page.get_by_label("One memory")
    panel.get_by_role("button", name="Edit").click()
    page.get_by_label("Title").fill("The cache lives for two minutes")
    page.get_by_role("button", name="Save").click()
    expect(panel.get_by_role("heading", name="The cache lives for two minutes")).to_be_visible()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(panel.get_by_role("heading", name="The cache lives for a minute")).to_be_visible()
    stored = furnished.client.get(f"/api/memories/{record}")
    assert stored["title"] == "The cache lives for a minute"


def test_delete_then_undo(window: BrowserContext, furnished: RealDaemon) -> None:
    record = add(furnished, "A thing to be deleted soon")
    page = enter(window, furnished)
    see(page, furnished, f"memories/{record}")
    page.get_by_label("One memory").get_by_role("button", name="Forget").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    expect(page.get_by_text("Forgotten.")).to_be_visible()
    assert not furnished.client.ask("POST", "/api/memories/batch", {"ids": [record]})["items"]
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_label("One memory").get_by_role("heading", level=2)).to_have_text(
        "A thing to be deleted soon"
    )
    assert furnished.client.ask("POST", "/api/memories/batch", {"ids": [record]})["items"]


def test_a_deleted_memory_can_be_brought_back_later(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    record = add(furnished, "Gone and back")
    furnished.client.ask("DELETE", f"/api/memories/{record}")
    page = enter(window, furnished)
    see(page, furnished, f"memories/{record}")
    page.get_by_role("button", name="Restore it").click()
    expect(page.get_by_label("One memory").get_by_text("Gone and back").first).to_be_visible()


def test_pin_and_move(window: BrowserContext, furnished: RealDaemon) -> None:
    record = add(furnished, "Belongs to the shop")
    page = enter(window, furnished)
    see(page, furnished, f"memories/{record}")
    panel = page.get_by_label("One memory")
    panel.get_by_role("button", name="Pin").click()
    expect(panel.get_by_role("button", name="Unpin")).to_be_visible()
    panel.get_by_role("button", name="Move…").click()
    page.get_by_role("dialog").get_by_label("Project").select_option(label="storefront")
    page.get_by_role("dialog").get_by_role("button", name="Move").click()
    expect(panel.get_by_text("storefront").first).to_be_visible()
    stored = furnished.client.get(f"/api/memories/{record}")
    assert stored["pinned"] is True


def test_history_and_provenance_are_shown(window: BrowserContext, furnished: RealDaemon) -> None:
    record = add(furnished, "First wording")
    furnished.client.ask("PATCH", f"/api/memories/{record}", {"title": "Second wording"})
    page = enter(window, furnished)
    see(page, furnished, f"memories/{record}")
    page.get_by_role("button", name="History").click()
    expect(page.locator("del").get_by_text("First wording")).to_be_visible()
    episode = furnished.client.get("/api/memories?kind=episode&limit=1")["items"][0]["record_id"]
    see(page, furnished, f"memories/{episode}")
    page.get_by_role("button", name="Source").click()
    expect(page.get_by_text("this memory was made from")).to_be_visible()
    expect(page.locator("pre.quote").first).to_be_visible()


def test_a_receipt_explains_and_takes_feedback(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    receipts = furnished.client.get("/api/receipts?limit=50&project=all")["items"]
    one = next(receipt for receipt in receipts if receipt["injected"])
    page = enter(window, furnished)
    see(page, furnished, f"why/{one['receipt_id']}")
    receipt = page.get_by_label("One receipt")
    expect(receipt.get_by_text(one["query"]).first).to_be_visible()
    expect(receipt.locator("pre.quote")).to_have_text(one["detail"]["text"])
    expect(receipt.get_by_role("heading", name="Left out")).to_be_visible()
    receipt.locator(".reason > summary").first.click()
    expect(receipt.locator(".reason[open] .turn").first).to_be_visible()
    receipt.get_by_text("How it scored").first.click()
    expect(receipt.locator(".parts").first).to_be_visible()
    receipt.get_by_role("button", name="Wrong").first.click()
    expect(page.get_by_text("Noted: it will rank lower.")).to_be_visible()
    log = furnished.client.get("/api/operations?limit=20")["items"]
    assert any(
        operation["kind"] == "feedback" and operation["detail"]["verdict"] == "wrong"
        for operation in log
    )


def test_a_question_is_tried_before_it_is_asked(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished, "why?try=1")
    expect(page.get_by_label("Project")).not_to_have_value("")
    expect(page.get_by_role("option", name="All projects")).to_have_count(0)
    page.get_by_label("Project").select_option(label="billing-api")
    asked = page.get_by_label("A question that you could ask an agent")
    asked.fill("Why did the retry storm happen after the deploy?")
    told = page.get_by_label("Try a question", exact=True)
    expect(told.locator("pre.quote")).to_contain_text("Workers retried without jitter")
    expect(told.get_by_role("heading", name="Left out")).to_be_visible()
    told.get_by_text("Scores of the search").click()
    expect(told.get_by_text("The question passes the floor.")).to_be_visible()
    page.get_by_label("Project").select_option(label="storefront")  # where no file was touched
    asked.fill("xylophone lessons")
    expect(told.get_by_text("Nothing: no memory is likely enough")).to_be_visible()


def choose_project(page: Page, name: str) -> None:
    choice = page.get_by_label("Project", exact=True)
    choice.select_option(choice.locator("option").filter(has_text=name).get_attribute("value"))


def is_the_whole_question(answer: Response) -> bool:
    """Typing and choosing ask several times; the last one asks for all of it."""
    asked = urllib.parse.parse_qs(urllib.parse.urlsplit(answer.url).query)
    return asked.get("query") == ["retry storm"] and {"mode", "kind", "project"} <= asked.keys()


def test_filters_live_in_the_address_and_survive_a_reload(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished)
    see(page, furnished, "memories")
    kinds = page.get_by_role("group", name="Kind")
    expect(kinds.get_by_role("button")).to_have_count(len(KINDS))
    page.get_by_label("Search memories").fill("retry storm")
    page.get_by_role("button", name="Words").click()
    kinds.get_by_role("button", name="Beliefs").click()
    with page.expect_response(is_the_whole_question):
        choose_project(page, "billing-api")
    asked = urllib.parse.parse_qs(page.url.partition("?")[2])
    assert asked["q"] == ["retry storm"] and asked["mode"] == ["keyword"]
    assert asked["kind"] == ["knowledge"] and asked["project"]
    expect(page.locator(".loading")).to_have_count(0)
    expect(page.get_by_role("listitem").first).to_be_visible()
    shown = page.locator(".virtual .title").all_inner_texts()
    with page.expect_response(is_the_whole_question):
        page.reload()
    expect(page.get_by_label("Search memories")).to_have_value("retry storm")
    expect(kinds.get_by_role("button", name="Beliefs")).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".loading")).to_have_count(0)
    expect(page.locator(".virtual .title").first).to_be_visible()
    assert page.locator(".virtual .title").all_inner_texts() == shown


def test_ctrl_k_finds_from_anywhere(window: BrowserContext, furnished: RealDaemon) -> None:
    page = enter(window, furnished)
    see(page, furnished, "settings")
    page.keyboard.press("Control+k")
    page.get_by_label("Search everywhere", exact=True).last.fill("flaky login test")
    expect(page.locator("#palette-list [role=option]").first).to_contain_text("ogin test")
    page.keyboard.press("Enter")
    expect(page.get_by_label("One memory")).to_be_visible()


def test_the_theme_is_remembered(window: BrowserContext, furnished: RealDaemon) -> None:
    page = enter(window, furnished)
    page.get_by_label("Theme").last.select_option("dark")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_one_broken_part_leaves_the_rest_alone(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished, "settings")
    page.route("**/api/hosts", lambda route: route.fulfill(status=500, body="{}"))
    page.reload()
    expect(page.get_by_label("Agents").get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Health").get_by_text("all-MiniLM-L6-v2")).to_be_visible()


def test_a_page_of_another_origin_can_neither_read_nor_act(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    """Another port of the same host is another origin, though the cookie's site is the same."""
    enter(window, furnished)
    stranger = window.new_page()
    stranger.route(
        "http://127.0.0.1:1/*", lambda route: route.fulfill(body="<p>evil</p>", status=200)
    )
    stranger.goto("http://127.0.0.1:1/")
    before = furnished.client.get("/api/operations?limit=1")["items"]
    tried = stranger.evaluate(
        """async (own) => {
          const told = [];
          for (const [method, path, body] of [["GET", "/api/stats"], ["GET", "/"],
              ["POST", "/api/undo", "{}"], ["POST", "/api/notes", '{"text":"evil"}']]) {
            for (const mode of ["cors", "no-cors"]) {
              try {
                const asked = {method, mode, credentials: "include", body};
                const answer = await fetch(own + path, asked);
                told.push([path, mode, answer.status, (await answer.text()).slice(0, 80)]);
              } catch { told.push([path, mode, "refused", ""]); }
            }
          }
          return told;
        }""",
        f"http://127.0.0.1:{furnished.port}",
    )
    assert all(status in ("refused", 0) and not text for _, _, status, text in tried), tried
    assert furnished.client.get("/api/operations?limit=1")["items"] == before


def test_the_sample_comes_and_goes_with_one_click(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    furnished.client.ask("POST", "/api/sample")
    assert furnished.client.get("/api/memories?project=sample")["items"]
    page = enter(window, furnished, "settings")
    page.get_by_role("button", name="Remove the sample project").click()
    expect(page.get_by_text("The sample project was removed.")).to_be_visible()
    assert not furnished.client.get("/api/memories?project=sample")["items"]


# --- hostile text --------------------------------------------------------------------------------

BAD = "window.pwned=1"
SHAPES = (
    f"<script>{BAD}</script>",
    f"<img src=x onerror={BAD}>",
    f"<svg onload={BAD}>",
    f'"><script>{BAD}</script>',
    f"'-{BAD}-'",
    f"javascript:{BAD}",
    "<iframe srcdoc='<script>parent.pwned=1</script>'>",
    f"<a href=javascript:{BAD}>x</a>",
    f"${{{BAD}}}",
    f"{{{{constructor.constructor('{BAD}')()}}}}",
    f"<style>@import 'javascript:{BAD}'</style>",
    f"<body onload={BAD}>",
    f"</textarea><script>{BAD}</script>",
    f"</title><script>{BAD}</script>",
    f"<math><mtext><script>{BAD}</script></mtext></math>",
    f"<details open ontoggle={BAD}>",
    f"<input autofocus onfocus={BAD}>",
    f"\\u003cscript\\u003e{BAD}\\u003c/script\\u003e",
    f"<!--><script>{BAD}</script>",
    f"<object data=javascript:{BAD}>",
    f"data:text/html,<script>{BAD}</script>",
    f"<template><script>{BAD}</script></template>",
    f"<form action=javascript:{BAD}><button>x</button></form>",
    f"<base href=javascript:{BAD}//>",
    "__proto__",
    "constructor",
    f"<p style=background:url(javascript:{BAD})>",
    f"\u202e<script>{BAD}</script>",
    f"<x onclick={BAD}>x",
    f"]]><script>{BAD}</script>",
)


def test_three_hundred_hostile_texts_execute_nothing(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    ids = []
    for number, text in enumerate(SHAPES):
        body = {
            "project": "storefront",
            "title": f"{number} {text}"[:200],
            "content": f"zebrafish {text}",
            "facts": [text],
            "concepts": [text[:100]],
            "files": [text[:500]],
            "session_id": f"s{number}{text}"[:250],
        }
        ids.append(furnished.client.ask("POST", "/api/observations", body)["record"]["record_id"])
        event = {
            "session_id": f"s{number}{text}"[:250],
            "kind": "prompt",
            "body": {"type": "text", "content": f"zebrafish {text}"},
            "source": {"surface": text[:64], "project_path": f"/tmp/{text}"[:2000]},
        }
        furnished.client.ask("POST", "/v1/events?retrieve=true", event)
        event["kind"] = "tool_use"
        event["body"] = {"type": "json", "data": {"tool": text, "command": text, "files": [text]}}
        furnished.client.ask("POST", "/v1/events", event)
    # Ten fields each: title, content, fact, concept, file, session, prompt, host, path, tool.
    assert len(SHAPES) * 10 >= 300
    page = enter(window, furnished)
    told = watched(page)
    receipts = furnished.client.get("/api/receipts?limit=40&project=all")["items"]
    projects = furnished.client.get("/api/projects")["items"]
    places = [
        *VIEWS,
        "memories?q=zebrafish",
        "sessions?show=changes",
        "sessions?show=events",
        *(f"projects/{one['project_id'] or 'global'}" for one in projects),
        "beliefs",
        "beliefs?show=facts",
        *(f"memories/{one}" for one in ids),
        *(f"why/{one['receipt_id']}" for one in receipts[:6]),
        *(
            f"sessions/{urllib.parse.quote(f's{number}{text}'[:250], safe='')}"
            for number, text in enumerate(SHAPES[:8])
        ),
        f"memories?q={urllib.parse.quote(SHAPES[0])}&concept={urllib.parse.quote(SHAPES[1])}",
    ]
    for place in places:
        see(page, furnished, place)
        page.wait_for_timeout(60)
        assert page.evaluate("window.pwned") is None, place
    see(page, furnished, f"memories/{ids[0]}")
    expect(page.get_by_label("One memory").get_by_role("heading", level=2)).to_contain_text(
        "<script>window.pwned=1</script>"
    )
    page.get_by_label("One memory").get_by_role("button", name="Edit").click()
    expect(page.get_by_label("Title")).to_have_value(re.compile("<script>"))
    assert page.evaluate("window.pwned") is None
    assert page.locator("#app script, #app iframe, #app object, #app svg[onload]").count() == 0
    assert not [line for line in told if "404" not in line], told


def test_inline_script_is_stopped_by_the_policy_too(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    page = enter(window, furnished)
    page.evaluate(
        """() => { const one = document.createElement('div');
          one.innerHTML = '<img src=x onerror="window.pwned=1">';
          document.body.append(one);
          const two = document.createElement('script');
          two.textContent = 'window.pwned=1'; document.body.append(two); }"""
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.pwned") is None


def test_answers_never_hold_a_vector(window: BrowserContext, furnished: RealDaemon) -> None:
    seen: list[str] = []
    page = enter(window, furnished)
    page.on("response", lambda answer: seen.append(answer.url))
    for view in VIEWS:
        see(page, furnished, view)
        page.wait_for_timeout(150)
    paths = {urllib.parse.urlsplit(url).path for url in seen if "/api/" in url}
    for path in sorted(paths - {"/api/events"}):
        assert '"vector"' not in json.dumps(furnished.client.get(path)), path


def test_a_preference_that_was_heard_is_corrected_taken_out_and_brought_back(
    window: BrowserContext, furnished: RealDaemon
) -> None:
    path = furnished.client.get("/api/projects")["items"][0]["marks"][0]["value"]
    say(furnished, path, "From now on always use pnpm instead of npm in this project.")
    wished = furnished.client.get("/api/facts")["preferences"]
    assert any("pnpm" in one["value"] for one in wished), wished
    page = enter(window, furnished, "beliefs?show=facts")
    listed = page.get_by_label("Preferences", exact=True)
    row = listed.get_by_role("listitem").filter(has_text="pnpm").first
    expect(row).not_to_contain_text("_")  # keys are told in words
    row.get_by_role("button", name="Correct").click()
    page.get_by_label("What holds instead").fill("yarn")
    page.get_by_role("button", name="Save").click()
    row = listed.get_by_role("listitem").filter(has_text="yarn")
    expect(row.get_by_text("corrected")).to_be_visible()
    row.get_by_role("button", name="Forget").click()
    expect(listed.get_by_text("yarn")).to_have_count(0)
    page.get_by_role("button", name="Undo", exact=True).last.click()
    expect(listed.get_by_text("yarn")).to_be_visible()
