"""Writing a compiled graph as a module that runs without the compiler.

>>> export(build("model.onnx"), "out/model")                       # doctest: +SKIP
>>> module = tvmlab.runtime.load("out/model")
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any, cast

import numpy as np

from tvmlab.codegen.llvm import link_shared
from tvmlab.runtime.saved import (
    FILES,
    GRAPH,
    HEADER,
    KERNELS,
    MANIFEST,
    PARAMS,
    param_places,
    write_manifest,
)
from tvmlab.support import OptionError, version

from .c_entry import entry_object
from .compiler import Built
from .header import c_header


def export(built: Built, path: str | Path) -> Path:
    """Write a module to a folder, or to one file if the path ends in `.zip`.

    What was there before is replaced only once everything is written.

    Raises
    ------
    OptionError
        If the place cannot be written, or there is no linker.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".tvmlab-", dir=target.parent))
    except OSError as error:
        raise OptionError(f"the module cannot be written to {target}: {error.strerror}") from None
    try:
        _write(built, folder)
        if target.suffix == ".zip":
            _pack(folder, target)
        else:
            _replace(folder, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return target


def _write(built: Built, folder: Path) -> None:
    # Here, because the package is needed for saved modules alone.
    from safetensors import numpy as files

    plan = built.graph
    (folder / GRAPH).write_text(json.dumps(plan.to_json()))
    (folder / HEADER).write_text(c_header(plan))
    arrays = {f"p{number}": _storable(np.ascontiguousarray(built.params[spec.name]))
              for number, spec in enumerate(plan.params)}  # fmt: skip
    cast("Any", files).save_file(arrays, folder / PARAMS)
    entry = entry_object(plan, param_places(folder / PARAMS, plan))
    link_shared(folder / KERNELS, [*built.lib.objects.values(), entry], {})
    write_manifest(folder, plan, version())


def _storable(array: np.ndarray) -> np.ndarray:
    """The array, as bytes if the file format lacks its type."""
    known = array.dtype.kind in "fiub" and array.dtype.name != "bfloat16"
    return array if known and array.ndim else array.reshape(-1).view(np.uint8)


def _pack(folder: Path, target: Path) -> None:
    archive = folder / "module.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in (*FILES, MANIFEST):
            packed.write(folder / name, name)
    os.replace(archive, target)


def require_replaceable(target: Path) -> None:
    """Refuse a place where something else than a module lies.

    Raises
    ------
    OptionError
        If there is something.
    """
    archive = target.suffix == ".zip"
    if target.exists() and not (target.is_file() if archive else (target / MANIFEST).is_file()):
        raise OptionError(f"{target} exists and is no module, so it is not replaced",
                          hint="name another folder")  # fmt: skip


def _replace(folder: Path, target: Path) -> None:
    require_replaceable(target)
    folder.chmod(0o755)
    old = target.with_name(f".{target.name}.old")
    if target.exists():
        os.replace(target, old)
    os.replace(folder, target)
    shutil.rmtree(old, ignore_errors=True)
