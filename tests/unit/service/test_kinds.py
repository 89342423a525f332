"""Operations follow the table of kinds."""

from dataclasses import replace

import pytest

from recollect.core import kinds
from recollect.core.errors import BadInput
from recollect.daemon.runtime import Runtime
from recollect.service import write
from recollect.service.write import MemoryEdit, NewNote


def test_a_field_that_is_not_editable_stays_as_it_is(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = write.add_note(runtime, NewNote(text="the lamp is blue", project="global")).record
    monkeypatch.setitem(kinds.KINDS, note.kind, replace(note.traits, editable=("title",)))
    with pytest.raises(BadInput, match="pinned of a note cannot be changed") as caught:
        write.edit(runtime, note.record_id, MemoryEdit(title="the lamp is red", pinned=True))
    assert caught.value.field == "pinned"
    changed = write.edit(runtime, note.record_id, MemoryEdit(title="the lamp is red"))
    assert changed.record.title == "the lamp is red"
