"""The entry point: parse, run the subcommand, turn errors into words and an exit code.

Exit codes: 0 done, 1 it failed, 2 the command line is not understood.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import tvmlab.cli.apply_step as apply_step
import tvmlab.cli.bench as bench
import tvmlab.cli.compare_states as compare_states
import tvmlab.cli.compile as compile
import tvmlab.cli.demo as demo
import tvmlab.cli.devices as devices
import tvmlab.cli.inspect_session as inspect_session
import tvmlab.cli.lab as lab
import tvmlab.cli.pretrain as pretrain
import tvmlab.cli.profile as profile
import tvmlab.cli.run as run
import tvmlab.cli.searches as searches
import tvmlab.cli.tune as tune
from tvmlab.support import InternalError, TvmlabError, version

from .parser import Parser, UsageError, close_match

COMMANDS = {
    "lab": lab,
    "demo": demo,
    "compile": compile,
    "run": run,
    "profile": profile,
    "bench": bench,
    "devices": devices,
    "inspect": inspect_session,
    "apply": apply_step,
    "compare": compare_states,
    "tune": tune,
    "searches": searches,
    "pretrain": pretrain,
}
"""Each module has `SUMMARY`, `fill(parser)` and `run(arguments) -> exit code`."""

_EXAMPLES = """\
examples:
  tvmlab lab                     JupyterLab with the notebooks
  tvmlab demo matmul             one kernel, from formula to measured speed-up
  tvmlab compile m.onnx -o m     a model as kernels that run without the compiler
  tvmlab tune m.onnx             faster schedules for `tvmlab compile --tuned`
  tvmlab devices --json          this machine, for a program to read
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code.

    Parameters
    ----------
    argv
        The words after `tvmlab`; by default those of this process.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(words)
    except UsageError as error:
        print(f"tvmlab: {error}", file=sys.stderr)
        return 2
    except InternalError as error:
        print(f"tvmlab: this is a bug in tvmlab: {error}", file=sys.stderr)
        return 1
    except TvmlabError as error:
        print(f"tvmlab: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader, such as `head`, has seen enough; keep Python from complaining at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("tvmlab: stopped", file=sys.stderr)
        return 1


def _run(words: list[str]) -> int:
    parser = _parser()
    if not words:
        parser.print_help()
        return 2
    if not words[0].startswith("-") and words[0] not in COMMANDS:
        raise UsageError(
            f"there is no command {words[0]!r}{close_match(words[0], COMMANDS)}\n"
            f"hint: commands are {', '.join(COMMANDS)}; see tvmlab --help"
        )
    try:
        arguments = parser.parse_args(words)
    except SystemExit:  # argparse ends the process after --help and --version
        return 0
    if arguments.command is None:
        parser.error("no command is given")
    code = COMMANDS[arguments.command].run(arguments)
    sys.stdout.flush()
    return code


def _parser() -> Parser:
    parser = Parser(
        prog="tvmlab",
        description="A tensor-expression compiler whose schedules are live objects.",
        epilog=_EXAMPLES,
    )
    parser.add_argument("--version", action="version", version=f"tvmlab {version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    for name, module in COMMANDS.items():
        child = commands.add_parser(name, help=module.SUMMARY, description=module.DESCRIPTION)
        module.fill(child)
    return parser
