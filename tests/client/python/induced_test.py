#!/usr/bin/env python3
"""Induced samples over daemons: every batch's edges against those that PyG's own subgraph functions
find in the arrays that the graph was made of."""

import pathlib
import sys
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts what Debian lacks

from imported_graphs import Papers, Shop  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402
import torch  # noqa: E402

try:
    import torch_geometric  # noqa: F401
except ImportError as error:
    sys.exit(f"induced_test: {error}: deploy/setup.sh installs it")

from torch_geometric.data import Batch, HeteroData  # noqa: E402
from torch_geometric.loader import NodeLoader  # noqa: E402
from torch_geometric.utils import k_hop_subgraph, subgraph  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph._layers import layers  # noqa: E402
from vicinity_graph.pyg import LinkNeighborLoader, NeighborLoader, NeighborSampler, \
    ShaDowKHopSampler, connect  # noqa: E402


class PapersTest(unittest.TestCase):
    """One type, some edges twice."""

    @classmethod
    def setUpClass(cls):
        cls.papers = Papers()
        cls.addClassCleanup(cls.papers.close)
        cls.data = connect(cls.papers.cluster_file)
        cls.edge_index = torch.from_numpy(cls.papers.edge_index)

    def loader(self, num_neighbors=(3, 2), **given):
        return NeighborLoader(self.data, list(num_neighbors),
                              **{"batch_size": 32, "subgraph_type": "induced", **given})

    def induced(self, nodes):
        """PyG's, of the whole graph: which edges, sorted."""
        _, edges = subgraph(nodes, self.edge_index, torch.arange(2400), num_nodes=300)
        return edges.tolist()

    def check_ends(self, batch):
        ids = batch.n_id.numpy()
        numpy.testing.assert_array_equal(batch.x.numpy(), self.papers.x[ids])
        numpy.testing.assert_array_equal(batch.n_id[batch.edge_index].numpy(),
                                         self.papers.edge_index[:, batch.e_id.numpy()])
        numpy.testing.assert_array_equal(batch.weight.numpy(),
                                         self.papers.weight[batch.e_id.numpy()])

    def test_a_batch_has_all_edges_between_its_nodes_each_once(self):
        num_edges = 0
        for given in ({}, {"weight_attr": "weight"}, {"replace": True}):
            for batch in self.loader(input_nodes=torch.arange(100), shuffle=True, **given):
                self.check_ends(batch)
                self.assertEqual(batch.validate(), True)
                self.assertEqual(batch.n_id.unique().numel(), batch.num_nodes)
                self.assertEqual(sorted(batch.e_id.tolist()), self.induced(batch.n_id))
                self.assertNotIn("num_sampled_nodes", batch)
                self.assertNotIn("num_sampled_edges", batch)
                num_edges += batch.num_edges
        self.assertGreater(num_edges, 5000)

    def test_directed_false_is_induced_as_it_was_in_pyg(self):
        batch = next(iter(self.loader(subgraph_type="directional", directed=False, input_nodes=[4])))
        self.assertEqual(sorted(batch.e_id.tolist()), self.induced(batch.n_id))

    def test_the_nodes_are_those_that_are_drawn(self):
        def nodes(**given):
            return [batch.n_id.tolist() for batch in self.loader(run_seed=7, **given)]

        for disjoint in (False, True):
            self.assertEqual(nodes(disjoint=disjoint),
                             nodes(disjoint=disjoint, subgraph_type="directional"))

    def test_disjoint_trees_are_induced_each_by_itself(self):
        for batch in self.loader(input_nodes=torch.arange(12), disjoint=True, batch_size=4):
            self.check_ends(batch)
            of_edges = batch.batch[batch.edge_index]
            self.assertEqual(of_edges[0].tolist(), of_edges[1].tolist())
            for tree in range(4):
                self.assertEqual(sorted(batch.e_id[of_edges[0] == tree].tolist()),
                                 self.induced(batch.n_id[batch.batch == tree]))

    def test_a_tree_has_no_edges_later_than_its_seed(self):
        times = torch.arange(-40, 44, 7)
        for batch in self.loader([-1, 4], input_nodes=torch.arange(12), input_time=times,
                                 time_attr="time", batch_size=5):
            self.check_ends(batch)
            for tree in range(batch.batch_size):
                expected = [edge for edge in self.induced(batch.n_id[batch.batch == tree])
                            if self.papers.time[edge] <= batch.seed_time[tree]]
                of_tree = batch.batch[batch.edge_index[0]] == tree
                self.assertEqual(sorted(batch.e_id[of_tree].tolist()), expected)

    def test_links_that_are_excluded_stay_so(self):
        links = self.edge_index[:, :40]
        for exclude in ("none", "self"):
            for batch in LinkNeighborLoader(self.data, [3], links, batch_size=8, exclude=exclude,
                                            neg_sampling=("triplet", 2), subgraph_type="induced"):
                asked = set(map(tuple, links[:, batch.input_id].t().tolist()))
                expected = [edge for edge in self.induced(batch.n_id) if exclude == "none" or
                            tuple(self.edge_index[:, edge].tolist()) not in asked]
                self.check_ends(batch)
                self.assertEqual(sorted(batch.e_id.tolist()), expected)

    def test_pygs_own_loader_takes_the_sampler(self):
        sampler = NeighborSampler(self.data, [3, 2], subgraph_type="induced")
        for batch in NodeLoader(self.data, sampler, input_nodes=torch.arange(20), batch_size=8):
            self.assertEqual(sorted(batch.e_id.tolist()), self.induced(batch.n_id))
            self.assertNotIn("num_sampled_nodes", batch)
        batch = self.loader(input_nodes=torch.arange(20))([3, 5])  # here and now
        self.assertEqual(sorted(batch.e_id.tolist()), self.induced(batch.n_id))

    def test_in_the_library_an_induced_batch_is_one_hop(self):
        graph = self.data.graph
        batch = graph.sample("paper", [3, 5, 3], [3, 2], subgraph="induced", edge_ids=True,
                             edge_columns=[("paper:cites:paper", "weight")])
        num_nodes = len(batch.nodes())
        self.assertEqual(batch.num_hops, 1)
        self.assertEqual(batch.hop_ends().tolist(), [2, num_nodes])
        block, = batch.blocks
        self.assertEqual((block.first_target, block.num_targets, block.num_sources),
                         (0, num_nodes, num_nodes))
        ids = graph.user_ids("paper", batch.nodes()).torch()
        self.assertEqual(sorted(batch.edge_ids().tolist()), self.induced(ids))
        numpy.testing.assert_array_equal(
            batch.edge_columns[0, "paper:cites:paper", "weight"].numpy(),
            self.papers.weight[batch.edge_ids().numpy()])
        with self.assertRaises(ValueError) as caught:
            layers(batch, False)
        self.assertIn("induced", str(caught.exception))
        with self.assertRaises(vicinity_graph.InvalidArgument) as caught:
            graph.sample("paper", [3], [3], subgraph="inducted")
        self.assertIn("directional", str(caught.exception))

    def test_without_hops_it_is_of_the_seeds_alone(self):
        graph = self.data.graph
        batch = graph.sample("paper", range(60), [], subgraph="induced", edge_ids=True)
        self.assertEqual(batch.nodes().tolist(), list(range(60)))
        ids = graph.user_ids("paper", batch.nodes()).torch()
        self.assertEqual(sorted(batch.edge_ids().tolist()), self.induced(ids))
        self.assertEqual(batch.hop_ends().tolist(), [60, 60])
        for batch in graph.loader([], seeds=torch.arange(100), batch_size=40, edge_ids=True,
                                  subgraph="induced"):
            ids = graph.user_ids("paper", batch.nodes()).torch()
            self.assertEqual(ids.tolist(), ids[batch.seeds.torch().long()].tolist())
            self.assertEqual(sorted(batch.edge_ids().tolist()), self.induced(ids))
        with self.assertRaises(vicinity_graph.InvalidArgument) as caught:
            graph.sample("paper", [3], [])
        self.assertIn("induced", str(caught.exception))

    def test_a_state_is_of_one_kind_of_edges(self):
        state = self.loader().state_dict()
        with self.assertRaises(ValueError):
            self.loader(subgraph_type="directional").load_state_dict(state)


class ShopTest(unittest.TestCase):
    """Several types."""

    BUYS, OF, KNOWS = ("user", "buys", "item"), ("item", "of", "user"), ("user", "knows", "user")

    @classmethod
    def setUpClass(cls):
        cls.shop = Shop()
        cls.addClassCleanup(cls.shop.close)
        cls.data = connect(cls.shop.cluster_file)

    def in_memory(self):
        data = HeteroData()
        data["user"].num_nodes, data["item"].num_nodes = Shop.USERS, Shop.ITEMS
        buys = torch.from_numpy(numpy.stack(self.shop.buys))
        data[self.BUYS].edge_index, data[self.OF].edge_index = buys, buys.flip(0)
        data[self.KNOWS].edge_index = torch.from_numpy(self.shop.knows.T)
        for edge_type in data.edge_types:
            data[edge_type].e_id = torch.arange(data[edge_type].edge_index.size(1))
        return data

    def test_a_batch_has_all_edges_that_pyg_finds(self):
        whole = self.in_memory()
        for batch in NeighborLoader(self.data, [4, 3], input_nodes=("user", torch.arange(40)),
                                    batch_size=16, subgraph_type="induced"):
            items = torch.tensor([int(name.split()[1])
                                  for name in self.data.names("item", batch["item"].n_id)])
            ids = {"user": batch["user"].n_id, "item": items}
            expected = whole.subgraph({each: nodes.sort().values for each, nodes in ids.items()})
            self.assertEqual(batch.validate(), True)
            for edge_type in self.data.edge_types:
                edges = batch[edge_type].e_id
                self.assertEqual(edges.sort().values.tolist(), expected[edge_type].e_id.tolist())
                self.assertGreater(edges.numel(), 0)
                self.assertNotIn("num_sampled_edges", batch[edge_type])
                for end, node_type in enumerate((edge_type[0], edge_type[2])):
                    self.assertEqual(ids[node_type][batch[edge_type].edge_index[end]].tolist(),
                                     whole[edge_type].edge_index[end, edges].tolist())

    def test_only_edge_types_that_are_followed_are_induced(self):
        numbers = {self.BUYS: [3, 0], self.OF: [2, 2], self.KNOWS: [0, 0]}
        batch = next(iter(NeighborLoader(self.data, numbers, input_nodes=("user", torch.arange(9)),
                                         batch_size=9, subgraph_type="induced")))
        self.assertEqual(batch[self.KNOWS].edge_index.size(1), 0)
        self.assertEqual(batch[self.BUYS].edge_index.size(1), batch[self.OF].edge_index.size(1))
        self.assertGreater(batch[self.OF].edge_index.size(1), 0)

    def test_shadow_is_for_one_type(self):
        with self.assertRaises(ValueError) as caught:
            ShaDowKHopSampler(self.data, 2, 3)
        self.assertIn("disjoint=True", str(caught.exception))


class ShaDowTest(unittest.TestCase):
    """Of a graph whose ids are not dense."""

    @classmethod
    def setUpClass(cls):
        cls.papers = Papers(num_edges=1200, ids=numpy.arange(300) * 3 + 1000)
        cls.addClassCleanup(cls.papers.close)
        cls.data = connect(cls.papers.cluster_file)
        cls.edge_index = torch.div(torch.from_numpy(cls.papers.edge_index) - 1000, 3,
                                   rounding_mode="floor")

    def check_batch(self, batch, roots):
        """All that must hold of any; nodes by their places in the arrays from here on."""
        papers = self.papers
        self.assertIsInstance(batch, Batch)
        self.assertEqual(batch.num_graphs, len(roots))
        self.assertEqual(batch.ptr.tolist(), [0, *batch.batch.bincount().cumsum(0).tolist()])
        self.assertEqual(batch.batch.tolist(), batch.batch.sort().values.tolist())
        places = torch.div(batch.n_id - 1000, 3, rounding_mode="floor")
        self.assertEqual(places[batch.root_n_id].tolist(), list(roots))
        self.assertEqual(batch.batch[batch.root_n_id].tolist(), list(range(len(roots))))
        numpy.testing.assert_array_equal(batch.x.numpy(), papers.x[places.numpy()])
        numpy.testing.assert_array_equal(batch.y.numpy(), papers.y[roots])  # of roots, as PyG's
        numpy.testing.assert_array_equal(batch.train_mask.numpy(), papers.train_mask[places.numpy()])
        numpy.testing.assert_array_equal(batch.weight.numpy(), papers.weight[batch.e_id.numpy()])
        self.assertEqual(places[batch.edge_index].tolist(), self.edge_index[:, batch.e_id].tolist())
        by_source = batch.edge_index[0] * batch.num_nodes + batch.edge_index[1]
        self.assertEqual(by_source.tolist(), by_source.sort().values.tolist())
        trees = batch.batch[batch.edge_index]
        self.assertEqual(trees[0].tolist(), trees[1].tolist())
        for tree in range(len(roots)):
            nodes = places[batch.ptr[tree]:batch.ptr[tree + 1]]
            self.assertEqual(nodes.unique().numel(), nodes.numel())
            _, edges = subgraph(nodes, self.edge_index, torch.arange(1200), num_nodes=300)
            self.assertEqual(batch.e_id[trees[0] == tree].sort().values.tolist(), edges.tolist())
        return places

    def test_with_all_neighbours_a_graph_is_that_of_pygs_k_hops(self):
        roots = [5, 77, 5, 298, 0]
        ids = torch.tensor(roots) * 3 + 1000
        batch, = ShaDowKHopSampler(self.data, 2, -1, node_idx=ids, batch_size=8)
        places = self.check_batch(batch, roots)
        for tree, root in enumerate(roots):
            nodes, _, _, _ = k_hop_subgraph(root, 2, self.edge_index, num_nodes=300)
            self.assertEqual(places[batch.batch == tree].sort().values.tolist(), nodes.tolist())

    def test_each_hop_meets_at_most_as_many_neighbours_as_asked_for(self):
        for replace in (False, True):
            loader = ShaDowKHopSampler(self.data, depth=2, num_neighbors=3, replace=replace,
                                       batch_size=64, shuffle=True, num_workers=3)
            self.assertEqual(len(loader), 5)
            seen = []
            for batch in loader:
                roots = torch.div(batch.n_id[batch.root_n_id] - 1000, 3, rounding_mode="floor")
                self.check_batch(batch, roots.tolist())
                self.assertLessEqual(batch.batch.bincount().max().item(), 1 + 3 + 9)
                seen += roots.tolist()
            self.assertEqual(sorted(seen), list(range(300)))
            self.assertNotEqual(seen, sorted(seen))

    def test_roots_of_a_mask_and_what_is_left_out(self):
        mask = self.data.train_mask
        loader = ShaDowKHopSampler(self.data, 1, 2, node_idx=mask, batch_size=1000, e_id=False)
        batch, = loader
        chosen = self.papers.train_mask.nonzero()[0]
        self.assertEqual(batch.n_id[batch.root_n_id].tolist(), self.papers.ids[chosen].tolist())
        self.assertEqual(loader.dataset, self.papers.ids[chosen].tolist())
        self.assertNotIn("e_id", batch)
        self.assertEqual(len(ShaDowKHopSampler(self.data, 1, 2).dataset), 300)

    def test_a_root_that_no_edge_leads_to_is_a_graph_of_its_own(self):
        degrees = torch.bincount(self.edge_index[1], minlength=300)
        lonely = int((degrees == 0).nonzero()[0])
        batch, = ShaDowKHopSampler(self.data, 2, 3, node_idx=torch.tensor([lonely * 3 + 1000]))
        self.check_batch(batch, [lonely])
        self.assertEqual(batch.num_nodes, 1)

    def test_errors_name_what_is_wrong(self):
        for error, text, given in (
                (vicinity_graph.InvalidArgument, "9 hops", {"depth": 9}),
                (vicinity_graph.InvalidArgument, "fanout -2", {"num_neighbors": -2}),
                (LookupError, "7", {"node_idx": torch.tensor([7])}),
                (TypeError, "batchsize", {"batchsize": 3}),
                (ValueError, "batch_size", {"batch_size": 0})):
            with self.subTest(given=given), self.assertRaises(error) as caught:
                ShaDowKHopSampler(self.data, **{"depth": 2, "num_neighbors": 2, **given})
            self.assertIn(text, str(caught.exception))


if __name__ == "__main__":
    run_tests()
