"""Golden files: a text is compared with the one kept beside the tests.

Run pytest with `TVMLAB_UPDATE_GOLDEN=1` to write them anew, and review the difference.
"""

from __future__ import annotations

import os
from pathlib import Path


def check_golden(file: Path, text: str) -> None:
    """Compare a text with a golden file, or write the file if asked to."""
    text = text.rstrip("\n") + "\n"
    if os.environ.get("TVMLAB_UPDATE_GOLDEN"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert file.exists(), f"{file.name} is missing; run with TVMLAB_UPDATE_GOLDEN=1"
    assert text == file.read_text()
