#!/usr/bin/env python3
"""What a graph answers from Python beside its loaders: samples, ids that are names, degrees, what it
has counted."""

import collections
import pathlib
import pickle
import sys
import tempfile
import unittest
import urllib.request

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import numpy  # noqa: E402
from small_cluster import SmallCluster, SmallDataset, run_tests, tool  # noqa: E402

import vicinity_graph  # noqa: E402

EDGES = [("ann", "bob"), ("bob", "cid"), ("ann", "cid"), ("cid", "dän")]


class SampleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = SmallCluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.far = vicinity_graph.Graph(cluster_file=cls.cluster.cluster_file)
        cls.near = vicinity_graph.Graph(directory=cls.cluster.shards)

    @staticmethod
    def everything(batch):
        return ([batch.nodes().tolist(), batch.seeds.tolist(), batch.column("features").tolist()],
                [(block.offsets.tolist(), block.sources.tolist(), block.edge_ids.tolist())
                 for block in batch.blocks])

    def test_a_sample_is_the_same_near_and_far_and_another_by_its_draw(self):
        seeds = [5, 3, 5]
        options = {"columns": [("node", "features")], "edge_ids": True, "run_seed": 4}
        first, same, other = (self.everything(graph.sample("node", seeds, [3, 2], step=step,
                                                           **options))
                              for graph, step in ((self.far, 0), (self.near, 0), (self.near, 1)))
        self.assertEqual(first, same)
        self.assertNotEqual(first, other)

    def test_a_sample_begins_with_its_seeds_and_has_the_rows_of_its_nodes(self):
        batch = self.far.sample("node", [5, 3, 5], [-1], columns=[("node", "features")])
        nodes = batch.nodes().tolist()
        self.assertEqual([nodes[position] for position in batch.seeds.tolist()], [5, 3, 5])
        self.assertEqual(batch.column("features").tolist(),
                         self.far.fetch("node", "features", nodes).tolist())
        block, = batch.blocks
        degrees = self.far.degrees(block.edge_type, nodes[:block.num_targets]).tolist()
        offsets = block.offsets.tolist()
        self.assertEqual([b - a for a, b in zip(offsets, offsets[1:])], degrees)

    def test_pairs_have_the_edges_that_a_sample_of_all_neighbours_has(self):
        block, = self.far.sample("node", [5, 3], [-1], edge_ids=True).blocks
        batch = self.far.sample("node", [5, 3], [-1])
        nodes, offsets = batch.nodes().tolist(), block.offsets.tolist()
        for graph in (self.far, self.near):
            for target, begin, end in zip([5, 3], offsets, offsets[1:]):
                sources = [nodes[position] for position in block.sources.tolist()[begin:end]]
                firsts = [begin + sources.index(source) for source in sources]
                self.assertEqual(
                    graph.edge_ids(block.edge_type, sources, [target] * len(sources)).tolist(),
                    [block.edge_ids.tolist()[first] for first in firsts])
                others = [node for node in range(40) if node not in sources]
                self.assertEqual(
                    set(graph.edge_ids(block.edge_type, others, [target] * len(others)).tolist()),
                    {-1})
            with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "2 sources have 1 targets"):
                graph.edge_ids(block.edge_type, [1, 2], [3])

    def test_walks_are_the_same_near_and_far_and_take_edges_that_there_are(self):
        starts = list(range(0, 300, 3)) * 2
        for options in ({}, {"p": 0.25, "q": 4.0}, {"restart_prob": 0.5, "run_seed": 3}):
            far, near = (graph.walk(starts, 4, edge_ids=True, **options)
                         for graph in (self.far, self.near))
            nodes, edge_ids = far[0].numpy(), far[1].numpy()
            self.assertEqual((nodes.shape, edge_ids.shape), ((200, 5), (200, 4)))
            self.assertEqual(nodes[:, 0].tolist(), starts)
            self.assertEqual(nodes.tolist(), near[0].tolist())
            self.assertEqual(edge_ids.tolist(), near[1].tolist())
            took = edge_ids >= 0
            self.assertEqual((nodes[:, 1:] >= 0).tolist(), took.tolist())
            firsts = self.near.edge_ids(self.near.edge_types[0], nodes[:, 1:][took],
                                        nodes[:, :-1][took]).numpy()
            self.assertTrue((firsts >= 0).all())
            self.assertTrue((firsts <= edge_ids[took]).all())  # of parallel edges the first
        self.assertEqual(self.near.walk(5, 2, self.near.edge_types * 2).shape, (1, 3))
        with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "p 0.0"):
            self.near.walk(starts, 4, p=0)
        with self.assertRaises(vicinity_graph.NotFound):
            self.near.walk(starts, 4, ["likes"])
        self.assertIn("restart_prob", vicinity_graph.Graph.walk.__doc__)

    def test_the_most_visited_are_counted_on_the_walks_of_each_start(self):
        starts = list(range(0, 60, 3))
        options = {"restart_prob": 0.25, "run_seed": 3}
        walks = self.near.walk([start for start in starts for _ in range(30)], 4,
                               **options).numpy()
        for exclude_start in (False, True):
            found = [graph.top_visited(starts, 5, num_walks=30, length=4, metapath="",
                                       exclude_start=exclude_start, **options)
                     for graph in (self.far, self.near)]
            nodes, counts = found[0][0].tolist(), found[0][1].tolist()
            self.assertEqual((nodes, counts), (found[1][0].tolist(), found[1][1].tolist()))
            for i, start in enumerate(starts):
                visits = walks[30 * i:30 * (i + 1), 1:].flatten().tolist()
                # Of equals the first met: a Counter's order, which most_common keeps.
                common = collections.Counter(
                    node for node in visits
                    if node >= 0 and not (exclude_start and node == start)).most_common(5)
                padding = 5 - len(common)
                self.assertEqual(nodes[i], [node for node, _ in common] + [-1] * padding)
                self.assertEqual(counts[i], [count for _, count in common] + [0] * padding)
        with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "0 walks"):
            self.near.top_visited(starts, 5, 0, 4)
        with self.assertRaises(vicinity_graph.NotFound):
            self.near.top_visited(starts, 5, 3, 4, node_type="paper")
        self.assertIn("exclude_start", vicinity_graph.Graph.top_visited.__doc__)

    def test_ppr_is_that_of_power_iteration_but_for_the_residual(self):
        seeds = list(range(0, 60, 6))
        edge_type = self.near.edge_types[0]
        batch = self.near.sample("node", self.near.nodes("node"), [-1])
        edges = batch.nodes().numpy()[batch.edge_index().numpy()]
        count = self.near.num_nodes("node")
        found = [graph.ppr("node", seeds, count, eps=1e-3, residuals=True)
                 for graph in (self.far, self.near)]
        self.assertEqual([each.tolist() for each in found[0]],
                         [each.tolist() for each in found[1]])
        nodes, scores, residuals = (each.numpy() for each in found[0])
        degrees = self.near.degrees(edge_type, range(count)).numpy()
        self.assertEqual(edges.shape[1], degrees.sum())
        for row, seed in enumerate(seeds):
            missing, under_way = numpy.zeros(count), numpy.zeros(count)
            under_way[seed] = 1
            while under_way.sum() > 1e-9:
                missing += under_way * numpy.where(degrees > 0, 0.15, 1)
                under_way = numpy.bincount(edges[0], 0.85 * under_way[edges[1]] / degrees[edges[1]],
                                           count)
            ranked = nodes[row] >= 0
            missing[nodes[row][ranked]] -= scores[row][ranked]
            self.assertGreater(missing.min(), -1e-8)
            self.assertLess(missing.max(), residuals[row] + 1e-8)
            self.assertAlmostEqual(missing.sum(), residuals[row], 7)
        few = self.near.ppr("node", seeds, 3, edge_types=[edge_type], eps=1e-3)
        self.assertEqual(len(few), 2)
        self.assertEqual(few[0].tolist(), nodes[:, :3].tolist())
        with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "alpha 1 "):
            self.near.ppr("node", seeds, 3, alpha=1.0)
        with self.assertRaises(vicinity_graph.NotFound):
            self.near.ppr("node", seeds, 3, edge_types="likes")
        self.assertIn("max_neighbors", vicinity_graph.Graph.ppr.__doc__)

    def test_a_sample_takes_one_seed_and_outlives_its_graph(self):
        graph = vicinity_graph.Graph(directory=self.cluster.shards)
        batch = graph.sample("node", 5, [2])
        graph.close()
        del graph
        self.assertEqual(batch.nodes().tolist()[0], 5)
        with self.assertRaises(vicinity_graph.NotFound):
            batch.labels.tolist()

    def test_an_option_of_loaders_is_none_of_samples(self):
        with self.assertRaises(vicinity_graph.InvalidArgument) as caught:
            self.near.sample("node", [5], [2], batch_size=3)
        self.assertIn("batch_size", str(caught.exception))
        self.assertIn("run_seed", str(caught.exception))

    def test_owners_are_shards_and_near_is_what_is_mapped(self):
        nodes = self.far.nodes("node").tolist()
        owners = self.far.owner_of("node", nodes)
        self.assertEqual(owners.dtype, "int32")
        counts = [owners.tolist().count(shard) for shard in (0, 1)]
        self.assertEqual(sum(counts), 2000)
        self.assertTrue(all(counts))
        # Global ids go from shard to shard.
        self.assertEqual(self.far.owner_of("node", range(2000)).tolist(),
                         [0] * counts[0] + [1] * counts[1])
        self.assertEqual(self.near.owner_of("node", nodes).tolist(), owners.tolist())
        self.assertEqual(set(self.far.is_local("node", nodes).tolist()), {0})
        self.assertEqual(set(self.near.is_local("node", nodes).tolist()), {1})
        self.assertEqual(self.far.owner_of("node", 5).shape, (1,))
        for call in (self.far.owner_of, self.far.is_local):
            with self.assertRaisesRegex(vicinity_graph.InvalidArgument, ": 2000$"):
                call("node", [1, 2000])
            self.assertRaises(vicinity_graph.NotFound, call, "paper", [1])

    def test_a_ranking_is_read_likeliest_first(self):
        dataset = SmallDataset()
        self.addCleanup(dataset.close)
        tool("rank", dataset.shards, "--fanouts", "3,2", "--batch-size", 50, "--name", "two-hops")
        graph = vicinity_graph.Graph(directory=dataset.shards)
        nodes, chances = graph.ranked("two-hops", [1], "node")
        self.assertEqual(len(set(nodes.tolist())), len(nodes))
        self.assertEqual(sorted(chances.tolist(), reverse=True), chances.tolist())
        self.assertEqual((nodes.dtype, chances.dtype), ("int64", "float32"))
        self.assertGreater(len(nodes), 50)
        first, likeliest = graph.ranked("two-hops", 1, "node", count=10)
        self.assertEqual(first.tolist(), nodes.tolist()[:10])
        self.assertEqual(likeliest.tolist(), chances.tolist()[:10])
        for name, home, node_type in (("others", [1], "node"), ("two-hops", [1], "paper")):
            self.assertRaises(vicinity_graph.NotFound, graph.ranked, name, home, node_type)
        for home in ([], [1, 0], [2], [1 << 40], ["a"]):
            self.assertRaises(vicinity_graph.InvalidArgument, graph.ranked, "two-hops", home, "node")

    def test_ids_of_the_import_are_looked_up_where_that_is_said(self):
        users, more = [7, 1999, 7, 0], [3, 5, 8, 1500]
        nodes, others = (self.far.resolve("node", each).tolist() for each in (users, more))
        self.assertNotEqual(nodes, users)
        edge_type = self.far.edge_types[0]
        calls = [lambda graph, ids, _: graph.fetch("node", "features", ids).tolist(),
                 lambda graph, ids, _: graph.degrees(edge_type, ids).tolist(),
                 lambda graph, ids, _: graph.owner_of("node", ids).tolist(),
                 lambda graph, ids, _: graph.is_local("node", ids).tolist(),
                 lambda graph, ids, _: graph.user_ids("node", ids).tolist(),
                 lambda graph, ids, _: graph.walk(ids, 3).tolist(),
                 lambda graph, ids, _: graph.walk(ids, 3, [edge_type]).tolist(),
                 lambda graph, ids, _: graph.walk(ids, 3, edge_type).tolist(),
                 lambda graph, ids, _: graph.sample("node", ids, [3]).nodes().tolist(),
                 lambda graph, ids, more: graph.sample(["node"] * 2, [ids, more],
                                                       [3]).nodes().tolist(),
                 lambda graph, ids, more: graph.edge_ids(edge_type, ids, more).tolist()]
        said, known = vicinity_graph.UserIds, vicinity_graph.GlobalIds
        for number, call in enumerate(calls):
            for graph in (self.far, self.near):
                with self.subTest(call=number):
                    expected = call(graph, nodes, others)
                    self.assertEqual(call(graph, said(users), said(more)), expected)
                    self.assertEqual(call(graph, said(users), others), expected)
                    self.assertEqual(call(graph, known(nodes), known(others)), expected)
        self.assertEqual(self.far.sample(["node"] * 2, said([users, more]), [3]).nodes().tolist(),
                         self.far.sample(["node"] * 2, [nodes, others], [3]).nodes().tolist())
        self.assertEqual(self.far.fetch("node", "features", said(7)).tolist(),
                         self.far.fetch("node", "features", nodes[:1]).tolist())
        self.assertEqual(self.far.resolve("node", said(users)).tolist(), nodes)
        self.assertEqual(repr(said([7])), "UserIds([7])")
        with self.assertRaisesRegex(vicinity_graph.NotFound,
                                    r"2 of 3 ids .* type node: 2000 \(position 1\), -1 \(pos"):
            self.far.fetch("node", "features", said([7, 2000, -1]))
        with self.assertRaisesRegex(vicinity_graph.NotFound, "2000 .position 0."):
            self.far.degrees(edge_type, said(2000))
        with self.assertRaisesRegex(vicinity_graph.NotFound, "2000 .position 1."):
            self.far.fetch("node", "features", said(iter([7, 2000])))
        for call in (self.far.degrees, lambda name, ids: self.far.walk(ids, 2, name)):
            with self.assertRaisesRegex(vicinity_graph.NotFound, "'likes'"):
                call("likes", said([7]))

    def test_seeds_of_a_loader_may_be_said_to_be_those_of_the_import(self):
        users = [7, 1999, 0]
        edge_type = self.near.edge_types[0]
        for seeds, plain in ((vicinity_graph.UserIds(users), users),
                             (("node", vicinity_graph.UserIds(users)), users),
                             ((edge_type, vicinity_graph.UserIds([users, users])),
                              (edge_type, [users, users]))):
            first, same = (next(iter(self.near.loader([2], seeds=each, user_ids=True)))
                           for each in (seeds, plain))
            self.assertEqual(first.nodes().tolist(), same.nodes().tolist())
        again = next(iter(self.near.loader([2], seeds=vicinity_graph.UserIds(first.user_ids()))))
        self.assertLessEqual(set(first.nodes().tolist()), set(again.nodes().tolist()))
        for wrong in ([True] * 2000, [1.5]):
            self.assertRaises(TypeError, self.near.loader, [2], seeds=vicinity_graph.UserIds(wrong))

    def test_what_was_moved_is_counted(self):
        graph = vicinity_graph.Graph(cluster_file=self.cluster.cluster_file)
        graph.fetch("node", "features", [1, 2, 3])
        self.assertEqual(graph.stats()["rows_remote"], 3)
        names = {metric["name"] for metric in graph.metrics()}
        self.assertIn("vicinity_client_rpcs_total", names)

    def test_what_is_counted_is_shown_in_a_file_and_at_a_port(self):
        with tempfile.TemporaryDirectory(prefix="vicinity_metrics_") as folder:
            file = pathlib.Path(folder) / "trainer.prom"
            graph = vicinity_graph.Graph(
                cluster_file=self.cluster.cluster_file,
                metrics={"file": str(file), "listen": "127.0.0.1:0", "trainer": "3"})
            wanted = '\nvicinity_client_rows_remote_total{trainer="3"} '
            self.assertIn(wanted + "0\n", file.read_text(encoding="utf-8"))
            graph.fetch("node", "features", [1, 2, 3])
            url = f"http://{graph.metrics_address}/metrics"
            with urllib.request.urlopen(url, timeout=20) as reply:
                self.assertIn(wanted + "3\n", reply.read().decode())
            self.assertIn(wanted + "3\n", graph.metrics_text())
            # Where it is opened again it shows nothing: the file and the port are this process'.
            self.assertEqual(pickle.loads(pickle.dumps(graph)).metrics_address, "")
            with self.assertRaises(ValueError):
                vicinity_graph.Graph(cluster_file=self.cluster.cluster_file,
                                     metrics={"listen": "0.0.0.0:0"})


class NamesTest(unittest.TestCase):
    """Of a graph whose ids are names."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="vicinity_names_")
        cls.addClassCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        (folder / "edges.csv").write_text("".join(f"{a},{b}\n" for a, b in EDGES), encoding="utf-8")
        (folder / "ids.csv").write_text("ann\nbob\ncid\ndän\n", encoding="utf-8")
        tool("import", "--edges", folder / "edges.csv", "--ids", folder / "ids.csv", "--output",
             folder / "graph")
        tool("partition", "--input", folder / "graph", "--output", folder / "shards", "--shards", 2,
             "--assigner", "hash")
        cls.graph = vicinity_graph.Graph(directory=folder / "shards")

    def test_names_become_ids_and_back(self):
        nodes = self.graph.resolve("node", ["dän", "ann", "nobody"]).tolist()
        self.assertEqual(nodes[2], -1)
        self.assertEqual(self.graph.user_names("node", nodes[:2]), ["dän", "ann"])
        self.assertEqual(self.graph.resolve("node", "ann").tolist(), [nodes[1]])
        self.assertEqual(self.graph.user_names("node", nodes[0]), ["dän"])
        self.assertEqual(self.graph.user_names("node", []), [])

    def test_degrees_are_those_of_the_edges(self):
        people = ["ann", "bob", "cid", "dän"]
        for ids in (self.graph.resolve("node", people), vicinity_graph.UserIds(people)):
            degrees = self.graph.degrees(self.graph.edge_types[0], ids)
            self.assertEqual(degrees.tolist(), [sum(b == each for _, b in EDGES) for each in people])
        self.assertEqual(self.graph.user_names("node", vicinity_graph.UserIds("bob")), ["bob"])
        with self.assertRaisesRegex(vicinity_graph.NotFound, "1 of 2 .*'eve' .position 1."):
            self.graph.owner_of("node", vicinity_graph.UserIds(["ann", "eve"]))

    def test_integers_among_names_and_for_names_are_refused(self):
        for ids in (["ann", 3], [3]):
            with self.assertRaises(vicinity_graph.InvalidArgument):
                self.graph.resolve("node", ids)
        with self.assertRaises(vicinity_graph.InvalidArgument):
            self.graph.user_ids("node", [0])


if __name__ == "__main__":
    run_tests()
