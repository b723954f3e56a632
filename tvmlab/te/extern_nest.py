"""The block of an operation whose body is the user's own statement."""

from __future__ import annotations

from collections.abc import Mapping

from tvmlab.ir import BlockSymbol, Buffer, Stmt, make_block, replace_buffers

from .tensor import ExternOp, Tensor


def extern_nest(op: ExternOp, name: str, buffers: Mapping[Tensor, Buffer]) -> Stmt:
    """One block without iterations around the statement, over the program's buffers."""
    places = {
        stand_in: buffers[tensor]
        for stand_in, tensor in zip(
            (*op.in_buffers, *op.out_buffers), (*op.inputs, *op.outputs), strict=True
        )
    }
    body = replace_buffers(op.body, places)
    return make_block(BlockSymbol(name), (), (), body, annotations=op.attrs.pairs)
