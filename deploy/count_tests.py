#!/usr/bin/env python3
"""Counts the test cases of several `bazel test` runs, each case once.

Usage: count_tests.py [--failed-stages "a b"] FOLDER

FOLDER holds a Bazel build event file (JSON lines) for each run, named STAGE.json or, where a stage
has several, STAGE.ANYTHING.json. A test program says itself how many cases it ran: Catch2's summary,
or a line `N passed, N failed`; one that says nothing is one case. The same program in several stages
counts as often as in the one with most cases, and as failed as in the one with most failures. A
failed stage without a failed case (format, build) is one failure.

Prints a line for each stage, for each failed program and for each reason for which a program has left
out cases (Python's unittest says those with `-v` or verbosity=2), then `N passed, N failed`. Exit
status 1 if anything failed, or if nothing ran.
"""

import argparse
import collections
import json
import pathlib
import re
import sys
import urllib.parse

Count = collections.namedtuple("Count", ["cases", "failed"])

CATCH_ALL_PASSED = re.compile(r"^All tests passed \(.* in (\d+) test cases?\)$", re.MULTILINE)
CATCH_SOME_FAILED = re.compile(r"^test cases: +(\d+) \|(.*)$", re.MULTILINE)
SKIPPED = re.compile(r"""\.\.\. skipped (['"])(.*)\1$""", re.MULTILINE)
PLAIN = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)


def count_in_log(log):
    """What a test program says about itself: the sum of its summaries, or None."""
    log = re.sub(r"\x1b\[[0-9;]*m", "", log)
    counts = [Count(int(cases), 0) for cases in CATCH_ALL_PASSED.findall(log)]
    for cases, rest in CATCH_SOME_FAILED.findall(log):
        failed = re.search(r"(\d+) failed(?! as expected)", rest)
        counts.append(Count(int(cases), int(failed.group(1)) if failed else 0))
    for passed, failed in PLAIN.findall(log):
        counts.append(Count(int(passed) + int(failed), int(failed)))
    if not counts:
        return None
    return Count(sum(c.cases for c in counts), sum(c.failed for c in counts))


def reasons_in_log(log):
    """Why a program has left out cases, and how many for each reason."""
    return collections.Counter(reason for _, reason in SKIPPED.findall(log))


def count_program(status, log):
    """The count of one program, given what Bazel says (status) and what it says itself (log)."""
    said = count_in_log(log) or Count(1, 0)
    if status in ("PASSED", "FLAKY"):
        return said
    # A crash or a timeout is a failure, whatever the program had said before.
    failed = max(said.failed, 1)
    return Count(max(said.cases, failed), failed)


def read_log(result):
    for output in result.get("testActionOutput", []):
        if output.get("name") == "test.log":
            path = urllib.parse.unquote(urllib.parse.urlparse(output.get("uri", "")).path)
            try:
                return pathlib.Path(path).read_text(errors="replace")
            except OSError:
                return ""
    return ""


def count_run(events, left_out):
    """Target label -> Count, for the events of one `bazel test`. `left_out` gets, for each label, the
    reasons for which cases were."""
    wanted = set()
    attempts = {}
    for event in events:
        identity = event["id"]
        if "targetConfigured" in identity and "testSize" in event.get("configured", {}):
            wanted.add(identity["targetConfigured"]["label"])
        elif "testResult" in identity and "testResult" in event:
            which = identity["testResult"]
            result = event["testResult"]
            # A later attempt of the same run and shard replaces the earlier one.
            log = read_log(result)
            left_out[which["label"]] |= reasons_in_log(log)
            attempts[which["label"], which.get("run", 1), which.get("shard", 1)] = count_program(
                result.get("status", "NO_STATUS"), log)
    shards = collections.defaultdict(dict)
    for (label, run, shard), count in attempts.items():
        shards[label][run, shard] = count
    run_counts = {}
    for label in wanted | set(shards):
        counts = shards[label].values()
        # No result: the program did not build, or Bazel stopped before its turn.
        run_counts[label] = Count(
            sum(c.cases for c in counts), sum(c.failed for c in counts)) if counts else Count(1, 1)
    return run_counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--failed-stages", default="")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()

    stages = collections.defaultdict(dict)
    left_out = collections.defaultdict(collections.Counter)
    for path in sorted(arguments.folder.glob("*.json")):
        lines = path.read_text(errors="replace").splitlines()
        stages[path.name.split(".")[0]].update(
            count_run([json.loads(line) for line in lines if line.startswith("{")], left_out))

    total = collections.defaultdict(lambda: Count(0, 0))
    runs_with_failures = set()
    for stage, counts in sorted(stages.items()):
        cases = sum(count.cases for count in counts.values())
        failed = sum(count.failed for count in counts.values())
        print(f"run {stage}: {len(counts)} programs, {cases - failed} cases passed, "
              f"{failed} failed")
        for label, count in sorted(counts.items()):
            if count.failed:
                print(f"  FAILED {label}: {count.failed} of {count.cases}")
                runs_with_failures.add(stage)
            total[label] = Count(
                max(total[label].cases, count.cases), max(total[label].failed, count.failed))

    for label, reasons in sorted(left_out.items()):
        for reason, count in sorted(reasons.items()):
            print(f"  LEFT OUT {label}: {count} of its cases: {reason}")

    cases = sum(count.cases for count in total.values())
    failed = sum(count.failed for count in total.values())
    unexplained = set(arguments.failed_stages.split()) - runs_with_failures
    cases += len(unexplained)
    failed += len(unexplained)
    if not cases:
        print("nothing ran")
    print(f"{cases - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
