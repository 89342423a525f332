"""How a browser gets in: with a link that works once, and never from another origin."""

import http.client
import pathlib
from collections.abc import Iterator

import pytest

from tests.fakes.daemons import RealDaemon, real_daemon
from tests.fakes.waiting import PATIENCE_S


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealDaemon]:
    with real_daemon(pathlib.Path(tmp_path_factory.mktemp("door")) / "home") as running:
        yield running


def ask(
    daemon: RealDaemon, path: str, method: str = "GET", body: str = "", **headers: str
) -> tuple[int, http.client.HTTPMessage, str]:
    connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=PATIENCE_S)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if body:
        named["content-type"] = "application/json"
    connection.request(method, path, body or None, named)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, answer.headers, text


def entered(daemon: RealDaemon) -> str:
    """The cookie of a browser that came in."""
    path = daemon.client.ask("POST", "/api/open")["url"].split(f":{daemon.port}")[1]
    status, headers, _ = ask(daemon, path)
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie and "samesite=strict" in cookie.lower() and "Path=/" in cookie
    assert ask(daemon, path)[0] == 401, "the link works once"
    return cookie.split(";")[0]


def test_a_browser_without_a_pass_is_told_how_to_get_one(daemon: RealDaemon) -> None:
    status, headers, text = ask(daemon, "/", accept="text/html")
    assert status == 401 and "recollect open" in text
    assert headers["content-type"].startswith("text/html")
    assert ask(daemon, "/open?code=wrong")[0] == 401
    assert ask(daemon, "/static/js/main.js")[0] == 401
    assert ask(daemon, "/healthz", cookie=f"recollect_{daemon.port}=1.2.3")[0] == 401


def test_a_pass_opens_the_page_and_reads(daemon: RealDaemon) -> None:
    cookie = entered(daemon)
    status, headers, text = ask(daemon, "/", cookie=cookie)
    assert status == 200 and '<div id="app">' in text
    assert "script-src 'self'" in headers["content-security-policy"]
    status, headers, _ = ask(daemon, "/static/js/main.js", cookie=cookie)
    assert status == 200 and headers["content-type"].startswith("text/javascript")
    again = ask(daemon, "/static/js/main.js", cookie=cookie, if_none_match=headers["etag"])
    assert again[0] == 304
    assert ask(daemon, "/healthz", cookie=cookie)[0] == 200


def test_a_pass_changes_things_only_from_our_own_page(daemon: RealDaemon) -> None:
    cookie = entered(daemon)
    own = f"http://127.0.0.1:{daemon.port}"
    assert ask(daemon, "/api/open", "POST", cookie=cookie)[0] == 401, "no origin"
    assert ask(daemon, "/api/open", "POST", cookie=cookie, origin=own)[0] == 200
    for stranger in ("http://evil.example", "null", f"http://127.0.0.1:{daemon.port + 1}"):
        assert ask(daemon, "/api/open", "POST", cookie=cookie, origin=stranger)[0] == 403
    cross = ask(daemon, "/healthz", cookie=cookie, sec_fetch_site="cross-site")
    assert cross[0] == 403


def test_files_outside_the_page_are_refused(daemon: RealDaemon) -> None:
    cookie = entered(daemon)
    for path, wanted in (
        ("/static/%00", 400),
        ("/static/../app.py", 403),
        ("/static/%2e%2e/app.py", 403),
        ("/static/..%2fapp.py", 403),
        ("/static//etc/passwd", 403),
        ("/static/js", 404),
        ("/static/nothing.js", 404),
    ):
        assert ask(daemon, path, cookie=cookie)[0] == wanted, path
