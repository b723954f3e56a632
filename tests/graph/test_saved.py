"""Modules on disk: they run as before, and are refused if anything about them is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from tvmlab.codegen.llvm import c_compiler
from tvmlab.graph import Built, GraphBuilder, TensorType, build, export
from tvmlab.runtime import GraphModule, load
from tvmlab.support import OptionError, ParseError, RuntimeFailure

X = np.random.default_rng(0).standard_normal((4, 8)).astype("f4")
W = np.random.default_rng(1).standard_normal((8, 3)).astype("f4")


@pytest.fixture(scope="module")
def built() -> Built:
    g = GraphBuilder("small")
    x = g.input("x", TensorType.of("float32", (4, 8)))
    # Halves are read and written where they lie in the input and in the output.
    halves = [g.add("slice", x, starts=(2 * n,), ends=(2 * n + 2,), axes=(0,), steps=(1,))
              for n in range(2)]  # fmt: skip
    made = [g.add("relu", g.add("matmul", half, g.param(W))) for half in halves]
    g.output(g.add("concat", *made, axis=0, result="y"))
    return build(g.graph())


@pytest.fixture
def folder(built: Built, tmp_path: Path) -> Path:
    return export(built, tmp_path / "module")


def result(module: GraphModule) -> np.ndarray:
    module.run(x=X)
    return module.get_output("y")


def test_folder_and_archive(built: Built, folder: Path, tmp_path: Path) -> None:
    wanted = np.maximum(X @ W, 0)
    np.testing.assert_allclose(result(load(folder)), wanted, rtol=1e-5, atol=1e-6)
    archive = export(built, tmp_path / "module.zip")
    np.testing.assert_allclose(result(load(archive)), wanted, rtol=1e-5, atol=1e-6)


def test_loads_without_the_compiler(folder: Path) -> None:
    script = (
        "import sys, numpy as np; from tvmlab.runtime import load\n"
        "m = load(sys.argv[1]); m.run(x=np.ones((4, 8), 'f4')); print(m.get_output(0).shape)\n"
        "print([n for n in ('tvmlab.graph', 'tvmlab.lower.pipeline', 'tvmlab.codegen.llvm', "
        "'tvmlab.topi', 'onnx') if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n")[:2] == ["(4, 3)", "[]"]


def test_header_names_the_kernels(built: Built, folder: Path) -> None:
    header = (folder / "module.h").read_text()
    for kernel in built.graph.kernels:
        assert f"int32_t {kernel}(" in header
    assert "x: float32[4, 8]" in header


C_PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include "module.h"

static void *whole(const char *path, long *size) {
    FILE *file = fopen(path, "rb");
    if (!file) exit(2);
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    void *data = malloc(*size);
    if (fread(data, 1, *size, file) != (size_t)*size) exit(3);
    fclose(file);
    return data;
}

int main(int argc, char **argv) {
    long size;
    void *params = whole(argv[1], &size), *x = whole(argv[2], &size);
    float y[4 * 3];
    const void *inputs[] = {x};
    void *outputs[] = {y};
    void *workspace = aligned_alloc(64, TVMLAB_WORKSPACE_BYTES + 64);
    int32_t code = small_run(inputs, params, outputs, workspace, NULL);
    for (int i = 0; i < 12; i++) printf("%.9g\n", y[i]);
    tvmlab_threads = 2;
    code += small_run(inputs, params, outputs, workspace, tvmlab_parallel_for);
    for (int i = 0; i < 12; i++) printf("%.9g\n", y[i]);
    return code + (argc != 3);
}
"""


def test_a_program_in_c_runs_the_model(folder: Path, tmp_path: Path) -> None:
    compiler = c_compiler()
    if compiler is None:
        pytest.skip("no C compiler is installed")
    (tmp_path / "main.c").write_text(C_PROGRAM)
    X.tofile(tmp_path / "x.bin")
    program = tmp_path / "main"
    subprocess.run(
        [compiler, "-std=c11", "-Wall", "-Werror", f"-I{folder}", str(tmp_path / "main.c"),
         str(folder / "kernels.so"), f"-Wl,-rpath,{folder}", "-o", str(program)],
        check=True,
    )  # fmt: skip
    done = subprocess.run(
        [str(program), str(folder / "params.safetensors"), str(tmp_path / "x.bin")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = np.array([float(word) for word in done.stdout.split()]).reshape(2, 4, 3)
    for made in found:  # by one thread, and by two
        np.testing.assert_allclose(made, np.maximum(X @ W, 0), rtol=1e-5, atol=1e-6)


def test_a_module_needs_no_llvm(folder: Path) -> None:
    script = (
        "import sys, numpy as np; from tvmlab.runtime import load\n"
        "m = load(sys.argv[1]); m.run(x=np.ones((4, 8), 'f4')); print(m.get_output(0).shape)\n"
        "sys.exit('llvmlite' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(folder)], check=True)


def test_runs_where_llvm_is_not_installed(folder: Path) -> None:
    script = (
        "import sys\n"
        "for name in ('llvmlite', 'islpy', 'onnx', 'scipy'): sys.modules[name] = None\n"
        "import numpy as np; from tvmlab.runtime import load\n"
        "m = load(sys.argv[1]); m.run(x=np.ones((4, 8), 'f4')); print(m.get_output(0).shape)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "(4, 3)", done.stderr


@pytest.mark.parametrize("name", ["graph.json", "kernels.so", "params.safetensors", "module.h"])
def test_changed_and_truncated_files(folder: Path, name: str) -> None:
    path = folder / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ParseError, match=f"{name} is not the file that was exported"):
        load(folder)
    path.write_bytes(data[:-3])
    with pytest.raises(ParseError, match=f"{name} has {len(data) - 3} bytes, the manifest says"):
        load(folder)
    path.unlink()
    with pytest.raises(ParseError, match=f"the module is incomplete: {name} is missing"):
        load(folder)


def test_other_formats(folder: Path, tmp_path: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "version": 99}))
    with pytest.raises(ParseError, match="is of format 99, this tvmlab reads 1"):
        load(folder)
    (folder / "manifest.json").write_text("{")
    with pytest.raises(ParseError, match=r"manifest\.json is damaged"):
        load(folder)
    (folder / "manifest.json").write_text("[1]")
    with pytest.raises(ParseError, match="is no manifest of a module"):
        load(folder)
    with pytest.raises(ParseError, match="there is no module"):
        load(tmp_path / "nowhere")
    (tmp_path / "bad.zip").write_bytes(b"PK\3\4 not really")
    with pytest.raises(ParseError, match="is damaged"):
        load(tmp_path / "bad.zip")
    shutil.rmtree(folder)
    folder.mkdir()
    with pytest.raises(ParseError, match=r"holds no module: manifest\.json is missing"):
        load(folder)


def test_incomplete_archive(folder: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "part.zip", "w") as packed:
        packed.write(folder / "graph.json", "graph.json")
    with pytest.raises(ParseError, match="is incomplete"):
        load(tmp_path / "part.zip")


def _rewritten(folder: Path, **changes: object) -> None:
    """Change the plan as an attacker would who also mends the manifest."""
    from tvmlab.runtime import Plan
    from tvmlab.runtime.saved import write_manifest

    plan = json.loads((folder / "graph.json").read_text())
    good = Plan.from_json(plan)
    plan.update(changes)
    (folder / "graph.json").write_text(json.dumps(plan))
    write_manifest(folder, good, "0")


def test_other_machines(folder: Path) -> None:
    _rewritten(folder, target={"triple": "aarch64-linux-gnu", "cpu": "", "features": ""})
    with pytest.raises(RuntimeFailure, match="compiled for aarch64, this machine is"):
        load(folder)


def test_values_outside_the_workspace(folder: Path) -> None:
    value = {"name": "v", "dtype": "float32", "shape": [1000], "offset": 64}
    _rewritten(folder, values=[value])
    with pytest.raises(ParseError, match="the value v lies outside the workspace"):
        load(folder)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({}, "does not hold the parameter|is damaged"),
        ({"p0": {"data_offsets": [0, 4]}}, "does not hold the parameter"),
        ({"p0": {"data_offsets": [-96, 0]}}, "does not hold the parameter"),
        ({"p0": {"data_offsets": [1 << 40, (1 << 40) + 96]}}, "does not hold the parameter"),
        ({"p0": {"data_offsets": "ab"}}, "is damaged"),
        ({"p0": 3}, "is damaged"),
        ([], "is damaged"),
    ],
)
def test_parameters_outside_their_file(folder: Path, entry: object, message: str) -> None:
    header = json.dumps(entry).encode()
    data = len(header).to_bytes(8, "little") + header + bytes(96)
    (folder / "params.safetensors").write_bytes(data)
    _rewritten(folder)
    with pytest.raises(ParseError, match=message):
        load(folder)


def test_a_header_longer_than_the_file_of_parameters(folder: Path) -> None:
    (folder / "params.safetensors").write_bytes((1 << 60).to_bytes(8, "little") + b"{}")
    _rewritten(folder)
    with pytest.raises(ParseError, match=r"params\.safetensors is damaged"):
        load(folder)


def test_folders_of_others_are_not_replaced(built: Built, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(OptionError, match="exists and is no module"):
        export(built, tmp_path / "mine")
    assert (tmp_path / "mine" / "letter.txt").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]
