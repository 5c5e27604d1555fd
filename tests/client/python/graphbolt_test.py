#!/usr/bin/env python3
"""Pipelines of DGL's GraphBolt over daemons, where DGL is installed: what their minibatches hold
against the arrays that the graph was made of, and that a model learns."""

import pathlib
import sys
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from imported_graphs import ImportedGraph, Papers, Shop  # noqa: E402
from small_cluster import SmallCluster, run_tests  # noqa: E402

import numpy  # noqa: E402
import torch  # noqa: E402

try:
    import dgl
    from dgl import graphbolt
except ImportError as error:
    dgl, graphbolt, why = None, None, f"GraphBolt does not load: {error}"
else:
    why = ""

import vicinity_graph  # noqa: E402

if graphbolt is not None:
    from vicinity_graph.graphbolt import (Column, EdgeColumn, LayerNeighborSampler, MiniBatchLoader,
                                          NeighborSampler, TemporalNeighborSampler, feature_store)

with_dgl = unittest.skipIf(graphbolt is None, why)


def nodes_of(items, **given):
    return graphbolt.ItemSampler(graphbolt.ItemSet(items, names=("seed_nodes", "labels")), **given)


def edges_of(subgraph):
    """Ids of sources and targets, of a homogeneous graph's."""
    csc = subgraph.sampled_csc
    counts = csc.indptr[1:].long() - csc.indptr[:-1].long()
    return torch.stack([subgraph.original_row_node_ids[csc.indices.long()],
                        subgraph.original_column_node_ids.repeat_interleave(counts)])


@with_dgl
class PapersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.papers = Papers()
        cls.addClassCleanup(cls.papers.close)
        cls.graph = vicinity_graph.Graph(cluster_file=cls.papers.cluster_file)
        everybody = cls.graph.nodes("paper")
        cls.global_of = cls.graph.resolve("paper", range(300)).torch()
        cls.user_of = cls.graph.user_ids("paper", everybody).torch()[everybody.torch().argsort()]

    def pipe(self, nodes, **given):
        labels = torch.from_numpy(self.papers.y)[self.user_of[nodes]]
        pipe = nodes_of((nodes, labels), batch_size=32, shuffle=True)
        pipe = NeighborSampler(pipe, self.graph, [3, 2], **given)
        return pipe.fetch_feature(feature_store(self.graph), node_feature_keys=["features"])

    def test_minibatches_have_what_the_arrays_have(self):
        train = self.graph.nodes("paper", "train").torch()
        edge_index = self.global_of[torch.from_numpy(self.papers.edge_index)]
        degrees = torch.bincount(edge_index[1], minlength=300)
        seeds = []
        for batch in graphbolt.DataLoader(self.pipe(train, edge_ids=True)):
            seeds += batch.seed_nodes.tolist()
            ids = self.user_of[batch.input_nodes].numpy()
            numpy.testing.assert_array_equal(batch.node_features["features"].numpy(),
                                             self.papers.x[ids])
            self.assertEqual(batch.labels.tolist(),
                             self.papers.y[self.user_of[batch.seed_nodes].numpy()].tolist())
            self.assertEqual(batch.num_layers(), 2)
            for subgraph, fanout in zip(batch.sampled_subgraphs, (2, 3)):
                edges = edges_of(subgraph)
                self.assertTrue(torch.equal(edges, edge_index[:, subgraph.original_edge_ids]))
                drawn = subgraph.sampled_csc.indptr.diff()
                self.assertEqual(
                    drawn.tolist(),
                    degrees[subgraph.original_column_node_ids].clamp(max=fanout).tolist())
            outer, inner = batch.sampled_subgraphs
            self.assertEqual(inner.original_column_node_ids.tolist(), batch.seed_nodes.tolist())
            self.assertEqual(outer.original_column_node_ids.tolist(),
                             inner.original_row_node_ids.tolist())
            self.assertEqual(outer.original_row_node_ids.tolist(), batch.input_nodes.tolist())
            for block, subgraph in zip(batch.blocks, batch.sampled_subgraphs):
                self.assertEqual(block.edata[dgl.EID].tolist(), subgraph.original_edge_ids.tolist())
                self.assertEqual(block.num_dst_nodes(), len(subgraph.original_column_node_ids))
        self.assertEqual(sorted(seeds), sorted(train.tolist()))

    def test_draws_follow_torchs(self):
        def epoch(seed):
            torch.manual_seed(seed)
            pipe = nodes_of((self.global_of, self.global_of), batch_size=100)
            return [batch.input_nodes.tolist()
                    for batch in graphbolt.DataLoader(NeighborSampler(pipe, self.graph, [2]))]

        self.assertEqual(epoch(3), epoch(3))
        self.assertNotEqual(epoch(3), epoch(4))

    def test_layers_choose_alike(self):
        def epoch(make, num_seeds=300, **given):
            torch.manual_seed(3)
            seeds = self.global_of[:num_seeds]
            pipe = nodes_of((seeds, seeds), batch_size=num_seeds // 3)
            return list(graphbolt.DataLoader(make(pipe, self.graph, [3], **given)))

        plain = epoch(NeighborSampler)
        labor = epoch(LayerNeighborSampler, layer_dependency=True)
        for a, b in zip(plain, labor):
            self.assertEqual(a.sampled_subgraphs[0].sampled_csc.indptr.tolist(),
                             b.sampled_subgraphs[0].sampled_csc.indptr.tolist())
            self.assertLess(len(b.input_nodes), len(a.input_nodes))
        together = [len(torch.cat([batch.input_nodes for batch in epoch(
            LayerNeighborSampler, 90, batch_dependency=each)]).unique()) for each in (1, 3)]
        self.assertLess(together[1], together[0])
        with self.assertRaisesRegex(ValueError, "batch_dependency is 0"):
            LayerNeighborSampler(None, self.graph, [2], batch_dependency=0)

    def test_links_are_compacted(self):
        pairs = self.global_of[torch.from_numpy(self.papers.edge_index[:, :64].T.copy())]
        items = graphbolt.ItemSet(pairs, names="node_pairs")
        pipe = NeighborSampler(graphbolt.ItemSampler(items, batch_size=16), self.graph, [2])
        for number, batch in enumerate(graphbolt.DataLoader(pipe)):
            sources, targets = batch.compacted_node_pairs
            found = torch.stack([batch.input_nodes[sources], batch.input_nodes[targets]], dim=1)
            self.assertTrue(torch.equal(found, pairs[16 * number:16 * number + 16]))

    def test_what_is_wrong_is_told(self):
        twice = self.global_of[[5, 6, 5]]
        for nodes, given, error, text in (
                (twice, {}, ValueError, f"node {twice[0]} of type 'paper' .* more than once"),
                (self.global_of, {"expansion": "new_nodes"}, ValueError, "all_nodes"),
                (self.global_of, {"no_option": 1}, vicinity_graph.InvalidArgument, "no_option")):
            with self.assertRaisesRegex(error, text):
                next(iter(graphbolt.DataLoader(self.pipe(nodes, **given))))
        sampler = NeighborSampler(nodes_of((twice, twice), batch_size=3), self.graph, [2])
        with self.assertRaisesRegex(NotImplementedError, "TemporalNeighborSampler"):
            sampler.sample_subgraphs(self.global_of, torch.zeros(300))

    def test_features_are_read_only_and_by_rows(self):
        column = Column(self.graph, "paper", "features")
        self.assertEqual(column.size(), torch.Size([6]))
        ids = self.global_of[[7, 299, 7]]
        numpy.testing.assert_array_equal(column.read(ids).numpy(), self.papers.x[[7, 299, 7]])
        self.assertRaises(ValueError, column.read)
        self.assertRaises(NotImplementedError, column.update, torch.zeros(300, 6))
        store = feature_store(self.graph)
        self.assertIn(("node", None, "features"), store.keys())
        self.assertEqual(feature_store(self.graph, [("paper", "features")]).keys(),
                         [("node", None, "features")])
        self.assertEqual(store.size("node", None, "features"), torch.Size([6]))


    def test_rows_of_edges_come_with_minibatches(self):
        train = self.graph.nodes("paper", "train").torch()
        store = feature_store(self.graph, [("paper", "features")],
                              [("paper:cites:paper", "weight"), ("paper:cites:paper", "time")])
        self.assertEqual(store.size("edge", None, "weight"), torch.Size([]))
        for make in (NeighborSampler, LayerNeighborSampler):
            pipe = nodes_of((train, train), batch_size=32)
            pipe = make(pipe, self.graph, [3, 2], store=store)
            pipe = pipe.fetch_feature(store, node_feature_keys=["features"],
                                      edge_feature_keys=["weight", "time"])
            for batch in graphbolt.DataLoader(pipe):
                self.assertEqual(len(batch.edge_features), 2)
                for rows, subgraph in zip(batch.edge_features, batch.sampled_subgraphs):
                    ids = subgraph.original_edge_ids.numpy()
                    numpy.testing.assert_array_equal(rows["weight"].numpy(), self.papers.weight[ids])
                    numpy.testing.assert_array_equal(rows["time"].numpy(), self.papers.time[ids])
        # By any ids of a minibatch, as they are when a seed's edges were taken out.
        some = batch.sampled_subgraphs[0].original_edge_ids.flip(0)[:5]
        numpy.testing.assert_array_equal(store.read("edge", None, "time", some).numpy(),
                                         self.papers.time[some.numpy()])
        self.assertEqual(store.read("edge", None, "time", some[:0]).dtype, torch.int64)

    def test_rows_of_edges_that_no_minibatch_brought_are_refused(self):
        column = EdgeColumn(self.graph, "paper:cites:paper", "weight")
        for ids, text in ((torch.tensor([3, 4]), "the first of them 3.*store=store"), (None, "whole")):
            with self.assertRaisesRegex(ValueError, text):
                column.read(ids)
        self.assertRaises(NotImplementedError, column.update, torch.zeros(1))
        self.assertRaisesRegex(vicinity_graph.NotFound, "no_column", EdgeColumn, self.graph,
                               "paper:cites:paper", "no_column")
        self.assertRaisesRegex(vicinity_graph.NotFound, "no:such:type", EdgeColumn, self.graph,
                               "no:such:type", "weight")

    def temporal(self, seeds, timestamps, fanouts, **given):
        items = graphbolt.ItemSet((seeds, timestamps), names=("seed_nodes", "timestamp"))
        pipe = TemporalNeighborSampler(graphbolt.ItemSampler(items, batch_size=20), self.graph, fanouts,
                                       edge_ids=True, **given)
        return graphbolt.DataLoader(pipe)

    def test_by_timestamps_of_edges_only_what_is_earlier_is_drawn_as_by_graphbolts_own(self):
        papers = self.papers
        sources, targets = self.global_of[torch.from_numpy(papers.edge_index)]
        order = targets.argsort(stable=True)
        own = graphbolt.fused_csc_sampling_graph(
            torch.searchsorted(targets[order], torch.arange(301)), sources[order],
            edge_attributes={"time": torch.from_numpy(papers.time)[order],
                             graphbolt.ORIGINAL_EDGE_ID: order})
        seeds = self.global_of.repeat(2)[:450]  # many of them at two times
        times = torch.from_numpy(numpy.random.default_rng(3).integers(-50, 50, 450))
        items = graphbolt.ItemSet((seeds, times), names=("seed_nodes", "timestamp"))
        theirs = graphbolt.DataLoader(graphbolt.TemporalNeighborSampler(
            graphbolt.ItemSampler(items, batch_size=20), own, [300],
            edge_timestamp_attr_name="time"))
        ours = self.temporal(seeds, times, [-1], edge_timestamp_attr_name="time")
        for mine, other in zip(ours, theirs, strict=True):
            mine, other = mine.sampled_subgraphs[0], other.sampled_subgraphs[0]
            self.assertEqual(mine.sampled_csc.indptr.tolist(), other.sampled_csc.indptr.tolist())
            self.assertEqual(mine.original_column_node_ids.tolist(),
                             other.original_column_node_ids.tolist())
            ends = mine.sampled_csc.indptr.tolist()
            for begin, end in zip(ends, ends[1:]):
                self.assertEqual(*(sorted(each.original_row_node_ids[
                    each.sampled_csc.indices[begin:end].long()].tolist()) for each in (mine, other)))

    def test_a_seeds_timestamp_holds_at_every_hop(self):
        papers = self.papers
        times = torch.from_numpy(numpy.random.default_rng(4).integers(-50, 50, 300))
        into = [numpy.flatnonzero(papers.edge_index[1] == node) for node in range(300)]
        for replace, weight in ((False, None), (True, None), (False, "weight")):
            for batch in self.temporal(self.global_of, times, [3, 2], replace=replace,
                                       prob_name=weight, edge_timestamp_attr_name="time"):
                seen = 0
                inner = batch.sampled_subgraphs[1]
                for place, (seed, time) in enumerate(zip(batch.seed_nodes, batch.timestamp.tolist())):
                    csc = inner.sampled_csc
                    drawn = inner.original_edge_ids[csc.indptr[place]:csc.indptr[place + 1]].numpy()
                    early = into[self.user_of[seed]]
                    early = early[papers.time[early] < time]
                    if weight is not None:
                        early = early[papers.weight[early] > 0]
                    self.assertTrue(set(drawn.tolist()) <= set(early.tolist()))
                    self.assertEqual(len(drawn), 3 * bool(len(early)) if replace
                                     else min(3, len(early)))
                    seen += len(drawn)
                self.assertEqual(seen, len(inner.original_edge_ids))
                for subgraph in batch.sampled_subgraphs:
                    self.assertLess(papers.time[subgraph.original_edge_ids.numpy()].max(initial=-99),
                                    batch.timestamp.max())

    def test_what_is_wrong_with_timestamps_is_told(self):
        pipe = nodes_of((self.global_of, self.global_of), batch_size=3)
        for error, text, given in (
                (ValueError, "name node_timestamp_attr_name or", {}),
                (ValueError, "'when' is a column of no edge type.*time",
                 {"edge_timestamp_attr_name": "when"}),
                (NotImplementedError, "not both", {"edge_timestamp_attr_name": "time",
                                                   "node_timestamp_attr_name": "time"}),
                (NotImplementedError, "of_source.*copy_to_edges",
                 {"node_timestamp_attr_name": "features"})):
            with self.subTest(given=given), self.assertRaisesRegex(error, text):
                TemporalNeighborSampler(pipe, self.graph, [2], **given)
        sampler = TemporalNeighborSampler(pipe, self.graph, [2], edge_timestamp_attr_name="time")
        for timestamps, text in ((None, "item of the ItemSet"), (torch.zeros(300), "float32"),
                                 (torch.full((300,), -2**63), "-2\\^63")):
            with self.assertRaisesRegex(ValueError, text):
                sampler.sample_subgraphs(self.global_of, timestamps)

    def loader(self, **given):
        return MiniBatchLoader(self.graph, [3, 2], **{
            "batch_size": 32, "run_seed": 5, "edge_ids": True, "columns": [("paper", "features")],
            "edge_columns": [("paper:cites:paper", "weight")], **given})

    def test_minibatches_made_ahead_are_those_of_a_pipeline(self):
        seeds = []
        for batch in self.loader():
            seeds += batch.seed_nodes.tolist()
            ids = self.user_of[batch.input_nodes].numpy()
            numpy.testing.assert_array_equal(batch.node_features["features"].numpy(),
                                             self.papers.x[ids])
            self.assertEqual(batch.labels.tolist(),
                             self.papers.y[self.user_of[batch.seed_nodes].numpy()].tolist())
            for block, rows, subgraph in zip(batch.blocks, batch.edge_features,
                                             batch.sampled_subgraphs):
                self.assertEqual(block.edata[dgl.EID].tolist(), subgraph.original_edge_ids.tolist())
                numpy.testing.assert_array_equal(
                    rows["weight"].numpy(), self.papers.weight[subgraph.original_edge_ids.numpy()])
                self.assertTrue(torch.equal(
                    edges_of(subgraph), self.global_of[torch.from_numpy(
                        self.papers.edge_index[:, subgraph.original_edge_ids.numpy()])]))
        self.assertEqual(sorted(seeds), sorted(self.graph.nodes("paper", "train").tolist()))
        self.assertGreater(len(self.loader()), 3)

    def test_training_goes_on_behind_any_minibatch(self):
        def told(batches):
            return [batch.input_nodes.tolist() for batch in batches]

        loader = self.loader()
        for epoch in range(2):
            batches = list(loader)
            for number, batch in enumerate(batches, 1):
                state = loader.state_behind(batch.to("cpu"))
                self.assertEqual((state["epoch"], state["batches_done"]), (epoch, number))
                resumed = self.loader()
                resumed.load_state_dict(state)
                self.assertEqual(told(resumed), told(batches[number:]))
                pair = [self.loader(trainer=trainer, num_trainers=2) for trainer in (0, 1)]
                for trainer in pair:
                    trainer.load_state_dict(state)
                steps = [each for step in zip(*map(told, pair)) for each in step]
                self.assertEqual(steps[:len(batches) - number], told(batches[number:]))
        self.assertEqual(loader.state_dict()["epoch"], 2)
        for wrong, text in ((graphbolt.MiniBatch(), "made by none"),
                            (next(iter(self.loader(run_seed=6))), "run_seed 6")):
            with self.assertRaisesRegex(ValueError, text):
                loader.state_behind(wrong)

    def test_links_and_their_negatives_are_made_ahead(self):
        links = self.papers.edge_index[:, :70]
        pairs = self.global_of[torch.from_numpy(links)]
        edges = set(map(tuple, self.papers.edge_index.T.tolist()))
        given = {"seeds": ("paper:cites:paper", links), "shuffle": False,
                 "negatives": {"mode": "triplet", "amount": 2}}
        begin = 0
        for batch in self.loader(**given):
            sources, targets = batch.compacted_node_pairs
            found = torch.stack([batch.input_nodes[sources], batch.input_nodes[targets]])
            self.assertTrue(torch.equal(found, pairs[:, begin:begin + found.size(1)]))
            self.assertTrue(torch.equal(found, torch.stack(batch.node_pairs)))
            self.assertEqual(batch.negative_dsts.shape, (found.size(1), 2))
            self.assertTrue(torch.equal(batch.input_nodes[batch.compacted_negative_dsts],
                                        batch.negative_dsts))
            for source, drawn in zip(self.user_of[found[0]].tolist(),
                                     self.user_of[batch.negative_dsts].tolist()):
                self.assertTrue(edges.isdisjoint((source, each) for each in drawn))
            begin += found.size(1)
        self.assertEqual(begin, 70)
        with self.assertRaisesRegex(NotImplementedError, "triplet"):
            self.loader(**{**given, "negatives": {"mode": "binary", "amount": 1}})


@with_dgl
class NodeTimesTest(unittest.TestCase):
    def test_by_timestamps_of_nodes_only_earlier_neighbours_are_drawn(self):
        random = numpy.random.default_rng(7)
        ends, when = random.integers(0, 100, (2, 900)), random.integers(-9, 9, 100)
        papers = ImportedGraph("""
            name: "papers"
            nodes { name: "paper" count: 100 columns { name: "when" array { path: "when.npy" } } }
            edges {
              source: "paper" relation: "cites" target: "paper"
              ends { path: "edges.npy" } transposed: true columns { of_source: "when" }
            }""", {"edges.npy": ends, "when.npy": when})
        self.addCleanup(papers.close)
        graph = vicinity_graph.Graph(cluster_file=papers.cluster_file)
        nodes = graph.resolve("paper", range(100)).torch()
        times = torch.from_numpy(random.integers(-9, 9, 100))
        items = graphbolt.ItemSet((nodes, times), names=("seed_nodes", "timestamp"))
        pipe = TemporalNeighborSampler(graphbolt.ItemSampler(items, batch_size=100), graph, [-1],
                                       node_timestamp_attr_name="when", edge_ids=True)
        batch, = graphbolt.DataLoader(pipe)
        expected = [numpy.flatnonzero((ends[1] == node) & (when[ends[0]] < time)).tolist()
                    for node, time in enumerate(times.tolist())]
        subgraph, = batch.sampled_subgraphs
        bounds = subgraph.sampled_csc.indptr.tolist()
        self.assertEqual([sorted(subgraph.original_edge_ids[begin:end].tolist())
                          for begin, end in zip(bounds, bounds[1:])], expected)


@with_dgl
class ShopTest(unittest.TestCase):
    def test_several_types(self):
        shop = Shop()
        self.addCleanup(shop.close)
        graph = vicinity_graph.Graph(cluster_file=shop.cluster_file)
        users = graph.resolve("user", range(shop.USERS)).torch()
        items = graph.resolve("item", shop.names).torch()
        bought = torch.stack([users[shop.buys[0]], items[shop.buys[1]]])
        seeds = graphbolt.ItemSetDict({
            "user": graphbolt.ItemSet(users[:40], names="seed_nodes"),
            "item": graphbolt.ItemSet(items[:8], names="seed_nodes")})
        pipe = graphbolt.ItemSampler(seeds, batch_size=16)
        pipe = NeighborSampler(pipe, graph, [[2, 2, 2], [3, 0, 1]], edge_ids=True)
        pipe = pipe.fetch_feature(feature_store(graph), node_feature_keys={
            "user": ["x"], "item": ["prices"]})
        seen = {"user": [], "item": []}
        for batch in graphbolt.DataLoader(pipe):
            for node_type, ids in batch.seed_nodes.items():
                seen[node_type] += ids.tolist()
            found = batch.input_nodes
            rows = [graph.user_ids("user", found["user"]).numpy(),
                    [shop.names.index(name) for name in graph.user_names("item", found["item"])]]
            for key, array, places in ((("user", "x"), shop.x, rows[0]),
                                       (("item", "prices"), shop.prices, rows[1])):
                numpy.testing.assert_array_equal(batch.node_features[key].numpy(), array[places])
            for block, subgraph in zip(batch.blocks, batch.sampled_subgraphs):
                ids = subgraph.original_edge_ids["user:buys:item"]
                sources, targets = block.edges(order="eid", etype="buys")
                ends = torch.stack([
                    subgraph.original_row_node_ids["user"][sources.long()],
                    subgraph.original_column_node_ids["item"][targets.long()]])
                self.assertTrue(torch.equal(ends, bought[:, ids]))
            self.assertEqual(batch.blocks[0].num_edges("of"), 0)
        self.assertEqual(seen, {"user": users[:40].tolist(), "item": items[:8].tolist()})
        loader = MiniBatchLoader(graph, [[2, 2, 2]], batch_size=16, seeds={"user": [3, 1, 4]},
                                 shuffle=False, columns=[("user", "x")])
        batch, = loader
        self.assertEqual(batch.seed_nodes["user"].tolist(), users[[3, 1, 4]].tolist())
        numpy.testing.assert_array_equal(
            batch.node_features["user", "x"].numpy(),
            shop.x[graph.user_ids("user", batch.input_nodes["user"]).numpy()])
        untyped = nodes_of((users, users), batch_size=9)
        with self.assertRaisesRegex(ValueError, "ItemSetDict"):
            next(iter(graphbolt.DataLoader(NeighborSampler(untyped, graph, [2]))))


@with_dgl
class TrainingTest(unittest.TestCase):
    def test_a_model_learns(self):
        cluster = SmallCluster()
        self.addCleanup(cluster.close)
        graph = vicinity_graph.Graph(cluster_file=cluster.cluster_file)
        described, = graph.description["node_types"]
        train = graph.nodes("node", "train").torch()
        labels = graph.fetch("node", described["label_column"], train).torch().long().view(-1)
        pipe = nodes_of((train, labels), batch_size=64, shuffle=True)
        pipe = NeighborSampler(pipe, graph, [5, 5])
        loader = graphbolt.DataLoader(pipe.fetch_feature(
            feature_store(graph, [("node", "features")]), node_feature_keys=["features"]))
        torch.manual_seed(0)
        width = Column(graph, "node", "features").size()[0]
        layers = torch.nn.ModuleList([dgl.nn.SAGEConv(width, 16, "mean"),
                                      dgl.nn.SAGEConv(16, described["num_classes"], "mean")])
        optimizer = torch.optim.Adam(layers.parameters(), lr=0.01)
        losses = []
        for _ in range(4):
            losses.append(0)
            for batch in loader:
                inner = layers[0](batch.blocks[0], batch.node_features["features"]).relu()
                loss = torch.nn.functional.cross_entropy(layers[1](batch.blocks[1], inner),
                                                         batch.labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses[-1] += loss.item()
        self.assertLess(losses[-1], 0.9 * losses[0])


if __name__ == "__main__":
    run_tests()
