"""The dashboard's files, and the page where a browser signs in.

In: requests for `/`, `/static/...` and `/open?code=`. Out: files of this package, or a pass as a
cookie. Paths outside the package are refused; a file is sent again only when it changed.
"""

import hashlib
import os

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from recollect.server import responses
from recollect.server.guard import OPEN, cookie_name
from recollect.server.tokens import PASS_S, Tokens

STATIC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static")
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".md": "text/plain",
}


def routes(tokens: Tokens, port: int) -> list[Route]:
    async def enter(request: Request) -> Response:
        given = tokens.redeem(request.query_params.get("code", ""))
        if given is None:
            return responses.page(
                401,
                "This link was used already, or is too old",
                "Run again: recollect open",
            )
        answer = RedirectResponse("/", 303)
        answer.set_cookie(
            cookie_name(port), given, max_age=PASS_S, path="/", httponly=True, samesite="strict"
        )
        return answer

    async def index(request: Request) -> Response:
        return _file(request, "index.html")

    async def static(request: Request) -> Response:
        return _file(request, request.path_params["path"])

    return [
        Route(OPEN, enter, methods=["GET"]),
        Route("/", index, methods=["GET"]),
        Route("/static/{path:path}", static, methods=["GET"]),
    ]


def _file(request: Request, name: str) -> Response:
    if "\0" in name:
        return responses.problem(400, "bad_input", "A file name cannot contain NUL.")
    path = os.path.realpath(os.path.join(STATIC, name))
    if not path.startswith(STATIC + os.sep):
        return responses.problem(403, "outside", "The path is outside the dashboard's files.")
    kind = TYPES.get(os.path.splitext(path)[1])
    if kind is None or not os.path.isfile(path):
        return responses.problem(404, "not_found", "There is no such file.")
    with open(path, "rb") as file:
        content = file.read()
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    headers = {"etag": etag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == etag:
        return Response(status_code=304, headers=headers)
    return Response(content, headers=headers, media_type=kind)
