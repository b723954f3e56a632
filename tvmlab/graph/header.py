"""A header for C: the kernels of a module, and the order in which they run."""

from __future__ import annotations

from tvmlab.runtime import Plan, TensorSpec
from tvmlab.support import identifier


def c_header(plan: Plan) -> str:
    """Declarations of the kernels, and comments that say how a run calls them."""
    guard = f"TVMLAB_{identifier(plan.name).upper()}_H"
    lines = [
        f"/* {plan.name}: kernels compiled by tvmlab for {plan.target.get('triple', '')}",
        "   A kernel takes an array of 8-byte slots, each the address of an argument, and a",
        "   function that runs parallel loops; it returns 0 when all went well. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "#include <stdint.h>",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "typedef int32_t (*tvmlab_body)(void *context, int64_t begin, int64_t end);",
        "typedef int32_t (*tvmlab_parallel_for)(tvmlab_body body, void *context, int64_t extent);",
        "",
        f"#define TVMLAB_WORKSPACE_BYTES {plan.workspace}",
        *_table("inputs", plan.inputs),
        *_table("parameters", plan.params),
        *_table("outputs", plan.outputs),
        "",
        *(
            f"int32_t {kernel}(const uint64_t *args, tvmlab_parallel_for parallel_for);"
            for kernel in plan.kernels
        ),
        "",
        "/* A run, in order:",
        *(f"   {_comment(step.kernel)}({_comment(', '.join(step.args))})" for step in plan.steps),
        "*/",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def _table(title: str, specs: tuple[TensorSpec, ...]) -> list[str]:
    return [f"/* {title}:", *(f"   {_comment(str(s))}" for s in specs), "*/"]


def _comment(text: str) -> str:
    """Text that cannot end a comment, whatever a model calls its values."""
    return text.replace("*/", "* /").replace("\n", " ").replace("\\", "/")
