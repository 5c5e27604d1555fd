"""A small graph, cut in two and served by two daemons, for tests of Python."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

# Bazel runs tests among the runfiles, which hold the programs.
PROGRAMS = pathlib.Path(os.environ.get("VICINITY_PROGRAMS", os.getcwd()))
TOOL = PROGRAMS / "client" / "cli" / "vicinity"
DAEMON = PROGRAMS / "server" / "vicinityd"
LIBRARY = PROGRAMS / "client" / "c_api" / "libvicinity.so"

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path[:0] = [str(ROOT / "client" / "python"), str(ROOT / "deploy" / "lib")]
os.environ.setdefault("VICINITY_LIBRARY", str(LIBRARY))

from served_shards import ServedShards  # noqa: E402


def tool(*arguments):
    """What the tool prints."""
    return subprocess.run([str(TOOL), *map(str, arguments)], capture_output=True, text=True,
                          check=True).stdout


def run_tests():
    """Those of the program; ends with the line (deploy/count_tests.py) that counts those that were not
    skipped."""
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed")
    sys.exit(1 if failed else 0)


class SmallDataset:
    """In two shards, without servers."""

    def __init__(self, num_nodes=2000, num_shards=2):
        self._scratch = tempfile.TemporaryDirectory(prefix="vicinity_python_")
        graph = pathlib.Path(self._scratch.name) / "graph"
        self.shards = pathlib.Path(self._scratch.name) / "shards"
        tool("generate", "block-model", "--num-nodes", num_nodes, "--output", graph)
        tool("partition", "--input", graph, "--output", self.shards, "--shards", num_shards,
             "--assigner", "hash")

    def close(self):
        self._scratch.cleanup()


class SmallCluster(ServedShards):
    def __init__(self, num_nodes=2000, num_shards=2, live=False):
        self._dataset = SmallDataset(num_nodes, num_shards)
        self.shards = self._dataset.shards
        super().__init__(DAEMON, self.shards, num_shards, live=live)

    def close(self):
        super().close()
        self._dataset.close()
