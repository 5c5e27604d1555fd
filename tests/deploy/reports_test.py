#!/usr/bin/env python3
"""deploy/lib/tables.py, accuracy_summary.py, dataset_facts.py and cluster_report.py on reports
written here."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
LIB = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy" / "lib"


def run(script, *arguments, text=None):
    return subprocess.run([sys.executable, str(LIB / script), *map(str, arguments)], input=text,
                          capture_output=True, text=True, check=True).stdout


sys.dont_write_bytecode = True  # beside the sources
sys.path.insert(0, str(LIB))
import cluster_report  # pylint: disable=wrong-import-position


def trained(wait=0.0, first_wait=0.0, wire_bytes=0, core_seconds=0.0):
    """What a trainer of the cluster benchmark says of 10 steps in 10 seconds, of an epoch's 40."""
    return {"steps": 10, "steps_per_epoch": 40, "seconds": 10.0, "wait_seconds": wait,
            "first_wait_seconds": first_wait, "rows_remote": 700, "busy_seconds": {"fetch": 4.0, "train": 9.0},
            "wire_bytes": wire_bytes, "core_seconds": core_seconds}


def report(accuracy=0.5, cached=0, remote=0, local=10):
    start = {"kind": "start", "cache_rows": cached, "cache_bytes": 4 * cached}
    epoch = {"kind": "epoch", "batches": 5, "rows_remote": remote, "bytes_remote": 4 * remote,
             "rows_local": local, "loss": 1.0}
    result = {"kind": "result", "train_seconds": 2.0, "test_accuracy_at_best": accuracy,
              "last_test_accuracy": accuracy}
    return "".join(json.dumps(line) + "\n" for line in (start, epoch, result))


class ReportsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="ascii")

    def test_rows_a_batch_are_those_of_all_trainers_by_all_batches(self):
        for trainer in (0, 1):
            self.write(f"none.{trainer}.jsonl", report(remote=400))
            self.write(f"some.{trainer}.jsonl", report(remote=100, cached=7))
            self.write(f"all.{trainer}.jsonl", report(remote=900, local=0))
        lines = run("tables.py", "traffic", f"servers={self.folder}/all",
                    f"mapped={self.folder}/none", f"kept={self.folder}/some").splitlines()
        self.assertEqual(lines[1].split()[:4], ["servers", "0", "0.0", "90"])
        self.assertEqual(lines[2].split()[:4], ["mapped", "0", "0.0", "40"])
        self.assertEqual(lines[3].split()[:4], ["kept", "7", "0.0", "10"])
        self.assertTrue(lines[3].endswith("75 %"))
        self.assertFalse(lines[1].endswith("%"))

    def test_what_was_foretold_stands_beside_it(self):
        sizes = [(0, 50), (4, 30), (10, 6), (20, 0)]
        self.write("plan.json", json.dumps({"by_cache_size": [
            {"cache_rows": rows, "remote_rows_per_batch": fetched} for rows, fetched in sizes]}))
        for name, cached, expected in (("a", 0, "50"), ("b", 10, "6"), ("c", 20, "0")):
            self.write(f"{name}.0.jsonl", report(remote=100, cached=cached))
            table = run("tables.py", "traffic",
                        f"{name}={self.folder}/{name}={self.folder}/plan.json")
            self.assertEqual(table.splitlines()[1].split()[3], expected)
        # A size that was not counted is an error, for a straight line between two was five times
        # what loaders fetched.
        self.write("d.0.jsonl", report(remote=100, cached=15))
        with self.assertRaises(subprocess.CalledProcessError) as wrong:
            run("tables.py", "traffic", f"d={self.folder}/d={self.folder}/plan.json")
        self.assertIn("not of 15", wrong.exception.stderr)

    def test_the_accuracy_table_has_a_row_a_model(self):
        self.write("a.jsonl", report(accuracy=0.751))
        table = run("tables.py", "accuracy", f"a model={self.folder}/a.jsonl")
        self.assertIn("75.1 %", table.splitlines()[1])

    def summary(self, service, single):
        for model, values in (("service", service), ("single", single), ("linear", [0.4])):
            for seed, value in enumerate(values, 1):
                self.write(f"{model}.{seed}.jsonl", report(accuracy=value))
        lines = [json.loads(line) for line in
                 run("accuracy_summary.py", "--format", "json", self.folder).splitlines()]
        return {(line["case"], line["metric"]): line["value"] for line in lines}

    def test_runs_that_differ_by_noise_agree(self):
        found = self.summary([0.70, 0.75, 0.72], [0.71, 0.73, 0.72])
        self.assertEqual(found["service against one process", "agree (1: yes)"], 1)
        self.assertAlmostEqual(found["trainers through the service", "test accuracy"], 0.7233333,
                               places=6)

    def test_runs_that_differ_by_more_than_half_a_point_and_the_noise_do_not(self):
        found = self.summary([0.700, 0.701, 0.702], [0.710, 0.711, 0.712])
        self.assertEqual(found["service against one process", "agree (1: yes)"], 0)
        self.assertAlmostEqual(
            found["service against one process", "difference of test accuracy"], -0.01)

    def facts(self, *node_types):
        return run("dataset_facts.py", text=json.dumps({"node_types": list(node_types)})).split()

    def test_what_a_dataset_lacks_tells_how_far_the_quick_start_goes(self):
        feature, label, split = {"name": "x"}, {"name": "y"}, {"name": "s"}
        labelled = {"label_column": "y", "split_column": "s", "num_nodes": 9, "ids": "dense",
                    "columns": [feature, label, split]}
        self.assertEqual(self.facts(labelled), ["train", "9", "0"])
        bare = {"num_nodes": 5, "ids": "string", "columns": [feature]}
        self.assertEqual(self.facts(bare), ["fetch", "5", "-"])
        self.assertEqual(self.facts(bare, labelled), ["train", "14", "-"])
        self.assertEqual(self.facts(dict(bare, target_column="x")), ["sample", "0", "-"])
        self.assertEqual(self.facts(dict(bare, columns=[])), ["sample", "0", "-"])

    def test_a_cluster_case_says_what_it_waited_for(self):
        of_link = [trained(wire_bytes=1_200_000_000), trained(wire_bytes=100)]
        cases = [("step", [trained()] * 2, 0.9, 1.0),
                 ("link", of_link, 0.9, 1.0),
                 ("step", of_link, 0.9, 2.5),
                 ("cores", [trained(core_seconds=9.5 * os.cpu_count())] * 2, 0.9, None)]
        for expected, results, step, gbps in cases:
            used = cluster_report.Summary(results, step, gbps, None).used
            self.assertEqual(max(used, key=used.get), expected)

    def test_a_cluster_case_beside_its_prediction(self):
        predicted = cluster_report.Predicted(65.0, 0.5)  # of a link at 1 Gbit/s
        for gbps, seconds in ((1.0, 20.0), (2.5, 12.0), (None, 12.0)):
            summary = cluster_report.Summary([trained(wait=1.0), trained(wait=2.0)], 0.3, gbps,
                                             predicted)
            self.assertEqual(summary.predicted_epoch_seconds, seconds)
            self.assertEqual(summary.epoch_seconds, 40.0)
            self.assertEqual((summary.rows, summary.predicted_rows), (70.0, 65.0))
            self.assertAlmostEqual(summary.wait, 0.15)
            self.assertAlmostEqual(summary.overlap, 0.7)
        late = cluster_report.Summary([trained(wait=4.0, first_wait=2.0)], 0.3, None, predicted)
        self.assertEqual(late.epoch_seconds, 2.0 + 4 * 8.0)
        self.assertAlmostEqual(late.wait, (2.0 + 4 * 2.0) / 34.0)
        unknown = cluster_report.Summary([trained()], 0.3, 1.0, None)
        self.assertIsNone(unknown.predicted_epoch_seconds)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
