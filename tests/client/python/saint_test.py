#!/usr/bin/env python3
"""GraphSAINT and Cluster-GCN over daemons and mapped shards: edges against those that brute force
finds in the arrays that the graph was made of, draws against the chances that PyG's code gives,
normalisation against PyG's formula over the sets that were drawn."""

import collections
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts what Debian lacks

from imported_graphs import ImportedGraph, Shop  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402
import torch  # noqa: E402

try:
    import torch_geometric  # noqa: F401
except ImportError as error:
    sys.exit(f"saint_test: {error}: deploy/setup.sh installs it")

from torch.utils.data.distributed import DistributedSampler  # noqa: E402
from torch_geometric.data import Data  # noqa: E402
from torch_geometric.loader import cluster as pyg_cluster  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph.pyg import ClusterData, ClusterLoader, GraphSAINTEdgeSampler, \
    GraphSAINTNodeSampler, GraphSAINTRandomWalkSampler, GraphSAINTSampler, _node_sets, connect, \
    graph_saint  # noqa: E402

NUM_NODES, NUM_EDGES = 90, 500


class Skewed(ImportedGraph):
    """Of one type: sources that are low, targets that are high, some edges twice, some loops, nodes
    that no edge leads to or comes from. `ids` are "dense", "sparse" or "names"."""

    def __init__(self, ids="dense", num_shards=2, num_edges=NUM_EDGES, edge_column="weight"):
        random = numpy.random.default_rng(11)
        low = (NUM_NODES * random.random(num_edges) ** 1.5).astype(numpy.int64)
        high = NUM_NODES - 1 - (NUM_NODES * random.random(num_edges) ** 2).astype(numpy.int64)
        self.ends = numpy.stack([low, high])  # by places
        self.ends[:, 1::10] = self.ends[:, :-1:10]
        self.ends[:, ::25] = self.ends[1, ::25]
        self.x = random.normal(size=(NUM_NODES, 3)).astype(numpy.float32)
        self.y = random.integers(0, 5, NUM_NODES).astype(numpy.int32)
        self.train_mask = random.random(NUM_NODES) < 0.5
        self.weight = random.random(num_edges).astype(numpy.float32)
        self.ids = {"dense": numpy.arange(NUM_NODES), "sparse": numpy.arange(NUM_NODES) * 7 + 100,
                    "names": numpy.array([f"n{i:03}" for i in range(NUM_NODES)])}[ids]
        edges = self.ids[self.ends]
        arrays = {"x.npy": self.x, "y.npy": self.y, "train.npy": self.train_mask,
                  "weight.npy": self.weight}
        given = {"dense": f"count: {NUM_NODES}", "sparse": 'ids { path: "ids.npy" }',
                 "names": 'ids { path: "ids.csv" }'}[ids]
        if ids == "names":
            arrays["ids.csv"] = "".join(f"{name}\n" for name in self.ids)
            arrays["edges.csv"] = "".join(f"{source},{target}\n" for source, target in edges.T)
            lists = 'ends { path: "edges.csv" }'
        else:
            arrays.update({"ids.npy": self.ids, "edges.npy": edges})
            lists = 'ends { path: "edges.npy" } transposed: true'
        super().__init__(f"""
            name: "skewed"
            nodes {{
              name: "node" {given}
              columns {{ name: "x" array {{ path: "x.npy" }} }}
              label {{ array {{ path: "y.npy" }} }}
              train {{ mask {{ path: "train.npy" }} }}
            }}
            edges {{
              source: "node" relation: "to" target: "node" {lists}
              columns {{ name: "{edge_column}" array {{ path: "weight.npy" }} }}
            }}""", arrays, num_shards)

    def places(self, data, batch):
        """Of a batch's nodes, in the arrays."""
        if self.ids.dtype.kind == "U":
            given = numpy.array(data.names("node", batch.n_id))
        else:
            given = batch.n_id.numpy()
        places = numpy.searchsorted(self.ids, given)
        numpy.testing.assert_array_equal(self.ids[places], given)
        return places

    def induced(self, places):
        """By brute force: of edges both of whose ends are among these."""
        chosen = set(places.tolist())
        return [edge for edge, (source, target) in enumerate(self.ends.T.tolist())
                if source in chosen and target in chosen]

    def check_batch(self, test, data, batch):
        """All that must hold of any; the places of its nodes."""
        places = self.places(data, batch)
        test.assertIs(type(batch), Data)
        test.assertTrue(batch.validate())
        test.assertEqual(batch.num_nodes, places.size)
        test.assertEqual(len(set(places.tolist())), places.size)
        numpy.testing.assert_array_equal(batch.x.numpy(), self.x[places])
        numpy.testing.assert_array_equal(batch.y.numpy(), self.y[places])
        numpy.testing.assert_array_equal(batch.train_mask.numpy(), self.train_mask[places])
        edges = batch.e_id.numpy()
        test.assertEqual(sorted(edges.tolist()), self.induced(places))
        numpy.testing.assert_array_equal(places[batch.edge_index.numpy()], self.ends[:, edges])
        numpy.testing.assert_array_equal(batch.weight.numpy(), self.weight[edges])
        in_order = batch.edge_index[0] * batch.num_nodes + batch.edge_index[1]
        test.assertEqual(in_order.tolist(), in_order.sort().values.tolist())
        return places


KINDS = {GraphSAINTNodeSampler: {}, GraphSAINTEdgeSampler: {},
         GraphSAINTRandomWalkSampler: {"walk_length": 3}}


def make(kind, data, **given):
    return kind(data, **{"batch_size": 12, "num_steps": 4, "log": False, "run_seed": 5,
                         **KINDS.get(kind, {}), **given})


def sets(loader):
    return [batch.n_id.tolist() for batch in loader]


def recording(kind):
    """The sampler, which keeps what it draws, under the name that it has."""
    class Recording(kind):
        def __init__(self, *args, **given):
            self.drawn = []
            super().__init__(*args, **given)

        def _sample_nodes(self, draws):
            places = super()._sample_nodes(draws)
            self.drawn.append(places)
            return places

    Recording.__name__ = kind.__name__
    return Recording


def chi_square(counts, chances):
    """How many times the most that is to be expected, once in ten thousand, the statistic is."""
    counts, chances = counts[chances > 0], chances[chances > 0]
    expected = counts.sum() * chances / chances.sum()
    assert expected.min() >= 5, expected.min()
    freedom = counts.size - 1
    limit = freedom * (1 - 2 / (9 * freedom) + 3.719 * (2 / (9 * freedom)) ** 0.5) ** 3
    return ((counts - expected) ** 2 / expected).sum() / limit


class GraphTest(unittest.TestCase):
    """Has a graph, served and mapped."""

    @classmethod
    def setUpClass(cls):
        cls.graph = Skewed()
        cls.addClassCleanup(cls.graph.close)
        cls.data = connect(cls.graph.cluster_file)
        cls.near = connect(cls.graph.shards)


class BatchTest(GraphTest):
    def test_a_batch_is_the_subgraph_of_its_nodes(self):
        for kind in KINDS:
            with self.subTest(kind=kind.__name__):
                num_edges = 0
                loader = make(kind, self.data, num_workers=2, shuffle=True)
                self.assertEqual(len(loader), 4)
                for batch in loader:
                    places = self.graph.check_batch(self, self.data, batch)
                    self.assertEqual(sorted(places.tolist()), places.tolist())
                    self.assertNotIn("node_norm", batch)
                    self.assertNotIn("edge_norm", batch)
                    num_edges += batch.num_edges
                self.assertGreater(num_edges, 10)

    def test_nodes_and_edges_of_a_set_are_few_enough(self):
        for kind, most in zip(KINDS, (12, 24, 48)):
            for batch in make(kind, self.data):
                self.assertLessEqual(batch.num_nodes, most)
                self.assertGreater(batch.num_nodes, most // 4)

    def test_epochs_differ_and_follow_from_the_seed(self):
        for kind in KINDS:
            loader = make(kind, self.data)
            first, second = sets(loader), sets(loader)
            self.assertEqual(len({tuple(each) for each in first + second}), 8)
            again = make(kind, self.data, sample_threads=1)
            self.assertEqual([sets(again), sets(again)], [first, second])
            self.assertNotEqual(sets(make(kind, self.data, run_seed=6)), first)

    def test_without_run_seed_draws_follow_torch(self):
        drawn = []
        for seed in (3, 3, 4):
            torch.manual_seed(seed)
            loader = GraphSAINTNodeSampler(self.data, 12, num_steps=2)
            drawn.append(sets(loader))
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])

    def test_trainers_have_the_steps_of_an_epoch_in_turn(self):
        whole = sets(make(GraphSAINTNodeSampler, self.data, num_steps=8))
        for trainer in range(2):
            self.assertEqual(whole[trainer::2], sets(make(
                GraphSAINTNodeSampler, self.data, trainer=trainer, num_trainers=2)))

    def test_training_goes_on_behind_the_batch_that_was_taken(self):
        whole = make(GraphSAINTNodeSampler, self.data)
        expected = sets(whole) + sets(whole)
        begun = make(GraphSAINTNodeSampler, self.data)
        taken = [batch.n_id.tolist() for _, batch in zip(range(3), begun)]
        other = make(GraphSAINTNodeSampler, self.data, run_seed=99)
        other.load_state_dict(begun.state_dict())
        self.assertEqual(taken + sets(other) + sets(other), expected)
        for given in ({"batch_size": 13}, {"num_steps": 5}, {"num_trainers": 2}):
            with self.assertRaises(ValueError):
                make(GraphSAINTNodeSampler, self.data, **given).load_state_dict(begun.state_dict())

    def test_a_pass_that_is_left_leaves_the_next_whole(self):
        loader = make(GraphSAINTNodeSampler, self.data)
        expected = [sets(loader), sets(loader)]
        loader = make(GraphSAINTNodeSampler, self.data)
        for batch in loader:
            self.assertEqual(batch.n_id.tolist(), expected[0][0])
            break
        self.assertEqual(sets(loader), expected[1])

    def test_edge_ids_may_be_left_out(self):
        for coverage in (0, 1):
            batch = next(iter(make(GraphSAINTEdgeSampler, self.data, sample_coverage=coverage,
                                   e_id=False)))
            self.assertNotIn("e_id", batch)
            self.assertEqual("edge_norm" in batch, coverage > 0)

    def test_errors_name_what_is_wrong(self):
        for error, text, given in (
                (ValueError, "batch_size is 0", {"batch_size": 0}),
                (ValueError, "num_steps is 0", {"num_steps": 0}),
                (ValueError, "sample_coverage is -1", {"sample_coverage": -1}),
                (ValueError, "trainer is 2", {"trainer": 2, "num_trainers": 2}),
                (ValueError, "sample_threads is 0", {"sample_threads": 0}),
                (TypeError, "cache", {"cache": "none"}),
                (TypeError, "stepz", {"stepz": 1})):
            with self.subTest(given=given), self.assertRaises(error) as caught:
                make(GraphSAINTNodeSampler, self.data, **given)
            self.assertIn(text, str(caught.exception))
        with self.assertRaises(TypeError):
            make(GraphSAINTNodeSampler, Data())
        with self.assertRaises(AttributeError):
            make(GraphSAINTNodeSampler, self.data).node_norm  # pylint: disable=expression-not-assigned
        with self.assertRaises(vicinity_graph.InvalidArgument):
            next(iter(make(GraphSAINTRandomWalkSampler, self.data, walk_length=-1)))

    def test_an_error_of_a_batch_reaches_who_takes_it(self):
        class Failing(GraphSAINTSampler):
            def _sample_nodes(self, draws):
                raise ArithmeticError("no nodes")

        with self.assertRaises(ArithmeticError):
            next(iter(make(Failing, self.data)))

    def test_a_sampler_of_ones_own(self):
        class First(GraphSAINTSampler):
            def _sample_nodes(self, draws):
                return torch.tensor([7, 3, 7, 20])

        for batch in make(First, self.data):
            self.assertEqual(batch.n_id.tolist(), [3, 7, 20])
            self.graph.check_batch(self, self.data, batch)


class CutTest(unittest.TestCase):
    def test_near_and_far_and_on_any_cut_batches_are_the_same(self):
        for ids in ("dense", "sparse", "names"):
            seen = []
            for num_shards in (1, 2, 3):
                graph = Skewed(ids, num_shards)
                self.addCleanup(graph.close)
                for where in (graph.cluster_file, graph.shards):
                    seen.append(list(self.described(graph, connect(where))))
            self.assertEqual(len(seen[0]), 2 * 4 * len(KINDS) + 5)
            for other in seen[1:]:
                self.assertEqual(other, seen[0])

    def described(self, graph, data):
        clusters = ClusterData(data, clusters=numpy.arange(NUM_NODES) % 5)
        loaders = [make(kind, data, sample_coverage=2) for kind in KINDS for _ in range(2)]
        for loader in [*loaders, ClusterLoader(clusters, shuffle=True, run_seed=3)]:
            for batch in loader:
                places = graph.check_batch(self, data, batch)
                norms = [batch[name].tolist() for name in ("node_norm", "edge_norm")
                         if name in batch]
                yield places.tolist(), batch.e_id.tolist(), norms


class DrawTest(GraphTest):
    """Many draws, each by itself, against PyG's chances, and against others that they must not have."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.in_degrees = numpy.bincount(cls.graph.ends[1], minlength=NUM_NODES)
        cls.out_degrees = numpy.bincount(cls.graph.ends[0], minlength=NUM_NODES)

    def drawn(self, kind, **given):
        loader = make(recording(kind), self.near, num_steps=1, batch_size=40000,
                      **{**KINDS[kind], **given})
        next(iter(loader))
        return loader.drawn[0].numpy()

    def test_a_node_comes_by_its_out_degree(self):
        counts = numpy.bincount(self.drawn(GraphSAINTNodeSampler), minlength=NUM_NODES)
        self.assertEqual(counts.sum(), 40000)
        self.assertGreater((self.out_degrees == 0).sum(), 0)
        self.assertEqual(counts[self.out_degrees == 0].sum(), 0)
        self.assertLess(chi_square(counts, self.out_degrees), 1)
        present = self.out_degrees > 0
        self.assertGreater(chi_square(counts[present], numpy.ones(present.sum())), 1)
        self.assertGreater(chi_square(counts[present], self.out_degrees[present] + 1), 1)

    def pairs(self, weights):
        """Of each pair of ends, sources x targets, the sum over its edges."""
        chances = numpy.zeros((NUM_NODES, NUM_NODES))
        numpy.add.at(chances, tuple(self.graph.ends), weights)
        return chances.reshape(-1)

    def test_an_edge_comes_by_the_degrees_that_pyg_adds(self):
        sources, targets = self.drawn(GraphSAINTEdgeSampler).reshape(2, -1)
        counts = numpy.bincount(sources * NUM_NODES + targets, minlength=NUM_NODES ** 2)
        self.assertEqual(counts.sum(), 40000)
        source, target = self.graph.ends
        chances = self.pairs(self.in_degrees[source] + self.out_degrees[target])
        self.assertEqual(counts[chances == 0].sum(), 0)
        counts, often = counts[chances > 0], chances[chances > 0]
        enough = often / often.sum() * 40000 >= 5
        counts = numpy.append(counts[enough], counts[~enough].sum())

        def statistic(chances):
            chances = chances[self.pairs(self.in_degrees[source] + self.out_degrees[target]) > 0]
            return chi_square(counts, numpy.append(chances[enough], chances[~enough].sum()))

        self.assertGreater(enough.sum(), 100)
        self.assertLess(statistic(chances), 1)
        for biased in (numpy.ones(NUM_EDGES), self.in_degrees[target] + self.out_degrees[source],
                       self.in_degrees[source] + self.out_degrees[target] + 1):
            self.assertGreater(statistic(self.pairs(biased)), 1)

    def test_walks_start_anywhere_and_go_against_edges(self):
        flat = self.drawn(GraphSAINTRandomWalkSampler, walk_length=1)
        counts, at = collections.Counter(), 0
        while at < flat.size:  # those that no edge leads to have no second node
            length = 2 if self.in_degrees[flat[at]] > 0 else 1
            counts[tuple(flat[at:at + length])] += 1
            at += length
        self.assertEqual(sum(counts.values()), 40000)
        chances = collections.Counter()
        for source, target in self.graph.ends.T.tolist():
            chances[target, source] += 1 / self.in_degrees[target]
        for lonely in (self.in_degrees == 0).nonzero()[0].tolist():
            chances[lonely,] = 1.0
        self.assertLessEqual(set(counts), set(chances))
        keys = list(chances)
        counts, chances = (numpy.array([of[key] for key in keys]) for of in (counts, chances))
        self.assertLess(chi_square(counts, chances), 1)
        self.assertGreater(chi_square(counts, numpy.ones(len(keys))), 1)

    def test_pieces_do_not_show(self):
        expected = sets(make(GraphSAINTEdgeSampler, self.near))
        with mock.patch.object(_node_sets, "_AT_A_TIME", 7):
            loader = make(GraphSAINTEdgeSampler, self.near)
            pieces = [piece.tolist() for piece in self.pieces(loader)]
        self.assertGreater(len(pieces), 20)
        self.assertEqual(sum(pieces, []), self.in_degrees.nonzero()[0].tolist())
        self.assertEqual(sets(loader), expected)
        self.assertEqual(loader.E, NUM_EDGES)

    def pieces(self, loader):
        return list(loader._sets.pieces(torch.from_numpy(self.in_degrees)))


class NormTest(GraphTest):
    def by_formula(self, drawn, num_samples):
        """As PyG's _compute_norm, over the whole graph, from the sets alone."""
        source, target = torch.from_numpy(self.graph.ends)
        node_count, edge_count = torch.zeros(NUM_NODES), torch.zeros(NUM_EDGES)
        for places in drawn:
            is_in = torch.zeros(NUM_NODES, dtype=torch.bool)
            is_in[places] = True
            node_count += is_in
            edge_count += is_in[source] & is_in[target]
        edge_norm = node_count[source] / edge_count
        edge_norm = torch.where((node_count[source] == 0) & (edge_count == 0),
                                torch.tensor(0.1), edge_norm.clamp(0, 1e4))
        seen = torch.where(node_count == 0, torch.tensor(0.1), node_count)
        return num_samples / seen / NUM_NODES, edge_norm

    def test_norms_are_pygs_of_the_sets_that_were_drawn(self):
        for kind in KINDS:
            for num_steps, coverage in ((4, 6), (1, 1), (50, 1)):
                loader = make(recording(kind), self.data, num_steps=num_steps,
                              sample_coverage=coverage, **KINDS[kind])
                drawn = [places.unique() for places in loader.drawn]
                self.assertEqual(len(drawn) % num_steps, 0)
                sizes = [places.numel() for places in drawn]
                self.assertGreaterEqual(sum(sizes), coverage * NUM_NODES)
                node_norm, edge_norm = self.by_formula(drawn, len(drawn))
                self.assertEqual(loader.node_norm.tolist(), node_norm.tolist())
                seen = set()
                for batch in loader:
                    places = self.graph.check_batch(self, self.data, batch)
                    self.assertEqual(batch.node_norm.dtype, torch.float32)
                    self.assertEqual(batch.node_norm.tolist(), node_norm[places].tolist())
                    self.assertEqual(batch.edge_norm.tolist(), edge_norm[batch.e_id].tolist())
                    seen |= set(batch.edge_norm.tolist())
                self.assertGreater(len(seen), 1)

    def test_counting_stops_with_the_pass_that_reaches_the_coverage(self):
        loader = make(recording(GraphSAINTNodeSampler), self.data, num_steps=4, sample_coverage=6,
                      sample_threads=1)
        sizes = [places.unique().numel() for places in loader.drawn]
        self.assertLess(sum(sizes[:-4]), 6 * NUM_NODES)

    def test_counting_and_epochs_draw_apart(self):
        loader = make(recording(GraphSAINTNodeSampler), self.data, sample_coverage=2)
        counted = {tuple(places.tolist()) for places in loader.drawn}
        loader.drawn.clear()
        sets(loader)
        self.assertFalse(counted & {tuple(places.tolist()) for places in loader.drawn})

    def test_counts_are_kept_and_read_again(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "new")
            for kind, name in ((GraphSAINTNodeSampler, "graphsaintnodesampler_2.pt"),
                               (GraphSAINTRandomWalkSampler,
                                "graphsaintrandomwalksampler_3_2.pt")):
                given = {"sample_coverage": 2, "save_dir": folder, **KINDS[kind]}
                first = make(recording(kind), self.data, **given)
                self.assertGreater(len(first.drawn), 0)
                self.assertIn(name, os.listdir(folder))
                second = make(recording(kind), self.data, **given)
                self.assertEqual(second.drawn, [])
                for one, other in zip(first, second):
                    self.assertEqual(one.node_norm.tolist(), other.node_norm.tolist())
                    self.assertEqual(one.edge_norm.tolist(), other.edge_norm.tolist())
                with self.assertRaises(ValueError) as caught:
                    make(kind, self.data, **given, batch_size=13)
                self.assertIn(name, str(caught.exception))
                self.assertIn("batch_size 12", str(caught.exception))
            path = os.path.join(folder, "graphsaintnodesampler_2.pt")
            torch.save((torch.ones(NUM_NODES), torch.ones(NUM_EDGES)), path)  # PyG's
            with self.assertRaises(ValueError):
                make(GraphSAINTNodeSampler, self.data, sample_coverage=2, save_dir=folder)

    def test_numbers_are_counted_whenever_they_are_merged(self):
        random = numpy.random.default_rng(2)
        with mock.patch.object(graph_saint, "_FIRST_MERGE", 50):
            counts, expected = graph_saint._Counts(), collections.Counter()
            for _ in range(60):
                numbers = random.choice(2000, 40, replace=False)
                counts.add(torch.from_numpy(numbers))
                expected.update(numbers.tolist())
            counts.merge()
        self.assertEqual(dict(zip(counts.numbers.tolist(), counts.counts.tolist())), expected)
        self.assertEqual(counts.of(torch.arange(-3, 2003)).tolist(),
                         [expected[number] for number in range(-3, 2003)])
        self.assertEqual(graph_saint._Counts().of(torch.arange(3)).tolist(), [0, 0, 0])

    def test_a_bar_shows_the_counting(self):
        with mock.patch("tqdm.tqdm") as bar:
            make(GraphSAINTNodeSampler, self.data, sample_coverage=2)
            bar.assert_not_called()
            make(GraphSAINTNodeSampler, self.data, sample_coverage=2, log=True)
        self.assertEqual(bar.call_args.kwargs["total"], 2 * NUM_NODES)
        bar.return_value.close.assert_called_once()

    def test_an_attribute_of_the_name_is_refused(self):
        graph = Skewed(edge_column="edge_norm")
        self.addCleanup(graph.close)
        with self.assertRaises(ValueError) as caught:
            make(GraphSAINTNodeSampler, connect(graph.cluster_file))
        self.assertIn("edge_norm", str(caught.exception))
        without = connect(graph.cluster_file, edge_attrs=[])
        self.assertEqual(len(sets(make(GraphSAINTNodeSampler, without, sample_coverage=1))), 4)


class ClusterTest(GraphTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.numbers = numpy.random.default_rng(4).integers(0, 7, NUM_NODES) * 3 - 2
        cls.clusters = ClusterData(cls.data, clusters=cls.numbers)

    def clusters_of(self, places):
        """In the order in which they come."""
        return list(dict.fromkeys(self.numbers[places].tolist()))

    def test_a_batch_is_the_subgraph_of_whole_clusters(self):
        loader = ClusterLoader(self.clusters, batch_size=3, shuffle=True, num_workers=4)
        self.assertEqual((len(loader), len(self.clusters), self.clusters.num_parts), (3, 7, 7))
        seen, epochs = [], []
        for _ in range(2):
            clusters = []
            for batch in loader:
                places = self.graph.check_batch(self, self.data, batch)
                these = self.clusters_of(places)
                expected = [numpy.nonzero(self.numbers == each)[0] for each in these]
                self.assertEqual(places.tolist(), numpy.concatenate(expected).tolist())
                clusters += these
                seen.append(len(these))
            self.assertEqual(sorted(clusters), sorted(set(self.numbers.tolist())))
            epochs.append(clusters)
        self.assertEqual(seen, [3, 3, 1] * 2)
        self.assertNotEqual(epochs[0], epochs[1])

    def test_edges_between_the_clusters_of_a_batch_are_there_each_once(self):
        batch, = ClusterLoader(self.clusters, batch_size=7)
        self.graph.check_batch(self, self.data, batch)
        self.assertEqual(sorted(batch.e_id.tolist()), list(range(NUM_EDGES)))
        singles = [edge for each in ClusterLoader(self.clusters) for edge in each.e_id.tolist()]
        source, target = self.numbers[self.graph.ends]
        self.assertEqual(sorted(singles), (source == target).nonzero()[0].tolist())

    def test_batches_are_those_of_pygs_own_loader(self):
        """Of the graph in memory, in PyG's classes, but that METIS is not run."""
        of_nodes = torch.from_numpy(self.numbers).unique(return_inverse=True)[1]
        data = Data(x=torch.from_numpy(self.graph.x), num_nodes=NUM_NODES,
                    edge_index=torch.from_numpy(self.graph.ends), e_id=torch.arange(NUM_EDGES),
                    n_id=torch.arange(NUM_NODES))
        with mock.patch.object(pyg_cluster.ClusterData, "_metis", lambda *_: of_nodes):
            theirs = pyg_cluster.ClusterData(data, num_parts=7, log=False)
        pairs = [*zip(ClusterLoader(self.clusters, batch_size=3),
                      pyg_cluster.ClusterLoader(theirs, batch_size=3)),
                 *zip(self.clusters, map(theirs.__getitem__, range(7)))]
        self.assertEqual(len(pairs), 3 + 7)
        for ours, expected in pairs:  # PyG's order within a cluster is any
            self.assertEqual(sorted(ours.n_id.tolist()), sorted(expected.n_id.tolist()))
            self.assertEqual(sorted(ours.e_id.tolist()), sorted(expected.e_id.tolist()))
            self.assertEqual(sorted(ours.n_id[ours.edge_index].t().tolist()),
                             sorted(expected.n_id[expected.edge_index].t().tolist()))

    def test_without_shuffling_clusters_come_by_number(self):
        loader = ClusterLoader(self.clusters, batch_size=2, drop_last=True)
        self.assertEqual(len(loader), 3)
        for _ in range(2):
            order = [cluster for batch in loader
                     for cluster in self.clusters_of(self.graph.places(self.data, batch))]
            self.assertEqual(order, sorted(set(self.numbers.tolist()))[:6])

    def test_the_same_seed_gives_the_same_epochs(self):
        def epochs(**given):
            loader = ClusterLoader(self.clusters, batch_size=2, shuffle=True, **given)
            return [sets(loader), sets(loader)]

        self.assertEqual(epochs(run_seed=3), epochs(run_seed=3))
        self.assertNotEqual(epochs(run_seed=3), epochs(run_seed=4))
        torch.manual_seed(8)
        first = epochs()
        torch.manual_seed(8)
        self.assertEqual(first, epochs())

    def test_the_shards_are_clusters(self):
        clusters = ClusterData(self.data, num_parts=2)
        self.assertEqual(len(clusters), 2)
        nodes = self.data.graph.nodes("node").torch()
        owners = self.data.graph.owner_of("node", nodes).torch()
        for shard in range(2):
            batch = clusters[shard]
            self.graph.check_batch(self, self.data, batch)
            self.assertEqual(batch.n_id.tolist(), (owners == shard).nonzero().view(-1).tolist())
        by_array = ClusterData(self.data, clusters=self.data.graph.owner_of("node", nodes))
        self.assertEqual(sets(ClusterLoader(by_array)), sets(ClusterLoader(clusters)))
        with self.assertRaises(IndexError):
            clusters[2]  # pylint: disable=pointless-statement
        self.assertEqual(len(list(clusters)), 2)

    def test_another_cut_of_the_import_gives_clusters(self):
        finer = Skewed(num_shards=5)
        self.addCleanup(finer.close)
        parts = vicinity_graph.Graph(directory=finer.shards)
        numbers = parts.owner_of("node", parts.nodes("node"))
        clusters = ClusterData(self.data, clusters=numbers)
        self.assertEqual(len(clusters), 5)
        self.assertEqual([batch.n_id.tolist() for batch in clusters],
                         [sorted(parts.user_ids("node", [
                             node for node in range(NUM_NODES)
                             if parts.owner_of("node", node).tolist() == [shard]]).tolist())
                          for shard in range(5)])

    def test_trainers_share_an_epoch(self):
        def shares(**given):
            loaders = [ClusterLoader(self.clusters, batch_size=2, shuffle=True, trainer=trainer,
                                     num_trainers=3, run_seed=1, **given) for trainer in range(3)]
            self.assertEqual(len({len(loader) for loader in loaders}), 1)
            return [[self.clusters_of(self.graph.places(self.data, batch)) for batch in loader]
                    for loader in loaders]

        everybody = sorted(set(self.numbers.tolist()))
        given = shares()
        self.assertEqual([[len(batch) for batch in each] for each in given], [[2, 1]] * 3)
        self.assertEqual(sorted(set(sum(sum(given, []), []))), everybody)
        given = shares(drop_last=True)
        self.assertEqual([[len(batch) for batch in each] for each in given], [[2]] * 3)
        self.assertEqual(len(set(sum(sum(given, []), []))), 6)
        sampler = DistributedSampler(range(7), num_replicas=3, rank=1, shuffle=True, seed=1)
        loader = ClusterLoader(self.clusters, batch_size=2, sampler=sampler)
        self.assertEqual([self.clusters_of(self.graph.places(self.data, batch)) for batch in loader],
                         shares()[1])
        sampler.set_epoch(5)
        self.assertNotEqual(sets(loader), [])
        self.assertEqual(loader.state_dict()["epoch"], 6)  # that pass has ended

    def test_training_goes_on(self):
        whole = ClusterLoader(self.clusters, batch_size=2, shuffle=True, run_seed=2)
        expected = sets(whole) + sets(whole)
        begun = ClusterLoader(self.clusters, batch_size=2, shuffle=True, run_seed=2)
        taken = [batch.n_id.tolist() for _, batch in zip(range(1), begun)]
        other = ClusterLoader(self.clusters, batch_size=2, shuffle=True)
        other.load_state_dict(begun.state_dict())
        self.assertEqual(taken + sets(other) + sets(other), expected)
        ahead = ClusterLoader(self.clusters, batch_size=2, shuffle=True, run_seed=2)
        for epoch, batches in enumerate([list(ahead), list(ahead)]):
            for number, batch in enumerate(batches, 1):
                other.load_state_dict(ahead.state_behind(batch))
                self.assertEqual(sets(other), expected[epoch * len(ahead):][number:len(ahead)])
        moved = ClusterData(self.data, clusters=numpy.roll(self.numbers, 1))
        with self.assertRaises(ValueError):
            ClusterLoader(moved, batch_size=2, shuffle=True).load_state_dict(begun.state_dict())

    def test_errors_name_what_is_wrong(self):
        for error, text, given in (
                (ValueError, "num_parts is 1500", {"num_parts": 1500}),
                (ValueError, "7 clusters", {"num_parts": 8, "clusters": self.numbers}),
                (ValueError, "[90]", {"clusters": self.numbers[:-1]}),
                (ValueError, "float", {"clusters": self.numbers * 0.5}),
                (TypeError, "parts", {"parts": 3}),
                (NotImplementedError, "keep_inter", {"keep_inter_cluster_edges": True}),
                (NotImplementedError, "csc", {"sparse_format": "csc"})):
            with self.subTest(given=given), self.assertRaises(error) as caught:
                ClusterData(self.data, **given)
            self.assertIn(text, str(caught.exception))
        ClusterData(self.data, 2, recursive=True, save_dir="none", log=False)  # of METIS
        with self.assertRaises(TypeError):
            ClusterLoader(self.data)
        with self.assertRaises(ValueError):
            ClusterLoader(self.clusters, batch_size=0)
        with self.assertRaises(ValueError):
            ClusterLoader(self.clusters, num_trainers=8)


class OtherGraphsTest(unittest.TestCase):
    def test_graphs_of_several_types_are_refused(self):
        shop = Shop()
        self.addCleanup(shop.close)
        data = connect(shop.cluster_file)
        for kind in (*KINDS, lambda data, **_: ClusterData(data)):
            with self.assertRaises(ValueError) as caught:
                make(kind, data)
            self.assertIn("user", str(caught.exception))

    def test_without_edges_there_are_walks_and_clusters(self):
        graph = Skewed(num_edges=0)
        self.addCleanup(graph.close)
        data = connect(graph.cluster_file)
        for kind in (GraphSAINTNodeSampler, GraphSAINTEdgeSampler):
            with self.assertRaises(ValueError) as caught:
                make(kind, data)
            self.assertIn("no edges", str(caught.exception))
        for loader in (make(GraphSAINTRandomWalkSampler, data, sample_coverage=1),
                       ClusterLoader(ClusterData(data))):
            for batch in loader:
                self.assertEqual(graph.check_batch(self, data, batch).size, batch.num_nodes)


if __name__ == "__main__":
    run_tests()
