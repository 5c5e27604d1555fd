#!/usr/bin/env python3
"""Tables over what a run has measured, for deploy/quickstart.sh and deploy/bench/.

    tables.py accuracy NAME=REPORT...          one row a trained model
    tables.py traffic NAME=PREFIX[=PLAN]...    rows fetched: foretold and measured

REPORT is a file of `vicinity_train --report`. PREFIX names the reports PREFIX.0.jsonl,
PREFIX.1.jsonl, ... of a group's trainers. PLAN is what `vicinity plan --format json` said of them.
"""

import glob
import json
import sys


def read_report(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def of_kind(report, kind):
    return [line for line in report if line["kind"] == kind]


def print_table(titles, rows):
    """Left-aligned first column, right-aligned others."""
    widths = [max(len(row[i]) for row in [titles] + rows) for i in range(len(titles))]
    for row in [titles] + rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        print("  " + "  ".join(cells).rstrip())


def accuracy_table(arguments):
    rows = []
    for argument in arguments:
        name, path = argument.rsplit("=", 1)
        report = read_report(path)
        result = of_kind(report, "result")[0]
        epochs = of_kind(report, "epoch")
        best = result.get("test_accuracy_at_best")
        rows.append([name, f"{len(epochs)}", f"{result['train_seconds']:.1f}",
                     f"{epochs[-1]['loss']:.3f}",
                     "-" if best is None else f"{100 * best:.1f} %",
                     f"{100 * result['last_test_accuracy']:.1f} %"])
    print_table(["model", "epochs", "training s", "last loss", "test accuracy at best validation",
                 "after the last epoch"], rows)


def traffic_of(prefix):
    """Of a group's last epoch and largest cache."""
    reports = [read_report(path) for path in sorted(glob.glob(glob.escape(prefix) + ".*.jsonl"))]
    epoch = of_kind(reports[0], "epoch")[-1]
    starts = [of_kind(report, "start")[0] for report in reports]
    return {
        "held_rows": max(start["cache_rows"] for start in starts),
        "held_bytes": max(start["cache_bytes"] for start in starts),
        "mapped": epoch["rows_local"] > 0,
        "measured": epoch["rows_remote"] / (epoch["batches"] * len(reports)),
        "bytes": epoch["bytes_remote"],
    }


def foretold(plan_path, held_rows):
    """Rows a batch with a cache of so many; the plan must have that size, for between sizes the
    curve is no straight line."""
    with open(plan_path, encoding="utf-8") as plan:
        sizes = {size["cache_rows"]: size for size in json.load(plan)["by_cache_size"]}
    if held_rows not in sizes:
        sys.exit(f"{plan_path} tells of caches of {sorted(sizes)} rows, not of {held_rows}")
    return sizes[held_rows]["remote_rows_per_batch"]


def traffic_table(arguments):
    groups = [(name, traffic_of(rest[0]), rest[1:])
              for name, *rest in (argument.split("=") for argument in arguments)]
    without = [traffic["measured"] for _, traffic, _ in groups
               if traffic["mapped"] and not traffic["held_rows"]]
    rows = []
    for name, traffic, plan in groups:
        saved = without and without[0] and traffic["held_rows"]
        rows.append([
            name, f"{traffic['held_rows']:,}", f"{traffic['held_bytes'] / 1e6:.1f}",
            f"{foretold(plan[0], traffic['held_rows']):,.0f}" if plan else "",
            f"{traffic['measured']:,.0f}", f"{traffic['bytes'] / 1e6:,.1f}",
            f"{100 * (1 - traffic['measured'] / without[0]):.0f} %" if saved else ""])
    print_table(["where rows come from", "rows kept", "MB kept", "foretold a batch",
                 "fetched a batch", "MB an epoch", "saved"], rows)


COMMANDS = {"accuracy": accuracy_table, "traffic": traffic_table}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](sys.argv[2:])
