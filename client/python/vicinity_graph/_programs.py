"""The programs that a wheel brings, as the commands that pip makes of them."""

from __future__ import annotations

import os
import pathlib
import sys


def path(name: str) -> pathlib.Path:
    """Where a program is: beside the package, or VICINITY_BIN says in which folder."""
    folder = os.environ.get("VICINITY_BIN")
    return (pathlib.Path(folder) if folder else pathlib.Path(__file__).parent / "bin") / name


def _run(name: str) -> None:
    program = path(name)
    if not program.is_file():
        sys.exit(f"{name} is not in {program.parent}: this package came without programs")
    os.execv(program, [name, *sys.argv[1:]])


def vicinity() -> None:
    """The tool."""
    _run("vicinity")


def vicinityd() -> None:
    """The daemon."""
    _run("vicinityd")
