"""What users pass to a primitive, turned into symbols of the current program, with clear errors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, TypeGuard, Union

import numpy as np

from tvmlab.arith import IndexMap, index_map
from tvmlab.ir import BlockSymbol, Buffer, Expr, For, Var, const_int, touched_buffers
from tvmlab.support import ScheduleError, UserError, items_of, shown
from tvmlab.te import Tensor

from .index import index_of
from .refs import BlockRef, LoopRef, Owner
from .registry import ParamSpec, Primitive


class ThreadAxisLike(Protocol):
    """An axis of threads, as `te.thread_axis` makes them."""

    @property
    def thread_tag(self) -> str: ...
    @property
    def extent(self) -> Expr | None: ...


ThreadLike: TypeAlias = Union[str, ThreadAxisLike]


def resolve_args(
    schedule: Owner, primitive: Primitive, args: Sequence[Any], named: dict[str, Any]
) -> dict[str, Any]:
    """Bind call arguments to a primitive's parameters and convert each.

    Raises
    ------
    ScheduleError
        If an argument is missing, unknown, of the wrong kind, or refers to something that is not
        in the current program.
    """
    given = _bind(primitive, args, named)
    result: dict[str, Any] = {}
    for spec in primitive.params:
        if spec.name in given:
            value = given[spec.name]
            if spec.kind == "mapping":
                result[spec.name] = _mapping(schedule, primitive, spec, value, result)
            else:
                result[spec.name] = _convert(schedule, primitive, spec, value)
        elif spec.required and spec.default is None:
            raise ScheduleError(
                f"{primitive.name} needs {spec.name}: {spec.doc}", hint=_usage(primitive)
            )
        else:
            result[spec.name] = spec.default
    return result


def _usage(primitive: Primitive) -> str:
    names = ", ".join(f"*{p.name}" if p.kind == "loops" else p.name for p in primitive.params)
    return f"call it as sch.{primitive.name}({names})"


def _bind(primitive: Primitive, args: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
    specs = primitive.params
    if specs[0].kind == "loops" and args:
        given_as_list = items_of(args[0]) if len(args) == 1 else None
        args = (args if given_as_list is None else given_as_list,)
    if len(args) > len(specs):
        raise ScheduleError(
            f"{primitive.name} takes {len(specs)} argument(s), not {len(args)}",
            hint=_usage(primitive),
        )
    given = {spec.name: value for spec, value in zip(specs, args, strict=False)}
    known = {spec.name for spec in specs}
    for name, value in named.items():
        if name not in known or name in given:
            why = "is given twice" if name in given else "is not one of its parameters"
            raise ScheduleError(f"{primitive.name}: {name} {why}", hint=_usage(primitive))
        given[name] = value
    return given


def _convert(schedule: Owner, primitive: Primitive, spec: ParamSpec, value: Any) -> Any:
    what = f"{primitive.name}: {spec.name}"
    if spec.kind == "loop":
        return resolve_loop(schedule, value, what)
    if spec.kind == "loops":
        items = items_of(value)
        if items is None:
            raise ScheduleError(f"{what} must be loops, not {shown(value)}", hint=_usage(primitive))
        return tuple(resolve_loop(schedule, item, what) for item in items)
    if spec.kind == "block":
        return resolve_block(schedule, value, what)
    if spec.kind == "buffer":
        return resolve_buffer(schedule, value, what)
    if spec.kind == "factors":
        return _factors(what, value)
    if spec.kind == "subject":
        return _subject(schedule, value, what)
    if spec.kind in ("int", "ints", "name"):
        return _plain(spec, what, value)
    if spec.kind == "scope" and isinstance(value, str) and value.startswith("accel."):
        return value
    if spec.kind in ("value", "bool"):
        return _value(spec, what, value)
    value = getattr(value, "thread_tag", value)
    if not isinstance(value, str) or value not in spec.choices:
        raise ScheduleError(
            f"{what} cannot be {shown(value)}", hint=f"it is one of {', '.join(spec.choices)}"
        )
    return value


def resolve_loop(schedule: Owner, value: Any, what: str) -> Var:
    """The loop variable that a reference stands for, checked to be in the current program."""
    if isinstance(value, LoopRef):
        if value.schedule is not schedule:
            raise ScheduleError(
                f"{what}: loop {value.name} belongs to another schedule",
                hint='take loops from this one with sch.loops("C")',
            )
        value = value.var
    if not isinstance(value, Var):
        raise ScheduleError(
            f"{what} must be a loop, not {shown(value)}",
            hint='take loops from the schedule: i, j, k = sch.loops("C")',
        )
    if value not in index_of(schedule.program).loops:
        raise ScheduleError(f"{what}: {_gone(schedule, value)}")
    return value


def _gone(schedule: Owner, var: Var) -> str:
    """Why a loop is not in the program: the step of the current trace that consumed it."""
    path = schedule.history.path()
    for before, after in itertools.pairwise(path):
        if (
            var in index_of(before.program).loops
            and var not in index_of(after.program).loops
            and after.step is not None
        ):
            news = ", ".join(o.name for o in after.step.outputs)
            where = f"; it became {news}" if news else ""
            return f"loop {var.name} no longer exists: {after.step.primitive} consumed it{where}"
    return (
        f"loop {var.name} is not in the current program: the step that made it was undone, or it "
        f"belongs to another schedule"
    )


def resolve_block(schedule: Owner, value: Any, what: str) -> BlockSymbol:
    """The block that a reference, tensor or name stands for."""
    index = index_of(schedule.program)
    if isinstance(value, BlockRef):
        if value.schedule is not schedule:
            raise ScheduleError(f"{what}: block {value.name} belongs to another schedule")
        value = value.symbol
    if isinstance(value, Tensor):
        value = schedule.tensor_names.get(value, (value.name, ""))[0]
    if isinstance(value, Buffer):
        value = value.name
    if isinstance(value, str):
        for symbol in index.blocks:
            if symbol.name == value:
                return symbol
        names = ", ".join(s.name for s in index.blocks)
        raise ScheduleError(
            f"{what}: there is no block {shown(value)}", hint=f"blocks are: {names}"
        )
    if not isinstance(value, BlockSymbol):
        raise ScheduleError(
            f"{what} must be a block or its name, not {shown(value)}",
            hint=f"blocks are: {', '.join(s.name for s in index.blocks)}",
        )
    if value not in index.blocks:
        raise ScheduleError(f"{what}: block {value.name} is not in the current program")
    return value


def resolve_buffer(schedule: Owner, value: Any, what: str) -> Buffer:
    """The buffer of the current program that a tensor, buffer, block or name stands for."""
    buffers = schedule.program.buffers
    if isinstance(value, (BlockRef, BlockSymbol)):
        value = _written_by(schedule, resolve_block(schedule, value, what), what)
    if isinstance(value, Tensor):
        value = schedule.tensor_names.get(value, ("", value.name))[1]
    name = value.name if isinstance(value, Buffer) else value
    for buffer in buffers:
        if buffer is value or (isinstance(name, str) and buffer.name == name):
            return buffer
    raise ScheduleError(
        f"{what}: there is no buffer {shown(name)}",
        hint=f"buffers are: {', '.join(b.name for b in buffers)}",
    )


def require_extent(loop: For, thread: ThreadLike) -> None:
    """Check that a loop has as many iterations as the axis that it is bound to has threads."""
    wanted, found = getattr(thread, "extent", None), const_int(loop.extent)
    size = None if wanted is None else const_int(wanted)
    if size is not None and found is not None and size != found:
        raise ScheduleError(
            f"bind: {loop.var.name} has {found} iterations, but the thread axis has {size}",
            hint=f"split {loop.var.name} by {size}, or leave the extent of the axis out",
        )


def _written_by(schedule: Owner, block: BlockSymbol, what: str) -> Buffer:
    """The one buffer that a block writes."""
    written = touched_buffers(index_of(schedule.program).blocks[block])[1]
    if len(written) != 1:
        names = ", ".join(sorted(b.name for b in written))
        raise ScheduleError(
            f"{what}: block {block.name} writes several buffers", hint=f"name one of {names}"
        )
    return next(iter(written))


def _factors(what: str, value: Any) -> tuple[int | None, ...]:
    items = (None, value) if _is_whole(value) else items_of(value)
    factors = tuple(f for f in items or () if f is None or _is_whole(f))
    if items is None or len(factors) != len(items):
        raise ScheduleError(
            f"{what} must be a list of whole numbers, one of which may be None, not {shown(value)}",
            hint="for example sch.split(i, [None, 16])",
        )
    return factors


def _subject(schedule: Owner, value: Any, what: str) -> Var | BlockSymbol | None:
    if value is None:
        return None
    if isinstance(value, (LoopRef, Var)):
        return resolve_loop(schedule, value, what)
    return resolve_block(schedule, value, what)


def _plain(spec: ParamSpec, what: str, value: Any) -> int | str | tuple[int, ...] | None:
    """A whole number, several of them, or a name; None where the parameter may be left out."""
    if value is None and not spec.required:
        return None
    if spec.kind == "name":
        name = value if isinstance(value, str) else getattr(value, "name", None)
        if isinstance(name, str):
            return name
        raise ScheduleError(f"{what} must be a name, not {shown(value)}")
    if spec.kind == "int":
        if _is_whole(value):
            return value
        raise ScheduleError(f"{what} must be a whole number, not {shown(value)}")
    items = items_of(value)
    numbers = tuple(n for n in items or () if _is_whole(n))
    if items is None or len(numbers) != len(items):
        raise ScheduleError(f"{what} must be a list of whole numbers, not {shown(value)}")
    return numbers


def _mapping(
    schedule: Owner, primitive: Primitive, spec: ParamSpec, value: Any, before: dict[str, Any]
) -> IndexMap:
    """A map over the dimensions of the buffer, or the variables of the block, given before it."""
    buffer = before.get("buffer")
    if isinstance(buffer, Buffer):
        rank = len(buffer.shape)
    else:
        rank = len(index_of(schedule.program).blocks[before["block"]].iters)
    try:
        return index_map(value, rank)
    except UserError as error:
        what = f"{primitive.name}: {spec.name}"
        raise ScheduleError(f"{what}: {error.message}", hint=error.hint) from None


def _value(spec: ParamSpec, what: str, value: Any) -> Any:
    """A plain value that traces can carry; lists become tuples."""
    if value is None and not spec.required:
        return None
    if spec.kind == "bool":
        if isinstance(value, bool):
            return value
        raise ScheduleError(f"{what} must be True or False, not {shown(value)}")
    if isinstance(value, np.generic):
        return _value(spec, what, value.item())
    if isinstance(value, (bool, int, float, str)):
        return value
    items = items_of(value)
    if items is None:
        raise ScheduleError(
            f"{what} must be a number, a text, True or False, or a list of these, "
            f"not {shown(value)}"
        )
    return tuple(_value(spec, what, item) for item in items)


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
