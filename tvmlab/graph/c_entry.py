"""One function that runs a whole model, for programs in C: kernels in order on one call.

It is written as LLVM IR, since all it does is to fill in addresses and call. The pool of threads
lies beside it, so that neither a program in C nor a Python without LLVM needs anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import tvmlab.codegen as codegen
from tvmlab.runtime import Plan, PlanStep
from tvmlab.runtime.pool import pool_code
from tvmlab.support import identifier
from tvmlab.target import Target


def entry_symbol(plan: Plan) -> str:
    """What the function is called."""
    return f"{identifier(plan.name)}_run"


def entry_object(plan: Plan, params: Mapping[str, int]) -> bytes:
    """The function, and the pool of threads, as a relocatable object.

    Parameters
    ----------
    params
        Where each parameter lies in their file, in bytes from its start.
    """
    target = _target(plan)
    text = _text(plan, params) + "\n" + pool_code(target.arch)
    return codegen.compile_module(text, target).object_bytes


def _target(plan: Plan) -> Target:
    options = (("triple", "mtriple"), ("cpu", "mcpu"), ("features", "mattr"))
    words = [f"-{option}={plan.target[key]}" for key, option in options if plan.target.get(key)]
    return Target.of(" ".join(["llvm", *words]))


def _text(plan: Plan, params: Mapping[str, int]) -> str:
    name = entry_symbol(plan)
    most = max((len(s.args) for s in _all_steps(plan.steps)), default=1)
    lines = [
        *(f"declare i32 @{kernel}(ptr, ptr)" for kernel in plan.kernels),
        f"define internal i32 @{name}_alone(ptr %body, ptr %context, i64 %extent) {{",
        "  %code = call i32 %body(ptr %context, i64 0, i64 %extent)",
        "  ret i32 %code",
        "}",
        f"define i32 @{name}("
        "ptr %inputs, ptr %params, ptr %outputs, ptr %workspace, ptr %given) {",
        "  %none = icmp eq ptr %given, null",
        f"  %loop = select i1 %none, ptr @{name}_alone, ptr %given",
        f"  %slots = alloca [{most} x i64], align 8",
        "  br label %step0",
        *_sequence(plan.steps, _places(plan, params), ""),
        "  ret i32 0",
        "}",
    ]
    return "\n".join(lines) + "\n"


def _all_steps(steps: Sequence[PlanStep]) -> Iterator[PlanStep]:
    for step in steps:
        yield step
        yield from _all_steps(step.body)


def _sequence(
    steps: Sequence[PlanStep], places: Mapping[str, tuple[str, int, int]], mark: str
) -> Iterator[str]:
    """Lines of steps, from the label of the first to that behind the last, for what follows."""
    for number, step in enumerate(steps):
        own, after = f"{mark}{number}", f"{mark}{number + 1}"
        yield f"step{own}:"
        if step.body:
            yield from _loop(step, places, own, after)
        else:
            yield from _call(step, places, own, after)
    yield f"step{mark}{len(steps)}:"


def _loop(
    step: PlanStep, places: Mapping[str, tuple[str, int, int]], own: str, after: str
) -> Iterator[str]:
    yield from _address(places[step.args[0]], own)
    yield f"  %holds{own} = inttoptr i64 %value{own} to ptr"
    yield f"  %truth{own} = load i8, ptr %holds{own}"
    yield f"  %on{own} = icmp ne i8 %truth{own}, 0"
    yield f"  br i1 %on{own}, label %step{own}.0, label %step{after}"
    yield from _sequence(step.body, places, f"{own}.")
    yield f"  br label %step{own}"


def _call(
    step: PlanStep, places: Mapping[str, tuple[str, int, int]], own: str, after: str
) -> Iterator[str]:
    for at, arg in enumerate(step.args):
        yield from _address(places[arg], f"{own}.at{at}")
        yield f"  %slot{own}.at{at} = getelementptr i64, ptr %slots, i64 {at}"
        yield f"  store i64 %value{own}.at{at}, ptr %slot{own}.at{at}"
    yield f"  %code{own} = call i32 @{step.kernel}(ptr %slots, ptr %loop)"
    yield f"  %failed{own} = icmp ne i32 %code{own}, 0"
    yield f"  br i1 %failed{own}, label %stop{own}, label %step{after}"
    yield f"stop{own}:"
    yield f"  ret i32 %code{own}"


def _places(plan: Plan, params: Mapping[str, int]) -> dict[str, tuple[str, int, int]]:
    """For each value what holds it, its number there (-1: there are no others), and its offset."""
    given = {
        **{s.name: ("inputs", n, 0) for n, s in enumerate(plan.inputs)},
        **{s.name: ("outputs", n, 0) for n, s in enumerate(plan.outputs)},
        **{name: ("params", -1, offset) for name, offset in params.items()},
    }
    found = dict(given)
    for name, offset in plan.offsets.items():
        holder = plan.within.get(name)
        base, number, _ = ("workspace", -1, 0) if holder is None else given[holder]
        found[name] = base, number, offset
    return found


def _address(place: tuple[str, int, int], mark: str) -> list[str]:
    """Lines that leave the address of a value in `%value<mark>`."""
    base, number, offset = place
    if number >= 0:
        return [
            f"  %in{mark} = getelementptr i64, ptr %{base}, i64 {number}",
            f"  %start{mark} = load i64, ptr %in{mark}",
            f"  %value{mark} = add i64 %start{mark}, {offset}",
        ]
    return [
        f"  %in{mark} = getelementptr i8, ptr %{base}, i64 {offset}",
        f"  %value{mark} = ptrtoint ptr %in{mark} to i64",
    ]
