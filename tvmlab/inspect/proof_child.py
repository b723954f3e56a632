"""The process that a proof runs in: an endless or a huge run then costs the notebook nothing.

A request as JSON on its input: the unscheduled program and the steps as texts, the machine as plain
data; the report, or an error, on its output.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from tvmlab.ir import parse
from tvmlab.schedule import Schedule
from tvmlab.support import TvmlabError
from tvmlab.tune.measure.request import target_from_json

from .proof import proof_report


def main() -> int:
    """Answer one request; an error is an answer, too."""
    request = json.load(sys.stdin)
    try:
        start = parse(request["program"])
        steps = Schedule.replay(start, request["trace"]).trace.steps
        result = asdict(proof_report(start, steps, target_from_json(request["target"])))
    except TvmlabError as error:
        result = {"error": f"{error.message}. {error.hint or ''}".strip()}
    json.dump(result, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
