#!/usr/bin/env python3
"""Samples by layers over daemons and mapped, against the arrays that the graph was made of."""

import math
import pathlib
import sys
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from imported_graphs import Papers, Shop  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402
import torch  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph import layers  # noqa: E402
from vicinity_graph.layers import column_norms, fastgcn, ladies  # noqa: E402


def number(value, stream):
    """As sampler/layer_chooser.h says, of whole numbers without a limit."""
    mask = 2 ** 64 - 1
    x = value ^ stream
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93 & mask
    x ^= x >> 32
    x = (x + stream * 0x9e3779b97f4a7c15 + 1) * 0xbf58476d1ce4e5b9 & mask
    x = (x ^ x >> 29) * 0x94d049bb133111eb & mask
    return x ^ x >> 32


class LadiesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.papers = Papers()
        cls.addClassCleanup(cls.papers.close)
        cls.graph = vicinity_graph.Graph(cluster_file=cls.papers.cluster_file)
        cls.global_of = cls.graph.resolve("paper", range(300)).numpy()
        cls.ends = cls.global_of[cls.papers.edge_index]

    def weights(self, weighted_by):
        if weighted_by:
            return self.papers.weight.astype(float)
        return 1 / numpy.bincount(self.ends[1], minlength=300)[self.ends[1]]

    def expected(self, nodes, count, stream, weights):
        """Of a layer the nodes, and by edge id what each kept edge weighs."""
        chances = {}
        for edge, (source, target) in enumerate(self.ends.T):
            if target in nodes and weights[edge] > 0:
                chances[source] = chances.get(source, 0) + weights[edge] ** 2
        keys = sorted((-math.log(((number(int(each), stream) >> 12) + .5) * 2. ** -52) / chance, each)
                      for each, chance in chances.items())
        drawn = {each for _, each in keys[:count]}
        everybody = list(nodes) + sorted(drawn - set(nodes))
        kept = {edge: weights[edge] / chances[source]
                for edge, (source, target) in enumerate(self.ends.T)
                if target in nodes and source in everybody and weights[edge] > 0}
        sums = {}
        for edge, weight in kept.items():
            sums[self.ends[1][edge]] = sums.get(self.ends[1][edge], 0) + weight
        return everybody, {edge: weight / sums[self.ends[1][edge]] for edge, weight in kept.items()}

    def test_layers_are_those_of_the_definition(self):
        for weighted_by in (None, "weight"):
            for counts in ([5, 9], [40], [1000, 1, 20]):
                seeds = self.global_of[[7, 3, 250, 11]]
                sample = ladies(self.graph, "paper", seeds, counts, weighted_by=weighted_by,
                                run_seed=5, epoch=1, step=2)
                nodes = seeds.tolist()
                for layer_number, count in enumerate(counts):
                    layer = sample.layers[-1 - layer_number]
                    stream = 0
                    for each in (5, 1, 2, layer_number):
                        stream = number(each, stream)
                    num_targets = len(nodes)
                    nodes, kept = self.expected(nodes, count, stream, self.weights(weighted_by))
                    self.assertEqual((layer.num_targets, layer.num_sources),
                                     (num_targets, len(nodes)))
                    self.assertEqual(sample.nodes[:len(nodes)].tolist(), nodes)
                    self.assertEqual(sorted(layer.edge_ids.tolist()), sorted(kept))
                    targets = torch.repeat_interleave(layer.offsets.diff())
                    ends = torch.stack([sample.nodes[layer.sources], sample.nodes[targets]])
                    numpy.testing.assert_array_equal(ends.numpy(),
                                                     self.ends[:, layer.edge_ids.numpy()])
                    numpy.testing.assert_allclose(
                        layer.weights.numpy(), [kept[each] for each in layer.edge_ids.tolist()],
                        rtol=1e-5)
                self.assertEqual(len(sample.nodes), len(nodes))

    def test_means_are_of_the_sources_by_weight(self):
        sample = ladies(self.graph, "paper", self.global_of[:50], [30])
        layer = sample.layers[0]
        rows = torch.arange(layer.num_sources * 2, dtype=torch.float64).view(-1, 2)
        means = layer.mean(rows)
        self.assertEqual(means.shape, (50, 2))
        for target in range(50):
            part = slice(layer.offsets[target], layer.offsets[target + 1])
            expected = (rows[layer.sources[part]] * layer.weights[part].view(-1, 1)).sum(0)
            self.assertTrue(torch.allclose(means[target], expected))

    def test_samples_are_the_same_near_and_far(self):
        with vicinity_graph.Graph(directory=self.papers.shards) as near:
            for step in range(3):
                a, b = (ladies(graph, "paper", self.global_of[:20], [10, 30], step=step)
                        for graph in (near, self.graph))
                self.assertEqual(a.nodes.tolist(), b.nodes.tolist())
                for mine, theirs in zip(a.layers, b.layers):
                    self.assertEqual([each.tolist() for each in mine[2:]],
                                     [each.tolist() for each in theirs[2:]])

    def test_nodes_are_drawn_by_their_chances(self):
        # Node 10 + i has one edge of weight i + 1, node 15 none of any weight.
        lists = layers._Lists(numpy.zeros(6, int), numpy.arange(10, 16),
                              numpy.array([1., 2., 3., 4., 5., 0.]), numpy.arange(6))
        draws = 8000
        first = numpy.zeros(6)
        both = numpy.zeros(6)
        for step in range(draws):
            one = layers._layer(numpy.array([1]), lists, 1, layers._stream(1, 2, step, 0))[1]
            two = layers._layer(numpy.array([1]), lists, 2, layers._stream(1, 2, step, 1))[1]
            first[one[1:] - 10] += 1
            both[two[1:] - 10] += 1
        chances = numpy.arange(1., 6) ** 2 / 55
        in_two = numpy.array([p + sum(q * p / (1 - q) for j, q in enumerate(chances) if j != i)
                              for i, p in enumerate(chances)])
        self.assertEqual((first[5], both[5]), (0, 0))
        limit = 33.4  # that chi-square with 4 degrees of freedom exceeds once in a million times
        self.assertLess((((first[:5] - draws * chances) ** 2) / (draws * chances)).sum(), limit)
        # Of two without replacement counts are spread less.
        self.assertLess((((both[:5] - draws * in_two) ** 2) / (draws * in_two)).sum(), limit)
        wrong = 2 * chances
        self.assertGreater((((both[:5] - draws * wrong) ** 2) / (draws * wrong)).sum(), limit)

    def test_what_is_wrong_is_told(self):
        seeds = self.global_of[:3]
        for arguments, options, text in (
                (("paper", seeds, []), {}, "one for each layer"),
                (("paper", seeds, [5, 0]), {}, "1 or more"),
                (("paper", seeds[[0, 1, 0]], [5]), {}, f"seed {seeds[0]} is given twice"),
                (("paper", seeds, [5]), {"edge_type": "paper:likes:paper"}, "paper:cites:paper")):
            with self.assertRaisesRegex(ValueError, text):
                ladies(self.graph, *arguments, **options)
        with self.assertRaisesRegex(ValueError, "below 0"):
            ladies(self.graph, "paper", self.global_of, [5], weighted_by="time")

    def test_of_several_edge_types_one_is_followed(self):
        shop = Shop()
        self.addCleanup(shop.close)
        with vicinity_graph.Graph(cluster_file=shop.cluster_file) as graph:
            sample = ladies(graph, "user", [0, 1, 2], [20])
            self.assertGreater(len(sample.layers[0].sources), 0)
            with self.assertRaisesRegex(ValueError, "no edge type leads"):
                ladies(graph, "item", [0], [5])


class FastGcnTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.papers = Papers()
        cls.addClassCleanup(cls.papers.close)
        cls.graph = vicinity_graph.Graph(cluster_file=cls.papers.cluster_file)
        cls.global_of = cls.graph.resolve("paper", range(300)).numpy()
        cls.ends = cls.global_of[cls.papers.edge_index]

    def weights(self, weighted_by):
        if weighted_by:
            return self.papers.weight.astype(float)
        return 1 / numpy.bincount(self.ends[1], minlength=300)[self.ends[1]]

    def chances(self, weighted_by):
        """By global id."""
        squares = numpy.bincount(self.ends[0], weights=self.weights(weighted_by) ** 2, minlength=300)
        return squares / squares.sum()

    def test_norms_are_those_of_the_columns_however_they_are_read(self):
        for weighted_by in (None, "weight"):
            for edges_at_once in (1, 50, 1 << 22):
                norms = column_norms(self.graph, "paper", weighted_by=weighted_by,
                                     edges_at_once=edges_at_once)
                self.assertEqual(norms.nodes.tolist(), sorted(self.global_of.tolist()))
                numpy.testing.assert_allclose(numpy.diff(norms.sums, prepend=0) / norms.sums[-1],
                                              self.chances(weighted_by)[norms.nodes], atol=1e-12)
        with self.assertRaisesRegex(ValueError, "edges_at_once is 0"):
            column_norms(self.graph, "paper", edges_at_once=0)
        with self.assertRaisesRegex(ValueError, "below 0"):
            column_norms(self.graph, "paper", weighted_by="time")

    def test_layers_are_those_of_the_definition(self):
        for weighted_by in (None, "weight"):
            norms = column_norms(self.graph, "paper", weighted_by=weighted_by)
            chances, weights = self.chances(weighted_by), self.weights(weighted_by)
            counts = [60, 200]
            nodes = self.global_of[[7, 3, 250, 11]].tolist()
            sample = fastgcn(self.graph, norms, nodes, counts, run_seed=5, epoch=1, step=2)
            for layer_number, count in enumerate(counts):
                layer = sample.layers[-1 - layer_number]
                stream = 0
                for each in (5, 1, 2, layer_number):
                    stream = number(each, stream)
                times = {}
                for draw in range(count):
                    value = ((number(draw, stream) >> 12) + .5) * 2. ** -52 * norms.sums[-1]
                    node = norms.nodes[sum(each <= value for each in norms.sums)]
                    times[node] = times.get(node, 0) + 1
                kept = {edge: times[source] * weights[edge] / (count * chances[source])
                        for edge, (source, target) in enumerate(self.ends.T)
                        if target in nodes and source in times and weights[edge] > 0}
                self.assertGreater(len(kept), 0)
                num_targets, nodes = len(nodes), nodes + sorted(set(times) - set(nodes))
                self.assertEqual((layer.num_targets, layer.num_sources), (num_targets, len(nodes)))
                self.assertEqual(sample.nodes[:len(nodes)].tolist(), nodes)
                self.assertEqual(sorted(layer.edge_ids.tolist()), sorted(kept))
                targets = torch.repeat_interleave(layer.offsets.diff())
                ends = torch.stack([sample.nodes[layer.sources], sample.nodes[targets]])
                numpy.testing.assert_array_equal(ends.numpy(), self.ends[:, layer.edge_ids.numpy()])
                numpy.testing.assert_allclose(
                    layer.weights.numpy(), [kept[each] for each in layer.edge_ids.tolist()],
                    rtol=1e-5)

    def test_the_mean_of_many_layers_is_the_product_with_the_whole_matrix(self):
        rows = 1 + numpy.random.default_rng(3).random(300)  # by global id
        seeds = self.global_of[:20]
        for weighted_by in (None, "weight"):
            norms = column_norms(self.graph, "paper", weighted_by=weighted_by)
            lists = layers._lists(self.graph, "paper", seeds, norms.edge_type, weighted_by)
            exact = numpy.bincount(lists.targets, weights=lists.weights * rows[lists.sources],
                                   minlength=20)
            factor = 300 * self.chances(weighted_by)
            means, biased = [], []
            for step in range(4000):
                layer, nodes = layers._independent_layer(seeds, lists, norms, 50,
                                                         layers._stream(1, 2, step, 0))
                means.append(layer.mean(torch.from_numpy(rows[nodes])).numpy())
                # As if all nodes were as likely.
                biased.append(layer.mean(torch.from_numpy((rows * factor)[nodes])).numpy())

            def errors(made):
                """In standard errors of the mean."""
                made = numpy.array(made)
                error = made.std(0, ddof=1) / math.sqrt(len(made))
                return numpy.abs(made.mean(0) - exact) / numpy.maximum(error, 1e-12)

            self.assertLess(errors(means).max(), 5)
            self.assertGreater(errors(biased).max(), 5)

    def test_samples_are_the_same_near_and_far_and_draws_whatever_the_seeds(self):
        norms = column_norms(self.graph, "paper")
        made = []
        with vicinity_graph.Graph(directory=self.papers.shards) as near:
            for step in range(3):
                a, b = (fastgcn(graph, norms, self.global_of[:20], [10, 30], step=step)
                        for graph in (near, self.graph))
                self.assertEqual(a.nodes.tolist(), b.nodes.tolist())
                for mine, theirs in zip(a.layers, b.layers):
                    self.assertEqual([each.tolist() for each in mine[2:]],
                                     [each.tolist() for each in theirs[2:]])
                made.append(a.nodes.tolist())
        self.assertNotEqual(made[0], made[1])
        self.assertNotEqual(made[1], made[2])
        others = fastgcn(self.graph, norms, self.global_of[20:40], [10, 30]).nodes.tolist()
        seeds = set(self.global_of[:40].tolist())
        self.assertEqual(set(others) - seeds, set(made[0]) - seeds)
        for given, text in (((self.global_of[:3], []), "one for each layer"),
                            ((self.global_of[[0, 1, 0]], [5]), "is given twice")):
            with self.assertRaisesRegex(ValueError, text):
                fastgcn(self.graph, norms, *given)


if __name__ == "__main__":
    run_tests()
