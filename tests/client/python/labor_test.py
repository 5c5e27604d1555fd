#!/usr/bin/env python3
"""Samples whose targets choose the same sources (draws="labor"), over daemons and mapped."""

import pathlib
import sys
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts what Debian lacks

from imported_graphs import Papers  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph.pyg import NeighborLoader, connect  # noqa: E402


class LaborTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.papers = Papers()
        cls.addClassCleanup(cls.papers.close)
        cls.degrees = numpy.bincount(cls.papers.edge_index[1], minlength=300)

    def test_draws_are_the_same_near_and_far(self):
        batches = []
        for given in ({"cluster_file": self.papers.cluster_file}, {"directory": self.papers.shards}):
            with vicinity_graph.Graph(**given) as graph:
                for more in ({}, {"weighted_by": "weight"}, {"layer_dependency": True}):
                    batch = graph.sample("paper", vicinity_graph.UserIds(numpy.arange(40)), [3, 2],
                                         draws="labor", edge_ids=True, **more)
                    batches.append(batch.edge_ids().numpy())
        for near, far in zip(batches[:3], batches[3:]):
            numpy.testing.assert_array_equal(near, far)
        self.assertTrue((self.papers.weight[batches[1]] > 0).all())

    def test_targets_draw_as_many_edges_from_fewer_nodes(self):
        seeds = numpy.arange(100)
        with vicinity_graph.Graph(cluster_file=self.papers.cluster_file) as graph:
            def drawn(step, **options):
                batch = graph.sample("paper", vicinity_graph.UserIds(seeds), [3], edge_ids=True,
                                     step=step, **options)
                return batch.edge_ids().numpy()
            sources = {"independent": 0, "labor": 0}
            for step in range(10):
                for draws in sources:
                    edges = drawn(step, draws=draws)
                    targets = self.papers.edge_index[1][edges]
                    numpy.testing.assert_array_equal(numpy.bincount(targets, minlength=100)[:100],
                                                     self.degrees[:100].clip(max=3))
                    sources[draws] += len(numpy.unique(self.papers.edge_index[0][edges]))
            self.assertLess(sources["labor"], 0.8 * sources["independent"])
            numpy.testing.assert_array_equal(drawn(4, draws="labor", batch_dependency=4),
                                             drawn(7, draws="labor", batch_dependency=4))
            self.assertFalse(numpy.array_equal(drawn(3, draws="labor", batch_dependency=4),
                                               drawn(4, draws="labor", batch_dependency=4)))

    def test_loaders_take_it(self):
        data = connect(self.papers.cluster_file)
        num_nodes = {}
        for draws in ("independent", "labor"):
            with data.schema.graph.loader([4, 4], batch_size=50, split="", draws=draws) as loader:
                num_nodes[draws] = sum(batch.nodes("paper").shape[0] for batch in loader)
        self.assertLess(num_nodes["labor"], num_nodes["independent"])
        for subgraph_type in ("directional", "induced"):
            loader = NeighborLoader(data, [4, 4], batch_size=50, draws="labor", batch_dependency=2,
                                    layer_dependency=True, subgraph_type=subgraph_type)
            self.assertEqual(sum(batch.batch_size for batch in loader), 300)

    def test_errors_name_what_is_wrong(self):
        with vicinity_graph.Graph(directory=self.papers.shards) as graph:
            for options, text in (({"draws": "labor", "replace": True}, "without replacement"),
                                  ({"draws": "labor", "batch_dependency": 0}, "batch_dependency"),
                                  ({"layer_dependency": True}, "needs draws labor"),
                                  ({"draws": "ladies"}, "labor")):
                with self.assertRaisesRegex(vicinity_graph.InvalidArgument, text):
                    graph.sample("paper", vicinity_graph.UserIds([1]), [2], **options)


if __name__ == "__main__":
    run_tests()
