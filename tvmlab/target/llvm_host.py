"""What LLVM says about the host: the one place where `target` asks llvmlite, on first need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache


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
    from llvmlite import binding

    features = binding.get_host_cpu_features()
    return HostCpu(
        triple=binding.get_process_triple(),
        name=binding.get_host_cpu_name() or "generic",
        features=frozenset(name for name, on in features.items() if on),
        llvm_version=".".join(str(part) for part in binding.llvm_version_info),
    )
