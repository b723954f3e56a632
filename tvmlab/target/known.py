"""Whether LLVM knows a processor and its features: of a name it does not know, it only complains.

It does so on the process's error output and goes on with a processor without any features, for
which it may not even be able to make code. So usual names are listed here, and others are tried in
a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache

from tvmlab.support import OptionError, llvm_binding

_USUAL_CPUS = {
    "x86_64": frozenset(
        {
            *("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "nehalem", "sandybridge", "haswell"),
            *("skylake", "skylake-avx512", "icelake-server", "sapphirerapids"),
            *("znver1", "znver2", "znver3", "znver4", "znver5"),
        }
    ),
    "aarch64": frozenset(
        {
            *("cortex-a53", "cortex-a72", "cortex-a76", "neoverse-n1", "neoverse-n2"),
            *("neoverse-v1", "neoverse-v2", "apple-m1", "apple-m2"),
        }
    ),
    "riscv64": frozenset({"generic-rv64"}),
}
_ARM = ("+neon", "+fp-armv8")
_V82 = (*_ARM, "+dotprod", "+fullfp16")
_V86 = (*_V82, "+i8mm", "+bf16")
ARM_FEATURES = {
    "generic": _ARM,
    "cortex-a53": _ARM,
    "cortex-a72": _ARM,
    "cortex-a76": _V82,
    "neoverse-n1": _V82,
    "neoverse-n2": _V86,
    "neoverse-v1": _V86,
    "neoverse-v2": _V86,
    "apple-m1": _V82,
    "apple-m2": _V86,
}
"""What kernels may use of these processors, spelled out so that `Target.has` sees it."""

_USUAL_FEATURES = {
    "aarch64": frozenset({"neon", "fp-armv8", "dotprod", "fullfp16", "i8mm", "bf16"}),
    "armv7": frozenset({"neon"}),
    "wasm32": frozenset({"simd128"}),
    "riscv64": frozenset({"m", "a", "f", "d", "c", "v", "zfh", "zvfh"}),
}


def require_known(triple: str, cpu: str, features: str) -> None:
    """Refuse a machine that LLVM cannot make code for.

    Raises
    ------
    OptionError
        It names the triple, processor or feature that is not known.
    """
    try:
        llvm_binding().Target.from_triple(triple)
    except RuntimeError:
        raise OptionError(
            f"no code can be made for the machine {triple!r}",
            hint="a triple begins with the architecture: x86_64-linux-gnu, aarch64-linux-gnu, "
            "riscv64-linux-gnu, wasm32",
        ) from None
    arch = triple.split("-", 1)[0]
    names = frozenset(f.lstrip("+-") for f in features.split(",") if f)
    usual = cpu == "generic" or cpu in _USUAL_CPUS.get(arch, ())
    if usual and names <= (_host_features(arch) | _USUAL_FEATURES.get(arch, frozenset())):
        return
    for name in _unknown(triple, cpu, ",".join(sorted(f"+{name}" for name in names))):
        close = ", ".join(sorted(_USUAL_CPUS.get(arch, ())))
        if name == cpu:
            raise OptionError(
                f"the processor {cpu!r} is not known for {arch}",
                hint=f"names are those of LLVM{': ' + close if close else ''}",
            )
        raise OptionError(
            f"the feature {name.lstrip('+')!r} is not known for {arch}",
            hint="features are named as LLVM does: +avx2, +dotprod, +v",
        )


def _host_features(arch: str) -> frozenset[str]:
    """All features that LLVM looks for on processors of the host's kind, had or not."""
    llvm = llvm_binding()
    if not str(llvm.get_process_triple()).startswith(arch):
        return frozenset()
    # `prefer-256-bit` is no ability, but says how to use one.
    return frozenset({*llvm.get_host_cpu_features(), "prefer-256-bit"})


@lru_cache(maxsize=64)
def _unknown(triple: str, cpu: str, features: str) -> tuple[str, ...]:
    """The names that LLVM complains of, by its own report in another process."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", _PROBE, triple, cpu, features],
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (line.split("'") for line in done.stderr.splitlines() if "not a recognized" in line)
    found = tuple(dict.fromkeys(parts[1] for parts in lines if len(parts) > 1))
    return found if found or done.returncode == 0 else (cpu,)


_PROBE = """
import sys
from llvmlite import binding
binding.initialize_all_targets()
binding.initialize_all_asmprinters()
triple, cpu, features = sys.argv[1:]
machine = binding.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features)
machine.emit_object(binding.parse_assembly(f'target triple = "{triple}"'))
"""
