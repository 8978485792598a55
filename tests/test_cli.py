"""The command line: exit codes, and where its output goes."""

from __future__ import annotations

import subprocess
import sys

import pytest

import planar
from planar import cli
from planar.errors import ModelError


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"planar {planar.__version__}\n"


def test_help_lists_every_command_and_an_example(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    for command in cli.COMMANDS:
        assert command.help in out
        assert command.examples[0] in out


@pytest.mark.parametrize("command", cli.COMMANDS, ids=lambda command: command.name)
def test_every_command_has_help_with_its_examples(command, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([command.name, "--help"])
    assert stop.value.code == 0
    out = capsys.readouterr().out
    assert f"usage: planar {command.name}" in out
    for example in command.examples:
        assert f"  {example}\n" in out


def test_no_command_prints_help_and_is_an_error(capsys):
    assert cli.main([]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("usage: planar")


@pytest.mark.parametrize("argv", [["nonsense"], ["doctor", "--nonsense"]])
def test_wrong_command_line_is_exit_code_2(argv, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(argv)
    assert stop.value.code == 2
    assert "nonsense" in capsys.readouterr().err


def test_planar_errors_become_a_message_and_exit_code_1(monkeypatch, capsys):
    def fail(args):
        raise ModelError("joint 'C' is on one body only")

    monkeypatch.setattr(cli, "COMMANDS", (cli.Command("fail", help="fail", run=fail),))
    assert cli.main(["fail"]) == 1
    assert capsys.readouterr().err == "planar: ModelError: model: joint 'C' is on one body only\n"


def test_python_dash_m_passes_the_exit_code_on():
    run = subprocess.run([sys.executable, "-m", "planar", "nonsense"], capture_output=True, text=True)
    assert run.returncode == 2
    assert "usage: planar" in run.stderr
