"""What LLVM says about the host: asked on first need, once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from tvmlab.support import llvm_binding, llvm_version


@dataclass(frozen=True, slots=True)
class HostCpu:
    """The host as LLVM sees it. `name` is a guess on virtual machines; `features` is measured."""

    triple: str
    name: str
    features: frozenset[str]
    llvm_version: str

    @property
    def feature_string(self) -> str:
        """For LLVM: the detected features, and 512-bit vectors allowed where they exist."""
        parts = [f"+{name}" for name in sorted(self.features)]
        if "avx512f" in self.features:
            # Most CPU names carry "prefer-256-bit", which would keep LLVM off the zmm registers.
            parts.append("-prefer-256-bit")
        return ",".join(parts)


@lru_cache(maxsize=1)
def host_cpu() -> HostCpu:
    """Detect the host once."""
    llvm = llvm_binding()
    features: dict[str, bool] = dict(llvm.get_host_cpu_features())
    return HostCpu(
        triple=str(llvm.get_process_triple()),
        name=str(llvm.get_host_cpu_name()) or "generic",
        features=frozenset(name for name, on in features.items() if on),
        llvm_version=llvm_version(),
    )
