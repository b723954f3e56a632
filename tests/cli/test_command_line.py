"""The command line: what it prints, its exit codes, and what it says to mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tvmlab import __version__
from tvmlab.cli import app as application
from tvmlab.cli import main
from tvmlab.support import InternalError, UserError
from tvmlab.target import devices

ROOT = Path(__file__).resolve().parents[2]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """The command as another process, as a shell would start it."""
    return subprocess.run(
        [sys.executable, "-m", "tvmlab.cli", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"tvmlab {__version__}\n"


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"\n    {name} " in text for name in application.COMMANDS)


@pytest.mark.parametrize("command", application.COMMANDS)
def test_each_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"usage: tvmlab {command}" in capsys.readouterr().out


def test_no_command_shows_help_and_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: tvmlab" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["demmo"], "there is no command 'demmo'; did you mean 'demo'?"),
        (["xyzzy"], "there is no command 'xyzzy'\nhint: commands are lab, demo,"),
        (["demo"], "the following arguments are required: workload"),
        (["demo", "conv"], "invalid choice: 'conv'"),
        (["demo", "matmul", "--size", "1"], "'1' is not a whole number from 2 to 2048"),
        (["demo", "matmul", "--size", "big"], "'big' is not a whole number from 2 to 2048"),
        (["lab", "--port", "0"], "'0' is not a whole number from 1 to 65535"),
        (["devices", "--jason"], "unrecognized arguments: --jason"),
        (["--"], "hint: see tvmlab --help"),
        (["--verison"], "unrecognized arguments: --verison"),
    ],
)
def test_mistakes_are_explained(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("tvmlab: ")
    assert expected in captured.err
    assert "hint: " in captured.err


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (UserError("cannot do it", hint="do that"), "tvmlab: cannot do it\nhint: do that\n"),
        (InternalError("pass x"), "tvmlab: this is a bug in tvmlab: pass x\n"),
        (KeyboardInterrupt(), "tvmlab: stopped\n"),
    ],
)
def test_errors_come_without_traceback(
    error: BaseException,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_: object) -> int:
        raise error

    monkeypatch.setattr(application.COMMANDS["devices"], "run", fail)
    assert main(["devices"]) == 1
    assert capsys.readouterr().err == expected


def test_devices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices"]) == 0
    text = capsys.readouterr().out
    cpu = devices()[0]
    for what in ("cores", "threads used", "vectors", "has", "lacks", "caches", "LLVM", "clock"):
        assert f"\n  {what} " in text
    for name, present in cpu["features"].items():
        line = next(
            line for line in text.splitlines() if line.split()[0] == ("has" if present else "lacks")
        )
        assert name in line.replace(",", " ").split()


def test_devices_as_json_is_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(devices()))


def test_as_a_process() -> None:
    good, bad = run("devices"), run("deviecs")
    assert (good.returncode, good.stderr) == (0, "")
    assert "\x1b" not in good.stdout  # no color codes where nobody sees them
    assert (bad.returncode, bad.stdout) == (2, "")
    assert "did you mean 'devices'?" in bad.stderr


def test_a_reader_that_stops_early_is_no_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "tvmlab.cli", "demo", "matmul", "--size", "8"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 1
