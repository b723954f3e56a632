"""A process that compiles kernels: requests come in on stdin, objects go out on stdout."""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any, BinaryIO

from tvmlab.runtime import ObjectCache
from tvmlab.support import InternalError, TvmlabError

from .kernels import KernelRequest, compile_kernel


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer requests until there are no more."""
    while True:
        try:
            request, target, folder = pickle.load(source)
        except EOFError:
            return
        cache = None if folder is None else ObjectCache(folder)
        answer: Any
        try:
            made = compile_kernel(KernelRequest(*request), target, cache)
            answer = (request[0], made.data, made.flops, made.seconds, made.in_place)
        except TvmlabError as error:
            # Rebuilt of its texts: what an error points at may be anything.
            answer = InternalError if isinstance(error, InternalError) else TvmlabError
            answer = answer(error.message, hint=error.hint)
        except Exception as error:  # a worker must answer, whatever happens
            answer = InternalError(f"compiling {request[0]} failed: {error!r}")
        pickle.dump(answer, sink)
        sink.flush()


if __name__ == "__main__":
    # What code prints must not get among the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, answers)
