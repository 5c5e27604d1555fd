#!/usr/bin/env python3
"""Changes of a live graph from Python, over daemons: what is written is what is read then, to the
value, and at the versions before it is what there was."""

import concurrent.futures
import pathlib
import pickle
import sys
import threading
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import numpy  # noqa: E402
from imported_graphs import ImportedGraph  # noqa: E402
from small_cluster import SmallCluster, run_tests  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph import GlobalIds, UserIds  # noqa: E402
from vicinity_graph.errors import (AlreadyExists, FailedPrecondition, InvalidArgument,  # noqa: E402
                                   NotFound, RefusedRows, Unavailable, VicinityError)

try:
    import torch
except ImportError:
    torch = None
try:
    import scipy.sparse
except ImportError:
    scipy = None

BUYS, OF = "user:buys:item", "item:of:user"
USERS, ITEMS, NUM_EDGES, NUM_WORDS = 60, 20, 150, 30


class Market(ImportedGraph):
    """Users, by integers, with columns of many dtypes; items, by names, with ragged ones; edges with
    weights."""

    def __init__(self):
        random = numpy.random.default_rng(8)
        self.users = 7 * numpy.arange(USERS) + 3
        self.x = random.normal(size=(USERS, 2, 3)).astype(numpy.float32)
        self.flags = random.random(USERS) < 0.5
        self.half = random.normal(size=USERS).astype(numpy.float16)
        self.bits = random.integers(0, 2**15, USERS).astype(numpy.uint16)
        self.names = [f"item {i}" for i in range(ITEMS)]
        self.titles = [f"Ünï {i}" for i in range(ITEMS)]
        clicks = random.integers(-9, 9, 2 * ITEMS)
        self.buys = (random.integers(0, USERS, NUM_EDGES), random.integers(0, ITEMS, NUM_EDGES))
        pairs = [(self.users[user], self.names[item]) for user, item in zip(*self.buys)]
        self.weight = random.integers(1, 9, NUM_EDGES).astype(numpy.float32)
        super().__init__("""
            name: "market"
            nodes {
              name: "user" ids { path: "users.npy" }
              columns { name: "x" array { path: "x.npy" } }
              columns { name: "flag" array { path: "flags.npy" } }
              columns { name: "half" array { path: "half.npy" } }
              columns { name: "bits" array { path: "bits.npy" read_as: BFLOAT16 } }
            }
            nodes {
              name: "item" ids { path: "names.csv" }
              ragged_columns { name: "title" text { path: "titles.csv" } }
              ragged_columns {
                name: "clicks" offsets { path: "ends.npy" } values { path: "clicks.npy" }
              }
              ragged_columns {
                name: "words" offsets { path: "ends.npy" } indices { path: "places.npy" }
                values { path: "clicks.npy" } cast: FLOAT32 num_columns: 30
              }
            }
            edges {
              source: "user" relation: "buys" target: "item" ends { path: "buys.csv" }
              columns { name: "weight" array { path: "weight.npy" } } weight_column: "weight"
            }
            edges { source: "item" relation: "of" target: "user" ends { path: "of.csv" } }""",
                         {"users.npy": self.users, "x.npy": self.x, "flags.npy": self.flags,
                          "half.npy": self.half, "bits.npy": self.bits, "clicks.npy": clicks,
                          "names.csv": "".join(f"{each}\n" for each in self.names),
                          "titles.csv": "".join(f"{each}\n" for each in self.titles),
                          "ends.npy": 2 * numpy.arange(ITEMS + 1),
                          "places.npy": numpy.tile([3, 17], ITEMS), "weight.npy": self.weight,
                          "buys.csv": "".join(f"{user},{item}\n" for user, item in pairs),
                          "of.csv": "".join(f"{item},{user}\n" for user, item in pairs)}, live=True)


def user_columns(count, start=0.0):
    return {"x": start + numpy.arange(6 * count, dtype=numpy.float32).reshape(count, 2, 3),
            "flag": numpy.arange(count) % 2 == 0,
            "half": numpy.linspace(-1, 1, count, dtype=numpy.float16),
            "bits": numpy.arange(count, dtype=numpy.uint16) + 0x3f80}


def item_rows(count):
    return {"title": [f"Zwölf {i}" for i in range(count)],
            "clicks": [list(range(i)) for i in range(count)],
            "words": [([i, 29], [1.5, i]) for i in range(count)]}


class MarketTest(unittest.TestCase):
    def setUp(self):
        self.market = Market()
        self.addCleanup(self.market.close)
        self.graph = vicinity_graph.Graph(cluster_file=self.market.cluster_file)
        self.writer = self.graph.writer(durability="buffered")

    def sources_of(self, edge_type, target, **options):
        """Where its edges come from, with their edge ids, sorted; all are drawn."""
        source_type, _, target_type = edge_type.split(":")
        fanouts = [-1 if each == edge_type else 0 for each in self.graph.edge_types]
        batch = self.graph.sample(target_type, [target], [fanouts], edge_ids=True, **options)
        nodes = batch.nodes(source_type).tolist()
        found = [(nodes[source], edge) for block in batch.blocks if block.edge_type == edge_type
                 for source, edge in zip(block.sources.tolist(), block.edge_ids.tolist())]
        return sorted(found)


class NodesTest(MarketTest):
    def test_new_nodes_are_found_and_have_their_values(self):
        before = self.graph.at(self.graph.versions())
        columns = user_columns(3)
        ids = self.writer.add_nodes("user", [1000, 5, 2000], columns)
        self.assertEqual((ids.dtype, len(ids)), ("int64", 3))
        self.assertEqual(self.graph.resolve("user", [2000, 5, 1000]).tolist(), ids.tolist()[::-1])
        self.assertEqual(self.graph.user_ids("user", ids).tolist(), [1000, 5, 2000])
        for name in ("x", "half"):
            self.assertEqual(self.graph.fetch("user", name, ids).numpy().tolist(),
                             columns[name].tolist())
        self.assertEqual(self.graph.fetch("user", "flag", ids).tolist(), [1, 0, 1])
        self.assertEqual(before.resolve("user", [2000, 5, 1000]).tolist(), [-1, -1, -1])
        self.assertEqual(before.versions(), [(0, 0), (0, 0)])

    def test_new_nodes_by_names_have_texts_lists_and_sparse_rows(self):
        names = ["näw 0", "new,1", "new 2", ""]
        rows = item_rows(4)
        ids = self.writer.add_nodes("item", names, ragged=rows)
        self.assertEqual(self.graph.user_names("item", ids), names)
        self.assertEqual(self.graph.resolve("item", names).tolist(), ids.tolist())
        self.assertEqual(self.graph.fetch_ragged("item", "title", ids).texts(), rows["title"])
        self.assertEqual(self.graph.fetch_ragged("item", "clicks", ids).tolist(), rows["clicks"])
        words = self.graph.fetch_ragged("item", "words", ids)
        self.assertEqual(words.tolist(),
                         [list(zip(*each)) for each in rows["words"]])
        # What is fetched may be given again as it is, whole or row by row.
        again = {name: self.graph.fetch_ragged("item", name, ids) for name in rows}
        copies = self.writer.add_nodes("item", [f"copy {i}" for i in range(4)], ragged=again)
        again["words"] = words.tolist()
        again["title"] = [each.encode() for each in rows["title"]]
        others = self.writer.add_nodes("item", [f"other {i}" for i in range(4)], ragged=again)
        for some in (copies, others):
            for name in rows:
                self.assertEqual(self.graph.fetch_ragged("item", name, some).tolist(),
                                 self.graph.fetch_ragged("item", name, ids).tolist())

    @unittest.skipIf(scipy is None, "no SciPy")
    def test_sparse_rows_of_scipys(self):
        matrix = scipy.sparse.random(5, NUM_WORDS, 0.3, "csc", numpy.float32,
                                     numpy.random.default_rng(2))
        rows = dict(item_rows(5), words=matrix)
        ids = self.writer.add_nodes("item", [f"new {i}" for i in range(5)], ragged=rows)
        found = self.graph.fetch_ragged("item", "words", ids).scipy()
        self.assertTrue(numpy.array_equal(found.toarray(), matrix.toarray()))
        with self.assertRaisesRegex(InvalidArgument, "30 columns"):
            self.writer.update_nodes("item", ids, ragged={"words": matrix[:, :7]})

    def test_a_key_that_there_is_is_refused_and_takes_no_other_with_it(self):
        there = int(self.market.users[4])
        with self.assertRaises(RefusedRows) as caught:
            self.writer.add_nodes("user", [500, there, 501], user_columns(3))
        error = caught.exception
        self.assertEqual([(row.kind, row.part, row.row) for row in error.rows], [("new_nodes", 0, 1)])
        self.assertIsInstance(error.rows[0].error, AlreadyExists)
        self.assertEqual((error.code, error.name), (AlreadyExists.code, AlreadyExists.name))
        self.assertIn("new_nodes[0] row 1: ALREADY_EXISTS", str(error))
        self.assertIn(str(there), str(error))
        ids = error.ids.tolist()
        self.assertEqual(ids[1], -1)
        self.assertEqual(self.graph.resolve("user", [500, 501]).tolist(), [ids[0], ids[2]])
        self.assertEqual(error.written.num_applied, 2)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.rows[0].row, again.ids), (str(error), 1, None))

    def test_a_node_that_is_removed_is_gone_with_the_edges_that_lead_to_it(self):
        user = int(self.market.users[9])
        node, = self.graph.resolve("user", [user]).tolist()
        self.assertNotEqual(self.sources_of(OF, node), [])
        before = self.graph.at(self.graph.versions())
        written = self.writer.remove_nodes("user", UserIds([user]))
        self.assertEqual(written.num_applied, 1)
        self.assertEqual(self.graph.resolve("user", [user]).tolist(), [-1])
        self.assertEqual(self.graph.degrees(OF, [node]).tolist(), [0])
        self.assertEqual(before.resolve("user", [user]).tolist(), [node])
        self.assertEqual(before.fetch("user", "x", [node]).tolist(), [self.market.x[9].tolist()])
        with self.assertRaises(RefusedRows) as caught:
            self.writer.remove_nodes("user", [node])
        self.assertIsInstance(caught.exception.rows[0].error, NotFound)
        self.assertIsNone(caught.exception.ids)

    def test_values_become_others_and_the_rest_stays(self):
        nodes = self.graph.resolve("user", self.market.users[[3, 8]])
        before = self.graph.at(self.graph.versions())
        self.writer.update_nodes("user", nodes, {"x": numpy.zeros((2, 2, 3), numpy.float32)})
        self.writer.update_nodes("user", UserIds(self.market.users[[8]]), {"flag": [True]})
        self.assertEqual(self.graph.fetch("user", "x", nodes).tolist(), numpy.zeros((2, 2, 3)).tolist())
        self.assertEqual(self.graph.fetch("user", "half", nodes).numpy().tolist(),
                         self.market.half[[3, 8]].tolist())
        self.assertEqual(self.graph.fetch("user", "flag", nodes).tolist(),
                         [int(self.market.flags[3]), 1])
        self.assertEqual(before.fetch("user", "x", nodes).tolist(), self.market.x[[3, 8]].tolist())
        item = self.graph.resolve("item", ["item 2"])
        self.writer.update_nodes("item", item, ragged={"title": ["other"]})
        self.assertEqual(self.graph.fetch_ragged("item", "title", item).texts(), ["other"])
        self.assertEqual(before.fetch_ragged("item", "title", item).texts(), [self.market.titles[2]])


class EdgesTest(MarketTest):
    def test_edges_come_change_and_go(self):
        item, = self.graph.resolve("item", ["item 5"]).tolist()
        users = self.graph.resolve("user", self.market.users[[1, 2, 1]]).tolist()
        before, old = self.graph.at(self.graph.versions()), self.sources_of(BUYS, item)
        weights = numpy.float32([0.25, 0.5, 0.75])
        edges = self.writer.add_edges(BUYS, UserIds(self.market.users[[1, 2, 1]]),
                                      UserIds(["item 5"] * 3), {"weight": weights})
        self.assertEqual(self.sources_of(BUYS, item), sorted(old + list(zip(users, edges.tolist()))))
        self.assertEqual(self.graph.degrees(BUYS, [item]).tolist(), [len(old) + 3])
        self.assertEqual(before.degrees(BUYS, [item]).tolist(), [len(old)])
        self.assertEqual(self.weights_of(item, edges), weights.tolist())
        self.writer.update_edges(BUYS, [item, item], edges.numpy()[:2], {"weight": [2, 0.125]})
        self.assertEqual(self.weights_of(item, edges), [2, 0.125, 0.75])
        self.writer.remove_edges(BUYS, UserIds(["item 5"]), [edges.tolist()[1]])
        self.assertEqual(self.graph.degrees(BUYS, [item]).tolist(), [len(old) + 2])
        with self.assertRaises(RefusedRows) as caught:
            self.writer.remove_edges(BUYS, [item, item], edges.tolist()[1:])
        self.assertEqual([(row.kind, row.row) for row in caught.exception.rows], [("removed_edges", 0)])
        self.assertEqual(self.sources_of(BUYS, item), sorted(old + [(users[0], edges.tolist()[0])]))

    def weights_of(self, item, edges):
        fanouts = [-1 if each == BUYS else 0 for each in self.graph.edge_types]
        batch = self.graph.sample("item", [item], [fanouts], edge_ids=True,
                                  edge_columns=[(BUYS, "weight")])
        block, = [each for each in batch.blocks if each.edge_type == BUYS]
        by_id = dict(zip(block.edge_ids.tolist(), batch.edge_columns[0, BUYS, "weight"].tolist()))
        return [by_id[edge] for edge in edges.tolist()]

    def test_a_weight_that_is_none_is_refused_without_the_others(self):
        with self.assertRaisesRegex(RefusedRows, "row 1: INVALID_ARGUMENT.*weight") as caught:
            self.writer.add_edges(BUYS, [0, 1], [2, 2], {"weight": [1, float("nan")]})
        self.assertEqual(caught.exception.ids.tolist()[1], -1)
        self.assertGreaterEqual(caught.exception.ids.tolist()[0], NUM_EDGES)

    def test_parts_of_one_write_are_told_apart(self):
        changes = self.writer.changes()
        self.assertEqual(changes.add_nodes("user", [1001], user_columns(1)), 0)
        self.assertEqual(changes.add_nodes("item", ["a", "b"], ragged=item_rows(2)), 1)
        self.assertEqual(changes.add_nodes("item", ["item 1"], ragged=item_rows(1)), 2)
        self.assertEqual(changes.add_edges(BUYS, [1, 2, 3], [4, 4, 5], {"weight": [1, 2, 3]}), 0)
        self.assertEqual(changes.remove_nodes("user", UserIds(self.market.users[:1])), 0)
        self.assertEqual(len(changes), 8)
        self.assertIn("3 new_nodes", repr(changes))
        written = self.writer.write(changes, allow_refused=True)
        self.assertEqual(written.num_applied, 7)
        self.assertEqual([(row.kind, row.part, row.row) for row in written.refused],
                         [("new_nodes", 2, 0)])
        self.assertEqual([len(ids) for ids in written.node_ids], [1, 2, 1])
        self.assertEqual(written.node_ids[2].tolist(), [-1])
        self.assertEqual(self.graph.resolve("item", ["a", "b"]).tolist(), written.node_ids[1].tolist())
        self.assertEqual(len(written.edge_ids[0]), 3)
        versions = self.graph.versions()
        self.assertEqual({shard: versions[shard][0] for shard in written.versions}, written.versions)
        self.assertEqual((written.unsure, written.unsent), ([], []))

    def test_nothing_to_write_is_written(self):
        self.assertEqual(self.writer.write(self.writer.changes()).versions, {})
        self.assertEqual(self.writer.add_edges(OF, [], []).tolist(), [])
        self.assertEqual(self.graph.versions(), [(0, 0), (0, 0)])


class ArraysTest(MarketTest):
    """Anything that holds numbers is fine if it holds the column's own."""

    def assertStored(self, column, values, wanted):
        nodes = [0, 1]
        self.writer.update_nodes("user", nodes, {column: values})
        if column == "bits":
            found = self.graph.fetch("user", column, nodes).torch().float().tolist()
        else:
            found = self.graph.fetch("user", column, nodes).numpy().tolist()
        self.assertEqual(found, wanted)

    def test_arrays_of_numpys_lists_and_buffers(self):
        rows = numpy.arange(24, dtype=numpy.float32).reshape(2, 2, 6)
        self.assertStored("x", rows[:, :, ::2], rows[:, :, ::2].tolist())  # with gaps
        self.assertStored("x", numpy.broadcast_to(numpy.float32(3), (2, 2, 3)), [[[3.0] * 3] * 2] * 2)
        self.assertStored("x", rows[:, :, :3].tolist(), rows[:, :, :3].tolist())
        self.assertStored("x", [rows[0, :, :3], rows[1, :, :3].tolist()], rows[:, :, :3].tolist())
        self.assertStored("x", self.graph.fetch("user", "x", [4, 5]),
                          self.graph.fetch("user", "x", [4, 5]).tolist())
        self.assertStored("half", [0.5, 2], [0.5, 2.0])
        self.assertStored("flag", b"\0\1", [0, 1])
        self.assertStored("flag", [True, 0], [1, 0])
        self.assertStored("flag", iter([0, 1]), [0, 1])

    @unittest.skipIf(torch is None, "no PyTorch")
    def test_tensors_of_pytorchs(self):
        rows = torch.arange(12.0).reshape(2, 3, 2).transpose(1, 2)
        self.assertStored("x", rows, rows.tolist())
        self.assertStored("x", torch.ones(2, 2, 3, requires_grad=True), [[[1.0] * 3] * 2] * 2)
        self.assertStored("flag", torch.tensor([True, False]), [1, 0])
        self.assertStored("half", torch.tensor([1, 2]).half(), [1.0, 2.0])
        self.assertStored("bits", torch.tensor([1.5, -3]).bfloat16(), [1.5, -3.0])
        self.assertStored("bits", [1.00390625, -2], [1.0, -2.0])  # half way: to even
        self.assertStored("bits", numpy.uint16([0x3fc0, 0xc040]), [1.5, -3.0])
        self.assertStored("bits", self.graph.fetch("user", "bits", [0, 1]), [1.5, -3.0])

    def assertRefused(self, text, columns, nodes=(0, 1), kind=InvalidArgument):
        versions = self.graph.versions()
        with self.assertRaises(kind) as caught:
            self.writer.update_nodes("user", list(nodes), columns)
        self.assertIn(text, str(caught.exception))
        self.assertEqual(self.graph.versions(), versions)

    def test_what_is_not_the_columns_is_refused_before_anything_is_sent(self):
        self.assertRefused("float32, and is given as float64", {"x": numpy.zeros((2, 2, 3))})
        self.assertRefused("'x' of 'user'", {"x": numpy.zeros((2, 2, 3))})
        self.assertRefused("[2, 3]", {"x": numpy.zeros((2, 3), numpy.float32)})
        self.assertRefused("2 rows", {"x": numpy.zeros((3, 2, 3), numpy.float32)})
        self.assertRefused("'>f'", {"x": numpy.zeros((2, 2, 3), ">f4")})
        self.assertRefused("2 should be", {"x": [[[1, 2, 3]], [[1, 2, 3]]]})
        self.assertRefused("'a', a str", {"half": ["a", "b"]})
        self.assertRefused("holds 7", {"flag": numpy.uint8([0, 7])})
        self.assertRefused("holds 2", {"flag": [0, 2]})
        self.assertRefused("bool, and 0.5", {"flag": [0.5, 1]})
        self.assertRefused("float16", {"half": [1e9, 1]})
        self.assertRefused("float32", {"x": [[[1e39] * 3] * 2] * 2})
        self.assertRefused("give a dict", {"half"})
        self.assertRefused("it has: 'x', 'flag', 'half', 'bits'", {"age": [1, 2]}, kind=NotFound)
        self.assertRefused("no column is given", {})
        self.assertRefused("integers", {"half": [1, 2]}, nodes=[0.5, 1])
        with self.assertRaisesRegex(NotFound, "user, item"):
            self.writer.remove_nodes("users", [1])
        with self.assertRaisesRegex(NotFound, BUYS):
            self.writer.add_edges("user:sells:item", [1], [1])
        with self.assertRaisesRegex(InvalidArgument, "what is new needs all"):
            self.writer.add_nodes("user", [1, 2], {"half": [1, 2]})
        with self.assertRaisesRegex(InvalidArgument, "2 sources have 1 targets"):
            self.writer.add_edges(OF, [1, 2], [1])
        with self.assertRaisesRegex(NotFound, "'no such'"):
            self.writer.add_edges(OF, UserIds(["no such"]), [1])
        with self.assertRaisesRegex(InvalidArgument, "the user's own ids"):
            self.writer.add_nodes("user", GlobalIds([1]), user_columns(1))
        with self.assertRaisesRegex(InvalidArgument, "strings: give names"):
            self.writer.add_nodes("item", [1], ragged=item_rows(1))
        self.assertEqual(sum(version for version, _ in self.graph.versions()), 0)

    def test_ragged_rows_that_do_not_fit_are_refused(self):
        def refused(text, **rows):
            with self.assertRaisesRegex(InvalidArgument, text):
                self.writer.update_nodes("item", [0, 1], ragged=rows)

        refused("1 rows for 2", title=["one"])
        refused("row 1 of.*'title'", title=["one", 2])
        refused("row 0 of.*int64", clicks=[[0.5], []])
        refused("pairs", words=[[1, 2], [3, 4]])
        refused("row 1 of.*1 values where 2", words=[([1], [2.0]), ([1], [2.0, 3.0])])
        refused("of lists", clicks=self.graph.fetch_ragged("item", "words", [0, 1]))
        with self.assertRaisesRegex(RefusedRows, "INVALID_ARGUMENT.*'words'|words"):
            self.writer.update_nodes("item", [0, 1], ragged={"words": [([1, 1], [1, 2]), ([], [])]})


class WriterTest(unittest.TestCase):
    def setUp(self):
        self.cluster = SmallCluster(num_nodes=300, live=True)
        self.addCleanup(self.cluster.close)
        self.graph = vicinity_graph.Graph(cluster_file=self.cluster.cluster_file,
                                          call_timeout_ms=2000, call_budget_ms=2000)
        self.link = self.graph.edge_types[0]

    def test_a_writer_ends_with_its_block_and_is_not_pickled(self):
        with self.graph.writer(durability="buffered") as writer:
            changes = writer.changes()
            for each in (writer, changes):
                with self.assertRaisesRegex(TypeError, "not pickled"):
                    pickle.dumps(each)
        with self.assertRaisesRegex(FailedPrecondition, "closed"):
            writer.write(changes)
        self.assertIn("closed", repr(writer))
        with self.assertRaisesRegex(InvalidArgument, "buffered"):
            self.graph.writer(durability="never")
        with self.assertRaises(FailedPrecondition):
            vicinity_graph.Writer(self.graph.at([0, 0]))
        self.assertIn("give_up_after_ms", vicinity_graph.Writer.__doc__)

    def test_a_writer_outlives_its_graph(self):
        writer = self.graph.writer()
        self.graph.close()
        edges = writer.add_edges(self.link, [1], [2])
        self.assertEqual(len(edges), 1)

    def test_threads_write_at_once_and_each_edge_is_there_once(self):
        before = sum(self.graph.degrees(self.link, range(300)).tolist())
        with self.graph.writer(durability="buffered") as writer, \
                concurrent.futures.ThreadPoolExecutor(4) as pool:
            calls = [pool.submit(writer.add_edges, self.link, range(t, t + 100), range(200, 300))
                     for t in range(20)]
            ids = [edge for call in calls for edge in call.result().tolist()]
        self.assertEqual(len(set(ids)), 2000)
        self.assertEqual(sum(self.graph.degrees(self.link, range(300)).tolist()), before + 2000)

    def test_a_write_that_fails_tells_what_is_known_and_its_batch_comes_once(self):
        writer = self.graph.writer(durability="buffered", give_up_after_ms=0)
        targets = self.graph.nodes("node").numpy()
        near, far = (targets[self.graph.owner_of("node", targets).numpy() == shard][:3]
                     for shard in (0, 1))
        before = self.graph.degrees(self.link, far).tolist()
        self.cluster.pause(1)
        with self.assertRaises((Unavailable, vicinity_graph.DeadlineExceeded)) as caught:
            writer.add_edges(self.link, [1] * 6, numpy.concatenate([near, far]))
        written = caught.exception.written
        self.cluster.resume(1)
        self.assertEqual(written.num_applied, 3)
        self.assertEqual([row.row for row in written.unsure], [3, 4, 5])
        self.assertEqual({(row.kind, row.part) for row in written.unsure}, {("new_edges", 0)})
        self.assertEqual(written.unsent, [])
        self.assertEqual([edge < 0 for edge in written.edge_ids[0].tolist()], [False] * 3 + [True] * 3)
        self.assertIsNone(pickle.loads(pickle.dumps(caught.exception)).written)
        self.wait_for(1)
        writer.add_edges(self.link, [2], far[:1])  # behind the batch that was unsure
        self.assertEqual(self.graph.degrees(self.link, far).tolist(),
                         [before[0] + 2, before[1] + 1, before[2] + 1])

    def wait_for(self, shard):
        """Until a server that was paused answers."""
        node = [int(each) for each in self.graph.nodes("node").tolist()
                if self.graph.owner_of("node", [each]).tolist() == [shard]][0]
        for _ in range(60):
            try:
                return self.graph.fetch("node", "features", [node])
            except VicinityError:
                pass
        self.fail(f"shard {shard} does not answer")

    def test_changes_that_are_written_take_no_more_meanwhile(self):
        writer = self.graph.writer(durability="buffered", give_up_after_ms=0)
        changes = writer.changes()
        changes.add_edges(self.link, [1] * 300, range(300))
        for shard in (0, 1):
            self.cluster.pause(shard)
        calls = self.graph.stats()["attempts"]

        def write():
            with self.assertRaises(VicinityError):
                writer.write(changes)

        thread = threading.Thread(target=write)
        thread.start()
        while self.graph.stats()["attempts"] == calls and thread.is_alive():
            pass
        with self.assertRaisesRegex(FailedPrecondition, "being written"):
            changes.add_edges(self.link, [1], [2])
        thread.join()
        for shard in (0, 1):
            self.cluster.resume(shard)
        changes.add_edges(self.link, [1], [2])
        self.assertEqual(len(changes), 301)

    def test_a_graph_of_files_has_no_writer(self):
        graph = vicinity_graph.Graph(directory=self.cluster.shards)
        with self.assertRaisesRegex(FailedPrecondition, "read-only"):
            graph.writer()


if __name__ == "__main__":
    run_tests()
