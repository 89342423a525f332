"""`/api/receipts` and `/api/feedback`: why memories were injected, and verdicts on them."""

from typing import Literal

from recollect.core.values import Name, Receipt, RecordName, Value
from recollect.server.endpoints import Endpoint
from recollect.server.runtime import ServerRuntime
from recollect.service import read, write
from recollect.service.pagination import Listing
from recollect.service.read import LogQuery
from recollect.service.record_ids import resolve
from recollect.service.scope import Scope, namespaces_to_list, namespaces_to_search


class OneReceipt(Scope, frozen=True, kw_only=True):
    receipt_id: Name


class VerdictRequest(Scope, frozen=True, kw_only=True):
    """A project or a namespace narrows where the end of an id is looked up."""

    record_id: RecordName
    verdict: Literal["useful", "wrong", "never"]


class VerdictResult(Value, frozen=True, kw_only=True):
    op_id: str
    record_id: str


def page(runtime: ServerRuntime, asked: LogQuery) -> Listing[Receipt]:
    return read.receipts(runtime, asked, namespaces_to_list(runtime, asked))


def one(runtime: ServerRuntime, asked: OneReceipt) -> Receipt:
    return read.receipt(runtime, asked.receipt_id)


def judge(runtime: ServerRuntime, body: VerdictRequest) -> VerdictResult:
    record_id = resolve(runtime, body.record_id, namespaces_to_search(runtime, body))
    given = write.judge(runtime, record_id, body.verdict)
    return VerdictResult(op_id=given.op_id, record_id=record_id)


ENDPOINTS = (
    Endpoint("GET", "/api/receipts", "Receipts, newest first.", page),
    Endpoint("GET", "/api/receipts/{receipt_id}", "One receipt in full.", one),
    Endpoint(
        "POST", "/api/feedback", "Rate a memory: useful, wrong, or never to be injected again.",
        judge,
    ),
)  # fmt: skip
