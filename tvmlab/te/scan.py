"""`scan`: states that follow from their earlier values, one step after another.

>>> X = placeholder((m, n), name="X")
>>> S = placeholder((m, n), name="S")
>>> first = compute((1, n), lambda _, i: X[0, i], name="first")
>>> step = compute((m, n), lambda t, i: S[t - 1, i] + X[t, i], name="step")
>>> total = scan(first, step, S, inputs=[X], name="total")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Union

from tvmlab.arith import linear_form
from tvmlab.ir import Attribute, Expr, Load, const_int, structural_equal, walk
from tvmlab.support import INDEX, ShapeError, TypeMismatch, identifier, user_span

from .axis import Axis
from .order import operations_of
from .tags import attributes_of, current_tag
from .tensor import ComputeOp, Operation, PlaceholderOp, ScanOp, Tensor, add_outputs

Tensors: TypeAlias = Union[Tensor, Sequence[Tensor]]


def scan(
    init: Tensors,
    update: Tensors,
    state_placeholder: Tensors,
    inputs: Sequence[Tensor] = (),
    name: str = "scan",
    tag: str = "",
    attrs: Mapping[str, Attribute] | None = None,
) -> Any:
    """Tensors that are computed step by step along their first axis, the time.

    Parameters
    ----------
    init
        For each state the tensor of its first steps, at least one; its first axis is the time.
    update
        For each state the compute of step `t`, of the state's whole shape. It may read states at
        steps before `t`, and at `t` other computes that do so: the stages of the cell.
    state_placeholder
        For each state a placeholder that stands for it in the updates.
    inputs
        The tensors that the updates read besides, for the reader.
    name, tag, attrs
        The name shown everywhere, and free labels.

    Returns
    -------
    Tensor or tuple of Tensor
        One tensor for each state, holding all steps.

    Raises
    ------
    ShapeError
        If shapes do not fit, or a step reads what is not known before it.
    """
    inits, updates, states = (_listed(x) for x in (init, update, state_placeholder))
    _check_states(inits, updates, states, name)
    time = _time_axis(inits, states, name)
    op = ScanOp(
        identifier(name),
        time,
        tuple(inits),
        tuple(updates),
        tuple(states),
        tuple(inputs),
        tag=current_tag(tag),
        attrs=attributes_of(attrs),
        span=user_span(),
    )
    for cell in cell_of(op):
        _check_cell(op, cell)
    made: tuple[Tensor, ...] = add_outputs(op, [s.shape for s in states], [s.dtype for s in states])
    return made[0] if len(made) == 1 else made


def cell_of(op: ScanOp) -> list[Operation]:
    """The operations of one step in order: the updates, and what they need of the states."""
    states = {state.op for state in op.state_placeholder}
    depends: set[Operation] = set(states)
    updates = {tensor.op for tensor in op.update}
    cell: list[Operation] = []
    for current in operations_of(op.update):
        if current in states:
            continue
        if current in updates or any(t.op in depends for t in current.input_tensors):
            depends.add(current)
            cell.append(current)
    return cell


def _listed(tensors: Tensors) -> list[Tensor]:
    given = list(tensors) if isinstance(tensors, (tuple, list)) else [tensors]
    for tensor in given:
        if not isinstance(tensor, Tensor):
            raise TypeMismatch(
                f"te.scan takes tensors, not {type(tensor).__name__}",
                hint="init, update and state_placeholder are tensors, or lists of as many each",
            )
    return [t for t in given if isinstance(t, Tensor)]


def _check_states(
    inits: list[Tensor], updates: list[Tensor], states: list[Tensor], name: str
) -> None:
    if not len(inits) == len(updates) == len(states) or not states:
        raise ShapeError(
            f"scan {name} has {len(inits)} init(s), {len(updates)} update(s) and {len(states)} "
            f"state(s)",
            hint="give one of each for every state",
        )
    if len(set(states)) != len(states) or len(set(updates)) != len(updates):
        raise ShapeError(f"scan {name} names a state or an update twice")
    for first, step, state in zip(inits, updates, states, strict=True):
        if not isinstance(state.op, PlaceholderOp):
            raise TypeMismatch(
                f"the state {state.name} of scan {name} is no placeholder",
                hint="a state stands for what is not known yet: te.placeholder(shape)",
            )
        if not isinstance(step.op, ComputeOp):
            raise TypeMismatch(
                f"the update {step.name} of scan {name} is not made by te.compute",
                hint="an update is a compute over the state's shape",
            )
        for what, tensor in (("init", first), ("update", step)):
            if tensor.dtype != state.dtype:
                raise TypeMismatch(
                    f"the {what} {tensor.name} of scan {name} holds {tensor.dtype}, its state "
                    f"{state.name} {state.dtype}"
                )
        fits = (
            state.ndim >= 1
            and _same_sizes(step.shape, state.shape)
            and _same_sizes(first.shape[1:], state.shape[1:])
            and first.ndim == state.ndim
        )
        if not fits:
            raise ShapeError(
                f"scan {name}: the init {first!r} and the update {step!r} do not fit the state "
                f"{state!r}",
                hint="the update has the state's shape; the init too, but for its first axis",
            )


def _time_axis(inits: list[Tensor], states: list[Tensor], name: str) -> Axis:
    first, steps = inits[0].shape[0], states[0].shape[0]
    for init, state in zip(inits, states, strict=True):
        if not same_size(init.shape[0], first) or not same_size(state.shape[0], steps):
            raise ShapeError(
                f"the states of scan {name} do not run over the same steps",
                hint="the first axes of all states have one size, as have those of all inits",
            )
    known, given = const_int(steps), const_int(first)
    if known is not None and given is not None and given > known:
        raise ShapeError(f"scan {name} has {known} step(s), but its init gives {given}")
    return Axis(f"{name}_t", INDEX, steps - first, "spatial", first)


def _check_cell(op: ScanOp, cell: Operation) -> None:
    """Whether a stage runs over the time, and reads only what is known at its step."""
    if not isinstance(cell, ComputeOp):
        raise TypeMismatch(
            f"{cell.name} depends on a state of scan {op.name}, but is not made by te.compute",
            hint="the stages of a scan's cell are computes",
        )
    steps = op.state_placeholder[0].shape[0]
    if not cell.axis or not same_size(cell.axis[0].extent, steps):
        raise ShapeError(
            f"{cell.name} depends on a state of scan {op.name}, but its first axis is not the time",
            hint="give each stage of the cell the number of steps as its first size",
        )
    members = {t for other in cell_of(op) for t in other.outputs}
    states = set(op.state_placeholder)
    for read in (n for f in cell.formulas for n in walk(f) if isinstance(n, Load)):
        buffer = read.buffer
        if buffer in states:
            if not _is_before(read.indices[0], cell.axis[0]):
                raise ShapeError(
                    f"{cell.name} reads the state {buffer.name} at a step that may not be known: "
                    f"only steps before {cell.axis[0].name} are",
                    hint=f"write {buffer.name}[{cell.axis[0].name} - 1, ...]",
                    span=cell.span,
                )
        elif buffer in members and not same_size(read.indices[0], cell.axis[0]):
            raise ShapeError(
                f"{cell.name} reads the stage {buffer.name} of the same cell at another step",
                hint="only states are remembered: make the stage a state of the scan",
                span=cell.span,
            )


def _is_before(step: Expr, now: Expr) -> bool:
    """Whether a step is a known number of steps before now."""
    distance = linear_form(step - now)
    return not distance.terms and distance.const < 0


def _same_sizes(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    return len(a) == len(b) and all(same_size(x, y) for x, y in zip(a, b, strict=True))


def same_size(a: Expr, b: Expr) -> bool:
    """Whether two sizes or indices are certainly equal."""
    if a is b or structural_equal(a, b):
        return True
    distance = linear_form(a - b)
    return not distance.terms and distance.const == 0
