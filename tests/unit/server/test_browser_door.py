"""How a browser gets in: with a link that works once, and never from another origin."""

from collections.abc import Iterator

import pytest

from tests.fakes.runtime import RuntimeHome


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RuntimeHome]:
    made = RuntimeHome(tmp_path_factory.mktemp("browser") / "home")
    yield made
    made.close()


def ask(
    home: RuntimeHome, path: str, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], str]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    status, answered, body = home.http(method, path, None, named, token=False)
    return status, answered, body.decode()


def entered(home: RuntimeHome) -> str:
    """The cookie of a browser that came in."""
    path = home.client.ask("POST", "/api/open")["url"].split(f":{home.port}")[1]
    status, headers, _ = ask(home, path)
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie and "samesite=strict" in cookie.lower() and "Path=/" in cookie
    assert ask(home, path)[0] == 401, "the link works once"
    return cookie.split(";")[0]


def test_a_browser_without_a_pass_is_told_how_to_get_one(home: RuntimeHome) -> None:
    status, headers, text = ask(home, "/", accept="text/html")
    assert status == 401 and "recollect open" in text
    assert headers["content-type"].startswith("text/html")
    assert ask(home, "/open?code=wrong")[0] == 401
    assert ask(home, "/static/js/main.js")[0] == 401
    assert ask(home, "/healthz", cookie=f"recollect_{home.port}=1.2.3")[0] == 401


def test_a_pass_opens_the_page_and_reads(home: RuntimeHome) -> None:
    cookie = entered(home)
    status, headers, text = ask(home, "/", cookie=cookie)
    assert status == 200 and '<div id="app">' in text
    assert "script-src 'self'" in headers["content-security-policy"]
    status, headers, _ = ask(home, "/static/js/main.js", cookie=cookie)
    assert status == 200 and headers["content-type"].startswith("text/javascript")
    again = ask(home, "/static/js/main.js", cookie=cookie, if_none_match=headers["etag"])
    assert again[0] == 304
    assert ask(home, "/healthz", cookie=cookie)[0] == 200


def test_a_pass_changes_things_only_from_our_own_page(home: RuntimeHome) -> None:
    cookie = entered(home)
    own = f"http://127.0.0.1:{home.port}"
    assert ask(home, "/api/open", "POST", cookie=cookie)[0] == 401, "no origin"
    assert ask(home, "/api/open", "POST", cookie=cookie, origin=own)[0] == 200
    for stranger in ("http://evil.example", "null", f"http://127.0.0.1:{home.port + 1}"):
        assert ask(home, "/api/open", "POST", cookie=cookie, origin=stranger)[0] == 403
    cross = ask(home, "/healthz", cookie=cookie, sec_fetch_site="cross-site")
    assert cross[0] == 403


def test_files_outside_the_page_are_refused(home: RuntimeHome) -> None:
    cookie = entered(home)
    for path, wanted in (
        ("/static/%00", 400),
        ("/static/../app.py", 403),
        ("/static/%2e%2e/app.py", 403),
        ("/static/..%2fapp.py", 403),
        ("/static//etc/passwd", 403),
        ("/static/js", 404),
        ("/static/nothing.js", 404),
    ):
        assert ask(home, path, cookie=cookie)[0] == wanted, path
