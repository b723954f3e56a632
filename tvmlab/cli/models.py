"""What the commands for models share: reading them, their inputs, and progress."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tvmlab.graph import BuildOptions, Graph, build, quantize
from tvmlab.runtime import GraphModule, Plan, TensorSpec, create, load
from tvmlab.support import OptionError

from .parser import Parser


def add_model(parser: Parser) -> None:
    """Declare the model and how it is compiled."""
    parser.add_argument("model", metavar="MODEL", help="an ONNX file, or what compile wrote")
    add_build_options(parser)


def add_build_options(parser: Parser) -> None:
    """Declare how a model is compiled."""
    parser.add_argument("--target", default="cpu", help="the machine (default: this one)")
    add_size(parser)
    parser.add_argument("--no-cache", action="store_true", help="compile everything anew")


def add_size(parser: Parser) -> None:
    """Declare numbers for sizes."""
    parser.add_argument(
        "--size",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="a number for a size that the model leaves open, such as batch=1",
    )


def sizes_of(words: Sequence[str]) -> dict[str, int]:
    """Sizes from words such as `batch=1`."""
    found: dict[str, int] = {}
    for word in words:
        name, sign, number = word.partition("=")
        if not sign or not name or not number.isdigit():
            raise OptionError(f"--size {word} is no size", hint="write --size batch=1")
        found[name] = int(number)
    return found


def module_of(arguments: Any) -> GraphModule:
    """The module of a saved folder or archive, or of a model that is compiled now."""
    path = Path(arguments.model)
    if path.is_dir() or path.suffix == ".zip":
        if arguments.size:
            raise OptionError(f"{path} is compiled, so its sizes are fixed",
                              hint="compile the model again with --size")  # fmt: skip
        return load(path)
    built = build(
        path,
        arguments.target,
        sizes=sizes_of(arguments.size),
        options=BuildOptions(cache=not arguments.no_cache),
        progress=show_progress,
    )
    module = create(built.graph, built.lib)
    module.bind_params(built.params)
    return module


def quantized_model(path: Path, samples: str, sizes: Mapping[str, int], target: str) -> Graph:
    """The graph of a model in bytes, with ranges from the samples of a file.

    Raises
    ------
    OptionError
        If the file holds no arrays.
    """
    # Here, because the package onnx is needed for models alone.
    from tvmlab.graph.onnx import from_onnx

    try:
        with np.load(samples, allow_pickle=False) as data:
            arrays = {str(name): data[name] for name in data.files}
    except (OSError, ValueError, AttributeError, zipfile.BadZipFile) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no archive of plain arrays"
        raise OptionError(
            f"the samples {samples} cannot be read: {why}",
            hint="write them by np.savez(path, input=array), with the model's names for inputs",
        ) from None
    return quantize(from_onnx(path, sizes=sizes), arrays, target)


def show_progress(done: int, total: int, name: str) -> None:
    """A bar on the terminal's error stream; nothing where it is no terminal."""
    if not sys.stderr.isatty():
        return
    width = 30
    filled = width * done // max(total, 1)
    bar = "#" * filled + "-" * (width - filled)
    end = "\n" if done == total else ""
    print(f"\r[{bar}] {done}/{total} {name[:40]:40}", end=end, file=sys.stderr, flush=True)


def inputs_of(plan: Plan, words: Sequence[str], seed: int) -> dict[str, Any]:
    """Inputs from words such as `x=image.npy`; the others are random.

    Raises
    ------
    OptionError
        If a file is none, or names no input.
    """
    given = dict(_pair(word) for word in words)
    known = {s.name: s for s in plan.inputs}
    for name in given:
        if name not in known:
            raise OptionError(f"the model has no input {name!r}",
                              hint=f"inputs are {', '.join(map(str, plan.inputs))}")  # fmt: skip
    rng = np.random.default_rng(seed)
    return {
        name: _read(given[name]) if name in given else _noise(spec, rng)
        for name, spec in known.items()
    }


def _pair(word: str) -> tuple[str, str]:
    name, sign, path = word.partition("=")
    if not sign:
        raise OptionError(f"--input {word} names no file", hint="write --input x=image.npy")
    return name, path


def _read(path: str) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise OptionError(
            f"the array {path} cannot be read: {why}", hint="numpy.save writes such files"
        ) from None


def _noise(spec: TensorSpec, rng: np.random.Generator) -> Any:
    if spec.dtype.is_float:
        return rng.standard_normal(spec.shape).astype(spec.dtype.numpy)
    return rng.integers(0, 2, spec.shape).astype(spec.dtype.numpy)


def describe(values: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """A line for each array: name, type, range, and mean."""
    lines: list[tuple[str, ...]] = []
    for name, array in values.items():
        wide = array.astype(np.float64)
        figures = (wide.min(), wide.mean(), wide.max()) if array.size else (0.0, 0.0, 0.0)
        shape = f"{array.dtype}[{', '.join(map(str, array.shape))}]"
        lines.append((name, shape, *(f"{f:.5g}" for f in figures)))
    return lines
