#!/usr/bin/env python3
"""vicinity_graph.pyg with the real PyTorch Geometric, over daemons: its loaders' batches against the
arrays that the graph was made of, and against what PyG's own classes say."""

import collections
import copy
import importlib
import pathlib
import pickle
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
    importlib.import_module("torch_geometric")
except ImportError as error:
    sys.exit(f"pyg_test: {error}: deploy/setup.sh installs it")

from torch.utils.data import DataLoader, IterableDataset  # noqa: E402
from torch.utils.data.distributed import DistributedSampler  # noqa: E402
from torch_geometric.data import Data, HeteroData  # noqa: E402
from torch_geometric.loader import LinkLoader, NodeLoader  # noqa: E402
from torch_geometric.sampler import NegativeSampling, NodeSamplerInput  # noqa: E402
from torch_geometric.utils import k_hop_subgraph  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph.pyg import LinkNeighborLoader, NeighborLoader, NeighborSampler, \
    connect  # noqa: E402


def edges_of(batch):
    """By ids, how often each edge is there."""
    return collections.Counter(zip(batch.n_id[batch.edge_index[0]].tolist(),
                                   batch.n_id[batch.edge_index[1]].tolist()))


class MadeInWorker(IterableDataset):
    """The seeds of a loader that each worker makes for itself."""

    def __init__(self, directory):
        super().__init__()
        self.directory = directory

    def __iter__(self):
        with NeighborLoader(connect(self.directory), [2], batch_size=32,
                            shuffle=True) as loader:
            for batch in loader:
                yield batch.input_id


class PapersTest(unittest.TestCase):
    """One type, dense ids."""

    @classmethod
    def setUpClass(cls):
        cls.papers = Papers()
        cls.addClassCleanup(cls.papers.close)
        cls.data = connect(cls.papers.cluster_file)
        cls.edge_index = torch.from_numpy(cls.papers.edge_index)

    def loader(self, num_neighbors=(3, 2), **given):
        return NeighborLoader(self.data, list(num_neighbors), **{"batch_size": 32, **given})

    def check_batch(self, batch, input_nodes):
        """All that must hold of any batch."""
        papers = self.papers
        self.assertIsInstance(batch, Data)
        self.assertEqual(batch.validate(), True)
        ids = batch.n_id.numpy()
        numpy.testing.assert_array_equal(batch.x.numpy(), papers.x[ids])
        numpy.testing.assert_array_equal(batch.y.numpy(), papers.y[ids])
        self.assertEqual(batch.y.dtype, torch.int64)
        numpy.testing.assert_array_equal(batch.train_mask.numpy(), papers.train_mask[ids])
        self.assertEqual(batch.edge_index.dtype, torch.int64)
        ends = batch.n_id[batch.edge_index].numpy()
        numpy.testing.assert_array_equal(ends, papers.edge_index[:, batch.e_id.numpy()])
        numpy.testing.assert_array_equal(batch.weight.numpy(), papers.weight[batch.e_id.numpy()])
        self.assertEqual(sum(batch.num_sampled_nodes), len(ids))
        self.assertEqual(sum(batch.num_sampled_edges), batch.edge_index.size(1))
        self.assertEqual(batch.num_sampled_nodes[0], batch.batch_size)
        self.assertEqual(batch.n_id[:batch.batch_size].tolist(),
                         input_nodes[batch.input_id].tolist())
        self.assertIsNone(batch.batch)
        self.assertNotIn("seed_time", batch.to_dict())  # PyG keeps no None

    def test_every_seed_comes_once_and_all_that_a_batch_has_is_right(self):
        indices = torch.randperm(300)[:77]
        for shuffle in (False, True):
            batches = list(self.loader(input_nodes=indices, shuffle=shuffle))
            for batch in batches:
                self.check_batch(batch, indices)
            seeds = torch.cat([batch.input_id for batch in batches])
            self.assertEqual(seeds.sort().values.tolist(), list(range(77)))
            self.assertEqual(seeds.tolist() == list(range(77)), not shuffle)
            self.assertEqual([batch.batch_size for batch in batches], [32, 32, 13])
        self.assertEqual(len(self.loader(input_nodes=indices)), 3)
        self.assertEqual(len(self.loader(input_nodes=indices, drop_last=True)), 2)
        self.assertEqual(len(self.loader(input_nodes=indices).dataset), 77)

    def test_with_all_neighbours_a_batch_is_the_k_hop_subgraph(self):
        for batch in self.loader([-1, -1], input_nodes=self.data.train_mask, batch_size=3):
            seeds = batch.n_id[:batch.batch_size]
            nodes, _, _, _ = k_hop_subgraph(seeds, 2, self.edge_index, num_nodes=300)
            self.assertEqual(sorted(batch.n_id.tolist()), nodes.tolist())
            near, _, _, _ = k_hop_subgraph(seeds, 1, self.edge_index, num_nodes=300)
            _, _, _, expected = k_hop_subgraph(near, 1, self.edge_index, num_nodes=300)
            into = torch.isin(self.edge_index[1], near)
            self.assertEqual(edges_of(batch), collections.Counter(
                map(tuple, self.edge_index[:, into].t().tolist())))
            self.assertEqual(sorted(batch.e_id.tolist()), into.nonzero().view(-1).tolist())

    def test_as_many_neighbours_as_asked_for_of_new_nodes_alone(self):
        degrees = torch.bincount(self.edge_index[1], minlength=300)
        for batch in self.loader(input_nodes=None, batch_size=50):
            begins = numpy.cumsum([0, *batch.num_sampled_nodes])
            drawn = torch.bincount(batch.edge_index[1], minlength=batch.num_nodes)
            for hop, fanout in enumerate((3, 2)):
                frontier = slice(begins[hop], begins[hop + 1])
                self.assertEqual(drawn[frontier].tolist(),
                                 degrees[batch.n_id[frontier]].clamp(max=fanout).tolist())
            self.assertEqual(int(drawn[begins[2]:].sum()), 0)  # the last hop's have no edges
        replaced = next(iter(self.loader([40], replace=True, input_nodes=[5])))
        self.assertEqual(replaced.edge_index.size(1), 40)

    def test_input_nodes_in_every_form(self):
        mask = self.data.train_mask
        expected = mask.nonzero().view(-1).tolist()
        self.assertEqual(expected, self.papers.train_mask.nonzero()[0].tolist())
        for nodes in (mask, mask.numpy(), torch.tensor(expected), numpy.array(expected), expected,
                      ("paper", mask), (None, mask)):
            batches = list(self.loader(input_nodes=nodes))
            self.assertEqual(torch.cat([b.n_id[:b.batch_size] for b in batches]).tolist(), expected)
        # As PyG has it: of a mask the nodes, of a list the positions.
        self.assertEqual(next(iter(self.loader(input_nodes=mask))).input_id.tolist(), expected[:32])
        ids = torch.arange(len(expected)) + 1000
        self.assertEqual(next(iter(self.loader(input_nodes=mask, input_id=ids))).input_id.tolist(),
                         ids[:32].tolist())
        for nodes in (None, "paper", ("paper", None)):
            self.assertEqual(len(self.loader(input_nodes=nodes, batch_size=100)), 3)

    def test_disjoint_trees_share_no_node(self):
        for batch in self.loader(input_nodes=torch.arange(8), disjoint=True, batch_size=4):
            self.assertEqual(batch.batch[:4].tolist(), [0, 1, 2, 3])
            self.assertEqual(batch.batch[batch.edge_index[0]].tolist(),
                             batch.batch[batch.edge_index[1]].tolist())

    def test_bidirectional_edges_have_their_reverse(self):
        for batch in self.loader(input_nodes=torch.arange(40), subgraph_type="bidirectional"):
            edges = set(map(tuple, batch.edge_index.t().tolist()))
            self.assertEqual(edges, {(target, source) for source, target in edges})
            self.assertEqual(batch._orig_edge_index.size(1), sum(batch.num_sampled_edges))

    def test_weights_of_zero_are_never_drawn(self):
        weights = torch.from_numpy(self.papers.weight)
        for batch in self.loader([2], input_nodes=None, weight_attr="weight"):
            self.assertGreater(weights[batch.e_id].min().item(), 0)

    def test_what_torch_draws_is_what_is_drawn(self):
        def epoch(seed):
            torch.manual_seed(seed)
            return [batch.n_id.tolist() for batch in self.loader(input_nodes=None, shuffle=True)]

        self.assertEqual(epoch(3), epoch(3))
        self.assertNotEqual(epoch(3), epoch(4))
        generator = torch.Generator().manual_seed(9)
        first = [batch.n_id.tolist() for batch in self.loader(generator=generator)]
        generator.manual_seed(9)
        self.assertEqual([batch.n_id.tolist() for batch in self.loader(generator=generator)], first)

    def test_transforms_are_called_and_classes_are_made(self):
        class Mine(Data):
            pass

        def doubled(out):
            out.metadata = (out.metadata[0] * 2, *out.metadata[1:])
            return out

        loader = self.loader(input_nodes=torch.arange(10), custom_cls=Mine,
                             transform=lambda batch: (batch, "seen"),
                             transform_sampler_output=doubled)
        batch, seen = next(iter(loader))
        self.assertEqual((type(batch), seen), (Mine, "seen"))
        self.assertEqual(batch.input_id.tolist(), list(range(0, 20, 2)))

        def fewer(out):
            out.node = out.node[:5]
            return out

        with self.assertRaisesRegex(NotImplementedError, "NodeLoader"):
            next(iter(self.loader(transform_sampler_output=fewer)))

    def test_what_data_answers(self):
        data = self.data
        self.assertEqual((data.num_nodes, data.num_features, data.num_node_features,
                          data.num_classes), (300, 6, 6, 5))
        self.assertEqual(data.metadata(), (["paper"], [("paper", "cites", "paper")]))
        self.assertEqual(data.val_mask.sum().item(), 0)
        numpy.testing.assert_array_equal(data.x[[7, 299, 7]].numpy(), self.papers.x[[7, 299, 7]])
        numpy.testing.assert_array_equal(data.x[data.train_mask].numpy(),
                                         self.papers.x[self.papers.train_mask])
        numpy.testing.assert_array_equal(data.y[:].numpy(), self.papers.y)
        self.assertEqual(data.y[5].item(), self.papers.y[5])
        self.assertEqual((len(data.x), data.x.size(1), list(data.x.shape)), (300, 6, [300, 6]))
        features, edges = data
        numpy.testing.assert_array_equal(
            features["paper", "x", torch.tensor([3])].numpy(), self.papers.x[[3]])
        self.assertTrue(torch.equal(torch.stack(edges.get_edge_index(edge_type=None, layout="coo")),
                                    self.edge_index))
        numpy.testing.assert_array_equal(data[0].get_tensor("paper", "x", None).numpy(),
                                         self.papers.x)
        self.assertIn("papers", repr(data))
        self.assertRaises(AttributeError, lambda: data.z)
        self.assertRaises(IndexError, lambda: data.x[[300]])
        again = pickle.loads(pickle.dumps(data))
        self.assertEqual(again.num_nodes, 300)

    def test_only_the_attributes_that_are_asked_for(self):
        data = connect(self.papers.cluster_file, attrs=["x"], edge_attrs=[])
        batch = next(iter(NeighborLoader(data, [2], input_nodes=torch.arange(5))))
        self.assertEqual(sorted(key for key in batch.to_dict() if key in
                                ("x", "y", "train_mask", "weight")), ["x"])
        self.assertEqual(data.y[[3]].tolist(), [self.papers.y[3]])  # there all the same
        self.assertNotIn("e_id", next(iter(NeighborLoader(data, [2], e_id=False))).to_dict())
        self.assertRaises(KeyError, connect, self.papers.cluster_file, attrs=["z"])

    def test_pygs_own_loaders_take_graph_and_sampler(self):
        sampler = NeighborSampler(self.data, [3, 2])
        indices = torch.randperm(300)[:50]
        for batch in NodeLoader(self.data, sampler, input_nodes=indices, batch_size=16,
                                shuffle=True):
            ids = batch.n_id.numpy()
            numpy.testing.assert_array_equal(batch.x.numpy(), self.papers.x[ids])
            self.assertEqual(batch.n_id[:batch.batch_size].tolist(),
                             indices[batch.input_id].tolist())
            numpy.testing.assert_array_equal(
                batch.n_id[batch.edge_index].numpy(),
                self.papers.edge_index[:, batch.e_id.numpy()])
        links = self.edge_index[:, :40]
        for mode, extra in (("binary", 1.0), ("triplet", 2)):
            batch = next(iter(LinkLoader(self.data, sampler, edge_label_index=(None, links),
                                         neg_sampling=(mode, extra), batch_size=40)))
            if mode == "binary":
                self.assertEqual(batch.n_id[batch.edge_label_index[:, :40]].tolist(), links.tolist())
                self.assertEqual(batch.edge_label.tolist(), [1.0] * 40 + [0.0] * 40)
            else:
                self.assertEqual(batch.n_id[batch.src_index].tolist(), links[0].tolist())
                self.assertEqual(list(batch.dst_neg_index.shape), [40, 2])

    def test_batches_have_the_attributes_of_pygs_own(self):
        nodes, times = torch.arange(20), torch.zeros(20, dtype=torch.int64)
        links = self.edge_index[:, :20]
        for given in ({}, {"disjoint": True}, {"subgraph_type": "bidirectional"},
                      {"time_attr": "time"}):
            sampler = NeighborSampler(self.data, [3, 2], **given)
            timed = "time_attr" in given
            input_time, link_time = ({name: times} if timed else {}
                                     for name in ("input_time", "edge_label_time"))
            pairs = [(NeighborLoader(self.data, [3, 2], nodes, **input_time, **given),
                      NodeLoader(self.data, sampler, nodes, **input_time))]
            for mode in (None, "binary", "triplet"):
                pairs.append((
                    LinkNeighborLoader(self.data, [3, 2], links, neg_sampling=mode, **link_time,
                                       **given),
                    LinkLoader(self.data, sampler, (None, links), neg_sampling=mode,
                               **link_time)))
            for ours, pygs in pairs:
                names = [set(next(iter(loader)).to_dict()) for loader in (ours, pygs)]
                # Attributes of edges, which PyG fetches from no store.
                self.assertEqual(names[0] - {"weight", "time"}, names[1], (given, pygs))

    def test_links_with_their_labels(self):
        links = self.edge_index[:, :100]
        labels = torch.arange(100) % 3
        batches = list(LinkNeighborLoader(self.data, [3], links, labels, batch_size=32,
                                          shuffle=True))
        self.assertEqual(len(batches), 4)
        for batch in batches:
            self.assertEqual(batch.n_id[batch.edge_label_index].tolist(),
                             links[:, batch.input_id].tolist())
            self.assertEqual(batch.edge_label.tolist(), labels[batch.input_id].tolist())
            self.assertFalse(hasattr(batch, "batch_size") and "batch_size" in batch.to_dict())
        found = torch.cat([batch.input_id for batch in batches]).sort().values
        self.assertEqual(found.tolist(), list(range(100)))
        whole = LinkNeighborLoader(self.data, [3], batch_size=512)
        self.assertEqual(len(whole.dataset), 2400)
        disjoint = next(iter(LinkNeighborLoader(self.data, [3], links, disjoint=True, batch_size=8)))
        self.assertEqual(disjoint.edge_label_index.tolist(), [list(range(8)), list(range(8, 16))])
        self.assertEqual(disjoint.batch[:16].tolist(), [*range(8), *range(8)])

    def test_by_time_a_tree_has_only_edges_that_are_not_later_than_its_seed(self):
        indices, times = torch.randperm(300)[:90], torch.randint(-60, 60, (90,))
        edge_time = torch.from_numpy(self.papers.time)
        for given in ({}, {"temporal_strategy": "last"}, {"weight_attr": "weight"}):
            drawn = 0
            for batch in self.loader([3, 2], input_nodes=indices, input_time=times,
                                     time_attr="time", shuffle=True, **given):
                self.assertEqual(batch.seed_time.tolist(), times[batch.input_id].tolist())
                self.assertEqual(batch.batch[:batch.batch_size].tolist(),
                                 list(range(batch.batch_size)))
                until = batch.seed_time[batch.batch[batch.edge_index[1]]]
                self.assertTrue(bool((batch.time <= until).all()))
                self.assertEqual(batch.time.tolist(), edge_time[batch.e_id].tolist())
                numpy.testing.assert_array_equal(batch.x.numpy(), self.papers.x[batch.n_id.numpy()])
                drawn += len(until)
            self.assertGreater(drawn, 200)

    def test_along_a_path_times_never_rise_and_none_is_before_its_window(self):
        indices, times = torch.randperm(300)[:90], torch.randint(-60, 60, (90,))
        drawn = 0
        for batch in self.loader([4, 3, 2], input_nodes=indices, input_time=times, time_attr="time",
                                 time_follows="path", time_window=50):
            begins = batch.seed_time[batch.batch[batch.edge_index[1]]]
            self.assertTrue(bool((begins - 50 <= batch.time).all()))
            # Each node has one bound: its seed's time, or that of all edges that lead to it.
            until = torch.full((len(batch.n_id),), 2**62)
            until[:batch.batch_size] = batch.seed_time
            for source, time in zip(batch.edge_index[0].tolist(), batch.time.tolist()):
                self.assertIn(int(until[source]), (2**62, time))
                until[source] = time
            self.assertTrue(bool((batch.time <= until[batch.edge_index[1]]).all()))
            drawn += len(batch.time)
        self.assertGreater(drawn, 100)

    def test_all_or_the_last_edges_until_a_time_are_those_that_numpy_finds(self):
        indices, times = torch.arange(60), torch.randint(-60, 60, (60,))
        for fanout in (-1, 4):
            batch = next(iter(self.loader([fanout], input_nodes=indices, input_time=times,
                                          time_attr="time", temporal_strategy="last",
                                          batch_size=60)))
            trees = batch.batch[batch.edge_index[1]]
            for i, (node, until) in enumerate(zip(indices.tolist(), times.tolist())):
                edges = ((self.papers.edge_index[1] == node) &
                         (self.papers.time <= until)).nonzero()[0]
                expected = sorted(self.papers.time[edges].tolist())
                if fanout > 0:
                    expected = expected[-fanout:]
                found = batch.e_id[trees == i].numpy()
                self.assertTrue(set(found.tolist()) <= set(edges.tolist()))
                self.assertEqual(sorted(self.papers.time[found].tolist()), expected)

    def test_a_state_is_of_the_same_negatives_exclusions_and_times(self):
        links, times = self.edge_index[:, :40], torch.arange(40)
        given = {"edge_label_time": times, "time_attr": "time", "neg_sampling": ("triplet", 2),
                 "exclude": "self", "batch_size": 8, "run_seed": 3}

        def loader(**others):
            return LinkNeighborLoader(self.data, [2], links, **{**given, **others})

        state = loader().state_dict()
        loader().load_state_dict(state)
        for others in ({"edge_label_time": times + 1}, {"neg_sampling": ("triplet", 1)},
                       {"neg_sampling": None}, {"exclude": "none"},
                       {"temporal_strategy": "last"}, {"exact_negatives": True}):
            with self.subTest(others=others), self.assertRaises(ValueError):
                loader(**others).load_state_dict(state)

    def test_a_node_may_be_a_seed_at_several_times(self):
        batch = next(iter(self.loader([-1], input_nodes=torch.tensor([3, 3]), batch_size=2,
                                      input_time=torch.tensor([-60, 60]), time_attr="time")))
        self.assertEqual(batch.n_id[:2].tolist(), [3, 3])
        trees = batch.batch[batch.edge_index[1]]
        self.assertEqual(int((trees == 0).sum()), 0)
        self.assertEqual(int((trees == 1).sum()), int((self.papers.edge_index[1] == 3).sum()))

    def test_links_have_times_and_give_them_to_their_negatives(self):
        links, times = self.edge_index[:, :40], torch.from_numpy(self.papers.time[:40].copy())
        for mode, amount in ((None, 0), ("binary", 1.5), ("triplet", 2)):
            batch = next(iter(LinkNeighborLoader(
                self.data, [-1], links, edge_label_time=times, time_attr="time", batch_size=40,
                neg_sampling=None if mode is None else (mode, amount))))
            self.assertTrue(bool((batch.time <= times[batch.batch[batch.edge_index[1]]]).all()))
            if mode == "triplet":
                self.assertEqual(batch.seed_time.tolist(), times.tolist())
            else:
                expected = times.repeat(3)[:40 + int(40 * amount)]
                self.assertEqual(batch.edge_label_time.tolist(), expected.tolist())

    def test_pygs_own_loaders_sample_by_time(self):
        sampler = NeighborSampler(self.data, [3], time_attr="time")
        times = torch.randint(-60, 60, (300,))
        for batch in NodeLoader(self.data, sampler, input_nodes=torch.arange(300), input_time=times,
                                batch_size=64):
            until = batch.seed_time[batch.batch[batch.edge_index[1]]]
            self.assertTrue(bool((torch.from_numpy(self.papers.time)[batch.e_id] <= until).all()))
        self.assertRaises(ValueError, lambda: next(iter(
            NodeLoader(self.data, sampler, input_nodes=torch.arange(9)))))

    def test_binary_negatives_are_pairs_with_label_0(self):
        links = self.edge_index[:, :100]
        edges = set(map(tuple, self.edge_index.t().tolist()))
        for labels, expected in ((None, [1.0] * 32), (torch.arange(100) % 3, None)):
            batch = next(iter(LinkNeighborLoader(
                self.data, [3], links, labels, batch_size=32, neg_sampling="binary",
                neg_sampling_ratio=None, exact_negatives=True)))
            ends = batch.n_id[batch.edge_label_index]
            self.assertEqual(ends[:, :32].tolist(), links[:, batch.input_id].tolist())
            self.assertEqual(list(ends.shape), [2, 64])
            if expected is None:  # 0 is for negatives, as PyG has it
                expected = (labels[batch.input_id] + 1).tolist()
            self.assertEqual(batch.edge_label.tolist(), expected + [0] * 32)
            self.assertFalse(edges & set(map(tuple, ends[:, 32:].t().tolist())))
            numpy.testing.assert_array_equal(batch.x.numpy(), self.papers.x[batch.n_id.numpy()])
        half = next(iter(LinkNeighborLoader(self.data, [3], links, batch_size=31,
                                            neg_sampling=("binary", 0.5))))
        self.assertEqual(half.edge_label.tolist(), [1.0] * 31 + [0.0] * 16)

    def test_negatives_go_by_the_weights_of_neg_sampling(self):
        links = self.edge_index[:, :100]
        weight = torch.zeros(300)
        weight[[7, 70, 250]] = torch.tensor([1.0, 2.0, 3.0])
        for mode, given in (("triplet", {"dst_weight": weight, "src_weight": weight}),
                            ("binary", {"dst_weight": weight}), ("binary", {"src_weight": weight})):
            loader = LinkNeighborLoader(self.data, [2], links, batch_size=100, run_seed=3,
                                        neg_sampling=NegativeSampling(mode, 4, **given))
            batch = next(iter(loader))
            if mode == "triplet":
                drawn = batch.n_id[batch.dst_neg_index.view(-1)]
            else:
                end = 1 if "dst_weight" in given else 0
                other = batch.n_id[batch.edge_label_index[1 - end, 100:]]
                self.assertGreater(len(other.unique()), 100)
                drawn = batch.n_id[batch.edge_label_index[end, 100:]]
            self.assertEqual(drawn.unique().tolist(), [7, 70, 250])
        by_hand = loader(torch.arange(9))  # of PyG's own
        drawn = by_hand.n_id[by_hand.edge_label_index[0, 9:]]
        self.assertLessEqual(set(drawn.tolist()), {7, 70, 250})

    def test_triplets_have_further_targets_for_each_source(self):
        links = self.edge_index[:, :100]
        edges = set(map(tuple, self.edge_index.t().tolist()))
        for amount, exact in ((1, True), (3, True), (3, False)):
            batches = list(LinkNeighborLoader(self.data, [2], links, batch_size=40, shuffle=True,
                                              neg_sampling=("triplet", amount), run_seed=7,
                                              exact_negatives=exact))
            self.assertEqual(len(batches), 3)
            for batch in batches:
                self.assertNotIn("edge_label_index", batch.to_dict())
                sources = batch.n_id[batch.src_index]
                self.assertEqual(torch.stack([sources, batch.n_id[batch.dst_pos_index]]).tolist(),
                                 links[:, batch.input_id].tolist())
                negatives = batch.n_id[batch.dst_neg_index]
                self.assertEqual(list(negatives.shape),
                                 [len(sources)] if amount == 1 else [len(sources), amount])
                pairs = set(zip(sources.repeat_interleave(amount).tolist(),
                                negatives.view(-1).tolist()))
                if exact:
                    self.assertFalse(edges & pairs)
                self.assertGreater(len(pairs), 0.9 * amount * len(sources))

    def test_negatives_that_a_batch_shares_or_has_bring_fewer_nodes(self):
        links = self.edge_index[:, :80]
        edges = set(map(tuple, self.edge_index.t().tolist()))

        def batches(**given):
            return list(LinkNeighborLoader(self.data, [2], links, batch_size=40, run_seed=7,
                                           neg_sampling=("triplet", 5), **given))

        counts = {}
        for name in ("exact_negatives", "shared_negatives", "in_batch_negatives"):
            made = batches(**{"exact_negatives": True, name: True})
            counts[name] = []
            for batch in made:
                sources = batch.n_id[batch.src_index].tolist()
                targets = set(batch.n_id[batch.dst_pos_index].tolist())
                negatives = batch.n_id[batch.dst_neg_index]
                self.assertEqual(list(negatives.shape), [40, 5])
                counts[name].append(len(targets | {*sources, *negatives.view(-1).tolist()}))
                for source, drawn in zip(sources, negatives.tolist()):
                    self.assertTrue(edges.isdisjoint((source, each) for each in drawn))
                    if name == "in_batch_negatives":
                        self.assertLessEqual(set(drawn), targets)
        for own, shared, in_batch in zip(*counts.values()):
            self.assertLess(in_batch, shared)
            self.assertLess(shared, own)
        taken = batches(shared_negatives=True)[0]  # without exact_negatives edges are, too
        self.assertEqual(len(set(map(tuple, taken.dst_neg_index.tolist()))), 1)
        for text, given in (("shared_negatives is of neg_sampling", {"shared_negatives": True}),
                            ("in_batch_negatives is of", {"in_batch_negatives": True})):
            with self.assertRaisesRegex(ValueError, text):
                LinkNeighborLoader(self.data, [2], links, **given)
        with self.assertRaisesRegex(ValueError, "of mode triplet"):
            LinkNeighborLoader(self.data, [2], links, neg_sampling="binary", shared_negatives=True)
        with self.assertRaisesRegex(NotImplementedError, "in_batch_negatives"):
            LinkNeighborLoader(self.data, [2], links, neg_sampling=("triplet", 2),
                               in_batch_negatives=True)([0])

    def test_links_are_not_in_their_own_neighbourhoods_where_they_are_excluded(self):
        links = self.edge_index[:, :64]
        batch = next(iter(LinkNeighborLoader(self.data, [-1], links, batch_size=64)))
        asked = set(map(tuple, links.t().tolist()))
        self.assertTrue(asked <= set(edges_of(batch)))  # as PyG's are
        back = {(target, source) for source, target in asked}
        for exclude, out in (("self", asked), ("reverse", asked | back)):
            shorter = next(iter(LinkNeighborLoader(self.data, [-1], links, batch_size=64,
                                                   exclude=exclude)))
            self.assertEqual(edges_of(shorter), collections.Counter(
                {edge: count for edge, count in edges_of(batch).items() if edge not in out}))
        loader = LinkNeighborLoader(self.data, [2], links, exclude="self")
        self.assertRaises(NotImplementedError, loader, [1])
        for error, given in ((ValueError, {"exclude": "all"}),
                             (ValueError, {"exact_negatives": True}),
                             (ValueError, {"exclude": "self", "reverse_edge_type": "cites"}),
                             (KeyError, {"exclude": "reverse", "reverse_edge_type": ("a", "b", "c")})):
            self.assertRaises(error, LinkNeighborLoader, self.data, [2], links, **given)
        self.assertRaises(TypeError, NeighborLoader, self.data, [2], exclude="self")

    def test_shares_of_a_links_negatives_have_the_value_of_its_target(self):
        links, labels = self.edge_index[:, :90], torch.from_numpy(self.papers.y)
        edges = set(map(tuple, self.edge_index.t().tolist()))

        def loader(**given):
            return LinkNeighborLoader(self.data, [2], links, **{
                "neg_sampling": ("triplet", 5), "same": {"y": 0.5}, "exact_negatives": True,
                "batch_size": 16, **given})

        others = 0
        for batch in loader():
            drawn = batch.n_id[batch.dst_neg_index]
            own = labels[batch.n_id[batch.dst_pos_index]]
            self.assertTrue(torch.equal(labels[drawn[:, :2]], own.unsqueeze(1).expand(-1, 2)))
            others += int((labels[drawn[:, 2:]] != own.unsqueeze(1)).sum())
            for source, targets in zip(batch.n_id[batch.src_index].tolist(), drawn.tolist()):
                self.assertTrue(edges.isdisjoint((source, each) for each in targets))
        self.assertGreater(others, 90)
        state = loader().state_dict()
        self.assertRaises(ValueError, loader(same={"y": 0.25}).load_state_dict, state)
        for error, text, given in (
                (ValueError, "same is of neg_sampling", {"neg_sampling": None,
                                                         "exact_negatives": False}),
                (ValueError, "triplets", {"neg_sampling": "binary"}),
                (ValueError, "at most 1", {"same": {"y": 0.75, "train_mask": 0.5}}),
                (LookupError, "topic", {"same": {"topic": 0.5}})):
            with self.subTest(given=given), self.assertRaisesRegex(error, text):
                loader(**given)
        self.assertRaisesRegex(NotImplementedError, "same", loader(), [0])

    def test_the_trees_of_a_link_and_its_negatives_have_its_number(self):
        links = self.edge_index[:, :8]
        for mode, amount in (("binary", 2), ("triplet", 2), ("binary", 0.5)):
            batch = next(iter(LinkNeighborLoader(self.data, [2], links, batch_size=8, disjoint=True,
                                                 neg_sampling=(mode, amount))))
            numbers = list(range(8))
            if mode == "triplet":
                self.assertEqual(batch.batch[batch.src_index].tolist(), numbers)
                self.assertEqual(batch.batch[batch.dst_pos_index].tolist(), numbers)
                self.assertEqual(batch.batch[batch.dst_neg_index].tolist(),
                                 [[number] * 2 for number in numbers])
            else:
                of_links = (numbers + numbers * 2)[:8 + int(8 * amount)]
                self.assertEqual(batch.batch[batch.edge_label_index].tolist(), [of_links] * 2)

    def test_the_call_of_a_loader_samples_here_and_now(self):
        indices = torch.randperm(300)[:40]
        batch = self.loader(input_nodes=indices)(torch.tensor([4, 9]))
        self.assertEqual(batch.n_id[:2].tolist(), indices[[4, 9]].tolist())
        self.assertEqual(batch.input_id.tolist(), [4, 9])
        numpy.testing.assert_array_equal(batch.x.numpy(), self.papers.x[batch.n_id.numpy()])
        negatives = LinkNeighborLoader(self.data, [2], self.edge_index[:, :9],
                                       neg_sampling=("triplet", 4))([8, 3])
        self.assertEqual(list(negatives.dst_neg_index.shape), [2, 4])
        links = LinkNeighborLoader(self.data, [2], self.edge_index[:, :9])([8])
        self.assertEqual(links.n_id[links.edge_label_index].view(-1).tolist(),
                         self.edge_index[:, 8].tolist())

    def test_loaders_made_in_workers_share_a_shuffled_epoch(self):
        data = DataLoader(MadeInWorker(self.papers.shards), batch_size=None, num_workers=2,
                          timeout=120, multiprocessing_context="fork")
        torch.manual_seed(7)
        first, other = (torch.cat(list(data)).tolist() for _ in range(2))
        self.assertEqual([sorted(first), sorted(other)], [list(range(300))] * 2)
        self.assertEqual(len({tuple(first), tuple(other), tuple(range(300))}), 3)
        torch.manual_seed(7)
        self.assertEqual(torch.cat(list(data)).tolist(), first)

    def test_what_workers_need_is_accepted_and_workers_are_not_made(self):
        loader = self.loader(input_nodes=None, num_workers=4, persistent_workers=True,
                             prefetch_factor=2, worker_init_fn=None, filter_per_worker=True,
                             pin_memory=False)
        self.assertEqual((loader.num_workers, len(list(loader))), (0, 10))

    def test_errors_are_pygs_and_name_what_is_wrong(self):
        time = torch.arange(300)
        for error, text, given in (
                (ValueError, "'input_time'", {"input_time": time}),
                (ValueError, "time_attr", {"time_attr": "hour", "input_time": time}),
                (ValueError, "one int64", {"time_attr": "weight", "input_time": time}),
                (ValueError, "one int64", {"time_attr": "label", "input_time": time}),
                (ValueError, "input_time", {"time_attr": "time"}),
                (ValueError, "int64 [300]", {"time_attr": "time", "input_time": time[1:]}),
                (ValueError, "int64 [300]", {"time_attr": "time", "input_time": time.float()}),
                (ValueError, "last", {"time_attr": "time", "input_time": time,
                                      "temporal_strategy": "last", "replace": True}),
                (ValueError, "last", {"time_attr": "time", "input_time": time,
                                      "temporal_strategy": "last", "weight_attr": "weight"}),
                (ValueError, "'first'", {"temporal_strategy": "first"}),
                (NotImplementedError, "NodeLoader", {"sampler": torch.utils.data.SequentialSampler}),
                (NotImplementedError, "NodeLoader", {"neighbor_sampler": object()}),
                (KeyError, "weight_attr", {"weight_attr": "cost"}),
                (TypeError, "batchsize", {"batchsize": 3}),
                (ValueError, "batch_size", {"batch_size": None}),
                (ValueError, "sideways", {"subgraph_type": "sideways"}),
                (ValueError, "more than once", {"input_nodes": torch.tensor([1, 2, 1])}),
                (LookupError, "300 (position 1)", {"input_nodes": torch.tensor([1, 300])}),
                (ValueError, "the mask has 3", {"input_nodes": torch.tensor([True] * 3)}),
                (ValueError, "give ids", {"input_nodes": torch.tensor([1.0])}),
                (KeyError, "author", {"input_nodes": ("author", None)}),
                (ValueError, "Missing", {"num_neighbors": {}})):
            with self.subTest(given=given), self.assertRaises(error) as caught:
                NeighborLoader(self.data, **{"num_neighbors": [2], **given})
            self.assertIn(text, str(caught.exception))
        links = self.edge_index[:, :9]
        for error, text, given in (
                (ValueError, "negative_source_weights are [299]", {"neg_sampling": NegativeSampling(
                    "binary", 1, src_weight=torch.ones(299))}),
                (ValueError, "weight -1 of node 7 ", {"neg_sampling": NegativeSampling(
                    "triplet", 1, dst_weight=1 - 2 * (torch.arange(300) == 7).float())}),
                (ValueError, "positive", {"neg_sampling_ratio": -1.0}),
                (ValueError, "positive", {"neg_sampling": ("binary", 0)}),
                (ValueError, "integer", {"neg_sampling": ("triplet", 1.5)}),
                (ValueError, "'edge_label'", {"neg_sampling": "triplet", "edge_label": links[0]}),
                (ValueError, "edge_label_time", {"edge_label_time": time}),
                (ValueError, "edge_label has 3", {"edge_label": torch.zeros(3)}),
                (ValueError, "[2, n]", {"edge_label_index": links[0]})):
            with self.subTest(given=given), self.assertRaises(error) as caught:
                LinkNeighborLoader(self.data, [2], **{"edge_label_index": links, **given})
            self.assertIn(text, str(caught.exception))
        self.assertRaises(TypeError, NeighborLoader, Data(), [2])

    def test_trainers_share_an_epoch(self):
        def seeds(**given):
            return [batch.input_id.tolist() for batch in self.loader(input_nodes=None, **given)]

        halves = [seeds(trainer=trainer, num_trainers=2, shuffle=True) for trainer in (0, 1)]
        self.assertEqual([len(half) for half in halves], [5, 5])
        dealt = sorted(sum(sum(halves, []), []))
        self.assertEqual(dealt, list(range(300)))
        ranks = [DistributedSampler(range(300), num_replicas=2, rank=rank, seed=7)
                 for rank in (0, 1)]
        both = [seeds(sampler=sampler) for sampler in ranks]
        self.assertEqual(sorted(sum(sum(both, []), [])), list(range(300)))
        loader = self.loader(input_nodes=None, sampler=ranks[0])
        first = [batch.input_id.tolist() for batch in loader]
        self.assertEqual(first, both[0])
        ranks[0].set_epoch(4)
        fifth = [batch.input_id.tolist() for batch in loader]
        self.assertNotEqual(first, fifth)
        self.assertEqual(loader.state_dict()["epoch"], 5)  # that pass has ended
        self.assertRaises(ValueError, seeds, distributed=True)

    def test_training_goes_on_where_it_stopped(self):
        torch.manual_seed(1)
        whole = self.loader(input_nodes=None, shuffle=True)
        expected = [batch.n_id.tolist() for batch in whole]
        loader = self.loader(input_nodes=None, shuffle=True, run_seed=whole.state_dict()["run_seed"])
        batches = iter(loader)
        for _ in range(4):
            next(batches)
        state = loader.state_dict()
        torch.manual_seed(2)  # another process
        resumed = self.loader(input_nodes=None, shuffle=True)
        resumed.load_state_dict(state)
        self.assertEqual([batch.n_id.tolist() for batch in resumed], expected[4:])
        other = self.loader(input_nodes=None, shuffle=True, batch_size=9)
        before = other.state_dict()
        for wrong, text in ((state, "batch_size"), ({}, "no state of a loader")):
            with self.assertRaisesRegex(ValueError, text):
                other.load_state_dict(wrong)
            self.assertEqual(other.state_dict(), before)

    def check_going_on(self, make, told, num_epochs=2):
        """That behind each batch of a loader, all of them taken by then, another one goes on with those
        that come after it, each once, alone and with two trainers."""
        loader = make()
        batches = [list(loader) for _ in range(num_epochs)]
        for epoch, taken in enumerate(batches):
            for number, batch in enumerate(taken, 1):
                state = loader.state_behind(copy.copy(batch))
                self.assertEqual((state["epoch"], state["batches_done"]), (epoch, number))
                resumed = make()
                resumed.load_state_dict(state)
                self.assertEqual([told(each) for each in resumed],
                                 [told(each) for each in taken[number:]])
                pair = [make(trainer=trainer, num_trainers=2) for trainer in (0, 1)]
                for trainer in pair:
                    trainer.load_state_dict(state)
                steps = zip(*([told(each) for each in trainer] for trainer in pair))
                left = [told(each) for each in taken[number:]]
                self.assertEqual([each for step in steps for each in step][:len(left)], left)

    def test_the_state_behind_any_batch_goes_on_whatever_was_taken_since(self):
        def told(batch):
            return [batch.n_id.tolist(), batch.e_id.tolist(), batch.input_id.tolist()]

        torch.manual_seed(1)
        self.check_going_on(
            lambda **given: self.loader(input_nodes=None, shuffle=True, run_seed=9, **given,
                                        batch_size=64), told)
        links = self.edge_index[:, :70]
        self.check_going_on(
            lambda **given: LinkNeighborLoader(
                self.data, [2], links, neg_sampling="binary", shuffle=True, run_seed=9,
                batch_size=32, **given),
            lambda batch: [*told(batch), batch.edge_label_index.tolist(), batch.edge_label.tolist()])

    def test_the_state_behind_a_batch_that_worked_ahead_is_that_of_its_own_time(self):
        loader = self.loader(input_nodes=None, shuffle=True)
        begun, states, taken = iter(loader), [], []
        for batch in begun:
            taken.append(batch)
            states.append(loader.state_dict())
        self.assertEqual([loader.state_behind(batch) for batch in taken], states)
        self.assertEqual([loader.state_behind(pickle.loads(pickle.dumps(batch)).to("cpu"))
                          for batch in taken], states)
        self.assertEqual((loader.state_dict()["epoch"], loader.state_dict()["batches_done"]), (1, 0))

    def test_what_is_no_batch_of_a_pass_has_no_state_behind_it(self):
        loader = self.loader(input_nodes=None, shuffle=True, run_seed=4)
        batch = next(iter(loader))
        self.assertNotIn("place", str(batch.to_dict()))
        tuples = self.loader(transform=lambda data: (data.x, data.y))
        kept = self.loader(transform=lambda data: Data(x=data.x), run_seed=4)
        for wrong, text in ((Data(), "no place in training"), (loader([0, 1]), "the call of a loader"),
                            (next(iter(tuples)), "this tuple"), (None, "this NoneType")):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                loader.state_behind(wrong)
        made = next(iter(kept))
        self.assertEqual(kept.state_behind(made), kept.state_dict())
        with self.assertRaisesRegex(ValueError, "run_seed 4; this one has 5"):
            self.loader(run_seed=5).state_behind(batch)

    def test_the_cache_and_its_counts(self):
        loader = self.loader(input_nodes=None, cache="none")
        self.assertEqual(sum(batch.batch_size for batch in loader), 300)
        self.assertGreater(loader.stats()["rows_remote"], 0)


class SparseIdsTest(unittest.TestCase):
    """Integers that are not 0 to n - 1."""

    def test_ids_are_the_users(self):
        ids = numpy.random.default_rng(3).permutation(10 ** 6)[:120] * 7919 - 10 ** 9
        papers = Papers(120, 700, ids)
        self.addCleanup(papers.close)
        data = connect(papers.cluster_file)
        place = {node: i for i, node in enumerate(ids.tolist())}
        train = {node for node, chosen in zip(ids.tolist(), papers.train_mask) if chosen}
        for nodes in (torch.from_numpy(ids[papers.train_mask]), data.train_mask):
            seeds = set()
            for batch in NeighborLoader(data, [3, 2], input_nodes=nodes, batch_size=16):
                rows = [place[node] for node in batch.n_id.tolist()]
                numpy.testing.assert_array_equal(batch.x.numpy(), papers.x[rows])
                numpy.testing.assert_array_equal(batch.n_id[batch.edge_index].numpy(),
                                                 papers.edge_index[:, batch.e_id.numpy()])
                seeds |= set(batch.n_id[:batch.batch_size].tolist())
            self.assertEqual(seeds, train)
        self.assertTrue(torch.equal(data.x[torch.from_numpy(ids[:9])],
                                    torch.from_numpy(papers.x[:9])))


class ShopTest(unittest.TestCase):
    """Several types, one of them with names for ids."""

    BUYS, OF, KNOWS = ("user", "buys", "item"), ("item", "of", "user"), ("user", "knows", "user")

    @classmethod
    def setUpClass(cls):
        cls.shop = Shop()
        cls.addClassCleanup(cls.shop.close)
        cls.data = connect(cls.shop.cluster_file)

    def items(self, ids):
        """Their numbers in the arrays."""
        return [int(name.split()[1]) for name in self.data.names("item", ids)]

    def check_batch(self, batch):
        self.assertIsInstance(batch, HeteroData)
        self.assertEqual(batch.metadata(), self.data.metadata())
        self.assertEqual(batch.validate(), True)
        users, items = batch["user"].n_id.numpy(), self.items(batch["item"].n_id)
        numpy.testing.assert_array_equal(batch["user"].x.numpy(), self.shop.x[users])
        numpy.testing.assert_array_equal(batch["user"].y.numpy(), self.shop.y[users])
        numpy.testing.assert_array_equal(batch["item"].y.numpy(), self.shop.prices[items])
        sources, targets = batch[self.BUYS].edge_index
        numbers = torch.tensor(items, dtype=torch.int64)
        self.assertEqual(batch["user"].n_id[sources].tolist(),
                         self.shop.buys[0][batch[self.BUYS].e_id.numpy()].tolist())
        self.assertEqual(numbers[targets].tolist(),
                         self.shop.buys[1][batch[self.BUYS].e_id.numpy()].tolist())
        sources, targets = batch[self.KNOWS].edge_index
        self.assertEqual(torch.stack([batch["user"].n_id[sources],
                                      batch["user"].n_id[targets]]).t().tolist(),
                         self.shop.knows[batch[self.KNOWS].e_id.numpy()].tolist())
        for node_type in self.data.node_types:
            self.assertEqual(sum(batch[node_type].num_sampled_nodes), batch[node_type].num_nodes)
        for edge_type in self.data.edge_types:
            self.assertEqual(sum(batch[edge_type].num_sampled_edges),
                             batch[edge_type].edge_index.size(1))

    def test_batches_around_nodes_of_either_type(self):
        seeds = set()
        loader = NeighborLoader(self.data, [3, 2],
                                input_nodes=("user", self.data["user"].train_mask),
                                batch_size=16, shuffle=True)
        for batch in loader:
            self.check_batch(batch)
            self.assertEqual(loader.state_behind(batch), loader.state_dict())
            seeds |= set(batch["user"].n_id[:batch["user"].batch_size].tolist())
        self.assertEqual(seeds, set(self.shop.train_mask.nonzero()[0].tolist()))
        chosen = self.data.graph.resolve("item", ["item 7", "item 59"]).torch()
        for nodes in (chosen, "item"):
            nodes = ("item", nodes) if nodes is chosen else nodes
            batch = next(iter(NeighborLoader(self.data, [4], input_nodes=nodes, batch_size=60)))
            self.check_batch(batch)
        self.assertEqual(batch["item"].batch_size, 60)

    def test_neighbours_by_edge_type(self):
        numbers = {self.BUYS: [0, 0], self.OF: [2, 2], self.KNOWS: [-1, 0]}
        batch = next(iter(NeighborLoader(self.data, numbers, input_nodes=("user", torch.arange(9)),
                                         batch_size=9)))
        self.assertEqual(batch[self.BUYS].edge_index.size(1), 0)
        into = numpy.isin(self.shop.knows[:, 1], numpy.arange(9)).sum()
        self.assertEqual(batch[self.KNOWS].num_sampled_edges, [into, 0])
        self.assertEqual(batch[self.OF].num_sampled_edges[1] >= 0, True)
        for wrong in ({self.BUYS: [1]}, {**numbers, ("a", "b", "c"): [1, 1]}):
            self.assertRaises(ValueError, NeighborLoader, self.data, wrong, input_nodes="user")
        self.assertRaises(ValueError, NeighborLoader, self.data, [2])

    def test_links_between_two_types(self):
        sources = torch.from_numpy(self.shop.buys[0][:50])
        targets = self.data.graph.resolve(
            "item", [self.shop.names[i] for i in self.shop.buys[1][:50]]).torch()
        labels = torch.arange(50.0)
        links = (self.BUYS, torch.stack([sources, targets]))
        for batch in LinkNeighborLoader(self.data, [3, 2], links, labels, batch_size=16,
                                        shuffle=True):
            self.check_batch(batch)
            store = batch[self.BUYS]
            self.assertEqual(store.edge_label.tolist(), labels[store.input_id].tolist())
            ends = store.edge_label_index
            self.assertEqual(batch["user"].n_id[ends[0]].tolist(), sources[store.input_id].tolist())
            self.assertEqual(batch["item"].n_id[ends[1]].tolist(), targets[store.input_id].tolist())
        bought = {(user, item) for user, item in zip(*self.shop.buys)}
        for mode in ("binary", "triplet"):
            batch = next(iter(LinkNeighborLoader(self.data, [3], links, batch_size=50,
                                                 neg_sampling=(mode, 4), exact_negatives=True)))
            self.check_batch(batch)
            if mode == "triplet":
                self.assertNotIn("edge_label_index", batch[self.BUYS])
                self.assertEqual(batch["user"].n_id[batch["user"].src_index].tolist(),
                                 sources.tolist())
                self.assertEqual(batch["item"].n_id[batch["item"].dst_pos_index].tolist(),
                                 targets.tolist())
                ends = [batch["user"].src_index.repeat_interleave(4),
                        batch["item"].dst_neg_index.view(-1)]
            else:
                self.assertEqual(batch[self.BUYS].edge_label.tolist(), [1.0] * 50 + [0.0] * 200)
                ends = batch[self.BUYS].edge_label_index[:, 50:]
            self.assertFalse(bought & set(zip(batch["user"].n_id[ends[0]].tolist(),
                                              self.items(batch["item"].n_id[ends[1]]))))
        weights = {"src_weight": torch.zeros(self.data["user"].num_nodes),
                   "dst_weight": torch.zeros(self.data["item"].num_nodes)}
        weights["src_weight"][[3, 8]] = 1
        weights["dst_weight"][targets[[4, 9]]] = 1
        batch = next(iter(LinkNeighborLoader(
            self.data, [3], links, batch_size=50,
            neg_sampling=NegativeSampling("binary", 4, **weights))))
        ends = batch[self.BUYS].edge_label_index[:, 50:]
        self.assertEqual(batch["user"].n_id[ends[0]].unique().tolist(), [3, 8])
        self.assertEqual(set(batch["item"].n_id[ends[1]].tolist()), set(targets[[4, 9]].tolist()))
        batch = next(iter(LinkNeighborLoader(self.data, [-1], links, batch_size=50,
                                             exclude="reverse", reverse_edge_type=self.OF)))
        self.check_batch(batch)
        asked = {(int(user), int(item)) for user, item in zip(*self.shop.buys) if
                 (user, item) in set(zip(self.shop.buys[0][:50], self.shop.buys[1][:50]))}
        items = self.items(batch["item"].n_id)
        users = batch["user"].n_id.tolist()
        sources, targets = batch[self.BUYS].edge_index.tolist()
        self.assertFalse(asked & {(users[s], items[t]) for s, t in zip(sources, targets)})
        sources, targets = batch[self.OF].edge_index.tolist()
        self.assertFalse(asked & {(users[t], items[s]) for s, t in zip(sources, targets)})
        by_relation = LinkNeighborLoader(self.data, [2], self.BUYS, batch_size=900)
        batch = next(iter(by_relation))
        ends = batch[self.BUYS].edge_label_index
        self.assertEqual(batch["user"].n_id[ends[0]].tolist(), self.shop.buys[0].tolist())

    def test_pygs_own_loaders_take_graph_and_sampler(self):
        sampler = NeighborSampler(self.data, [3, 2])
        for batch in NodeLoader(self.data, sampler, input_nodes=("user", torch.arange(30)),
                                batch_size=16):
            users = batch["user"].n_id.numpy()
            numpy.testing.assert_array_equal(batch["user"].x.numpy(), self.shop.x[users])
        links = torch.from_numpy(self.shop.knows.T.copy())
        loader = LinkLoader(self.data, sampler, edge_label_index=(self.KNOWS, links), batch_size=8)
        batch = next(iter(loader))
        ends = batch["user"].n_id[batch[self.KNOWS].edge_label_index]
        self.assertEqual(ends.tolist(), links[:, :8].tolist())

    def test_batches_have_the_attributes_of_pygs_own(self):
        links = torch.from_numpy(self.shop.knows.T[:, :8].copy())
        for given in ({}, {"disjoint": True}):
            sampler = NeighborSampler(self.data, [3, 2], **given)
            pairs = [(NeighborLoader(self.data, [3, 2], ("user", torch.arange(8)), **given),
                      NodeLoader(self.data, sampler, ("user", torch.arange(8))))]
            for mode in (None, "binary", "triplet"):
                pairs.append((
                    LinkNeighborLoader(self.data, [3, 2], (self.KNOWS, links), neg_sampling=mode,
                                       **given),
                    LinkLoader(self.data, sampler, (self.KNOWS, links), neg_sampling=mode)))
            for ours, pygs in pairs:
                names = [{of_type: set(store) for of_type, store in next(iter(loader)).to_dict().items()}
                         for loader in (ours, pygs)]
                self.assertEqual(*names, (given, pygs))

    def test_what_data_answers(self):
        self.assertEqual(self.data.num_features, {"user": 4, "item": 0})
        self.assertEqual(self.data.num_nodes, 260)
        self.assertEqual(self.data["item"].num_nodes, 60)
        self.assertIn("x", self.data["user"])
        self.assertRaises(AttributeError, lambda: self.data.x)
        self.assertRaises(KeyError, lambda: self.data["shop"])
        self.assertRaises(ValueError, connect, self.shop.cluster_file, heterogeneous=False)

    def test_whole_attributes_and_masks_have_the_order_of_ids(self):
        items = self.data["item"]
        names = self.data.names("item", torch.arange(self.shop.ITEMS))
        rows = [self.shop.names.index(name) for name in names]
        numpy.testing.assert_array_equal(items.y[:].numpy(), self.shop.prices[rows])
        users = self.data["user"]
        numpy.testing.assert_array_equal(users.x[:].numpy(), self.shop.x)
        numpy.testing.assert_array_equal(users.train_mask.numpy(), self.shop.train_mask)
        sources, targets = self.data[1].get_edge_index(edge_type=("item", "of", "user"),
                                                       layout="coo")
        numpy.testing.assert_array_equal(self.shop.prices[self.shop.buys[1]],
                                         items.y[:][sources].numpy())
        self.assertEqual(targets.tolist(), self.shop.buys[0].tolist())

    def test_a_graph_of_one_type_may_be_heterogeneous_data(self):
        papers = Papers(50, 300)
        self.addCleanup(papers.close)
        data = connect(papers.shards, heterogeneous=True)
        batch = next(iter(NeighborLoader(data, [2], input_nodes=("paper", torch.arange(5)))))
        self.assertIsInstance(batch, HeteroData)
        self.assertEqual(batch["paper"].num_nodes, batch["paper"].x.size(0))


class BackwardTest(unittest.TestCase):
    """Samplers that follow edges from sources to targets, as PyG 2.7's."""

    CITES, CITED = ("paper", "cites", "paper"), ("paper", "rev_cites", "paper")

    @classmethod
    def setUpClass(cls):
        cls.papers = Papers(more="add_reverse_apart: true")
        cls.addClassCleanup(cls.papers.close)
        cls.data = connect(cls.papers.cluster_file)

    def batches(self, num_neighbors, **given):
        sampler = NeighborSampler(self.data, num_neighbors, sample_direction="backward", **given)
        return NodeLoader(self.data, sampler, ("paper", torch.arange(40)), batch_size=16)

    def check_edges(self, batch, edge_type, edge_index):
        """That they lead from where they come from to where they go."""
        ids = batch["paper"].n_id
        numpy.testing.assert_array_equal(ids[batch[edge_type].edge_index].numpy(),
                                         edge_index[:, batch[edge_type].e_id.numpy()])

    def test_all_edges_of_two_hops_are_those_that_lead_from_their_nodes(self):
        for batch in self.batches({self.CITES: [-1, -1], self.CITED: [0, 0]}):
            self.assertEqual(batch[self.CITED].edge_index.size(1), 0)
            self.check_edges(batch, self.CITES, self.papers.edge_index)
            ids = batch["paper"].n_id.numpy()
            seeds = ids[:batch["paper"].batch_size]
            first = numpy.isin(self.papers.edge_index[0], seeds)
            reached = numpy.union1d(seeds, self.papers.edge_index[1][first])
            expected = numpy.flatnonzero(numpy.isin(self.papers.edge_index[0], reached))
            numpy.testing.assert_array_equal(numpy.sort(batch[self.CITES].e_id.numpy()), expected)
            self.assertEqual(batch[self.CITES].num_sampled_edges,
                             [first.sum(), len(expected) - first.sum()])
            self.assertEqual(set(ids), set(reached) | set(self.papers.edge_index[1][expected]))

    def test_a_sample_is_that_of_the_reversed_type_with_its_edges_turned_round(self):
        seeds = NodeSamplerInput(None, torch.arange(30), input_type="paper")
        numbers = {self.CITES: [4, 3], self.CITED: [2, 0]}
        turned = {self.CITES: numbers[self.CITED], self.CITED: numbers[self.CITES]}
        for given in ({}, {"weight_attr": "weight"}, {"replace": True}, {"disjoint": True}):
            torch.manual_seed(5)
            there = NeighborSampler(self.data, turned, **given).sample_from_nodes(seeds)
            torch.manual_seed(5)
            back = NeighborSampler(self.data, numbers, sample_direction="backward",
                                   **given).sample_from_nodes(seeds)
            self.assertEqual(back.node["paper"].tolist(), there.node["paper"].tolist())
            self.assertEqual(back.num_sampled_nodes, there.num_sampled_nodes)
            for one, other in ((self.CITES, self.CITED), (self.CITED, self.CITES)):
                self.assertGreater(back.row[one].numel(), 0)
                self.assertEqual(back.row[one].tolist(), there.col[other].tolist())
                self.assertEqual(back.col[one].tolist(), there.row[other].tolist())
                self.assertEqual(back.edge[one].tolist(), there.edge[other].tolist())
                self.assertEqual(back.num_sampled_edges[one], there.num_sampled_edges[other])
            if "weight_attr" in given:
                self.assertTrue((self.papers.weight[back.edge[self.CITES].numpy()] > 0).all())

    def test_an_induced_sample_has_the_edges_of_the_types_that_are_followed(self):
        for batch in self.batches({self.CITES: [3, 2], self.CITED: [0, 0]},
                                  subgraph_type="induced"):
            self.check_edges(batch, self.CITES, self.papers.edge_index)
            within = numpy.isin(self.papers.edge_index, batch["paper"].n_id.numpy()).all(axis=0)
            numpy.testing.assert_array_equal(numpy.sort(batch[self.CITES].e_id.numpy()),
                                             numpy.flatnonzero(within))
            self.assertEqual(batch[self.CITED].e_id.numel(), 0)

    def test_links_between_types_whose_reverses_are_there(self):
        shop = Shop(more="add_reverse: true")
        self.addCleanup(shop.close)
        data = connect(shop.cluster_file)
        buys = ("user", "buys", "item")
        ends = torch.stack([torch.from_numpy(shop.buys[0][:30]), data.graph.resolve(
            "item", [shop.names[item] for item in shop.buys[1][:30]]).torch()])
        sampler = NeighborSampler(data, [3, 2], sample_direction="backward")
        batch = next(iter(LinkLoader(data, sampler, (buys, ends), batch_size=30)))
        sources, targets = batch[buys].edge_index
        edges = batch[buys].e_id.numpy()
        self.assertGreater(len(edges), 0)
        self.assertEqual(batch["user"].n_id[sources].tolist(), shop.buys[0][edges].tolist())
        self.assertEqual(data.names("item", batch["item"].n_id[targets]),
                         [shop.names[item] for item in shop.buys[1][edges]])
        _, first = numpy.unique(sources.numpy(), return_counts=True)
        self.assertLessEqual(first.max(), 3)  # of a node at most so many are drawn

    def test_what_cannot_be_followed_is_refused(self):
        with self.assertRaisesRegex(NotImplementedError, "by time"):
            self.batches([2], time_attr="time")
        with self.assertRaisesRegex(ValueError, "sample_direction is 'up'"):
            NeighborSampler(self.data, [2], sample_direction="up")
        plain = Papers(50, 300)
        self.addCleanup(plain.close)
        with self.assertRaisesRegex(ValueError, "cites.*--add-reverse-apart"):
            NeighborSampler(connect(plain.shards), [2], sample_direction="backward")


class DrawsTest(unittest.TestCase):
    def test_every_neighbour_is_as_likely(self):
        papers = Papers(60, 600)
        self.addCleanup(papers.close)
        loader = NeighborLoader(connect(papers.shards), [3], batch_size=60)
        counts = numpy.zeros(600)
        epochs = 400
        for _ in range(epochs):
            for batch in loader:
                counts[batch.e_id.numpy()] += 1
        degrees = numpy.bincount(papers.edge_index[1], minlength=60)[papers.edge_index[1]]
        chance = numpy.minimum(1, 3 / degrees)
        drawn = chance < 1
        self.assertTrue((counts[~drawn] == epochs).all())
        # Of each target the counts are those of draws without replacement, less spread than
        # independent ones: so the bound, 5 standard deviations above the mean, is a loose one.
        expected = epochs * chance[drawn]
        square = ((counts[drawn] - expected) ** 2 / (expected * (1 - chance[drawn]))).sum()
        freedom = drawn.sum()
        self.assertLess(square, freedom + 5 * numpy.sqrt(2 * freedom))
        self.assertGreater(square, freedom / 2)


class FailureTest(unittest.TestCase):
    def test_a_cluster_that_is_gone_is_told_within_its_deadline(self):
        papers = Papers(100, 500)
        data = connect(papers.cluster_file, call_timeout_ms=500, call_budget_ms=1000)
        loader = NeighborLoader(data, [2], batch_size=1, fetch_ahead=1, sample_ahead=0,
                                batch_timeout_ms=5000)
        batches = iter(loader)
        next(batches)
        papers.close()
        with self.assertRaises((vicinity_graph.Unavailable, vicinity_graph.DeadlineExceeded)):
            for _ in range(100):
                next(batches)


if __name__ == "__main__":
    run_tests()
