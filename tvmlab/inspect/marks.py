"""Notes on a line in a few words, such as `pipelined 0, 1` or `auto_unroll_max_step 16`."""

from __future__ import annotations

from collections.abc import Iterator

from tvmlab.ir import Annotations, Attribute

_WORDS = {
    "prefetch": "prefetch",
    "storage_align": "aligned",
    "tail": "tail",
    "partial_domain": "partial",
    "pragma_import_llvm": "own code",
    "import_llvm": "own code",
}
_LONG = 28


def marks_of(annotations: Annotations) -> tuple[str, ...]:
    """One short mark for each note."""
    return tuple(mark for key, value in annotations for mark in _marks(key, value))


def _marks(key: str, value: Attribute) -> Iterator[str]:
    if key == "assume":
        facts = value if isinstance(value, tuple) else (value,)
        yield from (f"assumed {fact}" for fact in facts)
    elif key == "software_pipeline" and isinstance(value, tuple):
        last = max((stage for _, stage, _ in _plan(value)), default=0)
        yield f"pipelined in {last + 1} stages"
    elif value is False:
        yield f"no {_WORDS.get(key, key)}"
    elif value is True or "import_llvm" in key:
        yield _WORDS.get(key, key)
    else:
        yield _short(f"{_WORDS.get(key, key)} {_text(value)}")


def _plan(value: tuple[Attribute, ...]) -> Iterator[tuple[str, int, int]]:
    """Member, stage and place of each statement of a pipelined loop."""
    for entry in value:
        if isinstance(entry, tuple) and len(entry) == 3:
            name, stage, place = entry
            if isinstance(stage, int) and isinstance(place, int):
                yield str(name), stage, place


def _text(value: Attribute) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"({_text(v)})" if isinstance(v, tuple) else _text(v) for v in value)
    return str(value)


def _short(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
