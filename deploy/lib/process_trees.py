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


def _read(pid, name):
    """A file of a process's; empty once it is gone, as a loader's worker may be at any time."""
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_text(encoding="utf-8")
    except OSError:
        return ""


def cpu_seconds(pids):
    """That processes have used so far, in all their threads, with children that have ended. Of one
    that is gone its parent knows."""
    ticks = 0
    for pid in pids:
        # The name, in parentheses, may hold blanks; user and system time are fields 14 to 17.
        fields = _read(pid, "stat").rpartition(")")[2]
        ticks += sum(int(each) for each in fields.split()[11:15])
    return ticks / _TICKS


def resident_bytes(pids):
    """What processes have in memory, mapped files included; a page that several of them share counts
    as one page, if nobody else has it. One that is gone has nothing."""
    total = 0
    for pid in pids:
        found = re.search(r"^Pss: +(\d+) kB$", _read(pid, "smaps_rollup"), re.MULTILINE)
        total += int(found.group(1)) << 10 if found else 0
    return total
