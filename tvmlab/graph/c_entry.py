"""One function that runs a whole model, for programs in C: kernels in order on one call.

It is written as LLVM IR, since all it does is to fill in addresses and call. The pool of threads
lies beside it, so that neither a program in C nor a Python without LLVM needs anything else.
"""

from __future__ import annotations

from collections.abc import Mapping

import tvmlab.codegen as codegen
from tvmlab.runtime import Plan
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
    most = max((len(s.args) for s in plan.steps), default=1)
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
    ]
    places = _places(plan, params)
    for number, step in enumerate(plan.steps):
        lines.append(f"step{number}:")
        for at, arg in enumerate(step.args):
            lines += _address(places[arg], f"{number}.{at}")
            lines += [
                f"  %slot{number}.{at} = getelementptr i64, ptr %slots, i64 {at}",
                f"  store i64 %value{number}.{at}, ptr %slot{number}.{at}",
            ]
        lines += [
            f"  %code{number} = call i32 @{step.kernel}(ptr %slots, ptr %loop)",
            f"  %failed{number} = icmp ne i32 %code{number}, 0",
            f"  br i1 %failed{number}, label %stop{number}, label %step{number + 1}",
            f"stop{number}:",
            f"  ret i32 %code{number}",
        ]
    return "\n".join([*lines, f"step{len(plan.steps)}:", "  ret i32 0", "}"]) + "\n"


def _places(plan: Plan, params: Mapping[str, int]) -> dict[str, tuple[str, int]]:
    """For each value what holds it, and its number or offset there."""
    return {
        **{s.name: ("inputs", n) for n, s in enumerate(plan.inputs)},
        **{s.name: ("outputs", n) for n, s in enumerate(plan.outputs)},
        **{name: ("params", offset) for name, offset in params.items()},
        **{name: ("workspace", offset) for name, offset in plan.offsets.items()},
    }


def _address(place: tuple[str, int], mark: str) -> list[str]:
    """Lines that leave the address of a value in `%value<mark>`."""
    base, number = place
    if base in ("inputs", "outputs"):
        return [
            f"  %in{mark} = getelementptr i64, ptr %{base}, i64 {number}",
            f"  %value{mark} = load i64, ptr %in{mark}",
        ]
    return [
        f"  %in{mark} = getelementptr i8, ptr %{base}, i64 {number}",
        f"  %value{mark} = ptrtoint ptr %in{mark} to i64",
    ]
