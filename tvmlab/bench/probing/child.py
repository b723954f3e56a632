"""The process that a probe runs in: a request as JSON on its input, the result on its output."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from tvmlab.support import TvmlabError

from .probe import ProbeRequest, probe


def main() -> int:
    """Answer one request; an error is an answer, too."""
    try:
        result = asdict(probe(ProbeRequest(**json.load(sys.stdin))))
    except TvmlabError as error:
        result = {"error": error.message}
    json.dump(result, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
