#!/usr/bin/env python3
"""Loaders of a query's answers, over daemons and mapped: each batch is what the query gives for its
seeds by itself, and rows that several batches need come once."""

import json
import pathlib
import pickle
import sys
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from imported_graphs import Papers, Shop  # noqa: E402
from small_cluster import SmallCluster, run_tests  # noqa: E402

import numpy  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph import GlobalIds, Query  # noqa: E402

TEXT = """
    src = nodes(paper, $seeds, columns=[features])
    near = neighbors(src, cites, 4, columns=[features, label], edge_ids=true)
    top = visited(near, cites, 3, length=2, num_walks=8, columns=[features])
    late = neighbors(src, cites, where="time > 0", edge_columns=[weight])
"""
OPTIONS = {"batch_size": 32, "run_seed": 5}


def everything(answer):
    """An answer as plain values."""
    told = {}
    for name, step in answer.items():
        told[name] = [step.nodes.tolist(), step.offsets.tolist()]
        for column in ("features", "label", "prices"):
            try:
                told[name].append([column, step.column(column).tolist()])
            except vicinity_graph.NotFound:
                pass
    if "late" in answer:
        told["edges"] = [answer["near"].edge_ids.tolist(), answer["late"].edge_column("weight").tolist()]
    return told


class PapersTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.papers = Papers()
        cls.addClassCleanup(cls.papers.close)
        cls.far = vicinity_graph.Graph(cluster_file=cls.papers.cluster_file)
        cls.near = vicinity_graph.Graph(directory=cls.papers.shards)
        for graph in (cls.far, cls.near):
            cls.addClassCleanup(graph.close)

    def loader(self, graph=None, text=TEXT, **options):
        return (graph or self.near).query_loader(text, **{**OPTIONS, **options})


class AnswersTest(PapersTest):
    def test_each_batch_is_what_the_query_gives_for_its_seeds(self):
        train = numpy.flatnonzero(self.papers.train_mask)
        epochs = []
        for graph in (self.near, self.far):
            prepared = graph.prepare(TEXT)
            loader = self.loader(graph)
            self.assertEqual(loader.num_seeds, len(train))
            told = []
            for epoch in range(2):
                dealt = []
                for step, batch in enumerate(loader):
                    self.assertEqual((batch.epoch, batch.step, batch.batches_done),
                                     (epoch, step, step + 1))
                    alone = prepared.run(batch.inputs, run_seed=5, epoch=epoch, batch=batch.draw)
                    self.assertEqual(everything(batch), everything(alone))
                    seeds = graph.user_ids("paper", batch.seeds).numpy()
                    numpy.testing.assert_array_equal(batch["src"].nodes, batch.seeds)
                    numpy.testing.assert_array_equal(batch.labels, self.papers.y[seeds])
                    places = graph.nodes("paper", "train").numpy()[batch.input_positions.numpy()]
                    numpy.testing.assert_array_equal(places, batch.seeds)
                    for name in ("src", "near", "top"):
                        ids = graph.user_ids("paper", batch[name].nodes).numpy()
                        numpy.testing.assert_array_equal(batch[name].column("features"),
                                                         self.papers.x[ids])
                    dealt += seeds.tolist()
                    told.append(everything(batch))
                self.assertEqual(step + 1, len(loader))
                self.assertEqual(sorted(dealt), train.tolist())
            epochs.append(told)
        self.assertEqual(*epochs)

    def test_seeds_are_a_loaders(self):
        listed = self.loader(seeds=[7, 42, 7], batch_size=2, shuffle=False)
        self.assertEqual([self.near.user_ids("paper", batch.seeds).tolist() for batch in listed],
                         [[7, 42], [7]])
        mask = numpy.zeros(300, bool)
        mask[[3, 200]] = True
        self.assertEqual(self.loader(seeds=("paper", mask)).num_seeds, 2)
        self.assertEqual(self.loader(seeds=None).num_seeds, 300)

    def test_seeds_may_be_what_another_query_finds(self):
        for graph in (self.near, self.far):
            some = graph.prepare('some = nodes(paper, where="label in (1, 3)")').run()["some"]
            loader = self.loader(graph, seeds=GlobalIds(some.nodes))
            dealt = [node for batch in loader for node in graph.user_ids("paper", batch.seeds).tolist()]
            self.assertEqual(sorted(dealt), numpy.flatnonzero(numpy.isin(self.papers.y, (1, 3))).tolist())

    def test_a_row_comes_once_for_all_batches_and_steps_that_need_it(self):
        graph = vicinity_graph.Graph(cluster_file=self.papers.cluster_file)
        self.addCleanup(graph.close)
        text = TEXT[:TEXT.index("late")]  # rows of edges are no cache's
        asked = []

        def epochs(loader):
            for batch in [*loader, *loader]:
                asked.append((batch.inputs, batch.epoch, batch.draw))

        def rows_of(work):
            before = graph.stats()["rows_remote"]
            work()
            return graph.stats()["rows_remote"] - before

        def runs():
            prepared = graph.prepare(text)
            for inputs, epoch, draw in asked:
                prepared.run(inputs, run_seed=5, epoch=epoch, batch=draw)

        loader = self.loader(graph, text)
        fetched = rows_of(lambda: epochs(loader)) + loader.stats()["cache_rows"]  # held from the start
        apart = rows_of(runs)
        self.assertLessEqual(fetched, 2 * 300)  # each of both columns once
        self.assertGreater(apart, 5 * fetched)
        by_batch = self.loader(graph, text, cache="none", fetch_ahead=1)
        in_flight = self.loader(graph, text, cache="none", fetch_ahead=6)
        for loader in (by_batch, in_flight):
            list(loader.epoch(0))
        self.assertLess(by_batch.stats()["rows_remote"], apart / 2)  # steps of a batch share rows
        self.assertLess(in_flight.stats()["rows_remote"], by_batch.stats()["rows_remote"])

    def test_a_query_that_was_built_is_the_one_that_was_written(self):
        query = Query()
        query.nodes("src", "paper", "$start").neighbors("near", "src", "cites", 3,
                                                        columns=["features"])
        built = self.loader(text=query)
        written = self.loader(text="src = nodes(paper, $start)\n"
                                   "near = neighbors(src, cites, 3, columns=[features])")
        self.assertEqual(list(map(everything, built)), list(map(everything, written)))


class PassesTest(PapersTest):
    """What a loader of answers has from loaders."""

    def setUp(self):
        self.epochs = [[everything(batch) for batch in self.loader().epoch(epoch)]
                       for epoch in range(2)]
        self.assertGreater(len(self.epochs[0]), 3)
        self.assertNotEqual(*self.epochs)

    def test_epochs_can_be_repeated_begun_in_the_midst_and_left(self):
        loader = self.loader(self.far)
        self.assertEqual([everything(batch) for batch in loader.epoch(1, 2)], self.epochs[1][2:])
        for step, _ in enumerate(loader.epoch(0)):
            if step == 1:
                break
        self.assertEqual(list(map(everything, loader.epoch(0))), self.epochs[0])
        left = iter(loader)
        next(left)
        loader.close()
        with self.assertRaises(vicinity_graph.FailedPrecondition):
            next(left)
        with self.loader(self.far) as another:
            next(iter(another))  # and dropped with batches on their way
        loader = self.loader()
        loader.start_epoch(0)
        self.assertEqual(everything(loader.next(timeout=60)), self.epochs[0][0])
        self.assertEqual(everything(loader.next()), self.epochs[0][1])

    def test_a_state_goes_on_behind_the_last_batch_also_on_more_trainers(self):
        first = self.loader(self.far)
        taken = iter(first)
        for _ in range(2):
            batch = next(taken)
        state = json.loads(json.dumps(first.state_dict()))
        self.assertEqual(state, first.state_behind(batch))
        second = self.loader(self.far)
        second.load_state_dict(state)
        self.assertEqual(list(map(everything, second)), self.epochs[0][2:])
        self.assertEqual(list(map(everything, second)), self.epochs[1])
        both = [self.loader(trainer=trainer, num_trainers=2) for trainer in (0, 1)]
        for loader in both:
            loader.load_state_dict(state)
        steps = [everything(batch) for pair in zip(*both) for batch in pair]
        self.assertEqual(steps[:len(self.epochs[0]) - 2], self.epochs[0][2:])

    def test_a_state_of_other_batches_is_refused(self):
        state = self.loader().state_dict()
        for name, value in (("batch_size", 33), ("run_seed", 4), ("seeds", [1, 2])):
            with self.subTest(name=name), self.assertRaises(ValueError):
                self.loader(**{name: value}).load_state_dict(state)
        with self.assertRaisesRegex(ValueError, "query"):
            self.loader(text="src = nodes(paper, $seeds)").load_state_dict(state)
        with self.assertRaises(ValueError):
            self.near.loader([4], **OPTIONS).load_state_dict(state)
        self.loader(text=TEXT.replace("    ", " "), sample_threads=2).load_state_dict(state)

    def test_what_is_pickled_opens_again(self):
        loader = self.loader()
        again = pickle.loads(pickle.dumps(loader))
        self.assertEqual(list(map(everything, again)), self.epochs[0])
        loader.load_state_dict(loader.state_at(1, 1))
        again = pickle.loads(pickle.dumps(loader))
        self.assertEqual(list(map(everything, again)), self.epochs[1][1:])

    def test_workers_make_the_steps_of_one(self):
        parts = [list(self.loader(step_offset=worker, step_stride=2)) for worker in (0, 1)]
        for worker, batches in enumerate(parts):
            self.assertEqual([batch.step for batch in batches],
                             list(range(worker, len(self.epochs[0]), 2)))
            self.assertEqual(list(map(everything, batches)), self.epochs[0][worker::2])

    def test_answers_outlive_loader_and_graph(self):
        graph = vicinity_graph.Graph(cluster_file=self.papers.cluster_file)
        loader = self.loader(graph)
        batch = next(iter(loader))
        step, seeds = batch["near"], batch.seeds
        loader.close()
        graph.close()
        expected = self.epochs[0][0]
        self.assertEqual(everything(batch), expected)
        del batch, loader, graph
        self.assertEqual(step.nodes.tolist(), expected["near"][0])
        self.assertEqual(seeds.tolist(), expected["src"][0])


class LinksTest(unittest.TestCase):
    def test_the_sources_go_to_the_first_input_and_the_targets_to_the_other(self):
        shop = Shop()
        self.addCleanup(shop.close)
        text = """
            src = nodes(user, $users, columns=[x])
            dst = nodes(item, $items, columns=[prices])
            near = neighbors(src, of, 3, columns=[prices])
            neg = negatives(src, buys, 2, columns=[prices])
        """
        users, items = shop.buys
        pairs = set(zip(users.tolist(), items.tolist()))
        names = [shop.names[item] for item in items]
        epochs = []
        for where in ({"cluster_file": shop.cluster_file}, {"directory": shop.shards}):
            with vicinity_graph.Graph(**where) as graph:
                prepared = graph.prepare(text)
                links = GlobalIds((graph.resolve("user", users), graph.resolve("item", names)))
                loader = graph.query_loader(text, seeds=("user:buys:item", links), batch_size=100,
                                            run_seed=1)
                self.assertEqual(loader.num_seeds, 900)
                places = []
                for batch in loader:
                    self.assertEqual(list(batch.inputs), ["users", "items"])
                    alone = prepared.run(batch.inputs, run_seed=1, batch=batch.draw)
                    self.assertEqual(everything(batch), everything(alone))
                    of_batch = batch.input_positions.numpy()
                    numpy.testing.assert_array_equal(graph.user_ids("user", batch["src"].nodes),
                                                     users[of_batch])
                    numpy.testing.assert_array_equal(batch["src"].column("x"), shop.x[users[of_batch]])
                    self.assertEqual(graph.user_names("item", batch["dst"].nodes),
                                     [names[place] for place in of_batch])
                    apart = [shop.names.index(name)
                             for name in graph.user_names("item", batch["neg"].nodes)]
                    self.assertFalse(pairs & set(zip(numpy.repeat(users[of_batch], 2).tolist(), apart)))
                    with self.assertRaises(vicinity_graph.NotFound):
                        batch.labels
                    places += of_batch.tolist()
                self.assertEqual(sorted(places), list(range(900)))
                epochs.append(places)
                with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "takes item"):
                    graph.query_loader("d = nodes(item, $d); s = nodes(user, $s)",
                                       seeds=("user:buys:item", links))
        self.assertEqual(*epochs)


class LiveTest(unittest.TestCase):
    def test_a_loader_stays_at_the_versions_of_when_it_was_made(self):
        cluster = SmallCluster(num_nodes=300, live=True)
        self.addCleanup(cluster.close)
        graph = vicinity_graph.Graph(cluster_file=cluster.cluster_file)
        self.addCleanup(graph.close)
        edge_type = graph.edge_types[0].split(":")[1]
        text = (f"src = nodes(node, $seeds, columns=[features])\n"
                f"near = neighbors(src, {edge_type}, 5, columns=[features])")
        loader = graph.query_loader(text, batch_size=64)
        before = list(map(everything, loader.epoch(0)))
        nodes = graph.nodes("node")
        width = graph.fetch("node", "features", [0]).shape[1]
        graph.writer().update_nodes("node", nodes,
                                    {"features": numpy.full((300, width), 7, numpy.float32)})
        self.assertEqual(list(map(everything, loader.epoch(0))), before)
        after = list(map(everything, graph.query_loader(text, batch_size=64).epoch(0)))
        self.assertNotEqual(after, before)
        self.assertEqual([batch["near"][:2] for batch in after],
                         [batch["near"][:2] for batch in before])
        self.assertEqual({value for batch in after for row in batch["near"][2][1] for value in row}, {7})


class MisuseTest(PapersTest):
    def test_what_the_query_says_is_no_option(self):
        for options, text in (({"columns": [("paper", "features")]}, "columns"),
                              ({"edge_ids": True}, "edge_ids"), ({"user_ids": True}, "user_ids"),
                              ({"replace": True}, "fanouts"), ({"disjoint": True}, "fanouts"),
                              ({"where": "time > 0"}, "fanouts"), ({"exclude": "self"}, "exclude"),
                              ({"negatives": {"mode": "triplet"}}, "negatives"),
                              ({"placement": "device"}, "device"), ({"fanouts": [3]}, "fanouts"),
                              ({"bath_size": 3}, "bath_size"), ({"seed_type": "venue"}, "venue"),
                              ({"batch_size": 0}, "batch_size")):
            with self.subTest(options=options), \
                    self.assertRaisesRegex(vicinity_graph.InvalidArgument, text):
                self.loader(**options)

    def test_a_query_that_takes_no_seeds_or_does_not_fit_is_refused(self):
        for text, error, expected in (
                ("all = nodes(paper)", vicinity_graph.InvalidArgument, "no input"),
                ("a = nodes(paper, $a); b = nodes(paper, $b)", vicinity_graph.InvalidArgument,
                 r"the inputs \$a, \$b"),
                ("src = nods(paper, $a)", vicinity_graph.InvalidArgument, "line 1, character 7"),
                ("src = nodes(paper, $a, columns=[x])", vicinity_graph.NotFound, "features")):
            with self.assertRaisesRegex(error, expected):
                self.loader(text=text)
        with self.assertRaisesRegex(vicinity_graph.InvalidArgument, "inputs"):
            self.loader(seeds=("paper:cites:paper", ([1], [2])))
        with self.assertRaisesRegex(vicinity_graph.NotFound, "999"):
            self.loader(seeds=[1, 999])

    def test_reprs_and_names_tell_what_things_are(self):
        loader = self.loader()
        self.assertIn(f"src, near, top, late; {loader.num_seeds} seeds in {len(loader)} batches",
                      repr(loader))
        batch = next(iter(loader))
        self.assertIn("epoch 0, step 0: <QueryAnswer", repr(batch))
        with self.assertRaisesRegex(vicinity_graph.NotFound, "no step 'far', but src"):
            batch["far"]
        with self.assertRaisesRegex(vicinity_graph.NotFound, "input_positions|seed_policy"):
            next(iter(self.loader(seed_policy="home"))).input_positions
        loader.close()
        self.assertEqual(repr(loader), "<QueryLoader, closed>")

    def test_help_names_the_options_it_takes_and_no_others(self):
        shown = vicinity_graph.QueryLoader.__doc__
        for name in ("batch_size", "cache_rows", "seed_policy"):
            self.assertIn(name, shown)
        for name in ("fanouts", "edge_ids", "negatives"):
            self.assertNotIn(f"{name}:", shown)


if __name__ == "__main__":
    run_tests()
