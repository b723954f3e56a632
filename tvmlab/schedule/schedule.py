"""`Schedule`: the small mutable thing users hold over immutable programs.

>>> sch = Schedule(C)
>>> i, j, k = sch.loops("C")
>>> io, ii = sch.split(i, [None, 16])
>>> sch.parallel(io)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tvmlab.ir import Block, Buffer, For, Program, Scope, Var, to_brief_text, to_lines
from tvmlab.support import ScheduleError, fields_of, is_among, items_of, shown, user_span
from tvmlab.te import Tensor, TensorIntrin, create_program, tensor_names

from .actions import Action, block_actions, loop_actions
from .given_blocks import with_domains_told
from .history import History
from .index import index_of
from .memory_steps import BlockLike, LoopLike, MemorySteps
from .primitives import PRIMITIVES
from .refs import BlockRef, LoopRef, Ref
from .registry import Primitive
from .resolve import ThreadLike, require_extent, resolve_args, resolve_block, resolve_loop
from .rewrite import Output
from .service import Attempt, attempt, fill_outputs
from .trace import Instruction, Step, Trace, read_json
from .verdict import Fix, RefusedError, Verdict
from .wrap import with_blocks

__all__ = ["Schedule"]


class Schedule(MemorySteps):
    """A program being transformed, with its trace and history.

    Parameters
    ----------
    source
        One or more output tensors, or a program.
    args
        Order of the kernel's parameters, if `source` is tensors; by default inputs in order of
        first use, then outputs.
    name
        Name of the kernel.
    """

    def __init__(
        self,
        source: Tensor | Sequence[Tensor] | Program,
        *,
        args: Sequence[Tensor | Var] | None = None,
        name: str | None = None,
    ) -> None:
        if isinstance(source, Program):
            program = with_domains_told(with_blocks(source))
        else:
            program = create_program(source, args=args, name=name)
        self.history = History(program)
        self._made_of = None if isinstance(source, Program) else source
        self._tensor_names: Mapping[Tensor, tuple[str, str]] | None = None
        self._listeners: list[Callable[[], None]] = []

    # ---------------------------------------------------------------- looking

    @property
    def program(self) -> Program:
        """The current program."""
        return self.history.node.program

    @property
    def trace(self) -> Trace:
        """The steps from the unscheduled program to the current one."""
        return self.history.trace()

    @property
    def tensor_names(self) -> Mapping[Tensor, tuple[str, str]]:
        """The names of blocks and buffers of the tensors that the schedule was made for."""
        if self._tensor_names is None:
            self._tensor_names = {} if self._made_of is None else tensor_names(self._made_of)
        return self._tensor_names

    def blocks(self) -> list[BlockRef]:
        """The blocks, in program order."""
        return [BlockRef(self, symbol) for symbol in index_of(self.program).blocks]

    def block(self, name: BlockLike) -> BlockRef:
        """The block of a name or tensor."""
        return BlockRef(self, resolve_block(self, name, "block"))

    def loops(self, block: BlockLike) -> list[LoopRef]:
        """The loops around a block, outermost first."""
        index = index_of(self.program)
        found = index.blocks[resolve_block(self, block, "loops")]
        return [LoopRef(self, loop.var) for loop in index.loops_around(found)]

    def loop_of(self, loop: LoopLike) -> For:
        """The loop statement that a reference stands for in the current program."""
        return index_of(self.program).loops[resolve_loop(self, loop, "loop")]

    def has(self, symbol: Output) -> bool:
        """Whether a loop or block is in the current program."""
        index = index_of(self.program)
        return is_among(symbol, index.loops) or is_among(symbol, index.blocks)

    def __str__(self) -> str:
        return to_brief_text(self.program)

    def __repr__(self) -> str:
        return f"<Schedule of {self.program.name}, {len(self.trace)} step(s)>\n{self}"

    # ----------------------------------------------------------------- acting

    def check(self, primitive: str, *args: Any, **named: Any) -> Verdict:
        """Whether a step is allowed, without taking it.

        Raises
        ------
        ScheduleError
            If the arguments make no step at all, such as a loop that does not exist.
        """
        spec = self._spec(primitive)
        return self._attempt(spec, resolve_args(self, spec, args, named)).verdict

    def apply(self, primitive: str, *args: Any, **named: Any) -> list[Ref]:
        """Take a step by the name of its primitive; returns the loops and blocks that it returns.

        Raises
        ------
        ScheduleError
            If the step is refused; the schedule is then unchanged.
        """
        spec = self._spec(primitive)
        return self._step(spec, resolve_args(self, spec, args, named))

    def apply_fix(self, fix: Fix) -> list[Ref]:
        """Take the steps of a fix that a verdict offered; returns the references of the last."""
        if not isinstance(fix, Fix):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ScheduleError(
                f"{shown(fix)} is no fix", hint="take one of a verdict: verdict.fixes[0]"
            )
        outputs: list[Output] = []
        start = self.history.current
        refs: list[Ref] = []
        try:
            for name, args in fix.steps:
                refs = self.apply(name, **fill_outputs(args, outputs))
                outputs += [r.var if isinstance(r, LoopRef) else r.symbol for r in refs]
        except ScheduleError:
            self.history.goto(start)
            raise
        return refs

    def preview(self, primitive: str, *args: Any, **named: Any) -> Attempt:
        """The verdict of a step and, if allowed, the program it would make."""
        spec = self._spec(primitive)
        return self._attempt(spec, resolve_args(self, spec, args, named))

    def actions(self, ref: LoopLike | BlockLike) -> list[Action]:
        """Every step for a loop or block, refused ones included, each with its verdict."""
        if isinstance(ref, (LoopRef, Var)):
            return loop_actions(self.program, resolve_loop(self, ref, "actions"))
        return block_actions(self.program, resolve_block(self, ref, "actions"))

    def _spec(self, primitive: str) -> Primitive:
        if not is_among(primitive, PRIMITIVES):
            raise ScheduleError(
                f"there is no schedule primitive {shown(primitive)}",
                hint=f"primitives are: {', '.join(sorted(PRIMITIVES))}",
            )
        return PRIMITIVES[primitive]

    def _attempt(self, spec: Primitive, args: dict[str, Any]) -> Attempt:
        return attempt(self.program, spec.name, args)

    def _step(self, spec: Primitive, args: dict[str, Any]) -> list[Ref]:
        tried = self._attempt(spec, args)
        if tried.applied is None:
            raise self._refusal(spec, tried)
        if spec.steps is not None:
            return self._take_all(spec.steps, args)
        before = self.program
        step = Step(spec.name, args, tried.applied.outputs, before)
        self.history.add(step, tried.applied.program)
        self._changed()
        return [self._ref(symbol) for symbol in tried.applied.outputs]

    def _take_all(self, steps: Callable[..., None], args: dict[str, Any]) -> list[Ref]:
        """The primitives of a step of one's own, which was tried before, one by one."""
        subject, *rest = args.values()
        steps(self, self._ref(subject), *rest)
        return []

    def _ref(self, symbol: Output) -> Ref:
        return LoopRef(self, symbol) if isinstance(symbol, Var) else BlockRef(self, symbol)

    def _refusal(self, spec: Primitive, tried: Attempt) -> RefusedError:
        error = RefusedError(tried.verdict, subject=tried.subject)
        error.span = user_span()
        error.notes = (*error.notes, _marked_nest(self.program, tried.subject))
        return error

    # ---------------------------------------------------------------- history

    def undo(self) -> None:
        """Go back one step."""
        self.history.undo()
        self._changed()

    def redo(self) -> None:
        """Take the step again that was undone last."""
        self.history.redo()
        self._changed()

    def goto(self, state: int | str) -> None:
        """Go to any state of the history, by id or checkpoint name."""
        self.history.goto(self.history.find(state).id if isinstance(state, str) else state)
        self._changed()

    def checkpoint(self, name: str) -> None:
        """Give the current state a name to come back to."""
        self.history.checkpoint(name)
        self._changed()

    def copy(self) -> Schedule:
        """A schedule of the same unscheduled program with the same trace, and no other history."""
        fresh = Schedule(self.history.nodes[0].program)
        for node in self.history.path()[1:]:
            assert node.step is not None
            fresh.history.add(node.step, node.program)
        return fresh

    @staticmethod
    def replay(
        source: Tensor | Sequence[Tensor] | Program,
        trace: Trace | str,
        *,
        args: Sequence[Tensor | Var] | None = None,
        name: str | None = None,
    ) -> Schedule:
        """A schedule of `source` with the steps of a trace taken.

        Parameters
        ----------
        trace
            A trace, or its JSON text.

        Raises
        ------
        ParseError, ScheduleError
            If the text is no trace, or a step does not fit the program.
        """
        schedule = Schedule(source, args=args, name=name)
        steps = read_json(trace.to_json() if isinstance(trace, Trace) else trace)
        names: dict[str, Ref] = {}
        for instruction in steps:
            replay_step(schedule, instruction, names)
        return schedule

    def on_change(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call back after each change of state; returns a function that ends this."""
        self._listeners.append(callback)

        def unsubscribe() -> None:
            if callback in self._listeners:
                self._listeners.remove(callback)

        return unsubscribe

    def _changed(self) -> None:
        for listener in list(self._listeners):
            listener()

    # ------------------------------------------------------------- primitives

    def split(
        self,
        loop: LoopLike,
        factors: Sequence[int | None] | int,
        tail: str = "auto",
        disable_predication: bool = False,
    ) -> list[LoopRef]:
        return self._loops("split", loop, factors, tail, disable_predication)

    def fuse(self, *loops: LoopLike) -> LoopRef:
        return self._loops("fuse", *loops)[0]

    def reorder(self, *loops: LoopLike) -> None:
        self.apply("reorder", *loops)

    def skew(self, outer: LoopLike, inner: LoopLike, factor: int = 1) -> LoopRef:
        return self._loops("skew", outer, inner, factor)[0]

    def assume(self, fact: str, subject: LoopLike | BlockLike | None = None) -> None:
        self.apply("assume", fact, subject)

    def tile(self, x: LoopLike, y: LoopLike, fx: int, fy: int) -> list[LoopRef]:
        return self._loops("tile", x, y, fx, fy)

    def peel(self, loop: LoopLike, first: int = 0, last: int = 0) -> list[LoopRef]:
        return self._loops("peel", loop, first, last)

    def partition(self, loop: LoopLike, points: Sequence[int] | None = None) -> list[LoopRef]:
        return self._loops("partition", loop, points)

    def hoist_condition(self, loop: LoopLike) -> list[LoopRef]:
        return self._loops("hoist_condition", loop)

    def merge_conditions(self, block: BlockLike) -> None:
        self.apply("merge_conditions", block)

    def vectorize(self, loop: LoopLike) -> None:
        self.apply("vectorize", loop)

    def unroll(self, loop: LoopLike) -> None:
        self.apply("unroll", loop)

    def parallel(self, loop: LoopLike) -> None:
        self.apply("parallel", loop)

    def bind(self, loop: LoopLike, thread: ThreadLike) -> None:
        require_extent(self.loop_of(loop), thread)
        self.apply("bind", loop, thread)

    def env_threads(self, loop: LoopLike, thread: ThreadLike) -> list[LoopRef]:
        return self._loops("env_threads", loop, thread)

    def set_scope(self, buffer: Buffer | BlockLike, scope: Scope) -> None:
        self.apply("set_scope", buffer, scope)

    def serial(self, loop: LoopLike) -> None:
        self.apply("serial", loop)

    def compute_at(self, block: BlockLike, loop: LoopLike) -> list[LoopRef]:
        return self._loops("compute_at", block, loop)

    def reverse_compute_at(self, block: BlockLike, loop: LoopLike) -> list[LoopRef]:
        return self._loops("reverse_compute_at", block, loop)

    def compute_root(self, block: BlockLike) -> list[LoopRef]:
        return self._loops("compute_root", block)

    def compute_inline(self, block: BlockLike) -> None:
        self.apply("compute_inline", block)

    def reverse_compute_inline(self, block: BlockLike) -> None:
        self.apply("reverse_compute_inline", block)

    def cache_read(
        self, block: BlockLike, buffer: Buffer | str, scope: Scope = "local"
    ) -> BlockRef:
        return self._block("cache_read", block, buffer, scope)

    def cache_write(self, block: BlockLike, scope: Scope = "local") -> BlockRef:
        return self._block("cache_write", block, scope)

    def decompose_reduction(self, block: BlockLike, loop: LoopLike) -> BlockRef:
        return self._block("decompose_reduction", block, loop)

    def rfactor(self, block: BlockLike, loop: LoopLike, factor_axis: int = 0) -> BlockRef:
        return self._block("rfactor", block, loop, factor_axis)

    def blockize(self, loop: LoopLike) -> BlockRef:
        return self._block("blockize", loop)

    def tensorize(self, target: LoopLike | BlockLike, intrin: TensorIntrin | str) -> BlockRef:
        return self._block("tensorize", target, intrin)

    def _loops(self, primitive: str, *args: Any) -> list[LoopRef]:
        return [r for r in self.apply(primitive, *args) if isinstance(r, LoopRef)]

    def _block(self, primitive: str, *args: Any) -> BlockRef:
        return next(r for r in self.apply(primitive, *args) if isinstance(r, BlockRef))


for _name, _primitive in PRIMITIVES.items():
    # The text stands once, with the function that does the work.
    getattr(Schedule, _name).__doc__ = _primitive.doc


def _marked_nest(program: Program, subject: object) -> str:
    """The printed program with an arrow at the loop or block that a refusal is about."""
    lines: list[str] = []
    for line in to_lines(program, brief=True):
        symbol: object = None
        if isinstance(line.node, For):
            symbol = line.node.var
        elif isinstance(line.node, Block):
            symbol = line.node.symbol
        here = symbol is not None and symbol is subject
        lines.append(f"{'->' if here else '  '} {'    ' * line.depth}{line.text}")
    return "\n".join(lines)


def replay_step(schedule: Schedule, step: Instruction, names: dict[str, Ref]) -> None:
    """Take a step of a written trace; `names` knows the loops that it may name, and learns more."""

    def value_of(value: Any) -> Any:
        fields, items = fields_of(value), items_of(value)
        if fields is not None:
            name = fields.get("loop")
            if not isinstance(name, str) or name not in names:
                raise ScheduleError(f"the trace uses loop {name!r} before any step makes it")
            return names[name]
        return value if items is None else [value_of(item) for item in items]

    args = {name: value_of(value) for name, value in step.args.items()}
    refs: Sequence[Ref]
    if step.op == "loops":
        refs = schedule.loops(args["block"])
    else:
        refs = schedule.apply(step.op, **args)
    if len(refs) != len(step.outputs):
        raise ScheduleError(
            f"{step.op} in the trace returned {len(step.outputs)} references, but here "
            f"{len(refs)}; the trace was made for another program"
        )
    names.update(zip(step.outputs, refs, strict=True))
