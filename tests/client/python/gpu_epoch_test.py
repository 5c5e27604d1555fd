#!/usr/bin/env python3
"""deploy/lib/gpu_epoch.py on the CPU, with a tiny graph: do its cases give equal losses, and its
lines what they should? And the example that it trains with, by itself."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from small_cluster import DAEMON, ROOT, TOOL, SmallCluster, run_tests  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

EXAMPLES = ROOT / "client" / "python" / "examples"


def run(program, *arguments):
    path = os.pathsep.join([str(ROOT / "client" / "python"), str(EXAMPLES)])
    return subprocess.run([sys.executable, str(program), *map(str, arguments)], check=True,
                          stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, PYTHONPATH=path, OMP_NUM_THREADS="1")).stdout


@unittest.skipIf(torch is None, "PyTorch is not installed")
class GpuEpochTest(unittest.TestCase):
    def test_losses_are_equal_with_and_without_pool_and_pipeline(self):
        with tempfile.TemporaryDirectory(prefix="vicinity_epoch_") as folder:
            lines = [json.loads(line) for line in run(
                ROOT / "deploy" / "lib" / "gpu_epoch.py", "--tool", TOOL, "--daemon", DAEMON,
                "--data", folder, "--size", "tiny", "--device", "cpu", "--format",
                "json").splitlines()]
        equal, = [line for line in lines if "losses equal" in line["metric"]]
        self.assertEqual(equal["value"], 1)
        shares = {line["case"]: line for line in lines if "waiting" in line["metric"]}
        self.assertEqual(len(shares), 4)
        for line in shares.values():
            self.assertGreater(line["value"], 0)
            self.assertLess(line["value"], 1)
            self.assertEqual(line["limit"], 0.03)
        rows = {line["case"].split(", ", 2)[2]: line["value"] for line in lines
                if line["metric"] == "remote rows/step"}
        self.assertLess(rows["pool and pipeline"], rows["pipeline, no pool"])

    def test_the_example_learns(self):
        cluster = SmallCluster()
        self.addCleanup(cluster.close)
        printed = run(EXAMPLES / "graphsage.py", "--cluster", cluster.cluster_file, "--device",
                      "cpu", "--batch-size", 50, "--hidden", 16, "--epochs", 4, "--fanouts", 5, 5)
        losses = [float(line.split()[-1]) for line in printed.splitlines()]
        self.assertEqual(len(losses), 4)
        self.assertLess(losses[-1], 0.9 * losses[0])


if __name__ == "__main__":
    run_tests()
