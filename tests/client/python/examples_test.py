#!/usr/bin/env python3
"""The examples for PyTorch Geometric do what their first lines say: they learn, on several trainers
too, and go on after they were killed."""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts what Debian lacks

from imported_graphs import Shop  # noqa: E402
from small_cluster import DAEMON, LIBRARY, ROOT, ServedShards, run_tests, tool  # noqa: E402

import torch  # noqa: E402
import torch_geometric  # noqa: E402

EXAMPLES = ROOT / "client" / "python" / "examples"
TIMEOUT = 240


def environment():
    """The examples import the PyG that this test does."""
    paths = [ROOT / "client" / "python", pathlib.Path(torch_geometric.__file__).parent.parent]
    return {**os.environ, "PYTHONPATH": ":".join(map(str, paths)), "OMP_NUM_THREADS": "1",
            "VICINITY_LIBRARY": os.environ.get("VICINITY_LIBRARY", str(LIBRARY))}


def run(*command):
    """What a program prints; its errors, if it fails."""
    done = subprocess.run([sys.executable, *map(str, command)], env=environment(),
                          capture_output=True, text=True, timeout=TIMEOUT, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr[-3000:]}")
    return done.stdout


def under_torchrun(*command):
    """Two trainers; what the first prints."""
    if torch.__version__.startswith("1."):
        return as_torchrun_does(*command)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node",
               "2", *map(str, command)]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as torchrun:
        try:
            output, errors = torchrun.communicate(timeout=TIMEOUT)
        finally:
            torchrun.terminate()  # and it ends its trainers
    if torchrun.returncode != 0:
        raise AssertionError(f"{command} ended with {torchrun.returncode}: {errors[-3000:]}")
    return output


def as_torchrun_does(*command):
    """With what torchrun tells trainers: PyTorch 1.13's own fails with Python 3.11, which it does not
    know."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    trainers = [subprocess.Popen(  # pylint: disable=consider-using-with
        [sys.executable, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**environment(), "RANK": str(rank), "WORLD_SIZE": "2",
                        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}) for rank in (0, 1)]
    try:
        outputs = [trainer.communicate(timeout=TIMEOUT) for trainer in trainers]
    finally:
        for trainer in trainers:
            trainer.kill()
    for trainer, (_, errors) in zip(trainers, outputs):
        if trainer.returncode != 0:
            raise AssertionError(f"{command} ended with {trainer.returncode}: {errors[-3000:]}")
    return outputs[0][0]


class Cora(ServedShards):
    def __init__(self):
        self._scratch = tempfile.TemporaryDirectory(prefix="vicinity_cora_")
        folder = pathlib.Path(self._scratch.name)
        tool("import", "--description", ROOT / "tests/data/cora.textproto", "--output",
             folder / "whole")
        self.shards = folder / "shards"
        tool("partition", "--input", folder / "whole", "--output", self.shards, "--shards", 2,
             "--assigner", "hash")
        super().__init__(DAEMON, self.shards, 2)

    def close(self):
        super().close()
        self._scratch.cleanup()


class CoraTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cora = Cora()
        cls.addClassCleanup(cls.cora.close)

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vicinity_examples_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def accuracy(self, text):
        return float(re.search(r"test accuracy ([0-9.]+)", text).group(1))

    def test_nodes_are_classified(self):
        text = run(EXAMPLES / "pyg_node_classification.py", "--graph", self.cora.cluster_file,
                   "--batch-size", 32, "--epochs", 8)
        self.assertGreater(self.accuracy(text), 0.72)  # 0.79 to 0.81, whatever the seed

    def test_two_trainers_classify_as_well(self):
        text = under_torchrun(EXAMPLES / "pyg_node_classification.py", "--graph",
                              self.cora.cluster_file, "--batch-size", 16, "--epochs", 8)
        self.assertGreater(self.accuracy(text), 0.72)

    def test_two_trainers_learn_what_one_with_twice_the_batch_learns(self):
        trainer = pathlib.Path(__file__).resolve().parent / "ddp_trainer.py"
        run(trainer, self.cora.shards, 32, 4, self.folder / "one.pt")
        under_torchrun(trainer, self.cora.shards, 16, 4, self.folder / "two.pt")
        one, two = (torch.load(self.folder / name) for name in ("one.pt", "two.pt"))
        for name, values in one.items():
            self.assertTrue(torch.allclose(values, two[name], rtol=0, atol=1e-9), name)
        first = torch.nn.Linear(1433, 16)
        self.assertFalse(torch.allclose(one["first.lin_l.weight"].float(), first.weight))

    def test_a_run_that_was_killed_goes_on(self):
        command = [EXAMPLES / "pyg_node_classification.py", "--graph", self.cora.cluster_file,
                   "--batch-size", 4, "--epochs", 4, "--checkpoint", self.folder / "run.pt",
                   "--checkpoint-every", 1]
        with subprocess.Popen([sys.executable, *map(str, command)], env=environment(),
                              stdout=subprocess.DEVNULL) as killed:
            until = time.monotonic() + TIMEOUT
            while not (self.folder / "run.pt").exists() and time.monotonic() < until:
                time.sleep(0.01)
            killed.kill()
        saved = torch.load(self.folder / "run.pt")["loader"]
        self.assertLess(saved["epoch"], 4)
        self.assertGreater(saved["epoch"] + saved["batches_done"], 0)
        text = run(*command)
        epochs = [int(epoch) for epoch in re.findall(r"epoch (\d+)", text)]
        self.assertEqual(epochs, list(range(saved["epoch"], 4)))
        self.assertGreater(self.accuracy(text), 0.7)

    def test_links_are_told_from_pairs_that_are_none(self):
        text = run(EXAMPLES / "pyg_link_prediction.py", "--graph", self.cora.cluster_file,
                   "--epochs", 1)
        self.assertGreater(float(re.search(r"curve ([0-9.]+)", text).group(1)), 0.85)


class OtherGraphsTest(unittest.TestCase):
    def test_several_types(self):
        shop = Shop()
        self.addCleanup(shop.close)
        text = run(EXAMPLES / "pyg_heterogeneous.py", "--graph", shop.cluster_file, "--epochs", 2)
        self.assertEqual(len(re.findall(r"test accuracy", text)), 2)


if __name__ == "__main__":
    run_tests()
