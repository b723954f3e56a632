"""Gather the code that loops and blocks ask to be linked in, before these are rewritten.

for i in range(4, import_llvm="define ..."):         annotate(import_llvm="define ...")
    ...                                        ->     for i in range(4):
                                                          ...
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tvmlab.ir import IMPORT_LLVM, Annotations, Block, For, Program, transform_stmts

_KEYS = (IMPORT_LLVM, f"pragma_{IMPORT_LLVM}")


def gather_imports(program: Program) -> Program:
    """Move annotations `import_llvm` from loops and blocks to the program, each code once."""
    found: dict[str, None] = {}

    def take(annotations: Annotations) -> Annotations:
        for key, value in annotations:
            if key in _KEYS and isinstance(value, str):
                found.setdefault(value)
        return tuple(pair for pair in annotations if pair[0] not in _KEYS)

    def visit(node: Any) -> Any:
        if isinstance(node, (For, Block)) and any(key in _KEYS for key, _ in node.annotations):
            return replace(node, annotations=take(node.annotations))
        return node

    body = transform_stmts(program.body, visit)
    if body is program.body:
        return program
    rest = take(program.annotations)
    codes: Annotations = ((IMPORT_LLVM, tuple(found)),) if found else ()
    return replace(program, body=body, annotations=(*rest, *codes))
