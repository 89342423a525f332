from recollect.retrieve.engine import ResultCache


def test_an_answer_is_kept_for_a_while_and_only_so_many() -> None:
    now = [0.0]
    made: list[str] = []

    def make(name: str) -> str:
        made.append(name)
        return name

    cache: ResultCache[str] = ResultCache(entries=2, seconds=60, clock=lambda: now[0])
    for name in ("a", "a", "b", "a"):
        assert cache.get(name, lambda name=name: make(name)) == name  # type: ignore[misc]
    assert made == ["a", "b"]
    cache.get("c", lambda: make("c"))
    assert len(cache) == 2
    cache.get("b", lambda: make("b"))
    assert made == ["a", "b", "c", "b"]
    now[0] = 61.0
    cache.get("b", lambda: make("b"))
    assert made[-1] == "b" and len(made) == 5
