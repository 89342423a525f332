"""Routes as data: one table from which both the app and the OpenAPI document are made.

In: a table of endpoints. Out: Starlette routes and an OpenAPI 3.1 document. A request that does not
match the declared parameters or body is answered with 400 and the name of the field.
"""

import functools
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import msgspec
from anyio import CapacityLimiter, to_thread
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recollect import __version__
from recollect.core import errors
from recollect.core.values import Value, convert, decode
from recollect.server import responses
from recollect.server.runtime import ServerRuntime


class NoParameters(Value, frozen=True):
    """No parameters."""


@dataclass(frozen=True)
class Endpoint:
    """One method of one path. `handler` is a plain function of the runtime, parameters and, if
    `body` is declared, the body; it runs in a thread."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    summary: str
    handler: Callable[..., Any]
    answer: Any
    parameters: type[Value] = NoParameters
    body: type[Value] | None = None
    always: bool = False  # answered even when all threads wait for a store that is down


def routes(endpoints: Sequence[Endpoint], runtime: ServerRuntime) -> list[Route]:
    """One route per path, so that the answer to a wrong method lists all allowed ones."""
    by_path: dict[str, dict[str, Endpoint]] = defaultdict(dict)
    for endpoint in endpoints:
        by_path[endpoint.path][endpoint.method] = endpoint
    return [
        Route(path, _serve(methods, runtime), methods=list(methods))
        for path, methods in by_path.items()
    ]


def _serve(
    methods: dict[str, Endpoint], runtime: ServerRuntime
) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        endpoint = methods[method]
        arguments: list[Any] = [runtime, _parameters(endpoint, request)]
        if endpoint.body is not None:
            arguments.append(decode(endpoint.body, await request.body()))
        if endpoint.always:
            result = await to_thread.run_sync(endpoint.handler, *arguments, limiter=_reserved())
        else:
            result = await run_in_threadpool(endpoint.handler, *arguments)
        return result if isinstance(result, Response) else responses.json(result)

    return serve


@functools.cache
def _reserved() -> CapacityLimiter:
    return CapacityLimiter(4)


def _parameters(endpoint: Endpoint, request: Request) -> Value:
    given: dict[str, str] = dict(request.path_params)
    for name, value in request.query_params.multi_items():
        if name in given:
            raise errors.BadInput(f"the parameter {name} is given twice", field=name)
        given[name] = value
    return convert(endpoint.parameters, given, strict=False)


# --- the document -------------------------------------------------------------------------------

_ERROR_SCHEMA = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                name: {"type": "string"} for name in ("code", "message", "field", "hint")
            },
        }
    },
}
_ERRORS = {
    "400": "The request is not valid; `field` names what is wrong.",
    "401": "The token is missing or wrong.",
    "403": "The request comes from another origin, or the token does not allow it.",
    "413": "Too large.",
    "415": "Not JSON.",
    "429": "Too many requests; `Retry-After` says when.",
    "503": "The store cannot do this now.",
}


def openapi(endpoints: Sequence[Endpoint]) -> dict[str, Any]:
    """The document, generated from the table."""
    bodies = [one.body for one in endpoints if one.body is not None]
    schemas, components = msgspec.json.schema_components(
        [one.answer for one in endpoints] + bodies, ref_template="#/components/schemas/{name}"
    )
    answer_of = dict(enumerate(schemas[: len(endpoints)]))
    # Keyed by class, not by name: two classes of the same name have two schemas.
    body_of = {id(body): schema for body, schema in zip(bodies, schemas[len(endpoints) :],
                                                        strict=True)}  # fmt: skip
    paths: dict[str, dict[str, Any]] = defaultdict(dict)
    for index, endpoint in enumerate(endpoints):
        operation: dict[str, Any] = {
            "summary": endpoint.summary,
            "operationId": _operation_id(endpoint),
            "parameters": _parameter_list(endpoint),
            "responses": {
                "200": {
                    "description": "Done.",
                    "content": {"application/json": {"schema": answer_of[index]}},
                },
                **{
                    status: {
                        "description": text,
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Error"}}
                        },
                    }
                    for status, text in _ERRORS.items()
                },
            },
        }
        if endpoint.body is not None:
            operation["requestBody"] = {
                "required": True,
                "content": {"application/json": {"schema": body_of[id(endpoint.body)]}},
            }
        paths[endpoint.path][endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "Recollect", "version": __version__},
        "paths": dict(paths),
        "components": {
            "schemas": {**components, "Error": _ERROR_SCHEMA},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _parameter_list(endpoint: Endpoint) -> list[dict[str, Any]]:
    (_,), components = msgspec.json.schema_components([endpoint.parameters])
    schema = components[endpoint.parameters.__name__]
    in_path = set(re.findall(r"{(\w+)}", endpoint.path))
    return [
        {
            "name": name,
            "description": described.get("description", ""),
            "in": "path" if name in in_path else "query",
            "required": name in in_path or name in schema.get("required", ()),
            "schema": described,
        }
        for name, described in schema.get("properties", {}).items()
    ]


def _operation_id(endpoint: Endpoint) -> str:
    words = re.findall(r"\w+", endpoint.path)
    return "_".join([endpoint.method.lower(), *words])
