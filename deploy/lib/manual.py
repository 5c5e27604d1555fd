#!/usr/bin/env python3
"""Writes manual pages and shell completions, from what the programs' own help says.

    deploy/lib/manual.py --tool BIN/vicinity --daemon BIN/vicinityd --version 0.1.0 --output DIR

DIR/man1 and DIR/man8 get the pages vicinity(1), vicinity-COMMAND(1) and vicinityd(8); DIR/completions
gets bash/vicinity, zsh/_vicinity and fish/vicinity.fish.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import help_text  # pylint: disable=wrong-import-position

FIRST_LINES = {"Options": "OPTIONS", "Positionals": "ARGUMENTS", "Subcommands": "SUBCOMMANDS",
               "Commands": "COMMANDS"}


# --- Manual pages. -------------------------------------------------------------------------------

def quoted(text):
    """For roff: a backslash, a minus and a point or an apostrophe at the beginning mean themselves."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def entries(section):
    lines = [f".SH {FIRST_LINES.get(section.title, section.title.upper())}"]
    for entry in section.entries:
        lines += [".TP", f"\\fB{quoted(entry.form)}\\fR", quoted(entry.text or "\\&")]
    return lines


def example(lines):
    if not lines:
        return []
    return [".SH EXAMPLE", ".nf", *map(quoted, lines), ".fi"]


def page(shown, section, version, subcommands, see_also):
    title = shown.name.replace(" ", "-")
    lines = [f'.TH {title.upper()} {section} "" "Vicinity {version}" "Vicinity"', ".SH NAME",
             f"{quoted(title)} \\- {quoted(shown.summary)}", ".SH SYNOPSIS", ".nf",
             *(quoted(line) for line in shown.usage), ".fi", *example(shown.example)]
    for part in shown.sections:
        lines += entries(part)
    for sub in subcommands:
        lines += [f".SH {quoted(sub.name.upper())}", quoted(sub.summary), ".PP", ".nf",
                  *(quoted(line) for line in sub.usage), ".fi"]
        for part in sub.sections:
            lines += [f".SS {part.title}", *entries(part)[1:]]
    if section == 1:
        lines += [".SH EXIT STATUS", *exit_codes()]
    others = [f".BR {quoted(name)} ({number})" for name, number in see_also]
    lines += [".SH SEE ALSO", *(other + "," for other in others[:-1]), others[-1]]
    return "\n".join(lines) + "\n"


def exit_codes():
    """As docs/cli.md has them."""
    table = pathlib.Path(__file__).resolve().parents[2].joinpath("docs/cli.md").read_text("utf-8")
    lines = []
    for row in table.partition("| exit code | meaning |")[2].splitlines()[2:]:
        if not row.startswith("| "):
            break
        code, meaning = (cell.strip() for cell in row.strip("|").split("|"))
        lines += [".TP", f"\\fB{code}\\fR", quoted(meaning.replace("`", ""))]
    return lines


def write_pages(tool, daemon, version, output):
    overview, *others = tool
    commands = [one for one in others if one.name.count(" ") == 1]
    for folder in ("man1", "man8"):
        (output / folder).mkdir(parents=True, exist_ok=True)

    def write(name, section, text):
        (output / f"man{section}" / f"{name}.{section}").write_text(text, "utf-8")
    names = [command.name.replace(" ", "-") for command in commands]
    write("vicinity", 1, page(overview, 1, version, [], [(name, 1) for name in names] + [("vicinityd", 8)]))
    for command, name in zip(commands, names):
        below = [one for one in others if one.name.startswith(command.name + " ")]
        write(name, 1, page(command, 1, version, below, [("vicinity", 1), ("vicinityd", 8)]))
    write("vicinityd", 8, page(daemon, 8, version, [], [("vicinity", 1), ("systemd.unit", 5)]))


# --- Completions. --------------------------------------------------------------------------------

def write_completions(program, output):
    for shell, name in (("bash", "vicinity"), ("zsh", "_vicinity"), ("fish", "vicinity.fish")):
        where = output / "completions" / shell / name
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(help_text.said(program, "completion", shell), "utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("tool", "daemon", "version", "output"):
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args()
    tool = help_text.of_tool(given.tool)
    output = pathlib.Path(given.output)
    write_pages(tool, help_text.of_daemon(given.daemon), given.version, output)
    write_completions(given.tool, output)


if __name__ == "__main__":
    main()
