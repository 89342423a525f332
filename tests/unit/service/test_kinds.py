"""Operations follow the table of kinds."""

from dataclasses import replace

import pytest

from recollect.core import kinds
from recollect.core.errors import BadInput
from recollect.service import write
from recollect.service.desk import Desk
from recollect.service.write import Change, NewNote


def test_a_field_that_is_not_editable_stays_as_it_is(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = write.add_note(desk, NewNote(text="the lamp is blue", project="global")).record
    monkeypatch.setitem(kinds.KINDS, note.kind, replace(note.traits, editable=("title",)))
    with pytest.raises(BadInput, match="pinned of a note cannot be changed") as caught:
        write.edit(desk, note.record_id, Change(title="the lamp is red", pinned=True))
    assert caught.value.field == "pinned"
    changed = write.edit(desk, note.record_id, Change(title="the lamp is red"))
    assert changed.record.title == "the lamp is red"
