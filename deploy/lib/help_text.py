"""What `vicinity help` and `vicinityd --help` say, read into parts: manual pages and completions are
made of it, so that they tell what the programs were built with."""

import dataclasses
import re
import subprocess
from typing import List

# An option, positional or subcommand: its form, then what it does, behind two blanks or on the next line.
ENTRY = re.compile(r"^  (\S.*?)(?:  +(\S.*))?$")
CONTINUED = re.compile(r"^ {20,}(\S.*)$")


@dataclasses.dataclass
class Entry:
    form: str  # "--format FORMAT=table", "admin"
    text: str

    @property
    def flags(self) -> List[str]:
        """["-h", "--help"]; of a positional or a subcommand none."""
        return [one for one in self.form.split()[0].split(",") if one.startswith("-")]

    @property
    def takes_value(self) -> bool:
        return len(self.form.split()) > 1


@dataclasses.dataclass
class Section:
    title: str  # "Options"
    entries: List[Entry]


@dataclasses.dataclass
class Help:
    name: str  # "vicinity admin drain"
    summary: str
    example: List[str]
    usage: List[str]
    sections: List[Section]

    def of(self, title: str) -> List[Entry]:
        return [entry for section in self.sections if section.title == title for entry in section.entries]


def parse(name: str, text: str) -> Help:
    """The help of one program, command or subcommand."""
    lines = text.splitlines()
    summary = lines[0].partition(": ")[2] or lines[0]
    parsed = Help(name, summary, [], [], [])
    where = None
    for before, line in zip([""] + lines, lines):
        if line == "Example:":
            where = parsed.example
        elif line.startswith("Usage: "):
            # A subcommand says here what it does.
            if before and not before.startswith(" "):
                parsed.summary = before
            parsed.usage = [line[len("Usage: "):]]
            where = parsed.usage
        elif re.match(r"^[A-Z][a-z]+:$", line):
            where = Section(line[:-1], [])
            parsed.sections.append(where)
        elif isinstance(where, Section) and line:
            add_to(where, line)
        elif isinstance(where, list) and line.startswith("  "):
            where.append(line.strip() if where is parsed.usage else line[2:])
    return parsed


def add_to(section: Section, line: str) -> None:
    continued, entry = CONTINUED.match(line), ENTRY.match(line)
    if continued and section.entries:
        last = section.entries[-1]
        last.text = f"{last.text} {continued[1]}".strip()
    elif entry:
        section.entries.append(Entry(entry[1], entry[2] or ""))
    else:
        raise ValueError(f"{section.title}: {line!r} is nothing that a help has")


def said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def of_tool(program: str) -> List[Help]:
    """Of `vicinity`: the overview, each command, and behind each its subcommands."""
    overview = parse("vicinity", said(program, "help"))
    pages = [overview]
    for command in overview.of("Commands"):
        page = parse(f"vicinity {command.form}", said(program, "help", command.form))
        pages.append(page)
        for sub in page.of("Subcommands"):
            pages.append(parse(f"{page.name} {sub.form}", said(program, command.form, sub.form, "--help")))
    return pages


def of_daemon(program: str) -> Help:
    """Of `vicinityd`, whose examples stand below its first line."""
    first, *rest = said(program, "--help").splitlines()
    name, summary = first.split(" ", 1)
    return parse(name, "\n".join([f"{name}: {summary.rstrip('.')}", "Example:", *rest]))
