"""`/api/open` and `/open`: a one-time code becomes the cookie with which the dashboard comes in."""

from typing import Annotated

from msgspec import Meta
from starlette.responses import RedirectResponse, Response

from recollect.core.values import Value
from recollect.server import answers
from recollect.server.endpoints import Endpoint, Nothing
from recollect.server.services import Services
from recollect.server.tokens import COOKIE, COOKIE_S


class OpenCode(Value, frozen=True, kw_only=True):
    """Open `url` in a browser within a minute; it works once."""

    url: str
    expires_s: int


class CodeQuery(Value, frozen=True, kw_only=True):
    code: Annotated[str, Meta(min_length=1, max_length=200)]


class Opened(Value, frozen=True, kw_only=True):
    """What a browser never sees: it is sent on to the dashboard."""


def code(services: Services, asked: Nothing) -> OpenCode:
    made, seconds = services.tokens.new_code()
    port = services.health()["port"]
    return OpenCode(url=f"http://127.0.0.1:{port}/open?code={made}", expires_s=seconds)


def enter(services: Services, asked: CodeQuery) -> Response:
    cookie = services.tokens.redeem(asked.code)
    if cookie is None:
        return answers.problem(
            403, "bad_code", "This code was used already, or it is too old.", hint="recollect open"
        )
    response = RedirectResponse("/", 303)
    response.set_cookie(
        COOKIE, cookie, max_age=COOKIE_S, path="/", httponly=True, samesite="strict"
    )
    return response


ENDPOINTS = (
    Endpoint("POST", "/api/open", "A one-time address for the dashboard.", code, OpenCode),
    Endpoint("GET", "/open", "Let a browser in with a one-time code.", enter, Opened, CodeQuery),
)
