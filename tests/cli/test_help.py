"""Help: every command in a group, with examples that work, suggestions and shell completion."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from duels.cli.completion import bash, fish
from duels.cli.help import EXAMPLES, GROUPS
from duels.cli.main import COMMANDS, HELP, _parser
from duels.games import catalogue
from tests.terminal_helpers import run

NAMES = [name for name in COMMANDS if name]


def test_every_command_is_in_one_group_and_has_examples(tmp_path: Path) -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted([*NAMES, HELP])
    assert {name for name in EXAMPLES if " " not in name} == {*grouped, ""}
    shown = run(tmp_path, "--help").out
    for group, names in GROUPS.items():
        assert f"\n{group}:\n" in shown
        for name in names:
            assert f"\n  {name} " in shown
    assert run(tmp_path, HELP).out == shown
    assert max(map(len, shown.splitlines())) <= 100


@pytest.mark.cases(12)
@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_has_a_summary_and_examples(name: str, tmp_path: Path) -> None:
    shown = run(tmp_path, f"help {name}")
    assert shown.code == 0
    assert shown.out == run(tmp_path, f"{name} --help").out
    assert "\nExamples:\n" in shown.out
    assert "usually" not in shown.out


def test_help_of_an_action_of_admin_has_examples(tmp_path: Path) -> None:
    listed = run(tmp_path, "admin --help").out.partition("ACTION\n")[2].partition("\n\n")[0]
    actions = [line.split()[0] for line in listed.splitlines() if line.startswith("    ")]
    assert len(actions) == 10
    for name in actions:
        shown = run(tmp_path, f"admin {name} --help").out
        assert f" admin {name}" in shown.partition("\nExamples:\n")[2]


def test_help_of_serve_states_the_defaults_of_the_server(tmp_path: Path) -> None:
    from duels.server.settings import DAY, Limits, Retention, Settings

    shown = " ".join(run(tmp_path, "serve --help").out.split())
    for option, default in (
        ("--max-per-address N", Limits().connections_per_address),
        ("--max-matches N", Limits().rooms),
        ("--claim-after SECONDS", Settings().claim_after),
        ("--computer-delay SECONDS", Settings().computer_delay),
        ("--max-undos N", Settings().undos),
    ):
        about = shown.rpartition(option)[2].partition(" --")[0]
        assert f"(default: {default:g})" in about
    times = asdict(Retention()).items()
    kept = [f"{kind}={'forever' if t is None else f'{t / DAY:g}'}" for kind, t in times]
    for text in (shown, " ".join(run(tmp_path, "admin prune --help").out.split())):
        assert f"(default: {', '.join(kept)})" in text


@pytest.mark.parametrize("example", [line for lines in EXAMPLES.values() for line in lines])
def test_examples_are_valid_command_lines(example: str) -> None:
    words = shlex.split(example.format(*catalogue()))
    if words[0] in COMMANDS:
        _parser(words[0]).parse_args(words)
    else:
        assert words[0] == HELP or "PROGRAM completion" in example


@pytest.mark.parametrize(
    ("typed", "meant"), [("analyze", "analyse"), ("paly", "play"), ("tournament", "arena")]
)
def test_unknown_commands_get_a_suggestion(typed: str, meant: str, tmp_path: Path) -> None:
    done = run(tmp_path, typed)
    assert done.code == 2
    assert f"there is no command '{typed}'; did you mean {meant}?" in done.err


def test_help_has_help_too(tmp_path: Path) -> None:
    shown = run(tmp_path, f"{HELP} {HELP}")
    assert shown.code == 0
    assert "\nExamples:\n" in shown.out


def test_an_empty_command_is_refused() -> None:
    done = subprocess.run([sys.executable, "-m", "duels", ""], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no command ''." in done.stderr


def test_a_command_like_no_other_gets_none(tmp_path: Path) -> None:
    done = run(tmp_path, "xyzzy")
    assert (done.code, done.out) == (2, "")
    assert "there is no command 'xyzzy'. All commands: " in done.err


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (["duels", "an"], ["analyse"]),
        (["duels", "play", "fire"], ["firewall-breach"]),
        (["duels", "play", "--p"], ["--p1", "--p2", "--plain"]),
        (["duels", "exploit", "number-clash", "gre"], ["greedy"]),
    ],
)
def test_bash_completes(line: list[str], expected: list[str]) -> None:
    words = " ".join(map(shlex.quote, line))
    asked = f"COMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; _duels; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(
        ["bash", "-c", f"{bash()}\n{asked}"], capture_output=True, text=True, check=True
    )
    assert sorted(done.stdout.split()) == expected


@pytest.mark.parametrize(("shell", "script"), [("zsh", bash(zsh=True)), ("fish", fish())])
def test_other_shells_accept_their_script(shell: str, script: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([shell, "-c", script], check=True)
