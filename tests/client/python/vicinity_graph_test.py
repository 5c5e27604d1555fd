#!/usr/bin/env python3
"""The Python package, over a cluster of real daemons: what it gives, how long it lives, what it
refuses. NumPy and PyTorch take part where they are installed."""

import ctypes
import gc
import inspect
import json
import os
import pathlib
import pickle
import pydoc
import resource
import signal
import sys
import threading
import time
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from small_cluster import SmallCluster, run_tests, tool  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph import _library, options  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

with_numpy = unittest.skipIf(numpy is None, "NumPy is not installed")
with_torch = unittest.skipIf(torch is None, "PyTorch is not installed")

FANOUTS = [4, 3]
OPTIONS = {"batch_size": 64, "run_seed": 3, "columns": [("node", "features")]}


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def everything(batch):
    """All that a batch holds, as plain Python."""
    return {
        "nodes": batch.nodes().tolist(), "seeds": batch.seeds.tolist(),
        "labels": batch.labels.tolist(), "hop_ends": batch.hop_ends().tolist(),
        "blocks": [(b.hop, b.edge_type, b.offsets.tolist(), b.sources.tolist(),
                    b.targets.tolist()) for b in batch.blocks],
        "columns": {name: tensor.tolist() for name, tensor in batch.columns.items()},
    }


class ClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = SmallCluster()
        cls.addClassCleanup(cls.cluster.close)

    def setUp(self):
        self.graph = vicinity_graph.Graph(cluster_file=str(self.cluster.cluster_file))

    def loader(self, **options):
        return self.graph.loader(FANOUTS, **{**OPTIONS, **options})

    def first_batch(self, **options):
        return next(iter(self.loader(**options)))


class ContentTest(ClusterTest):
    def test_the_graph_says_what_it_holds(self):
        self.assertEqual(self.graph.node_types, ["node"])
        self.assertEqual(self.graph.num_nodes("node"), 2000)
        self.assertEqual(len(self.graph.edge_types), 1)
        self.assertEqual(self.graph.description["num_shards"], 2)
        self.assertEqual(sorted(self.graph.nodes("node").tolist()), list(range(2000)))

    def test_rows_are_those_that_the_tool_shows(self):
        for user_id in (0, 7, 1999):
            shown = json.loads(tool("get", "--cluster", self.cluster.cluster_file, "--id", user_id,
                                    "--format", "json"))
            node = self.graph.resolve("node", [user_id]).tolist()
            self.assertEqual(node, [shown["global_id"]])
            self.assertEqual(self.graph.user_ids("node", node).tolist(), [user_id])
            row = self.graph.fetch("node", "features", node).tolist()[0]
            self.assertEqual(row, [ctypes.c_float(value).value
                                   for value in shown["columns"]["features"]])

    def test_a_batch_holds_the_rows_and_labels_of_its_nodes(self):
        batch = self.first_batch()
        nodes = batch.nodes().tolist()
        self.assertEqual(batch.column("features").tolist(),
                         self.graph.fetch("node", "features", nodes).tolist())
        seeds = [nodes[position] for position in batch.seeds.tolist()]
        self.assertEqual(len(seeds), 64)
        self.assertEqual(batch.labels.tolist(),
                         self.graph.fetch("node", "label", seeds).tolist())

    def test_blocks_are_the_layers_of_a_message_flow_graph(self):
        batch = self.first_batch()
        ends = batch.hop_ends().tolist()
        self.assertEqual(len(batch.blocks), 2)
        for hop, block in enumerate(batch.blocks):
            self.assertEqual((block.hop, block.first_target), (hop, 0))
            self.assertEqual((block.num_targets, block.num_sources), (ends[hop], ends[hop + 1]))
            offsets, sources = block.offsets.tolist(), block.sources.tolist()
            self.assertEqual(len(sources), block.num_edges)
            self.assertEqual(block.targets.tolist(),
                             [i for i in range(block.num_targets)
                              for _ in range(offsets[i], offsets[i + 1])])
            self.assertLess(max(sources), block.num_sources)
            self.assertLessEqual(max(b - a for a, b in zip(offsets, offsets[1:])), FANOUTS[hop])

    def test_a_directory_gives_the_batches_of_the_cluster(self):
        near = vicinity_graph.Graph(directory=str(self.cluster.shards))
        far_batches = [everything(batch) for batch in self.loader()]
        self.assertEqual(far_batches, [everything(batch) for batch in near.loader(FANOUTS, **OPTIONS)])
        self.assertEqual(len(far_batches), len(self.loader()))

    def test_rows_on_a_device_are_the_same_rows(self):
        one_of_two = {"num_trainers": 2, "homes": [[0], [1]]}
        expected = [everything(batch) for batch in self.loader(**one_of_two)]
        for cache in ({}, {"cache": "auto", "cache_rows": 200}):
            on_twin = self.loader(placement="device", device={"kind": "host"}, **one_of_two,
                                  **cache)
            self.assertEqual([everything(batch) for batch in on_twin], expected)
            self.assertGreater(on_twin.stats()["device_bytes"], 0)

    def test_each_pass_is_another_epoch_and_epochs_can_be_repeated(self):
        loader = self.loader(cache="none")
        first = [batch.nodes().tolist() for batch in loader]
        second = [batch.nodes().tolist() for batch in loader]
        self.assertNotEqual(first, second)
        self.assertEqual([batch.nodes().tolist() for batch in loader.epoch(0)], first)
        self.assertEqual([batch.nodes().tolist() for batch in loader.epoch(1, 2, 4)], second[2:4])
        stats = loader.stats()
        self.assertEqual([stage["stage"] for stage in stats["stages"]],
                         ["schedule", "sample", "plan", "fetch", "assemble", "train"])
        self.assertGreater(stats["rows_remote"], 0)

    def test_what_is_pickled_opens_again(self):
        again = pickle.loads(pickle.dumps(self.loader()))
        self.assertEqual(everything(next(iter(again))), everything(self.first_batch()))


class OptionsTest(ClusterTest):
    """What there is to choose is the library's to say."""

    @staticmethod
    def defaults(described):
        return {option["name"]: option["default"] for option in described}

    def test_every_option_is_a_keyword(self):
        given = self.defaults(options.GRAPH)
        given["cluster_file"] = str(self.cluster.cluster_file)
        graph = vicinity_graph.Graph(**given)
        given = self.defaults(options.LOADER)
        given["fanouts"] = FANOUTS
        expected = next(iter(self.graph.loader(FANOUTS))).nodes().tolist()
        self.assertEqual(next(iter(graph.loader(**given))).nodes().tolist(), expected)

    def test_a_wrong_keywords_error_names_every_option(self):
        for described, call in ((options.GRAPH, vicinity_graph.Graph),
                                (options.LOADER, self.loader)):
            with self.assertRaises(vicinity_graph.InvalidArgument) as caught:
                call(no_such_option=1)
            for option in described:
                self.assertIn(f" {option['name']}", str(caught.exception))

    def test_help_and_signature_name_every_option_and_its_default(self):
        for described, shown in ((options.GRAPH, vicinity_graph.Graph),
                                 (options.LOADER, vicinity_graph.Loader)):
            parameters = inspect.signature(shown).parameters
            text = pydoc.render_doc(shown, renderer=pydoc.plaintext)
            for option in described:
                self.assertIn(f"{option['name']}: {option['type']}", text)
                if option["name"] != "fanouts":
                    self.assertEqual(parameters[option["name"]].default, option["default"])
        self.assertEqual(list(inspect.signature(vicinity_graph.Loader).parameters)[:2],
                         ["graph", "fanouts"])
        self.assertIn("batch_size: integer, at least 1; default 1024", vicinity_graph.Loader.__doc__)


class SeedsTest(ClusterTest):
    """What a loader's seeds may be."""

    USERS = [7, 1999, 7, 0, 3, 1500]

    def dealt(self, seeds, graph=None, **options):
        """The user's ids of an epoch's seeds, in order."""
        given = {"batch_size": 4, "shuffle": False, **options}
        graph = self.graph if graph is None else graph
        dealt = []
        for batch in graph.loader([2], seeds=seeds, **given):
            nodes = batch.nodes().tolist()
            for ends in (batch.seeds,) if len(batch.seed_types) == 1 else batch.links:
                dealt += [nodes[position] for position in ends.tolist()]
        return graph.user_ids("node", dealt).tolist()

    def test_a_split_all_nodes_and_lists_in_every_form(self):
        everybody = list(range(2000))
        self.assertEqual(self.dealt(None, batch_size=500), everybody)
        validation = self.graph.user_ids("node", self.graph.nodes("node", "validation")).tolist()
        for seeds in ("validation", ("node", "validation"), {"node": "validation"}):
            self.assertEqual(self.dealt(seeds, batch_size=500), validation)
        mask = [node in (5, 6, 1700) for node in everybody]
        for seeds in (self.USERS, ("node", self.USERS), {"node": self.USERS},
                      vicinity_graph.GlobalIds(self.graph.resolve("node", self.USERS)),
                      vicinity_graph.GlobalIds(self.graph.resolve("node", self.USERS).tolist())):
            self.assertEqual(self.dealt(seeds), self.USERS)
        self.assertEqual(self.dealt(mask), [5, 6, 1700])

    @with_numpy
    def test_arrays_of_numpys(self):
        for dtype in (numpy.int64, numpy.int32, numpy.uint16, object):
            self.assertEqual(self.dealt(numpy.array(self.USERS, dtype)), self.USERS)
        twice = numpy.repeat(numpy.array(self.USERS), 2)
        self.assertEqual(self.dealt(twice[::2]), self.USERS)
        fixed = numpy.array(self.USERS)
        fixed.flags.writeable = False
        self.assertEqual(self.dealt(fixed), self.USERS)
        mask = numpy.zeros(2000, bool)
        mask[[5, 6, 1700]] = True
        self.assertEqual(self.dealt(mask), [5, 6, 1700])
        for wrong in (numpy.array([1.0, 2.0]), numpy.array([[1, 2]])):
            self.assertRaises(TypeError, self.dealt, wrong)

    @with_torch
    def test_tensors_of_pytorchs(self):
        self.assertEqual(self.dealt(torch.tensor(self.USERS)), self.USERS)
        mask = torch.zeros(2000, dtype=torch.bool)
        mask[[5, 6, 1700]] = True
        self.assertEqual(self.dealt({"node": mask}), [5, 6, 1700])

    def test_an_epoch_has_each_seed_once_and_is_the_same_near_and_far(self):
        near = vicinity_graph.Graph(directory=str(self.cluster.shards))
        users = list(range(3, 2000, 17))
        far = self.loader(seeds=users)
        self.assertEqual(far.num_seeds, len(users))
        expected = [everything(batch) for batch in far]
        self.assertEqual([everything(batch)
                          for batch in near.loader(FANOUTS, **OPTIONS, seeds=users)], expected)
        shuffled = self.dealt(users, shuffle=True)
        self.assertNotEqual(shuffled, users)
        self.assertEqual(sorted(shuffled), users)
        self.assertEqual(len(self.dealt(users, drop_last=True, batch_size=50)), 100)

    def test_links_give_their_sources_and_then_their_targets(self):
        links = [[7, 1999, 7], [0, 3, 1500]]
        edge_type = self.graph.edge_types[0]
        ids = vicinity_graph.GlobalIds([self.graph.resolve("node", end) for end in links])
        forms = [links, tuple(links), ids] + ([] if numpy is None else [numpy.array(links)])
        for ends in forms + ([] if torch is None else [torch.tensor(links)]):
            self.assertEqual(self.dealt((edge_type, ends)), links[0] + links[1])
        self.assertEqual(self.dealt({edge_type: links}, batch_size=2), [7, 1999, 0, 3, 7, 1500])
        for ends, error in (([[1, 2], [3]], ValueError), ([[1, 2]], TypeError),
                            ([[1], [2000]], vicinity_graph.NotFound),
                            ([[True], [True]], vicinity_graph.InvalidArgument)):
            self.assertRaises(error, self.loader, seeds=(edge_type, ends))

    def test_negatives_go_by_weights(self):
        links = (self.graph.edge_types[0], [list(range(40)), list(range(40, 80))])
        weights = [float(node % 700 == 5) for node in range(2000)]
        forms = [weights, tuple(weights)]
        forms += [] if numpy is None else [numpy.array(weights), numpy.array(weights, "float32")[:],
                                           numpy.repeat(numpy.array(weights, "int64"), 2)[::2]]
        forms += [] if torch is None else [torch.tensor(weights), torch.tensor(weights).half()]
        for form in forms:
            loader = self.graph.loader([2], seeds=links, batch_size=40, negative_weights=form,
                                       negatives={"mode": "triplet", "amount": 9, "exact": False})
            batch = next(iter(loader))
            targets, = batch.negatives
            users = self.graph.user_ids("node", batch.nodes()).tolist()
            self.assertEqual({users[position] for position in targets.tolist()}, {5, 705, 1405})
            again = pickle.loads(pickle.dumps(loader))
            self.assertEqual(next(iter(again)).nodes().tolist(), batch.nodes().tolist())
        given = {"seeds": links, "negatives": {"mode": "binary"}}
        sources = {"negative_source_weights": weights}
        batch = next(iter(self.graph.loader([2], **given, **sources)))
        users = self.graph.user_ids("node", batch.nodes()).tolist()
        self.assertLessEqual({users[position] for position in batch.negatives[0].tolist()},
                             {5, 705, 1405})
        state = self.graph.loader([2], **given, **sources).state_dict()
        self.graph.loader([2], **given, **sources).load_state_dict(state)
        for others in ({"negative_weights": weights}, {}):
            self.assertRaises(ValueError, self.graph.loader([2], **given, **others).load_state_dict,
                              state)
        nan = weights[:3] + [float("nan")] + weights[4:]
        for wrong, text in ((weights[1:], "1999 weights"), (nan, "weight nan of node 3 "),
                            ([0] * 2000, "no weight"), ([], "one number"), (["a"] * 2000, "numbers"),
                            ([[1.0]] * 2000, "numbers")):
            with self.assertRaisesRegex(vicinity_graph.InvalidArgument, text):
                self.graph.loader([2], **given, negative_weights=wrong)
        with self.assertRaisesRegex(vicinity_graph.NotFound, "popularity"):
            self.graph.loader([2], seeds=links,
                              negatives={"mode": "binary", "weight_column": "popularity"})
        with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "no mode"):
            self.graph.loader([2], seeds=links, negative_weights=weights)

    def test_negatives_go_by_a_column_near_and_far(self):
        links = (self.graph.edge_types[0], [list(range(40)), list(range(40, 80))])
        near = vicinity_graph.Graph(directory=str(self.cluster.shards))
        drawn = []
        for graph in (self.graph, near):
            batch = next(iter(graph.loader(
                [2], seeds=links,
                negatives={"mode": "triplet", "amount": 50, "weight_column": "label"})))
            targets, = batch.negatives
            drawn.append([batch.nodes().tolist()[position] for position in targets.tolist()])
        self.assertEqual(drawn[0], drawn[1])
        labels = self.graph.fetch("node", "label", self.graph.nodes("node")).tolist()
        self.assertIn(0, labels)
        chosen = self.graph.fetch("node", "label", drawn[0]).tolist()
        self.assertEqual(set(chosen), set(labels) - {0})  # by its weight, the label, 0 never comes

    def test_nodes_are_no_links_and_links_no_nodes(self):
        batch = self.first_batch()
        self.assertRaises(vicinity_graph.NotFound, lambda: batch.links)
        links = self.first_batch(seeds=(self.graph.edge_types[0], [[7, 8], [9, 10]]))
        self.assertRaises(vicinity_graph.NotFound, lambda: links.seeds)
        self.assertEqual((links.seed_types, len(links.links[1])), (["node", "node"], 2))
        self.assertIn("2 links of node and node", repr(links))

    def test_a_batch_knows_the_users_ids_and_which_seeds_it_has(self):
        for cache in ("none", "auto"):
            for batch in self.loader(seeds=self.USERS, user_ids=True, batch_size=4, cache=cache):
                users = batch.user_ids().tolist()
                self.assertEqual(users, self.graph.user_ids("node", batch.nodes()).tolist())
                seeds = [users[position] for position in batch.seeds.tolist()]
                self.assertEqual(seeds, [self.USERS[i] for i in batch.input_positions.tolist()])
        self.assertRaises(vicinity_graph.NotFound, len, self.first_batch().user_ids())
        homes = self.first_batch(seed_policy="home")
        self.assertRaises(vicinity_graph.NotFound, len, homes.input_positions)

    def test_all_edges_of_a_batch_are_those_of_its_blocks(self):
        batch = self.first_batch(edge_ids=True)
        sources, targets, ids = [], [], []
        for block in batch.blocks:
            sources += block.sources.tolist()
            targets += [block.first_target + target for target in block.targets.tolist()]
            ids += block.edge_ids.tolist()
        self.assertEqual(batch.edge_index().tolist(), [sources, targets])
        self.assertEqual(batch.edge_index(self.graph.edge_types[0]).shape, (2, len(sources)))
        self.assertEqual(batch.edge_ids().tolist(), ids)
        self.assertRaises(vicinity_graph.NotFound, batch.edge_index, "a:b:c")

    def test_what_is_pickled_has_the_same_seeds(self):
        loader = pickle.loads(pickle.dumps(self.loader(seeds=self.USERS)))
        self.assertEqual(loader.num_seeds, len(self.USERS))

    def test_what_is_pickled_begins_anew_or_where_a_loaded_state_says(self):
        loader = self.loader()
        loader.load_state_dict({**loader.state_dict(), "epoch": 5, "batches_done": 1})
        for expected in ((5, 1), (0, 0)):
            batch = next(iter(pickle.loads(pickle.dumps(loader))))
            self.assertEqual((batch.epoch, batch.step), expected)
            next(iter(loader))  # now the state is used up

    def test_seeds_that_are_none_are_refused_saying_why(self):
        for seeds, error, text in (
                ([], vicinity_graph.InvalidArgument, "empty"),
                ([1, 2000, 3], vicinity_graph.NotFound, "2000 (position 1)"),
                ([True] * 3, vicinity_graph.InvalidArgument, "2000"),
                ([False] * 2000, vicinity_graph.InvalidArgument, "none"),
                (["ada"], vicinity_graph.InvalidArgument, "integers"),
                ("everything", vicinity_graph.InvalidArgument, "everything"),
                (vicinity_graph.GlobalIds([2000]), vicinity_graph.InvalidArgument, "2000 (position 0)"),
                (("author", [1]), vicinity_graph.NotFound, "author"),
                ([1, "ada"], TypeError, "seed 1"), ([1, 2.5], TypeError, "seed 1"),
                ([1, True], TypeError, "mask"), ([1 << 63], OverflowError, "64-bit"),
                ((1, 2, 3), TypeError, "a list"), ({"node": [1], "b": [2]}, ValueError, "one node"),
                (self.graph.nodes("node"), TypeError, "GlobalIds"),
                (vicinity_graph.GlobalIds(["ada"]), TypeError, "integers"), (5, TypeError, "int")):
            with self.subTest(text=text), self.assertRaises(error) as caught:
                self.loader(seeds=seeds)
            self.assertIn(text, str(caught.exception))
        self.assertRaises(TypeError, self.loader, seeds=[1], split="test")
        self.assertRaises(ValueError, self.loader, seeds=("node", [1]), seed_type="author")


class ResumeTest(ClusterTest):
    """state_dict and load_state_dict."""

    def loaders(self, num_trainers, state=None):
        loaders = [self.loader(batch_size=8, trainer=trainer, num_trainers=num_trainers)
                   for trainer in range(num_trainers)]
        for loader in loaders if state is not None else []:
            loader.load_state_dict(state)
        return loaders

    @staticmethod
    def in_turn(loaders, steps=None):
        """What all trainers train on, step after step."""
        passes = [iter(loader) for loader in loaders]
        batches = []
        while steps is None or steps > 0:
            step = [next(one_pass, None) for one_pass in passes]
            if step[0] is None:
                return batches
            batches += [everything(batch) for batch in step]
            steps = None if steps is None else steps - 1
        return batches

    def test_an_epoch_goes_on_on_any_number_of_trainers(self):
        alone, = self.loaders(1)
        epochs = [self.in_turn([alone]) for _ in range(2)]
        self.assertEqual(len(epochs[0]), 25)
        for before, steps, after in ((1, 3, 1), (2, 4, 3), (3, 8, 2), (2, 13, 1), (1, 0, 4)):
            with self.subTest(before=before, steps=steps, after=after):
                first = self.loaders(before)
                self.in_turn(first, steps)
                states = [loader.state_dict() for loader in first]
                self.assertEqual(states, [states[0]] * before)
                state = json.loads(json.dumps(states[0]))
                second = self.loaders(after, state)
                self.assertEqual([loader.state_dict() for loader in second], [state] * after)
                rest = self.in_turn(second)
                left = max(0, 25 - before * steps)
                self.assertEqual(rest[:left], epochs[0][before * steps:])
                self.assertLess(len(rest) - left, after)  # what makes steps equal
                self.assertEqual(self.in_turn(second)[:25], epochs[1])

    def test_a_state_of_other_batches_is_refused(self):
        state = self.loader().state_dict()
        for name, value in (("batch_size", 65), ("run_seed", 4), ("shuffle", False),
                            ("seeds", [1, 2]), ("drop_last", True), ("seed_policy", "home")):
            with self.subTest(name=name), self.assertRaises(ValueError):
                self.loader(**{name: value}).load_state_dict(state)
        with self.assertRaisesRegex(ValueError, "fanouts"):
            self.graph.loader([4], **OPTIONS).load_state_dict(state)
        self.loader(cache="none", sample_threads=2).load_state_dict(state)

    def test_behind_a_pass_that_ended_the_next_epoch_comes(self):
        whole = self.loader()
        epochs = [self.in_turn([whole]) for _ in range(2)]
        for loader in (self.loader(), self.loader(shuffle=False)):
            *_, last = loader
            ended, behind = loader.state_dict(), loader.state_behind(last)
            self.assertEqual((ended["epoch"], ended["batches_done"]), (1, 0))
            self.assertEqual((behind["epoch"], behind["batches_done"]), (0, len(loader)))
        loader = self.loader()
        self.in_turn([loader])
        other = self.loader()
        other.load_state_dict(loader.state_dict())
        self.assertEqual(self.in_turn([other]), epochs[1])
        part = self.loader()
        taken = [everything(batch) for batch in part.epoch(0, 0, 2)]  # which is no end of an epoch
        other.load_state_dict(part.state_dict())
        self.assertEqual(taken + self.in_turn([other]), epochs[0])

    def test_a_pass_that_is_broken_off_goes_on_behind_its_last_batch(self):
        loader = self.loader()
        for number, _ in enumerate(loader):
            if number == 1:
                break
        other = self.loader()
        other.load_state_dict(loader.state_dict())
        self.assertEqual(next(iter(other)).step, 2)
        self.assertEqual(loader.next_epoch, 1)


class SharingTest(ClusterTest):
    @with_numpy
    def test_numpy_shares_the_memory(self):
        batch = self.first_batch()
        tensor = batch.column("features")
        arrays = [numpy.from_dlpack(tensor), tensor.numpy(), numpy.asarray(tensor.memoryview())]
        self.assertEqual(len({each.__array_interface__["data"][0] for each in arrays}), 1)
        self.assertEqual(arrays[0].dtype, numpy.float32)
        self.assertEqual(arrays[0].tolist(), tensor.tolist())

    @with_torch
    @with_numpy
    def test_torch_shares_the_memory(self):
        batch = self.first_batch()
        rows = torch.from_dlpack(batch.column("features"))
        self.assertEqual(rows.dtype, torch.float32)
        self.assertEqual(rows.data_ptr(),
                         batch.column("features").numpy().__array_interface__["data"][0])
        self.assertEqual(rows.data_ptr(), batch.column("features").torch().data_ptr())
        self.assertEqual(rows.tolist(), batch.column("features").tolist())
        sources = torch.from_dlpack(batch.blocks[0].sources)
        self.assertEqual(sources.dtype, torch.int32)
        self.assertEqual(rows[sources.long()].shape, (batch.blocks[0].num_edges, rows.shape[1]))

    @with_torch
    def test_tensors_outlive_batch_loader_and_graph(self):
        loader = self.loader()
        batch = next(iter(loader))
        expected = batch.column("features").tolist()
        rows = torch.from_dlpack(batch.column("features"))
        view = batch.nodes().memoryview()
        nodes = view.tolist()
        loader.close()
        self.graph.close()
        del batch, loader, self.graph
        gc.collect()
        _ = [bytearray(1 << 16) for _ in range(100)]  # would overwrite what was freed
        self.assertEqual(rows.tolist(), expected)
        self.assertEqual(view.tolist(), nodes)

    @with_torch
    def test_rows_on_a_device_are_handed_over_once_and_outlive_all(self):
        loader = self.loader(placement="device", device={"kind": "host"})
        batch = next(iter(loader))
        tensor = batch.column("features")
        expected = self.graph.fetch("node", "features", batch.nodes().tolist()).tolist()
        rows = torch.from_dlpack(tensor)
        with self.assertRaises(vicinity_graph.FailedPrecondition):
            torch.from_dlpack(tensor)
        loader.close()
        self.graph.close()
        del batch, loader, tensor, self.graph
        gc.collect()
        self.assertEqual(rows.tolist(), expected)

    def test_a_capsule_is_renamed_or_frees_what_it_holds(self):
        tensor = self.first_batch().column("features")
        self.assertEqual(tensor.__dlpack_device__(), (1, 0))
        self.assertIn('"dltensor"', repr(tensor.__dlpack__()))
        self.assertIn('"dltensor"', repr(tensor.__dlpack__(stream=None, max_version=(1, 0),
                                                           dl_device=(1, 0), copy=False)))
        with self.assertRaises(BufferError):
            tensor.__dlpack__(dl_device=(2, 0))
        with self.assertRaises(BufferError):
            tensor.__dlpack__(copy=True)
        if numpy is not None:
            capsule = tensor.__dlpack__()

            class Consumer:
                def __dlpack__(self):
                    return capsule

                def __dlpack_device__(self):
                    return 1, 0

            array = numpy.from_dlpack(Consumer())
            self.assertIn('"used_dltensor"', repr(capsule))
            del capsule
            self.assertEqual(array.tolist(), tensor.tolist())

    def test_memory_of_capsules_that_nobody_took_comes_back(self):
        ids = list(range(2000)) * 10

        def once():
            return self.graph.fetch("node", "features", ids).__dlpack__()

        size = self.graph.fetch("node", "features", ids).memoryview().nbytes
        for _ in range(5):
            once()
        before = resident_bytes()
        rounds = (256 << 20) // size
        for _ in range(rounds):
            once()
        self.assertLess(resident_bytes() - before, 64 << 20)

    def test_making_and_closing_two_hundred_times_leaves_memory_as_it_was(self):
        def once():
            with vicinity_graph.Graph(directory=str(self.cluster.shards)) as graph:
                with graph.loader(FANOUTS, **OPTIONS) as loader:
                    next(iter(loader)).column("features").__dlpack__()

        for _ in range(100):
            once()
        before = resident_bytes()
        for _ in range(200):
            once()
        # Keeping one batch a round would be 50 MiB; the heaps of ended threads take some.
        self.assertLess(resident_bytes() - before, 24 << 20)


class ErrorTest(ClusterTest):
    def assertCode(self, error, name, text):
        self.assertIsInstance(error, vicinity_graph.VicinityError)
        self.assertEqual(error.name, name)
        self.assertIn(text, str(error))

    def test_errors_have_types_of_their_codes(self):
        with self.assertRaises(vicinity_graph.NotFound) as caught:
            self.graph.fetch("node", "colour", [1])
        self.assertCode(caught.exception, "NOT_FOUND", "features")
        self.assertIsInstance(caught.exception, LookupError)
        with self.assertRaises(vicinity_graph.InvalidArgument) as caught:
            self.graph.fetch("node", "features", [5000])
        self.assertCode(caught.exception, "INVALID_ARGUMENT", "5000")
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaises(vicinity_graph.InvalidArgument) as caught:
            self.loader(batchsize=3)
        self.assertCode(caught.exception, "INVALID_ARGUMENT", "batch_size")
        with self.assertRaises(vicinity_graph.NotFound):
            self.loader(columns=[("node", "colour")])
        with self.assertRaises(vicinity_graph.FailedPrecondition):
            self.loader().next()
        with self.assertRaises(vicinity_graph.NotFound):
            vicinity_graph.Graph(cluster_file="/nowhere.textproto")
        self.assertEqual(len(vicinity_graph.errors.BY_CODE), 15)
        for code, kind in vicinity_graph.errors.BY_CODE.items():
            self.assertEqual((kind("a text").code, str(kind("a text"))), (code, "a text"))

    def test_closed_objects_are_refused(self):
        loader = self.loader()
        loader.close()
        with self.assertRaises(vicinity_graph.FailedPrecondition):
            loader.next()
        self.graph.close()
        with self.assertRaises(vicinity_graph.FailedPrecondition):
            self.graph.nodes("node")

    def test_a_part_that_was_not_asked_for_is_not_found(self):
        batch = self.first_batch(labels=False)
        self.assertFalse(batch.has_labels)
        for part in (batch.labels, batch.blocks[0].edge_ids, batch.trees()):
            with self.assertRaises(vicinity_graph.NotFound):
                part.tolist()

    def test_a_forked_child_is_refused(self):
        loader = self.loader()
        loader.start_epoch(0)
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            refused = 0
            for call in (loader.next, lambda: loader.start_epoch(1), self.loader,
                         lambda: self.graph.nodes("node")):
                try:
                    call()
                except vicinity_graph.FailedPrecondition:
                    refused += 1
            os._exit(0 if refused == 4 else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertIsNotNone(loader.next())


class WaitingTest(ClusterTest):
    """A paused server keeps batches from coming."""

    def setUp(self):
        super().setUp()
        self.waiting = self.loader()
        self.cluster.pause(1)
        self.addCleanup(self.cluster.resume, 1)
        self.waiting.start_epoch(0)

    def test_a_timeout_ends_the_wait_and_asking_again_goes_on(self):
        with self.assertRaises(vicinity_graph.DeadlineExceeded):
            self.waiting.next(timeout=0.15)
        self.cluster.resume(1)
        self.assertEqual(self.waiting.next().step, 0)

    def test_an_interrupt_gets_through_a_wait(self):
        at = []

        def interrupt():
            at.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

        # A shell's background jobs are made to ignore interrupts.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        timer = threading.Timer(0.25, interrupt)
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            self.waiting.next()
        self.assertLess(time.monotonic() - at[0], 1.0)  # it takes up to 0.1
        timer.join()
        self.cluster.resume(1)
        self.assertEqual(self.waiting.next().step, 0)

    def test_other_threads_run_while_one_waits(self):
        turns = []
        stop = threading.Event()

        def work():
            while not stop.wait(0.001):
                turns.append(None)

        other = threading.Thread(target=work)
        other.start()
        pointer = ctypes.c_void_p()
        code = _library.lib.vicinity_loader_next(self.waiting.handle, 500,
                                                 ctypes.byref(pointer))
        during = len(turns)
        stop.set()
        other.join()
        self.assertEqual(code, _library.NOT_READY)
        self.assertGreater(during, 20)

    def test_closing_while_another_thread_waits_is_safe(self):
        ended = []

        def wait():
            try:
                self.waiting.next()
            except vicinity_graph.VicinityError as error:
                ended.append(error)

        other = threading.Thread(target=wait)
        other.start()
        self.waiting.close()
        self.cluster.resume(1)
        other.join(30)
        self.assertFalse(other.is_alive())


if __name__ == "__main__":
    run_tests()
