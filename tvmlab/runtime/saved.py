"""Modules on disk: a folder, or an archive of one, that runs without the compiler.

    graph.json          the plan
    kernels.so          the kernels
    params.safetensors  the parameters
    module.h            the kernels' interface for C
    manifest.json       versions, the target, and a hash of each file

Nothing is run or mapped before its hash has been compared with the manifest.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import tempfile
import weakref
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tvmlab.support import ParseError, RuntimeFailure, fields_of, version

from .array import side_by_side
from .graph_module import GraphModule, create
from .library import SharedLibrary
from .plan import Plan
from .pool import offer_pool

FORMAT = 1
GRAPH, KERNELS, PARAMS, HEADER, MANIFEST = (
    "graph.json", "kernels.so", "params.safetensors", "module.h", "manifest.json",
)  # fmt: skip
FILES = (GRAPH, KERNELS, PARAMS, HEADER)
_LARGEST_TEXT = 64 << 20


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path, plan: Plan, version: str) -> None:
    """The manifest of a folder whose other files are complete."""
    manifest = {
        "format": "tvmlab-module",
        "version": FORMAT,
        "tvmlab": version,
        "name": plan.name,
        "target": dict(plan.target),
        "files": {
            name: {"sha256": digest_of(folder / name), "bytes": (folder / name).stat().st_size}
            for name in FILES
        },
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2))


def load(path: str | Path) -> GraphModule:
    """The module of a folder or archive, with its parameters, ready to run.

    Raises
    ------
    ParseError
        If a file is missing, truncated or changed, or of another format.
    RuntimeFailure
        If it was compiled for another machine.
    """
    source = Path(path)
    if source.is_dir():
        return _load_folder(source)
    if not source.exists():
        raise ParseError(f"there is no module {source}", hint="export writes one")
    folder = Path(tempfile.mkdtemp(prefix="tvmlab-module-"))
    try:
        _unpack(source, folder)
        module = _load_folder(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(module, shutil.rmtree, folder, ignore_errors=True)
    return module


def _unpack(archive: Path, folder: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as packed:
            for name in (*FILES, MANIFEST):
                with packed.open(name) as source, (folder / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
    except KeyError as error:
        raise ParseError(f"the module {archive} is incomplete: {error.args[0]}") from None
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError) as error:
        raise ParseError(f"the module {archive} is damaged: {error}") from None


def _load_folder(folder: Path) -> GraphModule:
    manifest = _manifest(folder)
    for name in FILES:
        _require_file(folder / name, manifest["files"].get(name))
    plan = Plan.from_json(_json(folder / GRAPH))
    _require_machine(plan.target)
    params = _params(folder / PARAMS, plan)
    library = SharedLibrary(folder / KERNELS)
    offer_pool(library.find, own=manifest.get("tvmlab") == version())
    module = create(plan, library)
    module.bind_params(params)
    return module


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    if not path.is_file():
        raise ParseError(f"{folder} holds no module: {MANIFEST} is missing")
    data = fields_of(_json(path)) or {}
    if data.get("format") != "tvmlab-module" or fields_of(data.get("files")) is None:
        raise ParseError(f"{path} is no manifest of a module")
    if data.get("version") != FORMAT:
        raise ParseError(
            f"the module {folder} is of format {data.get('version')}, this tvmlab reads {FORMAT}",
            hint=f"it was written by tvmlab {data.get('tvmlab')}; export the model again",
        )
    return dict(data)


def _require_file(path: Path, entry: object) -> None:
    fields = fields_of(entry) or {}
    if not path.is_file():
        raise ParseError(f"the module is incomplete: {path.name} is missing")
    size = path.stat().st_size
    if size != fields.get("bytes"):
        raise ParseError(f"{path.name} has {size} bytes, the manifest says {fields.get('bytes')}",
                         hint="it was truncated or replaced; export the model again")  # fmt: skip
    if digest_of(path) != fields.get("sha256"):
        raise ParseError(f"{path.name} is not the file that was exported: its hash differs",
                         hint="it was changed or damaged; export the model again")  # fmt: skip


def _json(path: Path) -> object:
    if path.stat().st_size > _LARGEST_TEXT:
        raise ParseError(f"{path.name} is too large")
    try:
        return json.loads(path.read_text())
    except (ValueError, UnicodeDecodeError, RecursionError) as error:
        raise ParseError(f"{path.name} is damaged: {error}") from None


def _require_machine(target: Mapping[str, str]) -> None:
    """Refuse kernels whose instructions this machine lacks."""
    wanted = target.get("triple", "").split("-", 1)[0]
    own = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    if wanted != own:
        raise RuntimeFailure(f"the module was compiled for {wanted}, this machine is {own}",
                             hint="compile the model for this machine")  # fmt: skip
    flags = _cpu_flags()
    if flags is None:
        return
    missing = [
        name
        for feature, name in _FEATURES.items()
        if f"+{feature}" in target.get("features", "").split(",") and name not in flags
    ]
    if missing:
        raise RuntimeFailure(
            f"the module was compiled for a processor with {', '.join(missing)}, which this "
            "machine lacks",
            hint="compile the model here, or for a common processor: target='llvm -mcpu=x86-64-v3'",
        )


_FEATURES = {"avx2": "avx2", "fma": "fma", "avx512f": "avx512f", "avx512bw": "avx512bw",
             "avx512vnni": "avx512_vnni", "avx512bf16": "avx512_bf16"}  # fmt: skip
"""Names of LLVM, and those of Linux, of what kernels may depend on."""


def _cpu_flags() -> set[str] | None:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return None
    line = next((s for s in text.splitlines() if s.startswith("flags")), "")
    return set(line.partition(":")[2].split()) or None


def param_places(path: Path, plan: Plan) -> dict[str, int]:
    """Where each parameter lies in the file of parameters, in bytes from its start.

    Raises
    ------
    ParseError
        If the file is damaged.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        text = file.read(length) if 8 + length <= min(size, _LARGEST_TEXT) else b""
    places: dict[str, int] = {}
    try:
        entries = json.loads(text)
        for number, spec in enumerate(plan.params):
            begin, end = (
                8 + length + int(place) for place in entries[f"p{number}"]["data_offsets"]
            )
            if not 8 + length <= begin <= end <= size or end - begin != spec.nbytes:
                raise ParseError(f"{path.name} does not hold the parameter {spec}")
            places[spec.name] = begin
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ParseError(f"{path.name} is damaged: {error!r}") from None
    return places


def _params(path: Path, plan: Plan) -> dict[str, NDArray[Any]]:
    """The parameters, read to where they stay: their file is never in memory as a whole."""
    places = param_places(path, plan)
    made = side_by_side({s.name: (s.shape, s.dtype.numpy) for s in plan.params})
    with path.open("rb") as file:
        for name, array in made.items():
            file.seek(places[name])
            if file.readinto(cast("Any", array.reshape(-1).view(np.uint8))) != array.nbytes:
                raise ParseError(f"{path.name} ends within the parameter {name}")
    return made
