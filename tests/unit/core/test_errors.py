from recollect.core import errors


def subclasses(kind: type[errors.RecollectError]) -> set[type[errors.RecollectError]]:
    found = set(kind.__subclasses__())
    return found | {deeper for one in found for deeper in subclasses(one)}


def test_every_error_is_drawn_in_the_tree_and_speaks_in_a_sentence() -> None:
    tree = errors.__doc__ or ""
    for kind in subclasses(errors.RecollectError):
        if kind.__module__ == errors.__name__:
            assert kind.__name__ in tree, f"{kind.__name__} is not drawn"
            assert str(kind()).endswith("."), kind


def test_a_message_and_a_hint_can_be_given() -> None:
    error = errors.BadInput("wrong", field="body.type", hint="do this")
    assert (str(error), error.field, error.hint) == ("wrong", "body.type", "do this")
    assert errors.DiskFull().hint
