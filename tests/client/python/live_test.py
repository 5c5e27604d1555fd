#!/usr/bin/env python3
"""A live graph from Python: its versions, and the graph at them."""

import pathlib
import pickle
import sys
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from small_cluster import SmallCluster, SmallDataset, run_tests  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph.errors import FailedPrecondition, InvalidArgument, OutOfRange  # noqa: E402


class LiveTest(unittest.TestCase):
    def test_a_live_graph_is_read_at_its_versions(self):
        cluster = SmallCluster(num_nodes=300, live=True)
        self.addCleanup(cluster.close)
        graph = vicinity_graph.Graph(cluster_file=cluster.cluster_file)
        self.assertTrue(graph.is_live)
        self.assertEqual(graph.versions(), [(0, 0), (0, 0)])
        now = graph.fetch("node", "features", [1, 2, 3]).tolist()
        then = graph.at(graph.versions())
        self.assertEqual(then.fetch("node", "features", [1, 2, 3]).tolist(), now)
        self.assertEqual(then.num_nodes("node"), 300)
        again = pickle.loads(pickle.dumps(then))
        self.assertEqual(again.fetch("node", "features", [1, 2, 3]).tolist(), now)
        with self.assertRaisesRegex(OutOfRange, "version 0, not yet at 7"):
            graph.at([0, 7])
        with self.assertRaisesRegex(OutOfRange, "version 0 of shard 1 is of term 0 here"):
            graph.at([0, (0, 3)])
        with self.assertRaises(InvalidArgument):
            graph.at([0])
        for wrong in (7, [0, (1, 2, 3)], [0, "x"], [0, (0, -2)]):
            with self.assertRaises(InvalidArgument):
                graph.at(wrong)
        then.close()
        with self.assertRaises(FailedPrecondition):
            then.versions()
        self.assertEqual(graph.fetch("node", "features", [1, 2, 3]).tolist(), now)

    def test_a_read_only_graph_has_version_0(self):
        dataset = SmallDataset(num_nodes=100)
        self.addCleanup(dataset.close)
        graph = vicinity_graph.Graph(directory=dataset.shards)
        self.assertFalse(graph.is_live)
        self.assertEqual(graph.versions(), [(0, 0), (0, 0)])
        self.assertEqual(graph.at([0, 0]).nodes("node").tolist(), graph.nodes("node").tolist())


if __name__ == "__main__":
    run_tests()
