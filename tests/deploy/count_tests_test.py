#!/usr/bin/env python3
"""deploy/count_tests.py on runs and logs written here."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy" / "count_tests.py"


class CountTestsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def add(self, run, label, status, log):
        path = self.folder / f"{run}{label.replace('/', '_')}.log"
        path.write_text(log, encoding="ascii")
        result = {"status": status,
                  "testActionOutput": [{"name": "test.log", "uri": path.as_uri()}]}
        event = {"id": {"testResult": {"label": label}}, "testResult": result}
        with open(self.folder / f"{run}.json", "a", encoding="ascii") as events:
            events.write(json.dumps(event) + "\n")

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, str(SCRIPT), *arguments, str(self.folder)],
                              capture_output=True, text=True, check=False)

    def count(self, *arguments):
        done = self.run_script(*arguments)
        return done.returncode, done.stdout.splitlines()[-1]

    def test_catchs_summaries_are_added_up(self):
        self.add("tests", "//a", "PASSED", "All tests passed (824 assertions in 9 test cases)\n")
        self.add("tests", "//b", "FAILED", "test cases:  4 |  3 passed | 1 failed\n")
        self.assertEqual(self.count(), (1, "12 passed, 1 failed"))

    def test_failures_that_are_expected_are_none(self):
        self.add("tests", "//a", "PASSED", "test cases:  13 |  11 passed | 2 failed as expected\n")
        self.assertEqual(self.count(), (0, "13 passed, 0 failed"))
        self.add("tests", "//b", "FAILED",
                 "test cases:  4 |  1 passed | 2 failed | 1 failed as expected\n")
        self.assertEqual(self.count(), (1, "15 passed, 2 failed"))

    def test_a_case_counts_once_however_often_it_ran(self):
        self.add("tests", "//a", "PASSED", "All tests passed (1 assertion in 1 test case)\n")
        self.add("threads", "//a", "FAILED", "test cases: 1 | 1 failed\n")
        self.assertEqual(self.count(), (1, "0 passed, 1 failed"))

    def test_a_crash_and_a_silent_program_are_one_case(self):
        self.add("tests", "//a", "FAILED", "")
        self.add("tests", "//b", "PASSED", "")
        self.assertEqual(self.count(), (1, "1 passed, 1 failed"))

    def test_what_was_left_out_is_told_with_why(self):
        self.add("tests", "//a", "PASSED",
                 "test_x (__main__.A.test_x) ... ok\n"
                 "test_y (__main__.A.test_y) ... skipped 'no browser'\n"
                 "test_z (__main__.A.test_z)\nWhat it does. ... skipped \"it isn't here\"\n"
                 "test_u (__main__.A.test_u) ... skipped 'no browser'\n4 passed, 0 failed\n")
        self.add("share", "//a", "PASSED", "test_y (__main__.A.test_y) ... skipped 'no browser'\n")
        self.assertEqual([line for line in self.run_script().stdout.splitlines() if "LEFT OUT" in line],
                         ["  LEFT OUT //a: 1 of its cases: it isn't here",
                          "  LEFT OUT //a: 2 of its cases: no browser"])

    def test_a_stage_that_failed_by_itself_is_a_failure(self):
        self.add("tests", "//a", "PASSED", "3 passed, 0 failed\n")
        self.assertEqual(self.count("--failed-stages", "build"), (1, "3 passed, 1 failed"))

    def test_several_runs_of_a_stage_are_one(self):
        self.add("share.a", "//a", "PASSED", "3 passed, 0 failed\n")
        self.add("share.b", "//b", "FAILED", "2 passed, 1 failed\n")
        self.assertEqual(self.count("--failed-stages", "share"), (1, "5 passed, 1 failed"))

    def test_nothing_is_no_success(self):
        self.assertEqual(self.count()[0], 1)


if __name__ == "__main__":
    unittest.main()
