#!/usr/bin/env python3
"""Samples among edges that meet a condition, over daemons and mapped, against the arrays that the
graph was made of."""

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

WHERE = "time >= -20 and weight in (1, 2) or time = 40"


class ConditionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.papers = Papers()
        cls.addClassCleanup(cls.papers.close)
        time, weight = cls.papers.time, cls.papers.weight
        cls.meets = ((time >= -20) & numpy.isin(weight, (1, 2))) | (time == 40)

    def check(self, edges, targets):
        """All edges that meet the condition and lead to these, and no others."""
        leads = numpy.isin(self.papers.edge_index[1], targets)
        numpy.testing.assert_array_equal(numpy.sort(edges), numpy.flatnonzero(leads & self.meets))

    def test_all_neighbours_are_those_that_meet_it(self):
        for graph in (vicinity_graph.Graph(cluster_file=self.papers.cluster_file),
                      vicinity_graph.Graph(directory=self.papers.shards)):
            with graph:
                ids = vicinity_graph.UserIds(numpy.arange(60))
                batch = graph.sample("paper", ids, [-1], where=WHERE, edge_ids=True)
                self.check(batch.edge_ids().numpy(), numpy.arange(60))

    def test_draws_are_the_same_near_and_far(self):
        batches = []
        for given in ({"cluster_file": self.papers.cluster_file}, {"directory": self.papers.shards}):
            with vicinity_graph.Graph(**given) as graph:
                batch = graph.sample("paper", vicinity_graph.UserIds([5, 6, 7]), [3, 2],
                                     where=WHERE, edge_ids=True, weighted_by="weight")
                batches.append(batch.edge_ids().numpy())
                self.assertTrue(self.meets[batches[-1]].all())
        numpy.testing.assert_array_equal(*batches)

    def test_a_loader_takes_it(self):
        with vicinity_graph.Graph(cluster_file=self.papers.cluster_file) as graph:
            with graph.loader([4, 4], batch_size=50, split="", edge_ids=True,
                              where=WHERE) as loader:
                seen = numpy.concatenate([numpy.array(batch.edge_ids().numpy())
                                          for batch in loader])
        self.assertTrue(self.meets[seen].all())
        self.assertGreater(len(numpy.unique(seen)), 500)

    def test_pyg_loaders_take_it(self):
        data = connect(self.papers.cluster_file)
        for subgraph_type in ("directional", "induced"):
            edges = [batch.e_id.numpy()
                     for batch in NeighborLoader(data, [4, 4], batch_size=50, where=WHERE,
                                                 subgraph_type=subgraph_type)]
            self.assertTrue(self.meets[numpy.concatenate(edges)].all())

    def test_errors_name_what_is_wrong(self):
        with vicinity_graph.Graph(directory=self.papers.shards) as graph:
            def told(where):
                with self.assertRaises(vicinity_graph.InvalidArgument) as raised:
                    graph.sample("paper", vicinity_graph.UserIds([1]), [2], where=where)
                return str(raised.exception)
            self.assertIn("expected a number at character 7", told("time >"))
            self.assertIn("time of paper:cites:paper", told("year > 3"))


if __name__ == "__main__":
    run_tests()
