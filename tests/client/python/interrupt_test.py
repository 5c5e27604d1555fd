#!/usr/bin/env python3
"""An interrupt, a signal that is sent to another process, gets through every call that waits for
servers: they are paused, and their timeouts are longer than any test."""

import json
import os
import pathlib
import select
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from small_cluster import ROOT, SmallCluster, run_tests  # noqa: E402

DEADLINE_S = 120  # of every wait: far beyond what it takes, and below the child's timeouts

CHILD = """
import itertools, json, os, signal, sys, threading, time
import vicinity_graph
from vicinity_graph import UserIds

LONG = {"call_timeout_ms": 600000, "call_budget_ms": 600000, "connect_timeout_ms": 600000}


def say(**what):
    # Not by print: a thread that an interrupt's end of the program finds inside stdout aborts it.
    os.write(1, json.dumps(what).encode() + b"\\n")


def interrupted(call):
    try:
        return type(call()).__name__
    except KeyboardInterrupt:
        if "let it end the program" in sys.argv:
            raise
        return "interrupted"


graph = vicinity_graph.Graph(cluster_file=sys.argv[1], **LONG)
drawn = vicinity_graph.Query().nodes("drawn", "node", split="train", count=5)
edges = graph.edge_types[0]
near = vicinity_graph.Query().nodes("src", "node", "$seeds").neighbors("near", "src", edges, 3)
prepared = graph.prepare(near)
loader = graph.loader([3], batch_size=16, columns=[("node", "features")])
answers = graph.query_loader(near, batch_size=16)
writer = graph.writer(give_up_after_ms=600000)
calls = {
    "sample": lambda: graph.sample("node", [1, 2, 3], [3, 2]),
    "fetch": lambda: graph.fetch("node", "features", [1, 2, 3]),
    "resolve": lambda: graph.resolve("node", [1, 2, 3]),
    "user_ids": lambda: graph.user_ids("node", [1, 2, 3]),
    "nodes": lambda: graph.nodes("node", "train"),
    "degrees": lambda: graph.degrees(edges, [1, 2, 3]),
    "edge_ids": lambda: graph.edge_ids(edges, [1, 2, 3], [3, 2, 1]),
    "walk": lambda: graph.walk([1, 2, 3], 4),
    "top_visited": lambda: graph.top_visited([1, 2, 3], 3, num_walks=5, length=4),
    "ppr": lambda: graph.ppr("node", [1, 2, 3], 8),
    "prepare": lambda: graph.prepare(drawn),
    "explain": lambda: prepared.explain({"seeds": 10}),
    "run": lambda: prepared.run({"seeds": [1, 2, 3]}),
    "batches of a query": lambda: list(prepared.batches({"seeds": list(range(100))}, 10)),
    "changes": lambda: list(graph.changes("indexer")),
    "cursors": lambda: graph.cursors(),
    "drop_cursor": lambda: graph.drop_cursor("indexer"),
    "shard_states": lambda: graph.shard_states(),
    "add_edges": lambda: writer.add_edges(edges, range(100), range(100)),
    "a loader": lambda: graph.loader([3], seeds=[1, 2, 3]),
    "a loader's batches": lambda: epoch(loader),
    "a query's loader": lambda: graph.query_loader(near, seeds=[1, 2, 3]),
    "a query's loader's batches": lambda: epoch(answers),
    "an asynchronous call": lambda: graph.fetch_async("node", "features", [1, 2, 3]).result(),
    "a graph's end": lambda: left_by_interrupt(),
}


def epoch(taken):
    with taken:  # which works ahead no more behind it, so that what is asked is another call's
        list(taken)


def left_by_interrupt():
    with graph:
        graph.fetch_async("node", "features", [1, 2, 3])
        graph.fetch("node", "features", [1, 2, 3])


expected = bytes(graph.fetch("node", "features", [1, 2, 3]).memoryview())
say(calls=list(calls))
for name in map(str.strip, sys.stdin):
    if name == "go on":
        say(same=bytes(graph.fetch("node", "features", [1, 2, 3]).memoryview()) == expected)
        continue
    before = graph.stats()["attempts"]

    def tell():
        while graph.stats()["attempts"] == before:
            time.sleep(0.001)  # between two looks
        say(waits=name)

    watch = threading.Thread(target=tell, daemon=True)
    watch.start()
    say(ended=interrupted(calls[name]), call=name)
    watch.join()
"""

OPENING = """
import sys
import vicinity_graph
try:
    vicinity_graph.Graph(cluster_file=sys.argv[1], connect_timeout_ms=600000)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


class Child:
    """A Python program, to which this one talks line by line."""

    def __init__(self, program, *arguments):
        self._process = subprocess.Popen(
            [sys.executable, "-c", program, *map(str, arguments)], cwd=ROOT / "client" / "python",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._left = b""

    def tell(self, line):
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def hear(self):
        """Its next line; AssertionError with what it complains of if none comes."""
        out = self._process.stdout.fileno()
        while b"\n" not in self._left:
            ready, _, _ = select.select([out], [], [], DEADLINE_S)
            more = os.read(out, 4096) if ready else b""
            if not more:
                self._process.kill()
                raise AssertionError(self._process.communicate()[1].decode())
            self._left += more
        line, _, self._left = self._left.partition(b"\n")
        return line.decode()

    def interrupt(self):
        self._process.send_signal(signal.SIGINT)

    def end(self):
        """Its exit code and what it complained of."""
        _, errors = self._process.communicate(timeout=DEADLINE_S)
        return self._process.returncode, errors.decode()

    def kill(self):
        self._process.kill()
        self._process.communicate()


class InterruptTest(unittest.TestCase):
    def child(self, program, *arguments):
        child = Child(program, *arguments)
        self.addCleanup(child.kill)
        return child

    def test_an_interrupt_gets_through_every_call_that_waits_and_the_graph_goes_on(self):
        cluster = SmallCluster(num_nodes=500, live=True)
        self.addCleanup(cluster.close)
        child = self.child(CHILD, cluster.cluster_file)
        calls = json.loads(child.hear())["calls"]
        for shard in (0, 1):
            cluster.pause(shard)
        for name in calls[:-1]:
            with self.subTest(name):
                child.tell(name)
                self.assertEqual(json.loads(child.hear()), {"waits": name})
                child.interrupt()
                self.assertEqual(json.loads(child.hear()), {"ended": "interrupted", "call": name})
        for shard in (0, 1):
            cluster.resume(shard)
        child.tell("go on")
        self.assertEqual(json.loads(child.hear()), {"same": True})
        for shard in (0, 1):
            cluster.pause(shard)
        child.tell(calls[-1])  # which closes the graph, with a call that nobody waits for
        self.assertEqual(json.loads(child.hear()), {"waits": calls[-1]})
        child.interrupt()
        self.assertEqual(json.loads(child.hear()), {"ended": "interrupted", "call": calls[-1]})
        self.assertEqual(child.end(), (0, ""))

    def test_an_interrupt_gets_through_a_wait_for_a_server_that_says_nothing(self):
        with socket.create_server(("127.0.0.1", 0)) as silent, \
                tempfile.TemporaryDirectory() as folder:
            silent.settimeout(DEADLINE_S)
            cluster_file = pathlib.Path(folder) / "cluster.textproto"
            cluster_file.write_text(
                "data: '/nowhere' num_shards: 1 servers { name: 's' listen: "
                f"'127.0.0.1:{silent.getsockname()[1]}' shards: 0 }}\n", encoding="utf-8")
            child = self.child(OPENING, cluster_file)
            connection, _ = silent.accept()
            with connection:
                child.interrupt()
                self.assertEqual(child.hear(), "interrupted")
                self.assertEqual(child.end(), (0, ""))

    def test_a_program_that_an_interrupt_ends_leaves_its_calls(self):
        cluster = SmallCluster(num_nodes=500, live=True)
        self.addCleanup(cluster.close)
        child = self.child(CHILD, cluster.cluster_file, "let it end the program")
        child.hear()
        for shard in (0, 1):
            cluster.pause(shard)
        child.tell("fetch")
        self.assertEqual(json.loads(child.hear()), {"waits": "fetch"})
        child.interrupt()
        code, errors = child.end()
        self.assertIn("KeyboardInterrupt", errors)
        self.assertEqual(code, -signal.SIGINT)


if __name__ == "__main__":
    run_tests()
