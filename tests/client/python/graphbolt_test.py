#!/usr/bin/env python3
"""Pipelines of DGL's GraphBolt over daemons, where DGL is installed: what their minibatches hold
against the arrays that the graph was made of, and that a model learns."""

import pathlib
import sys
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from imported_graphs import Papers, Shop  # noqa: E402
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
    from vicinity_graph.graphbolt import (Column, LayerNeighborSampler, NeighborSampler,
                                          feature_store)

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
        def epoch(make, **given):
            torch.manual_seed(3)
            pipe = nodes_of((self.global_of, self.global_of), batch_size=100)
            return list(graphbolt.DataLoader(make(pipe, self.graph, [3], **given)))

        plain = epoch(NeighborSampler)
        labor = epoch(LayerNeighborSampler, layer_dependency=True)
        for a, b in zip(plain, labor):
            self.assertEqual(a.sampled_subgraphs[0].sampled_csc.indptr.tolist(),
                             b.sampled_subgraphs[0].sampled_csc.indptr.tolist())
            self.assertLess(len(b.input_nodes), len(a.input_nodes))
        together = [len(torch.cat([batch.input_nodes for batch in epoch(
            LayerNeighborSampler, batch_dependency=each)]).unique()) for each in (1, 3)]
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
        with self.assertRaises(NotImplementedError):
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
