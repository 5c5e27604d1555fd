#!/usr/bin/env python3
"""What has been written, told to Python over daemons: with the ids that the writer was told, to readers
that go on where they acknowledged, and that wait for more."""

import pathlib
import sys
import threading
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import numpy  # noqa: E402
from small_cluster import SmallCluster, SmallDataset, run_tests  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph.errors import FailedPrecondition, InvalidArgument, OutOfRange  # noqa: E402

NUM_NODES = 300


class ChangeLogTest(unittest.TestCase):
    """Each test has a cluster of its own: they count versions."""

    def setUp(self):
        self.cluster = SmallCluster(num_nodes=NUM_NODES, live=True)
        self.addCleanup(self.cluster.close)
        self.graph = vicinity_graph.Graph(cluster_file=self.cluster.cluster_file)
        self.addCleanup(self.graph.close)
        self.edges = self.graph.edge_types[0]
        self.writer = self.graph.writer(durability="buffered")

    def add(self, *targets):
        """Edges, each in a version of its own, to nodes of shard 0."""
        owned = [node for node in range(NUM_NODES)
                 if self.graph.owner_of("node", [node]).tolist() == [0]]
        for target in targets:
            self.writer.add_edges(self.edges, [0], [owned[target]])
        return [owned[target] for target in targets]

    @staticmethod
    def targets_of(changes):
        return [target for change in changes for part in change.parts
                for target in part.nodes.tolist()]

    def test_a_change_tells_what_became_of_which_nodes_and_edges(self):
        before = self.graph.changes(after=[0, 0])
        changes = self.writer.changes()
        sources, targets = list(range(20)), list(range(20, 40))
        changes.add_edges(self.edges, sources, targets)
        changes.update_nodes("node", [3, 4, 5], {"label": [1, 2, 3]})
        changes.remove_nodes("node", [7, 8])
        written = self.writer.write(changes)

        told = list(before)
        self.assertEqual({change.shard: change.version for change in told}, written.versions)
        edges, values, gone = set(), set(), set()
        for change in told:
            self.assertEqual(len(change.session), 16)
            self.assertGreater(change.unix_micros, 1_600_000_000_000_000)
            for part in change.parts:
                owners = self.graph.owner_of("node", part.nodes)
                self.assertEqual(set(owners.tolist()) - {change.shard}, set())
                if part.kind == "new_edges":
                    self.assertEqual(part.type, self.edges)
                    self.assertEqual(part.count, len(part.nodes))
                    edges.update(zip(part.sources.tolist(), part.nodes.tolist(),
                                     part.edge_ids.tolist()))
                elif part.kind == "node_values":
                    self.assertEqual((part.type, part.column), ("node", "label"))
                    values.update(part.nodes.numpy())
                else:
                    self.assertEqual(part.kind, "removed_nodes")
                    self.assertGreaterEqual(part.count, len(part.nodes))
                    gone.update(part.nodes.tolist())
        self.assertEqual(edges, set(zip(sources, targets, written.edge_ids[0].tolist())))
        self.assertEqual(values, {3, 4, 5})
        self.assertEqual(gone, {7, 8})
        self.assertIn("new_edges", repr(told[0]))
        self.assertIsInstance(told[0].parts[0].nodes.numpy(), numpy.ndarray)

    def test_ids_outlive_what_told_them(self):
        targets = self.add(1, 2)
        ids = [part.nodes.numpy() for change in self.graph.changes(after=[0, 0])
               for part in change.parts]
        self.graph.close()
        self.assertEqual(numpy.concatenate(ids).tolist(), targets)

    def test_a_reader_with_a_name_goes_on_where_it_acknowledged(self):
        targets = self.add(*range(40))  # more than are read at once
        self.assertEqual(self.targets_of(self.graph.changes("indexer")), targets)
        self.assertEqual(self.graph.cursors(), [])
        for change in self.graph.changes("indexer", shard=0):
            change.acknowledge()
            if change.version == 30:
                break
        cursor, = self.graph.cursors()
        self.assertEqual(cursor[:3], ("indexer", 0, 30))
        self.assertEqual(cursor.behind, 10)
        self.assertGreater(cursor.unix_micros, 1_600_000_000_000_000)

        other = vicinity_graph.Graph(cluster_file=self.cluster.cluster_file)
        self.addCleanup(other.close)
        self.assertEqual(self.targets_of(other.changes("indexer")), targets[30:])
        self.assertEqual(self.targets_of(other.changes("another")), targets)
        other.drop_cursor("indexer")
        self.assertEqual(other.cursors(), [])
        self.assertEqual(self.targets_of(other.changes("indexer", shard=0)), targets)
        other.drop_cursor("indexer")  # there is none

    def test_a_reader_without_a_name_begins_where_it_says(self):
        targets = self.add(1, 2, 3)
        versions = self.graph.versions()
        from_now = self.graph.changes()
        more = self.add(4)
        self.assertEqual(self.targets_of(from_now), more)
        self.assertEqual(self.targets_of(self.graph.changes(after=versions)), more)
        self.assertEqual(self.targets_of(self.graph.changes(shard=0, after=1)), targets[1:] + more)
        self.assertEqual(self.targets_of(self.graph.changes(shard=0, after=(1, versions[0][1]))),
                         targets[1:] + more)
        self.assertEqual(self.targets_of(self.graph.changes(shard=1, after=0)), [])
        for change in self.graph.changes(shard=0, after=0):
            with self.assertRaisesRegex(FailedPrecondition, "without a name"):
                change.acknowledge()

    def test_a_reader_waits_for_what_comes(self):
        self.assertEqual(list(self.graph.changes("indexer", wait_ms=20)), [])
        read = []

        def follow():
            for change in self.graph.changes("indexer", wait_ms=None):
                read.append(change)
                if len(read) == 3:
                    return

        reader = threading.Thread(target=follow)
        reader.start()
        targets = self.add(1, 2, 3)
        reader.join(timeout=60)
        self.assertFalse(reader.is_alive())
        self.assertEqual(self.targets_of(read), targets)

    def test_what_is_wrong_is_told(self):
        for wrong in (dict(shard=2), dict(shard=-1), dict(cursor="x" * 65), dict(cursor="a\0b"),
                      dict(cursor="indexer", after=[0, 0]), dict(after=[0]), dict(after=7),
                      dict(shard=0, after=[1, 2, 3]), dict(shard=0, after="x")):
            with self.subTest(wrong=wrong), self.assertRaises(InvalidArgument):
                self.graph.changes(**wrong)
        with self.assertRaises(InvalidArgument):
            self.graph.drop_cursor("")
        with self.assertRaises(OutOfRange):
            list(self.graph.changes(shard=0, after=(0, 7)))

    def test_shards_tell_how_much_they_have(self):
        self.writer.add_edges(self.edges, [1, 2], [3, 4])
        states = self.graph.shard_states()
        self.assertEqual([(each["version"], each["term"]) for each in states],
                         self.graph.versions())
        self.assertEqual(sum(each["num_nodes"]["node"] for each in states), NUM_NODES)
        before = self.graph.at([0, 0]).degrees(self.edges, range(NUM_NODES)).numpy().sum()
        self.assertEqual(sum(each["num_edges"][self.edges] for each in states), before + 2)

    def test_a_read_only_graph_has_no_changes(self):
        dataset = SmallDataset(num_nodes=100)
        self.addCleanup(dataset.close)
        graph = vicinity_graph.Graph(directory=dataset.shards)
        for call in (lambda: list(graph.changes("indexer")), graph.cursors, graph.shard_states):
            with self.assertRaisesRegex(FailedPrecondition, "read-only"):
                call()


if __name__ == "__main__":
    run_tests()
