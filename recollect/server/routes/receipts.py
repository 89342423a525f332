"""`/api/receipts` and `/api/feedback`: why memories were injected, and verdicts on them."""

from typing import Literal

from recollect.core.values import Name, Namespace, Receipt, RecordId, Value
from recollect.server.endpoints import Endpoint, NoParameters
from recollect.server.runtime import ServerRuntime
from recollect.service import read, write
from recollect.service.pagination import Listing
from recollect.service.read import LogQuery
from recollect.service.scope import Scope, namespaces_to_list


class OneReceipt(Scope, frozen=True, kw_only=True):
    receipt_id: Name


class VerdictRequest(Value, frozen=True, kw_only=True):
    """`namespace` is optional: the memory is found by its id."""

    record_id: RecordId
    verdict: Literal["useful", "wrong", "never"]
    namespace: Namespace | None = None


class VerdictResult(Value, frozen=True, kw_only=True):
    op_id: str


def page(runtime: ServerRuntime, asked: LogQuery) -> Listing[Receipt]:
    return read.receipts(runtime, asked, namespaces_to_list(runtime, asked))


def one(runtime: ServerRuntime, asked: OneReceipt) -> Receipt:
    return read.receipt(runtime, asked.receipt_id)


def judge(runtime: ServerRuntime, asked: NoParameters, body: VerdictRequest) -> VerdictResult:
    return VerdictResult(op_id=write.judge(runtime, body.record_id, body.verdict).op_id)


ENDPOINTS = (
    Endpoint("GET", "/api/receipts", "Receipts, newest first.", page, Listing[Receipt], LogQuery),
    Endpoint("GET", "/api/receipts/{receipt_id}", "One receipt in full.", one, Receipt, OneReceipt),
    Endpoint(
        "POST",
        "/api/feedback",
        "Rate a memory: useful, wrong, or never to be injected again.",
        judge,
        VerdictResult,
        body=VerdictRequest,
    ),
)
