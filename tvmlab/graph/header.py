"""A header for C: the function that runs a module, and its kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tvmlab.runtime import Plan, PlanStep, TensorSpec
from tvmlab.support import identifier

from .c_entry import entry_symbol


def c_header(plan: Plan) -> str:
    """Declarations of the kernels, and comments that say how a run calls them."""
    guard = f"TVMLAB_{identifier(plan.name).upper()}_H"
    lines = [
        f"/* {_comment(plan.name)}: compiled by tvmlab for {plan.target.get('triple', '')} */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "#include <stdint.h>",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "typedef int32_t (*tvmlab_body)(void *context, int64_t begin, int64_t end);",
        "typedef int32_t (*tvmlab_loop)(tvmlab_body body, void *context, int64_t extent);",
        "",
        f"#define TVMLAB_WORKSPACE_BYTES {plan.workspace}",
        *_table("inputs", plan.inputs),
        *_table("parameters", plan.params),
        *_table("outputs", plan.outputs),
        "",
        "/* Run the model; returns 0 when all went well.",
        "   inputs, outputs   addresses of arrays in the order above, each without gaps",
        "   params            the bytes of params.safetensors as they are, at a multiple of 8",
        "   workspace         TVMLAB_WORKSPACE_BYTES bytes, at a multiple of 64",
        "   parallel_for      runs body(context, begin, end) over parts of 0 to extent, on as many",
        "                     threads as it likes, and returns 0 or what a body returned that is",
        "                     not 0; NULL for one thread, tvmlab_parallel_for for tvmlab_threads",
        "                     of them, which the library brings with it */",
        "extern int32_t tvmlab_threads;",
        "int32_t tvmlab_parallel_for(tvmlab_body body, void *context, int64_t extent);",
        f"int32_t {entry_symbol(plan)}(const void *const *inputs, const void *params,",
        "    void *const *outputs, void *workspace, tvmlab_loop parallel_for);",
        "",
        "/* The kernels alone: each takes an array of 8-byte slots with the addresses of its",
        "   arguments. */",
        *(
            f"int32_t {kernel}(const uint64_t *args, tvmlab_loop parallel_for);"
            for kernel in plan.kernels
        ),
        "",
        "/* What a run calls, in order:",
        *_calls(plan.steps, "   "),
        "*/",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _calls(steps: Sequence[PlanStep], margin: str) -> Iterator[str]:
    """What steps call, those of a loop further in."""
    for step in steps:
        if step.body:
            yield f"{margin}while {_comment(step.args[0])}:"
            yield from _calls(step.body, f"{margin}    ")
        else:
            yield f"{margin}{_comment(step.kernel)}({_comment(', '.join(step.args))})"


def _table(title: str, specs: tuple[TensorSpec, ...]) -> list[str]:
    return [f"/* {title}:", *(f"   {_comment(str(s))}" for s in specs), "*/"]


def _comment(text: str) -> str:
    """Text that cannot end a comment, whatever a model calls its values."""
    return text.replace("*/", "* /").replace("\n", " ").replace("\\", "/")
