"""From output tensors to a program: a statement for each operation, in order of need."""

from __future__ import annotations

from collections.abc import Sequence

from tvmlab.ir import Buffer, Load, Program, Stmt, Var, seq, walk
from tvmlab.support import Namer, ShapeError, TypeMismatch, deep, identifier, shown

from .extern_nest import extern_nest
from .nests import Walk, compute_nest, walk_of
from .order import operations_of, scalars_of
from .scan import cell_of
from .scan_nest import scan_nest
from .tensor import ComputeOp, ExternOp, Operation, PlaceholderOp, ScanOp, Tensor


@deep
def create_program(
    outputs: Tensor | Sequence[Tensor],
    *,
    args: Sequence[Tensor | Var] | None = None,
    name: str | None = None,
) -> Program:
    """The program that computes the outputs, unscheduled.

    Parameters
    ----------
    outputs
        The tensors to compute.
    args
        Order of the parameters; by default scalar sizes, inputs in order of first use, outputs.
    name
        Name of the program; by default that of the first output's operation, in lower case.

    Raises
    ------
    ShapeError
        If there is no output, an output is an input, or `args` misses an input or output.
    """
    roots = _roots(outputs)
    order = operations_of(roots)
    plan = _Plan(order, roots)
    params = _params(plan, roots, args)
    plan.admit_unread([t for t in params if isinstance(t, Tensor)])
    taken = {plan.buffers[t] for t in params if isinstance(t, Tensor)}
    allocs = dict.fromkeys(plan.buffers[t] for op in plan.order for t in op.outputs)
    return Program(
        roots[0].op.name.lower() if name is None else identifier(name),
        tuple(plan.buffers[p] if isinstance(p, Tensor) else p for p in params),
        seq([plan.statement(op) for op in plan.stages]),
        tuple(b for b in allocs if b not in taken),
    )


def sizes_of(outputs: Tensor | Sequence[Tensor]) -> list[Var]:
    """The scalar sizes that a program of the outputs needs, in order."""
    return list(scalars_of(operations_of(_roots(outputs))))


def tensor_names(outputs: Tensor | Sequence[Tensor]) -> dict[Tensor, tuple[str, str]]:
    """What each tensor is called in the program of the outputs: its block, and its buffer.

    Operations of one kind have one name, which the program makes different.
    """
    roots = _roots(outputs)
    plan = _Plan(operations_of(roots), roots)
    return {
        tensor: (plan.names[tensor.op], buffer.name)
        for tensor, buffer in plan.buffers.items()
        if tensor.op in plan.names
    }


class _Plan:
    """Which buffer each tensor lives in, and which operations get a statement of their own."""

    def __init__(self, order: Sequence[Operation], roots: Sequence[Tensor]) -> None:
        self.roots = roots
        scans = [op for op in order if isinstance(op, ScanOp)]
        states = {state.op for scan in scans for state in scan.state_placeholder}
        self.cells = {scan: cell_of(scan) for scan in scans}
        in_cells = {op for cell in self.cells.values() for op in cell}
        self.order = [op for op in order if op not in states]
        self.inputs = [t for op in self.order if isinstance(op, PlaceholderOp) for t in op.outputs]
        self.stages = [
            op for op in self.order if not isinstance(op, PlaceholderOp) and op not in in_cells
        ]
        self._refuse_steps_outside(in_cells, roots)
        self.written = self._inits_in_place(scans, roots)
        self.buffers: dict[Tensor, Buffer] = {}
        self.names: dict[object, str] = {}
        self._namer = Namer()
        self._name_all(scans)

    def statement(self, op: Operation) -> Stmt:
        if isinstance(op, ScanOp):
            return scan_nest(op, self.buffers, self.names, self.written)
        if isinstance(op, ExternOp):
            return extern_nest(op, self.names[op], self.buffers)
        assert isinstance(op, ComputeOp)
        try:
            return compute_nest(op, self.names[op], self.buffers)
        except ShapeError:
            scan = self._only_scan_reading(op)
            if scan is None:
                raise
        # Its first steps, where it would read outside, are never asked for.
        time, *rest = (*op.axis, *op.reduce_axis)
        later = Walk(time, scan.scan_axis.min, scan.scan_axis.extent, time.kind)
        return compute_nest(
            op, self.names[op], self.buffers, [later, *(walk_of(axis) for axis in rest)]
        )

    def _only_scan_reading(self, op: ComputeOp) -> ScanOp | None:
        """The scan of which the steps alone read a tensor, each of them its own row."""
        made = set(op.outputs)
        readers = [o for o in self.order if made & set(o.input_tensors)]
        scans = [s for s, cell in self.cells.items() if any(o in cell for o in readers)]
        if len(scans) != 1 or made & set(self.roots):
            return None
        for reader in readers:
            if not isinstance(reader, ComputeOp) or reader not in self.cells[scans[0]]:
                return None
            loads = [n for e in reader.formulas for n in walk(e) if isinstance(n, Load)]
            if any(n.indices[0] is not reader.axis[0] for n in loads if n.buffer in made):
                return None
        return scans[0]

    def _name_all(self, scans: list[ScanOp]) -> None:
        """Buffers and blocks by the names of tensors and operations, each once."""
        place: dict[Tensor, Tensor] = {}
        for scan in scans:
            for n, tensor in enumerate(scan.outputs):
                place[scan.state_placeholder[n]] = place[scan.update[n]] = tensor
                if scan.init[n] in self.written:
                    place[scan.init[n]] = tensor
        namer = self._namer
        for op in self.order:
            for tensor in op.outputs:
                if tensor not in place:
                    name = namer.name(tensor, tensor.name)
                    self.buffers[tensor] = Buffer(name, tensor.shape, tensor.dtype, tensor.scope)
        for tensor, home in place.items():
            self.buffers[tensor] = self.buffers[home]
        for op in self.order:
            alone = len(op.outputs) == 1 and op.outputs[0] not in place
            self.names[op] = self.buffers[op.outputs[0]].name if alone else namer.name(op, op.name)

    def admit_unread(self, params: Sequence[Tensor]) -> None:
        """Give a buffer to inputs that are handed over although nothing reads them."""
        for tensor in params:
            if tensor in self.buffers:
                continue
            if not isinstance(tensor.op, PlaceholderOp):
                raise ShapeError(
                    f"the argument list holds {tensor.name}, which the program does not compute",
                    hint=f"make {tensor.name} an output too, or leave it out",
                )
            name = self._namer.name(tensor, tensor.name)
            self.buffers[tensor] = Buffer(name, tensor.shape, tensor.dtype, tensor.scope)

    def _inits_in_place(self, scans: list[ScanOp], roots: Sequence[Tensor]) -> frozenset[Tensor]:
        """Inits that nothing else reads: they are computed into the scan's own buffer."""
        uses: dict[Tensor, int] = {}
        for op in self.order:
            for tensor in op.input_tensors:
                uses[tensor] = uses.get(tensor, 0) + 1
        inits = [tensor for scan in scans for tensor in scan.init]
        return frozenset(
            t for t in inits if isinstance(t.op, ComputeOp) and uses[t] == 1 and t not in roots
        )

    def _refuse_steps_outside(self, in_cells: set[Operation], roots: Sequence[Tensor]) -> None:
        """A stage of a cell has no values after the scan: nothing outside may read it."""
        for scan, cell in self.cells.items():
            members = {t for op in cell for t in op.outputs}
            readers = [op for op in self.order if op is not scan and op not in cell]
            stray = [t for op in readers for t in op.input_tensors if t in members]
            stray += [t for t in roots if t in members]
            nested = [op for op in in_cells if isinstance(op, ScanOp)]
            if stray or nested:
                what = stray[0].name if stray else nested[0].name
                raise ShapeError(
                    f"{what} is a stage of the cell of scan {scan.name}, and is used outside it",
                    hint="use the tensor that te.scan returned, or make the stage a state of it",
                )


def _roots(outputs: Tensor | Sequence[Tensor]) -> list[Tensor]:
    roots = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    for root in roots:
        if not isinstance(root, Tensor):  # callers may be untyped
            raise TypeMismatch(
                f"{type(root).__name__} is no tensor to compute",
                hint="pass one or more tensors that te.compute returned",
            )
    tensors = [r for r in roots if isinstance(r, Tensor)]
    if not tensors:
        raise ShapeError("there is nothing to compute: no output tensor was given")
    for root in tensors:
        if isinstance(root.op, PlaceholderOp):
            raise ShapeError(
                f"{root.name} is an input, not a computed tensor",
                hint="pass the tensor that te.compute returned",
            )
    return tensors


def _params(
    plan: _Plan, roots: list[Tensor], args: Sequence[Tensor | Var] | None
) -> list[Tensor | Var]:
    sizes = scalars_of(plan.order)
    if args is None:
        return [*sizes, *plan.inputs, *dict.fromkeys(roots)]
    if not isinstance(args, (list, tuple)):
        raise ShapeError(
            f"the arguments must be a list of tensors and sizes, not {shown(args)}",
            hint="list every input and every output, for example [A, B, C]",
        )
    stray = [a for a in args if not isinstance(a, (Tensor, Var))]  # pyright: ignore[reportUnnecessaryIsInstance]
    if stray:
        raise ShapeError(
            f"the argument list holds {shown(stray[0])}, which is no tensor and no size",
            hint="list every input and every output, for example [A, B, C]",
        )
    missing = [t.name for t in [*sizes, *plan.inputs, *roots] if t not in args]
    if missing:
        raise ShapeError(
            f"the argument list misses {', '.join(missing)}, which the program reads or computes",
            hint="list every input and every output",
        )
    if len(set(args)) != len(args):
        raise ShapeError("the argument list names a tensor twice")
    return list(args)
