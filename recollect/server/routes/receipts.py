"""`/api/receipts` and `/api/feedback`: why something was injected, and what people say of it."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from recollect.core.errors import NotFound, StoreError
from recollect.core.values import Name, Namespace, Receipt, RecordId, Value
from recollect.server.endpoints import Endpoint
from recollect.server.services import Services
from recollect.store.interface import Cursor


class ListParameters(Value, frozen=True, kw_only=True):
    namespace: Namespace | None = None
    project_path: Annotated[str, Meta(max_length=2048)] | None = None
    session_id: Name | None = None
    before: Annotated[str, Meta(max_length=300)] | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class OneParameters(Value, frozen=True, kw_only=True):
    receipt_id: Name
    namespace: Namespace | None = None
    project_path: Annotated[str, Meta(max_length=2048)] | None = None


class ReceiptPage(Value, frozen=True, kw_only=True):
    items: tuple[Receipt, ...]
    next: str | None


class Verdict(Value, frozen=True, kw_only=True):
    namespace: Namespace
    record_id: RecordId
    verdict: Literal["useful", "wrong", "never"]


class Noted(Value, frozen=True, kw_only=True):
    op_id: str


class NoParameters(Value, frozen=True):
    pass


def page(services: Services, parameters: ListParameters) -> ReceiptPage:
    namespace = parameters.namespace or services.pipeline.namespace_of(parameters.project_path)
    found = services.store.receipts.page(
        namespace,
        session_id=parameters.session_id,
        before=Cursor.parse(parameters.before) if parameters.before else None,
        limit=parameters.limit,
    )
    return ReceiptPage(items=found.items, next=str(found.next) if found.next else None)


def one(services: Services, parameters: OneParameters) -> Receipt:
    namespace = parameters.namespace or services.pipeline.namespace_of(parameters.project_path)
    receipt = services.store.receipts.get(namespace, parameters.receipt_id)
    if receipt is None:
        raise NotFound(f"there is no receipt {parameters.receipt_id}")
    return receipt


def judge(services: Services, parameters: NoParameters, body: Verdict) -> Noted:
    feedback: Any = services.feedback()
    if feedback is None:
        raise StoreError("Recall is still being loaded.", hint="Try again in a moment.")
    actor = services.settings.actor_id
    return Noted(op_id=feedback.give(body.namespace, body.record_id, body.verdict, actor).op_id)


ENDPOINTS = (
    Endpoint(
        "GET", "/api/receipts", "Retrievals, newest first.", page, ReceiptPage, ListParameters
    ),
    Endpoint(
        "GET", "/api/receipts/{receipt_id}", "One retrieval in full.", one, Receipt, OneParameters
    ),
    Endpoint(
        "POST",
        "/api/feedback",
        "Say that a memory was useful, wrong, or never to be injected again.",
        judge,
        Noted,
        NoParameters,
        Verdict,
    ),
)
