#!/usr/bin/env python3
"""Message-flow graphs of batches, against the arrays that the graph was made of; and, where DGL is
installed, its blocks against those that dgl.to_block makes of the same edges."""

import pathlib
import sys
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from imported_graphs import Papers, Shop  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402
import torch  # noqa: E402

try:
    import dgl
except ImportError:
    dgl = None

import vicinity_graph  # noqa: E402
from vicinity_graph._layers import layers  # noqa: E402
from vicinity_graph.dgl import blocks  # noqa: E402

with_dgl = unittest.skipIf(dgl is None, "DGL is not installed")


class PapersCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.papers = Papers()
        cls.addClassCleanup(cls.papers.close)
        cls.graph = vicinity_graph.Graph(cluster_file=cls.papers.cluster_file)

    def batches(self, fanouts=(3, 2), **given):
        return self.graph.loader(list(fanouts), **{
            "batch_size": 32, "user_ids": True, "edge_ids": True, **given})


class ShopCase(unittest.TestCase):
    """Three edge types, of which hops leave out some; the ids of items are strings."""

    FANOUTS = ([2, 0, 1], [0, 2, 2], [-1, -1, 0])

    @classmethod
    def setUpClass(cls):
        cls.shop = Shop()
        cls.addClassCleanup(cls.shop.close)
        cls.graph = vicinity_graph.Graph(cluster_file=cls.shop.cluster_file)

    def sample(self, **given):
        return self.graph.sample("user", [3, 1, 4, 15, 9], self.FANOUTS, **given)

    def edges(self):
        """By type, global ids of their sources and targets in the order of the import."""
        users = self.graph.resolve("user", numpy.arange(self.shop.USERS)).numpy()
        items = self.graph.resolve("item", self.shop.names).numpy()
        buyers, bought = self.shop.buys
        return {"user:buys:item": (users[buyers], items[bought]),
                "item:of:user": (items[bought], users[buyers]),
                "user:knows:user": tuple(users[self.shop.knows.T])}


class LayersTest(PapersCase):
    def check_hop(self, layer, fanout, ids):
        """Of ids, the import's of a batch's nodes."""
        edge_index = self.papers.edge_index
        num_targets, num_sources = layer.num_targets["paper"], layer.num_sources["paper"]
        edges = layer.edges["paper:cites:paper"]
        self.assertEqual([edges.offsets.dtype, edges.sources.dtype, edges.ids.dtype],
                         [torch.int64] * 3)
        degrees = numpy.bincount(edge_index[1], minlength=300)[ids[:num_targets]]
        drawn = degrees if fanout == -1 else numpy.minimum(degrees, fanout)
        self.assertEqual(edges.offsets.tolist(), [0, *numpy.cumsum(drawn).tolist()])
        targets = numpy.repeat(ids[:num_targets], drawn)
        numpy.testing.assert_array_equal(edge_index[:, edges.ids.numpy()],
                                         [ids[edges.sources.numpy()], targets])
        self.assertEqual(len(set(edges.ids.tolist())), edges.ids.numel())
        # No node is there for nothing.
        self.assertEqual(set(edges.sources.tolist()) | set(range(num_targets)),
                         set(range(num_sources)))

    def test_hops_are_those_of_the_arrays_the_outermost_first(self):
        for fanouts in ((3, 2), (-1, -1), (1, -1, 2)):
            for batch in self.batches(fanouts):
                made = layers(batch, edge_ids=True)
                self.assertEqual(len(made), len(fanouts))
                ids = batch.user_ids().numpy()
                for layer, fanout in zip(made, reversed(fanouts)):
                    self.check_hop(layer, fanout, ids)
                self.assertEqual(made[-1].num_targets, {"paper": len(batch.seeds)})
                self.assertEqual(made[0].num_sources, {"paper": len(ids)})
                for outer, inner in zip(made, made[1:]):
                    self.assertEqual(outer.num_targets, inner.num_sources)

    def test_seeds_may_be_links_with_negatives(self):
        links = ("paper:cites:paper", self.papers.edge_index[:, :70])
        for batch in self.batches(seeds=links, negatives={"mode": "binary", "amount": 1}):
            ends = [each.tolist() for each in (*batch.links, *batch.negatives)]
            made = layers(batch, edge_ids=True)
            for layer, fanout in zip(made, (2, 3)):
                self.check_hop(layer, fanout, batch.user_ids().numpy())
            self.assertEqual(made[-1].num_targets, {"paper": len(set(sum(ends, [])))})

    def test_edge_ids_only_where_they_are_asked_for(self):
        batch = next(iter(self.batches(edge_ids=False)))
        self.assertEqual([layer.edges["paper:cites:paper"].ids for layer in layers(batch, False)],
                         [None, None])
        with self.assertRaises(vicinity_graph.NotFound):
            layers(batch, True)

    def test_hops_that_expand_new_nodes_alone_are_refused(self):
        batch = next(iter(self.batches(expansion="new_nodes")))
        with self.assertRaisesRegex(ValueError, "hop 1 .* expansion=\"all_nodes\""):
            layers(batch, False)
        self.assertEqual(len(layers(next(iter(self.batches([2], expansion="new_nodes"))), False)), 1)


class LayersOfSeveralTypesTest(ShopCase):
    def test_every_hop_has_every_type(self):
        batch = self.sample(edge_ids=True)
        made = layers(batch, edge_ids=True)
        nodes = {each: batch.nodes(each).numpy() for each in ("user", "item")}
        of_import = self.edges()
        self.assertEqual(made[-1].num_targets, {"user": 5, "item": 0})
        self.assertEqual(made[0].num_sources, {each: len(ids) for each, ids in nodes.items()})
        for layer, fanouts in zip(made, reversed(self.FANOUTS)):
            self.assertEqual(list(layer.edges), self.graph.edge_types)
            met = {each: set(range(count)) for each, count in layer.num_targets.items()}
            for fanout, (edge_type, edges) in zip(fanouts, layer.edges.items()):
                source_type, _, target_type = edge_type.split(":")
                sources, targets = of_import[edge_type]
                ours = nodes[target_type][:layer.num_targets[target_type]]
                degrees = numpy.bincount(targets, minlength=self.graph.num_nodes(target_type))[ours]
                drawn = degrees if fanout == -1 else numpy.minimum(degrees, fanout)
                self.assertEqual(edges.offsets.tolist(), [0, *numpy.cumsum(drawn).tolist()])
                ids = edges.ids.numpy()
                numpy.testing.assert_array_equal(targets[ids], numpy.repeat(ours, drawn))
                numpy.testing.assert_array_equal(sources[ids],
                                                 nodes[source_type][edges.sources.numpy()])
                met[source_type] |= set(edges.sources.tolist())
            self.assertEqual(met, {each: set(range(count))
                                   for each, count in layer.num_sources.items()})


def same_blocks(test, block, expected, ids):
    """Of the same nodes and edges, where `ids` are of the graph that `expected` was made of, by edge
    type; targets in the same order, the sources behind them in any."""
    test.assertTrue(block.is_block)
    test.assertEqual((block.srctypes, block.dsttypes), (expected.srctypes, expected.dsttypes))
    test.assertEqual(block.canonical_etypes, expected.canonical_etypes)
    for node_type in block.dsttypes:
        ours, its = (each.dstnodes[node_type].data[dgl.NID].tolist() for each in (block, expected))
        test.assertEqual(ours, its)
        sources = block.srcnodes[node_type].data[dgl.NID].tolist()
        test.assertEqual(sources[:len(ours)], ours)
        test.assertEqual(sorted(sources),
                         sorted(expected.srcnodes[node_type].data[dgl.NID].tolist()))
    for edge_type in block.canonical_etypes:
        ours, its = (ends_of(each, edge_type) for each in (block, expected))
        order = expected.edges[edge_type].data[dgl.EID]
        test.assertTrue(torch.equal(ours[:, order], its))
        test.assertTrue(torch.equal(block.edges[edge_type].data[dgl.EID], ids[edge_type]))


def ends_of(block, edge_type):
    """Ids of sources and targets of a block's edges."""
    sources, targets = block.edges(order="eid", etype=edge_type)
    return torch.stack([block.srcnodes[edge_type[0]].data[dgl.NID][sources],
                        block.dstnodes[edge_type[2]].data[dgl.NID][targets]])


@with_dgl
class BlocksTest(PapersCase):
    def test_they_are_those_of_to_block(self):
        cites = ("paper", "cites", "paper")
        for batch in self.batches((4, 3)):
            nodes = batch.user_ids().torch()
            made = blocks(batch, user_ids=True, edge_ids=True)
            self.assertEqual(made[0].srcdata[dgl.NID].tolist(), nodes.tolist())
            for block, layer in zip(made, layers(batch, edge_ids=True)):
                ids = layer.edges["paper:cites:paper"].ids
                graph = dgl.heterograph(
                    {cites: tuple(torch.from_numpy(self.papers.edge_index)[:, ids])},
                    num_nodes_dict={"paper": 300})
                expected = dgl.to_block(graph, {"paper": nodes[:layer.num_targets["paper"]]})
                same_blocks(self, block, expected, {cites: ids})

    def test_ids_are_global_and_edges_have_none_unless_asked_for(self):
        batch = next(iter(self.batches()))
        for block in blocks(batch):
            self.assertNotIn(dgl.EID, block.edata)
        self.assertEqual(blocks(batch)[0].srcdata[dgl.NID].tolist(), batch.nodes().tolist())

    def test_a_layer_of_dgls_means_what_is_drawn(self):
        loader = self.batches((-1, -1), columns=[("paper", "features")], batch_size=50)
        adjacency = numpy.zeros((300, 300))
        numpy.add.at(adjacency, (self.papers.edge_index[1], self.papers.edge_index[0]), 1)
        mean = adjacency / numpy.maximum(1, adjacency.sum(1, keepdims=True))
        expected = mean @ (mean @ self.papers.x.astype(float))
        for batch in loader:
            rows = batch.column("features").torch().double()
            for block in blocks(batch):
                with block.local_scope():
                    block.srcdata["rows"] = rows
                    block.update_all(dgl.function.copy_u("rows", "sent"),
                                     dgl.function.mean("sent", "mean"))
                    rows = block.dstdata["mean"]
            numpy.testing.assert_allclose(rows[batch.seeds.torch().long()].numpy(),
                                          expected[batch.user_ids().numpy()[:len(rows)]], atol=1e-12)


@with_dgl
class BlocksOfSeveralTypesTest(ShopCase):
    def test_they_are_those_of_to_block(self):
        batch = self.sample(edge_ids=True)
        of_import = self.edges()
        nodes = {each: batch.nodes(each).torch() for each in ("user", "item")}
        made = blocks(batch, edge_ids=True)
        for block, layer in zip(made, layers(batch, edge_ids=True)):
            chosen = {edge_type: edges.ids for edge_type, edges in layer.edges.items()}
            graph = dgl.heterograph(
                {tuple(edge_type.split(":")): tuple(torch.from_numpy(ends)[ids]
                                                    for ends in of_import[edge_type])
                 for edge_type, ids in chosen.items()},
                num_nodes_dict={each: self.graph.num_nodes(each) for each in nodes})
            expected = dgl.to_block(
                graph, {each: ids[:layer.num_targets[each]] for each, ids in nodes.items()})
            same_blocks(self, block, expected, {
                tuple(edge_type.split(":")): ids for edge_type, ids in chosen.items()})

    def test_ids_are_the_imports_where_they_are_integers(self):
        for batch in self.graph.loader([[1, 1, 1]] * 2, seeds=("user", [9, 7, 5]), user_ids=True):
            for block in blocks(batch, user_ids=True):
                found, num_items = block.srcdata[dgl.NID], block.num_src_nodes("item")
                self.assertEqual(found["user"].tolist(),
                                 batch.user_ids("user").tolist()[:block.num_src_nodes("user")])
                self.assertEqual(found["item"].tolist(), batch.nodes("item").tolist()[:num_items])
            self.assertEqual(block.dstdata[dgl.NID]["user"].tolist(), [9, 7, 5])


if __name__ == "__main__":
    run_tests()
