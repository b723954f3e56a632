"""Vector registers of an architecture, as its features have them."""

from __future__ import annotations

from collections.abc import Set as AbstractSet


def vector_registers(arch: str, features: AbstractSet[str]) -> tuple[int, int]:
    """Width in bits and number of the vector registers."""
    if arch in ("x86_64", "amd64", "i686", "i386"):
        if "avx512f" in features:
            return 512, 32
        return (256 if "avx" in features else 128), 16
    if arch in ("aarch64", "arm64"):
        return 128, 32
    if arch.startswith(("arm", "thumb")):
        return (128, 16) if "neon" in features else (0, 0)
    if arch.startswith("riscv"):
        return (128, 32) if "v" in features else (0, 0)
    if arch.startswith("wasm"):
        return (128, 16) if "simd128" in features else (0, 0)
    return 0, 0
