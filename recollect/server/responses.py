"""HTTP responses: JSON, one shape of error, the same security headers everywhere.

In: values and errors. Out: responses. An error shows its own message, never its cause.
"""

from html import escape
from typing import Any

import msgspec
from starlette.responses import Response

from recollect.core import errors

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

# From the most specific to the most general.
_STATUS: tuple[tuple[type[errors.RecollectError], int, str], ...] = (
    (errors.TooLarge, 413, "too_large"),
    (errors.BadInput, 400, "bad_input"),
    (errors.NotFound, 404, "not_found"),
    (errors.Conflict, 409, "conflict"),
    (errors.DiskFull, 507, "disk_full"),
    (errors.StoreError, 503, "store_unavailable"),
    (errors.ModelUnavailable, 503, "model_unavailable"),
)


def json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(value), status, headers, "application/json")


def problem(
    status: int,
    code: str,
    message: str,
    *,
    field: str = "",
    hint: str = "",
    headers: dict[str, str] | None = None,
) -> Response:
    """The one shape: {"error": {"code", "message", "field"?, "hint"?}}."""
    body = {"code": code, "message": message}
    if field:
        body["field"] = field
    if hint:
        body["hint"] = hint
    return json({"error": body}, status, headers)


def page(status: int, title: str, text: str) -> Response:
    """A plain HTML page, for a browser that is not signed in."""
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<h1>{escape(title)}</h1><p>{escape(text)}</p></html>"
    )
    return Response(body, status, media_type="text/html")


def explained(error: errors.RecollectError) -> Response:
    for kind, status, code in _STATUS:
        if isinstance(error, kind):
            field = error.field if isinstance(error, errors.BadInput) else ""
            return problem(status, code, str(error), field=field, hint=error.hint)
    return problem(500, "failed", str(error), hint=error.hint)
