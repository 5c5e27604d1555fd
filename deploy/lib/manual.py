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

def long_flags(shown):
    return [entry for section in shown.sections for entry in section.entries
            if entry.flags and entry.flags[-1].startswith("--")]


def in_single_quotes(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh(tool):
    """A function for `#compdef`: commands, then a command's subcommands and flags, else files."""
    overview, *others = tool
    described = [in_single_quotes(f"{one.form}:{one.text}") for one in overview.of("Commands")]
    lines = ["#compdef vicinity", "_vicinity() {", "  local -a commands flags", f"  commands=({' '.join(described)})",
             "  if ((CURRENT == 2)); then", "    _describe command commands", "    return", "  fi",
             '  case "${words[2]} ${words[3]}" in']
    # Subcommands come first: the first line that fits counts.
    for shown in sorted(others, key=lambda one: -one.name.count(" ")):
        words = shown.name.partition(" ")[2]
        flags = [in_single_quotes(f"{entry.flags[-1]}:{entry.text}") for entry in long_flags(shown)]
        subs = [in_single_quotes(f"{entry.form}:{entry.text}") for entry in shown.of("Subcommands")]
        pattern = f"'{words}'" if " " in words else f"'{words} '*"
        lines.append(f"    {pattern}) flags=({' '.join(subs + flags)}) ;;")
    lines += ["  esac", "  _describe option flags", "  _files", "}", '_vicinity "$@"']
    return "\n".join(lines) + "\n"


def fish(tool):
    overview, *others = tool
    lines = [f"complete -c vicinity -n __fish_use_subcommand -f -a {one.form} -d {in_fish_quotes(one.text)}"
             for one in overview.of("Commands")]
    for shown in others:
        _, command, *sub = shown.name.split(" ")
        seen = f"__fish_seen_subcommand_from {command}"
        if sub:
            seen += f"; and __fish_seen_subcommand_from {sub[0]}"
        for entry in shown.of("Subcommands"):
            lines.append(f"complete -c vicinity -n {in_fish_quotes(seen)} -a {entry.form} "
                         f"-d {in_fish_quotes(entry.text)}")
        for entry in long_flags(shown):
            value = " -r" if entry.takes_value else ""
            lines.append(f"complete -c vicinity -n {in_fish_quotes(seen)} -l {entry.flags[-1][2:]}{value} "
                         f"-d {in_fish_quotes(entry.text)}")
    return "\n".join(lines) + "\n"


def in_fish_quotes(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def write_completions(tool, program, output):
    for path, text in (("bash/vicinity", help_text.said(program, "completion", "bash")),
                       ("zsh/_vicinity", zsh(tool)), ("fish/vicinity.fish", fish(tool))):
        where = output / "completions" / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_text(text, "utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("tool", "daemon", "version", "output"):
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args()
    tool = help_text.of_tool(given.tool)
    output = pathlib.Path(given.output)
    write_pages(tool, help_text.of_daemon(given.daemon), given.version, output)
    write_completions(tool, given.tool, output)


if __name__ == "__main__":
    main()
