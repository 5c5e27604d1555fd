#!/usr/bin/env python3
"""Loaders in the workers of torch.utils.data.DataLoader: together they give what one loader gives,
and what was opened before a fork is refused. This process opens no cluster: one that has connected
to servers has forked children that cannot."""

import collections
import pathlib
import subprocess
import sys
import unittest
import zlib

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from small_cluster import ROOT, SmallCluster, run_tests  # noqa: E402

import vicinity_graph  # noqa: E402

try:
    import torch
    from torch.utils.data import DataLoader, IterableDataset
except ImportError:
    torch, IterableDataset = None, object

try:
    from torchdata.stateful_dataloader import StatefulDataLoader
except ImportError:
    StatefulDataLoader = None

OPTIONS = {"run_seed": 3, "batch_size": 64, "columns": [("node", "features")], "user_ids": True}


def told(loader, batch):
    """A batch as plain values, with the state behind it."""
    return {"place": [batch.epoch, batch.step, batch.batches_done],
            "users": batch.user_ids().tolist(), "labels": batch.labels.tolist(),
            "seeds": [batch.user_ids().tolist()[each] for each in batch.seeds.tolist()],
            "rows": zlib.crc32(batch.column("features").memoryview()),
            "state": loader.state_behind(batch)}


def seeds_of(batches):
    return collections.Counter(seed for each in batches for seed in each["seeds"])


class OpenedInWorker(IterableDataset):
    """Batches of a graph that each worker opens for itself."""

    def __init__(self, graph, state=None, **options):
        super().__init__()
        self.graph, self.state = graph, state
        self.options = {**OPTIONS, **options}

    def __iter__(self):
        with vicinity_graph.Graph(**self.graph) as graph, \
                graph.loader([3, 2], **self.options) as loader:
            if self.state is not None:
                loader.load_state_dict(self.state)
            for batch in loader:
                yield told(loader, batch)


class Given(IterableDataset):
    """Batches of a loader that was made before there were workers."""

    def __init__(self, loader):
        super().__init__()
        self.loader = loader

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        for batch in self.loader:
            yield told(self.loader, batch)


class StatesTold(OpenedInWorker):
    """Each batch with the number and the state of its worker; `state`, if there is one, is by worker."""

    def __iter__(self):
        worker = torch.utils.data.get_worker_info().id
        with vicinity_graph.Graph(**self.graph) as graph, \
                graph.loader([3, 2], **self.options) as loader:
            if self.state is not None:
                loader.load_state_dict(self.state[worker])
            for batch in loader:
                yield worker, told(loader, batch), loader.state_dict()


class Answers(OpenedInWorker):
    """Of a query, from a loader that each worker makes for itself."""

    def __iter__(self):
        with vicinity_graph.Graph(**self.graph) as graph:
            edges = graph.edge_types[0]
            query = vicinity_graph.Query().nodes("src", "node", "$seeds").neighbors(
                "near", "src", edges, 3, columns=["features"])
            for batch in graph.query_loader(query, batch_size=64, run_seed=3):
                near = batch["near"]
                yield {"step": batch.step, "near": graph.user_ids("node", near.nodes).tolist(),
                       "rows": zlib.crc32(near.column("features").memoryview())}


class Stateful(Given):
    """As torchdata's StatefulDataLoader takes it."""

    def state_dict(self):
        return self.loader.state_dict()

    def load_state_dict(self, state):
        self.loader.load_state_dict(state)


@unittest.skipIf(torch is None, "PyTorch is not installed")
class DataLoaderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = SmallCluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.far = {"cluster_file": str(cls.cluster.cluster_file)}
        cls.near = {"directory": str(cls.cluster.shards)}
        cls.graph = vicinity_graph.Graph(**cls.near)
        cls.split = cls.graph.user_ids("node", cls.graph.nodes("node", "train")).tolist()

    def alone(self, epoch=0, **options):
        """What one loader gives, in no worker."""
        loader = self.graph.loader([3, 2], **{**OPTIONS, **options})
        return [told(loader, batch) for batch in loader.epoch(epoch)]

    @staticmethod
    def by_workers(dataset, num_workers, context="fork"):
        if num_workers == 0:
            return list(dataset)
        return list(DataLoader(dataset, batch_size=None, num_workers=num_workers, timeout=120,
                               multiprocessing_context=context))

    def test_workers_give_each_seed_of_the_split_once_in_the_order_of_one_loader(self):
        expected = self.alone()
        self.assertEqual(seeds_of(expected), collections.Counter(self.split))
        self.assertNotEqual(len(expected) % 2, len(expected) % 3)  # ends that are not equal, too
        for num_workers in (1, 2, 3):
            batches = self.by_workers(OpenedInWorker(self.far), num_workers)
            self.assertEqual(batches, expected)

    def test_answers_of_a_query_are_those_of_one_loader_in_its_order(self):
        expected = list(Answers(self.near))
        self.assertGreater(len(expected), 3)
        for num_workers in (2, 3):
            self.assertEqual(self.by_workers(Answers(self.far), num_workers), expected)

    def test_workers_of_several_trainers_repeat_only_what_makes_their_steps_equal(self):
        for policy, drop_last in (("global", False), ("global", True), ("home", False)):
            options = {"seed_policy": policy, "drop_last": drop_last, "num_trainers": 2,
                       "batch_size": 48}
            trainers = []
            for trainer in (0, 1):
                options["trainer"] = trainer
                batches = self.by_workers(OpenedInWorker(self.far, **options), 2)
                self.assertEqual(batches, self.alone(**options))
                trainers.append(batches)
            self.assertEqual(len(trainers[0]), len(trainers[1]))
            seeds = seeds_of(trainers[0]) + seeds_of(trainers[1])
            if drop_last:
                self.assertEqual(max(seeds.values()), 1)
                continue
            self.assertEqual(set(seeds), set(self.split))
            if policy == "global":  # an odd number of batches: the first comes again, and no other
                num_batches = -(-len(self.split) // 48)
                again = trainers[0][0]["seeds"] if num_batches % 2 else []
                self.assertEqual(seeds, collections.Counter(self.split + again))
                self.assertEqual(num_batches % 2, 1)

    def test_a_loader_that_is_spawned_into_workers_goes_on_from_epoch_to_epoch(self):
        loader = self.graph.loader([3, 2], **OPTIONS)
        data = DataLoader(Given(loader), batch_size=None, num_workers=2, timeout=120,
                          persistent_workers=True, multiprocessing_context="spawn")
        self.assertEqual(len(data), len(self.alone()))
        for epoch in (0, 1, 2):
            self.assertEqual(list(data), self.alone(epoch))

    def test_a_loader_that_was_told_where_to_go_on_does_so_in_the_workers(self):
        loader = self.graph.loader([3, 2], **OPTIONS)
        loader.load_state_dict(self.alone(2)[3]["state"])
        for num_workers in (1, 2):
            self.assertEqual(self.by_workers(Given(loader), num_workers, "spawn"), self.alone(2)[4:])

    def test_more_workers_than_steps_and_a_worker_that_is_told_to_make_all(self):
        few = {"batch_size": 150}
        expected = self.alone(**few)
        self.assertLess(len(expected), 3)
        self.assertEqual(self.by_workers(OpenedInWorker(self.near, **few), 3), expected)
        batches = self.by_workers(OpenedInWorker(self.near, step_stride=1, **few), 2)
        self.assertEqual(seeds_of(batches), collections.Counter(self.split * 2))

    def test_what_was_opened_before_a_fork_is_refused_saying_what_to_do(self):
        loader = self.graph.loader([3, 2], **OPTIONS)
        begun = iter(loader)
        next(begun)
        with self.assertRaisesRegex(vicinity_graph.FailedPrecondition,
                                    r"(?s)was forked from.*open the graph in the worker.*spawn"):
            self.by_workers(Given(loader), 2)
        self.assertIsNotNone(next(begun))  # the parent's goes on

    def test_a_cluster_that_this_process_opened_cannot_be_opened_again_behind_a_fork(self):
        program = (
            "import sys\n"
            "from data_loader_test import DataLoader, OpenedInWorker, vicinity_graph\n"
            "graph = vicinity_graph.Graph(cluster_file=sys.argv[1])\n"
            "try:\n"
            "    list(DataLoader(OpenedInWorker({'cluster_file': sys.argv[1]}), batch_size=None,\n"
            "                    num_workers=2, multiprocessing_context='fork', timeout=60))\n"
            "except vicinity_graph.FailedPrecondition as error:\n"
            "    print('refused:', 'spawn' in str(error))\n")
        shown = subprocess.run([sys.executable, "-c", program, self.far["cluster_file"]],
                               cwd=pathlib.Path(__file__).resolve().parent, timeout=120,
                               capture_output=True, text=True, check=True).stdout
        self.assertEqual(shown, "refused: True\n")

    def test_the_state_behind_a_batch_goes_on_alone_and_with_other_workers(self):
        for options in ({}, {"num_trainers": 2, "trainer": 1}):
            expected = self.alone(**options)
            taken = self.by_workers(OpenedInWorker(self.near, **options), 2)
            for num_taken in (1, 2, len(taken)):
                state = taken[num_taken - 1]["state"]
                for num_workers in (0, 2, 3):
                    rest = self.by_workers(OpenedInWorker(self.near, state=state, **options),
                                           num_workers)
                    self.assertEqual(rest, expected[num_taken:])

    def test_the_state_behind_a_batch_is_that_of_the_loader_which_took_it(self):
        loader = self.graph.loader([3, 2], **OPTIONS)
        batch = next(iter(loader))
        self.assertEqual(loader.state_behind(batch), loader.state_dict())

    def test_a_worker_says_where_it_is_and_the_same_one_of_as_many_goes_on_there(self):
        for options in ({}, {"num_trainers": 2, "trainer": 1}):
            options = {"batch_size": 24, **options}
            expected = self.alone(**options)
            taken = self.by_workers(StatesTold(self.near, **options), 2)
            self.assertEqual([batch for _, batch, _ in taken], expected)
            workers = {batch["place"][1]: worker for worker, batch, _ in taken}
            for num_taken in range(2, len(taken) + 1):
                with self.subTest(options=options, num_taken=num_taken):
                    states = {worker: state for worker, _, state in taken[:num_taken]}
                    rest = self.by_workers(StatesTold(self.near, states, **options), 2)
                    self.assertEqual(sorted((batch for _, batch, _ in rest),
                                            key=lambda batch: batch["place"]), expected[num_taken:])
                    for worker, batch, _ in rest:
                        self.assertEqual(workers[batch["place"][1]], worker)

    def test_the_state_of_one_of_several_workers_is_for_no_other(self):
        taken = self.by_workers(StatesTold(self.near), 2)
        states = {worker: state for worker, _, state in taken}
        with self.assertRaisesRegex(ValueError, r"worker 1's of 2.*state_behind\(batch\)"):
            self.graph.loader([3, 2], **OPTIONS).load_state_dict(states[1])
        for others in ({0: states[1], 1: states[0]}, {0: states[0], 1: states[1], 2: states[0]}):
            with self.assertRaisesRegex(ValueError, "for the same one of as many workers"):
                self.by_workers(StatesTold(self.near, others), len(others))

    @unittest.skipIf(StatefulDataLoader is None, "torchdata has no StatefulDataLoader here")
    def test_torchdatas_loader_goes_on_behind_any_of_its_batches(self):
        def made():
            loader = self.graph.loader([3, 2], **{**OPTIONS, "batch_size": 24})
            return StatefulDataLoader(Stateful(loader), batch_size=None, num_workers=2, timeout=60,
                                      multiprocessing_context="spawn")

        expected = self.alone(batch_size=24)
        for num_taken in (1, 2, 5):
            loader = made()
            batches = iter(loader)
            taken = [next(batches) for _ in range(num_taken)]
            state = loader.state_dict()
            del batches
            again = made()
            again.load_state_dict(state)
            self.assertEqual(taken + list(again), expected)

    def test_pytorch_is_not_imported_to_find_out(self):
        program = ("import sys, vicinity_graph\n"
                   "graph = vicinity_graph.Graph(directory=sys.argv[1])\n"
                   "print(len(list(graph.loader([2], batch_size=400))), 'torch' in sys.modules)")
        shown = subprocess.run([sys.executable, "-c", program, self.near["directory"]],
                               cwd=ROOT / "client" / "python", timeout=120, capture_output=True,
                               text=True, check=True).stdout
        self.assertEqual(shown, f"{-(-len(self.split) // 400)} False\n")


if __name__ == "__main__":
    run_tests()
