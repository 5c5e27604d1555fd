#!/usr/bin/env python3
"""Samples by the times of nodes, and among neighbours that meet a condition, of which edges have copies:
over daemons and mapped, against PyG's rules (a seed's time holds at every hop of its tree, inclusive)
applied to the arrays that the graphs were made of."""

import importlib
import pathlib
import re
import sys
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts what Debian lacks

from imported_graphs import ImportedGraph  # noqa: E402
from small_cluster import run_tests, tool  # noqa: E402

import numpy  # noqa: E402

try:
    importlib.import_module("torch_geometric")
except ImportError as error:
    sys.exit(f"node_times_test: {error}: deploy/setup.sh installs it")

import torch  # noqa: E402
from torch_geometric.data import Data, HeteroData  # noqa: E402
from torch_geometric.loader import LinkLoader, NodeLoader  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph import convert  # noqa: E402
from vicinity_graph.pyg import LinkNeighborLoader, NeighborLoader, NeighborSampler, \
    connect  # noqa: E402

CITES = "paper:cites:paper"


class DatedPapers(ImportedGraph):
    """Papers with a time and a year, many of them alike; paper 0 is cited by all."""

    def __init__(self, num_nodes=300, num_edges=2400):
        random = numpy.random.default_rng(11)
        ends = random.integers(0, num_nodes, (2, num_edges))
        hub = numpy.stack([numpy.arange(1, num_nodes), numpy.zeros(num_nodes - 1, numpy.int64)])
        self.edge_index = numpy.concatenate([ends, hub], axis=1)
        self.time = random.integers(-50, 50, num_nodes)
        self.year = random.integers(2000, 2020, num_nodes).astype(numpy.int32)
        super().__init__("""
            name: "papers"
            nodes {
              name: "paper" count: %d
              columns { name: "time" array { path: "time.npy" } }
              columns { name: "year" array { path: "year.npy" } }
            }
            edges {
              source: "paper" relation: "cites" target: "paper"
              ends { path: "edges.npy" } transposed: true
              columns { of_source: "time" }
              columns { name: "year_of_source" of_source: "year" }
            }""" % num_nodes,
                         {"edges.npy": self.edge_index, "time.npy": self.time, "year.npy": self.year})
        self.three_shards = self.shards.parent / "three"
        tool("partition", "--input", self.shards.parent / "whole", "--output", self.three_shards,
             "--shards", 3, "--assigner", "range")

    def into(self, node, until):
        """Edges that lead to a node from sources that are not later."""
        sources, targets = self.edge_index
        return numpy.flatnonzero((targets == node) & (self.time[sources] <= until))

    def tree(self, seed, until, num_hops):
        """All edges of a seed's tree."""
        met, last, edges = {seed}, {seed}, set()
        for _ in range(num_hops):
            drawn = {edge for node in last for edge in self.into(node, until).tolist()}
            edges |= drawn
            last = set(self.edge_index[0, list(drawn)].tolist()) - met
            met |= last
        return edges


class NodeTimesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.papers = DatedPapers()
        cls.addClassCleanup(cls.papers.close)
        cls.data = connect(cls.papers.cluster_file)
        torch.manual_seed(3)
        cls.time = torch.from_numpy(cls.papers.time)

    def loader(self, num_neighbors, **given):
        return NeighborLoader(self.data, num_neighbors, **{"batch_size": 50, "time_attr": "time",
                                                           **given})

    def edges_by_tree(self, batch):
        """Of each tree its edge ids."""
        trees = batch.batch[batch.edge_index[1]]
        self.assertTrue(torch.equal(trees, batch.batch[batch.edge_index[0]]))
        return [batch.e_id[trees == tree].tolist() for tree in range(batch.batch_size)]

    def test_each_edge_has_the_rows_of_its_source_on_any_cut(self):
        for given in ({"cluster_file": self.papers.cluster_file},
                      {"directory": self.papers.three_shards}):
            with vicinity_graph.Graph(**given) as graph:
                self.assertEqual([each.get("of_source")
                                  for each in graph.description["edge_types"][0]["columns"]],
                                 ["time", "year"])
                batch = graph.sample("paper", graph.nodes("paper"), [-1], edge_ids=True,
                                     edge_columns=[(CITES, "time"), (CITES, "year_of_source")])
                ids = batch.edge_ids().numpy()
                self.assertEqual(sorted(ids.tolist()), list(range(len(self.papers.edge_index[0]))))
                sources = self.papers.edge_index[0, ids]
                numpy.testing.assert_array_equal(batch.edge_columns[0, CITES, "time"].numpy(),
                                                 self.papers.time[sources])
                numpy.testing.assert_array_equal(
                    batch.edge_columns[0, CITES, "year_of_source"].numpy(), self.papers.year[sources])

    def test_every_cut_has_the_audit_of_the_import(self):
        def audit(folder):
            text = (folder / "manifest.textproto").read_text()
            return re.search(r"^audit \{.*?^\}", text, re.MULTILINE | re.DOTALL).group()
        whole = audit(self.papers.shards.parent / "whole")
        self.assertEqual(whole.count("columns:"), 4)
        for cut in (self.papers.shards, self.papers.three_shards):
            self.assertEqual(audit(cut), whole)

    def test_with_all_neighbours_a_tree_is_what_was_there_at_its_seeds_own_time(self):
        seeds = torch.arange(0, 300, 3)
        for batch in self.loader([-1, -1], input_nodes=seeds, shuffle=True):
            nodes = seeds[batch.input_id].tolist()
            for node, edges in zip(nodes, self.edges_by_tree(batch)):
                self.assertEqual(len(edges), len(set(edges)))
                self.assertEqual(set(edges), self.papers.tree(node, self.papers.time[node], 2))

    def test_a_time_that_is_given_goes_before_the_seeds_own(self):
        seeds, times = torch.arange(60), torch.randint(-60, 60, (60,))
        for batch in self.loader([-1, -1, -1], input_nodes=seeds, input_time=times, batch_size=20):
            self.assertEqual(batch.seed_time.tolist(), times[batch.input_id].tolist())
            for position, edges in zip(batch.input_id.tolist(), self.edges_by_tree(batch)):
                self.assertEqual(set(edges), self.papers.tree(position, times[position].item(), 3))

    def test_seeds_that_are_all_nodes_or_a_mask_have_their_own_times(self):
        mask = torch.arange(300) % 4 == 1
        for given, count in (({}, 300), ({"input_nodes": mask}, 75)):
            seen = 0
            for batch in self.loader([-1], **given):
                for node, edges in zip(batch.n_id[:batch.batch_size].tolist(),
                                       self.edges_by_tree(batch)):
                    self.assertEqual(sorted(edges),
                                     self.papers.into(node, self.papers.time[node]).tolist())
                    seen += 1
            self.assertEqual(seen, count)

    def test_draws_are_as_many_as_there_are_and_none_is_later(self):
        seeds = torch.randperm(300)[:90]
        for strategy in ("uniform", "last"):
            for batch in self.loader([4, 3], input_nodes=seeds, temporal_strategy=strategy):
                hops = batch.num_sampled_nodes
                until = self.time[seeds[batch.input_id]][batch.batch]
                targets, expanded = batch.edge_index[1], sum(hops[:2])
                self.assertGreater(batch.edge_index.size(1), 50)
                for place in range(expanded):
                    node = batch.n_id[place].item()
                    there = self.papers.into(node, until[place].item())
                    found = batch.e_id[targets == place].tolist()
                    self.assertEqual(len(found), min(len(there), 4 if place < hops[0] else 3))
                    self.assertTrue(set(found) <= set(there.tolist()))
                    self.assertEqual(len(found), len(set(found)))
                    if strategy == "last":
                        latest = numpy.sort(self.papers.time[self.papers.edge_index[0, there]])
                        self.assertEqual(
                            sorted(self.papers.time[self.papers.edge_index[0, found]].tolist()),
                            latest[len(latest) - len(found):].tolist())

    def test_what_is_not_later_is_drawn_with_equal_chances(self):
        draws, fanout, until = 4000, 2, 0
        there = self.papers.into(0, until)
        batch = next(iter(self.loader(
            [fanout], input_nodes=torch.zeros(draws, dtype=torch.int64), batch_size=draws, run_seed=3,
            input_time=torch.full((draws,), until))))
        self.assertEqual(batch.e_id.numel(), draws * fanout)

        def chi_square(among):
            counts = numpy.array([(batch.e_id.numpy() == edge).sum() for edge in among])
            expected = draws * fanout / len(among)
            return ((counts - expected) ** 2 / expected).sum() / len(among)
        self.assertLess(chi_square(there), 1.5)  # of some 150 counts: 4 standard deviations
        self.assertGreater(chi_square(self.papers.into(0, 50)), 10)  # the same of all edges is not

    def test_draws_are_the_same_on_any_cut_near_and_far(self):
        seeds = numpy.arange(0, 300, 7)
        for strategy in ("uniform", "last"):
            drawn = []
            for given in ({"cluster_file": self.papers.cluster_file},
                          {"directory": self.papers.shards},
                          {"directory": self.papers.three_shards}):
                with vicinity_graph.Graph(**given) as graph:
                    batch = graph.sample(
                        "paper", vicinity_graph.UserIds(seeds), [4, 3], disjoint=True,
                        time_column="time", seed_times=self.papers.time[seeds], edge_ids=True,
                        temporal_strategy=strategy, run_seed=9)
                    drawn.append(batch.edge_ids().tolist())
            self.assertGreater(len(drawn[0]), 100)
            self.assertEqual(drawn[0], drawn[1])
            self.assertEqual(drawn[0], drawn[2])

    def test_neighbours_are_drawn_by_conditions_on_their_columns(self):
        sources, targets = self.papers.edge_index
        late = self.papers.year[sources] >= 2010
        for batch in NeighborLoader(self.data, [-1], batch_size=100, where="year_of_source >= 2010"):
            wanted = numpy.flatnonzero(late & numpy.isin(targets, batch.n_id[:100].numpy()))
            self.assertEqual(sorted(batch.e_id.tolist()), wanted.tolist())
        for batch in self.loader([3], where="year_of_source >= 2010"):
            until = self.papers.time[targets[batch.e_id]]
            self.assertTrue((self.papers.time[sources[batch.e_id]] <= until).all())
            self.assertTrue(late[batch.e_id].all())

    def test_batches_have_times_of_nodes_alone(self):
        batch = next(iter(self.loader([2])))
        numpy.testing.assert_array_equal(batch.time.numpy(), self.papers.time[batch.n_id])
        self.assertNotIn("year_of_source", batch)
        self.assertNotIn("seed_time", batch.to_dict())  # PyG's has none either

    def test_pygs_own_loaders_know_the_seeds_times(self):
        sampler = NeighborSampler(self.data, [-1], time_attr="time")
        seeds = torch.arange(0, 300, 5)
        for loader in (NodeLoader(self.data, sampler, input_nodes=seeds, batch_size=16),
                       [self.loader([-1], input_nodes=seeds)(torch.arange(20))]):
            for batch in loader:
                for node, edges in zip(batch.n_id[:batch.batch_size].tolist(),
                                       self.edges_by_tree(batch)):
                    self.assertEqual(sorted(edges),
                                     self.papers.into(node, self.papers.time[node]).tolist())

    def test_links_need_times_and_negatives_are_not_later(self):
        links = torch.from_numpy(self.papers.edge_index[:, :80])
        times = torch.arange(80) - 20
        given = {"edge_label_index": links, "edge_label_time": times, "batch_size": 40}
        for batch in LinkNeighborLoader(self.data, [-1], time_attr="time", **given):
            until = batch.edge_label_time[batch.batch[batch.edge_index[1]]]
            self.assertTrue(bool((batch.time[batch.edge_index[0]] <= until).all()))
            for link, ends in enumerate(batch.n_id[batch.edge_label_index].t().tolist()):
                trees = batch.batch[batch.edge_index[1]]
                wanted = [edge for end in ends for edge in self.papers.into(
                    end, batch.edge_label_time[link].item()).tolist()]
                self.assertEqual(sorted(batch.e_id[trees == link].tolist()), sorted(wanted))
        with self.assertRaises(ValueError):
            LinkNeighborLoader(self.data, [-1], links, time_attr="time")
        with self.assertRaisesRegex(NotImplementedError, "LinkLoader"):
            LinkNeighborLoader(self.data, [-1], time_attr="time", neg_sampling="binary", **given)
        sampler = NeighborSampler(self.data, [2], time_attr="time")
        given["edge_label_index"] = (None, links)
        for batch in LinkLoader(self.data, sampler, neg_sampling=("triplet", 3), **given):
            negatives = batch.time[batch.dst_neg_index]
            self.assertTrue(bool((negatives <= batch.seed_time.view(-1, 1)).all()))

    def test_times_of_nodes_that_edges_do_not_have_are_refused_with_what_to_do(self):
        data = Data(time=torch.arange(9), x=torch.zeros(9, 2), num_nodes=9,
                    edge_index=torch.stack([torch.arange(8), torch.arange(8) + 1]))
        folder = self.papers.shards.parent
        for name, given in (("without", {}), ("with", {"copy_to_edges": ["time"]})):
            description = convert.from_pyg(data, folder / name, **given)
            tool("import", "--description", description, "--output", folder / f"{name}_graph")
        with self.assertRaises(ValueError) as caught:
            NeighborLoader(connect(folder / "without_graph"), [2], time_attr="time")
        for text in ("['node:to:node']", 'columns { of_source: "time" }', "copy_to_edges=['time']"):
            self.assertIn(text, str(caught.exception))
        batch = next(iter(NeighborLoader(connect(folder / "with_graph"), [2], batch_size=9,
                                         time_attr="time")))
        self.assertEqual(batch.edge_index.size(1), 8)  # each from the one before
        with self.assertRaisesRegex(ValueError, "one int64"):
            NeighborLoader(self.data, [2], time_attr="year")


class DatedShop(ImportedGraph):
    """Users without a time buy items, which have names and times."""

    USERS, ITEMS = 120, 40

    def __init__(self):
        random = numpy.random.default_rng(12)
        self.names = [f"item {i}" for i in range(self.ITEMS)]
        self.time = random.integers(0, 30, self.ITEMS)
        self.buys = random.integers(0, self.USERS, 700), random.integers(0, self.ITEMS, 700)
        super().__init__(f"""
            name: "shop"
            add_reverse: true
            nodes {{ name: "user" count: {self.USERS} }}
            nodes {{
              name: "item" ids {{ path: "names.csv" }}
              columns {{ name: "time" array {{ path: "time.npy" }} }}
            }}
            edges {{
              source: "item" relation: "of" target: "user" ends {{ path: "of.csv" }}
              columns {{ of_source: "time" }}
            }}""", {"time.npy": self.time, "names.csv": "".join(f"{name}\n" for name in self.names),
                    "of.csv": "".join(f"{self.names[item]},{user}\n"
                                      for user, item in zip(*self.buys))})


class TypedNodeTimesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shop = DatedShop()
        cls.addClassCleanup(cls.shop.close)
        cls.data = connect(cls.shop.cluster_file)
        numbers = {name: number for number, name in enumerate(cls.shop.names)}
        names = cls.data.names("item", torch.arange(cls.shop.ITEMS))
        cls.item_of = numpy.array([numbers[name] for name in names])  # by global id

    def tree(self, users, items, until, num_hops):
        """Ids of edges of both types: the same, since one is the other reversed."""
        users, items = set(users), set(items)
        of_users, of_items, last_users, last_items = set(), set(), users, items
        for _ in range(num_hops):
            drawn = [set(numpy.flatnonzero(numpy.isin(self.shop.buys[0], list(last_users)) &
                                           (self.shop.time[self.shop.buys[1]] <= until)).tolist()),
                     set(numpy.flatnonzero(numpy.isin(self.shop.buys[1], list(last_items))).tolist())]
            of_users |= drawn[0]
            of_items |= drawn[1]  # users have no times: all of them
            last_items = set(self.shop.buys[1][list(drawn[0])].tolist()) - items
            last_users = set(self.shop.buys[0][list(drawn[1])].tolist()) - users
            users, items = users | last_users, items | last_items
        return of_users, of_items

    def check(self, batch, node_type, times):
        self.assertIsInstance(batch, HeteroData)
        for tree, seed in enumerate(batch[node_type].n_id[:batch[node_type].batch_size].tolist()):
            seeds = ([], [self.item_of[seed]]) if node_type == "item" else ([seed], [])
            wanted = self.tree(*seeds, times[tree], 2)
            for edge_type, edges in zip((("item", "of", "user"), ("user", "rev_of", "item")), wanted):
                store = batch[edge_type]
                trees = batch[edge_type[2]].batch[store.edge_index[1]]
                self.assertEqual(sorted(store.e_id[trees == tree].tolist()), sorted(edges))

    def test_only_types_with_times_are_sampled_by_time(self):
        loader = NeighborLoader(self.data, [-1, -1], input_nodes="item", time_attr="time",
                                batch_size=10)
        for batch in loader:
            self.check(batch, "item",
                       self.shop.time[self.item_of[batch["item"].n_id[:10].numpy()]])
        times = torch.randint(0, 30, (self.shop.USERS,))
        loader = NeighborLoader(self.data, [-1, -1], input_nodes="user", input_time=times,
                                time_attr="time", batch_size=40)
        for batch in loader:
            self.check(batch, "user", times[batch["user"].input_id].numpy())

    def test_seeds_without_a_time_of_their_own_need_one(self):
        with self.assertRaisesRegex(ValueError, "'user', so input_time is needed"):
            NeighborLoader(self.data, [2], input_nodes="user", time_attr="time")
        sampler = NeighborSampler(self.data, [2], time_attr="time")
        with self.assertRaisesRegex(ValueError, "'user', so input_time is needed"):
            next(iter(NodeLoader(self.data, sampler, input_nodes=("user", torch.arange(3)))))


if __name__ == "__main__":
    run_tests()
