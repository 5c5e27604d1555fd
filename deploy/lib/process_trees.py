"""What processes and their children have used: for benchmarks in Python."""

import os
import pathlib
import re

_TICKS = os.sysconf("SC_CLK_TCK")


def children(pid):
    """Processes that a process's threads have started and that are there; none once it is gone."""
    found = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(each) for each in path.read_text(encoding="ascii").split()]
        except OSError:
            pass
    return found


def tree(pids):
    """Processes with their children, and theirs."""
    found = list(pids)
    for pid in found:  # grows while it is gone through
        found += children(pid)
    return found


def cpu_seconds(pids):
    """That processes have used so far, in all their threads, with children that have ended."""
    ticks = 0
    for pid in pids:
        # The name, in parentheses, may hold blanks; user and system time are fields 14 to 17.
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
        ticks += sum(int(each) for each in fields.split()[11:15])
    return ticks / _TICKS


def resident_bytes(pids):
    """What processes have in memory, mapped files included; a page that several of them share counts
    as one page, if nobody else has it."""
    total = 0
    for pid in pids:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        total += int(re.search(r"^Pss: +(\d+) kB$", text, re.MULTILINE).group(1)) << 10
    return total
