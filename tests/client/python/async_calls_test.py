#!/usr/bin/env python3
"""graph.sample_async and graph.fetch_async over real daemons: the answers are those of sample and
fetch, whatever becomes of arrays, futures and the graph meanwhile."""

import array
import asyncio
import concurrent.futures
import gc
import pathlib
import subprocess
import sys
import threading
import time
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from small_cluster import ROOT, SmallCluster, run_tests  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph import GlobalIds, UserIds  # noqa: E402

DEADLINE_S = 120  # of every wait: far beyond what a call takes
# Of a graph whose server is paused: how long a call to it takes to fail.
SHORT = {"call_timeout_ms": 500, "call_budget_ms": 1000, "hedge": False}
# ... and of one whose calls are cancelled: so long that only cancelling ends them within the test.
LONG = {"call_timeout_ms": 600_000, "call_budget_ms": 600_000, "hedge": False}


def bytes_of(batch):
    """All that a sample holds."""
    parts = [batch.nodes(), batch.hop_ends(), batch.column("features"), *(
        batch.links if len(batch.seed_types) > 1 else [batch.seeds])]
    for block in batch.blocks:
        parts += [block.offsets, block.sources, block.targets, block.edge_ids]
    return [(part.shape, bytes(part.memoryview())) for part in parts]


def rows_of(tensor):
    return tensor.shape, bytes(tensor.memoryview())


def threads():
    return [each for each in threading.enumerate() if each.name == "vicinity async"]


class AsyncCallsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = SmallCluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.near = vicinity_graph.Graph(directory=cls.cluster.shards)
        cls.expected = rows_of(cls.near.fetch("node", "features", range(100)))

    def graph(self, **options):
        graph = vicinity_graph.Graph(cluster_file=self.cluster.cluster_file, **options)
        self.addCleanup(graph.close)
        return graph

    def pause(self):
        """Both servers: no call has an answer before resume()."""
        for server in (0, 1):
            self.cluster.pause(server)
        self.addCleanup(self.resume)

    def resume(self):
        for server in (0, 1):
            self.cluster.resume(server)

    def wait_until(self, is_so):
        end = time.monotonic() + DEADLINE_S
        while not is_so():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.001)  # between two looks

    def fetch(self, graph):
        return graph.fetch_async("node", "features", range(100))

    def check_rows(self, futures):
        for future in futures:
            self.assertEqual(rows_of(future.result(DEADLINE_S)), self.expected)

    def test_many_in_flight_have_the_bytes_of_calls_that_are_waited_for(self):
        options = {"columns": [("node", "features")], "edge_ids": True, "run_seed": 4}
        for graph in (self.graph(), self.graph(async_threads=2), self.near):
            samples = [graph.sample_async("node", [step, 7, step], [4, 3], step=step, **options)
                       for step in range(60)]
            fetches = [graph.fetch_async("node", "features", range(step, step + 30))
                       for step in range(60)]
            for step, (sample, rows) in enumerate(zip(samples, fetches)):
                self.assertEqual(bytes_of(sample.result(DEADLINE_S)), bytes_of(
                    graph.sample("node", [step, 7, step], [4, 3], step=step, **options)))
                self.assertEqual(rows_of(rows.result(DEADLINE_S)), rows_of(
                    graph.fetch("node", "features", range(step, step + 30))))

    def test_ids_are_taken_in_all_their_kinds(self):
        graph = self.graph()
        for ids in (7, [5, 3], (5, 3), iter([5, 3]), array.array("q", [5, 3]), range(3),
                    UserIds([42, 7]), GlobalIds(array.array("q", [5, 3])), graph.nodes("node")):
            again = [5, 3] if hasattr(ids, "__next__") else ids
            self.assertEqual(rows_of(graph.fetch_async("node", "features", ids).result(DEADLINE_S)),
                             rows_of(graph.fetch("node", "features", again)))
        sample = graph.sample_async(["node", "node"], [UserIds([42]), [3]], [2], edge_ids=True,
                                    columns=[("node", "features")])
        self.assertEqual(bytes_of(sample.result(DEADLINE_S)),
                         bytes_of(graph.sample(["node", "node"], [UserIds([42]), [3]], [2],
                                               edge_ids=True, columns=[("node", "features")])))

    def test_asyncio_waits_for_many(self):
        graph = self.graph()

        async def fetch_all():
            return await asyncio.wait_for(asyncio.gather(
                *(asyncio.wrap_future(self.fetch(graph)) for _ in range(20))), DEADLINE_S)

        self.assertEqual([rows_of(each) for each in asyncio.run(fetch_all())], [self.expected] * 20)

    def test_errors_come_out_of_the_future_as_the_call_raises_them(self):
        graph = self.graph()
        for begin, call in (
                (lambda: graph.fetch_async("node", "none", [1]),
                 lambda: graph.fetch("node", "none", [1])),
                (lambda: graph.fetch_async("node", "features", [0.5]),
                 lambda: graph.fetch("node", "features", [0.5])),
                (lambda: graph.fetch_async("node", "features", UserIds([5000])),
                 lambda: graph.fetch("node", "features", UserIds([5000]))),
                (lambda: graph.sample_async("node", [1], [-5]),
                 lambda: graph.sample("node", [1], [-5])),
                (lambda: graph.sample_async("node", [1], [2], fanout=3),
                 lambda: graph.sample("node", [1], [2], fanout=3))):
            with self.assertRaises(vicinity_graph.VicinityError) as expected:
                call()
            raised = begin().exception(DEADLINE_S)
            self.assertEqual((type(raised), str(raised)),
                             (type(expected.exception), str(expected.exception)))

    def test_a_server_that_is_away_is_the_error_of_the_call(self):
        graph = self.graph(**SHORT)
        self.pause()
        raised = self.fetch(graph).exception(DEADLINE_S)
        self.assertIsInstance(raised, (vicinity_graph.DeadlineExceeded, vicinity_graph.Unavailable))

    def test_ids_may_be_changed_while_the_call_stands_in_line(self):
        graph = self.graph(async_threads=1)
        self.pause()
        first = self.fetch(graph)
        changed, listed = array.array("q", range(100)), list(range(100))
        futures = [first, graph.fetch_async("node", "features", changed),
                   graph.fetch_async("node", "features", listed),
                   graph.fetch_async("node", "features", GlobalIds(changed))]
        for i in range(100):
            changed[i] = listed[i] = 0
        self.resume()
        self.check_rows(futures)

    def test_more_than_may_be_in_flight_are_refused_until_one_is_over_or_cancelled(self):
        graph = self.graph(async_threads=1, max_async_calls=3)
        self.pause()
        futures = [self.fetch(graph) for _ in range(3)]
        with self.assertRaisesRegex(vicinity_graph.ResourceExhausted, "max_async_calls"):
            self.fetch(graph)
        last = futures.pop()
        self.assertTrue(last.cancel())
        futures.append(self.fetch(graph))
        self.assertRaises(vicinity_graph.ResourceExhausted, self.fetch, graph)
        self.resume()
        self.check_rows(futures)
        self.assertRaises(concurrent.futures.CancelledError, last.result)
        self.check_rows([self.fetch(graph)])

    def test_a_call_that_is_being_made_is_cancelled_and_its_thread_makes_the_next(self):
        graph = self.graph(async_threads=1, max_async_calls=1, **LONG)
        self.pause()
        for begin in (lambda: self.fetch(graph),
                      lambda: graph.sample_async("node", [1, 2], [3], columns=[("node", "features")])):
            future = begin()
            self.wait_until(future.running)
            self.assertRaises(vicinity_graph.ResourceExhausted, begin)
            self.assertTrue(future.cancel())
            self.assertTrue(future.cancel())
            self.assertEqual((future.cancelled(), future.done(), future.running()),
                             (True, True, False))
            self.assertRaises(concurrent.futures.CancelledError, future.result, 0)
            concurrent.futures.wait([future], DEADLINE_S)
        last = self.fetch(graph)  # whose turn comes when the cancelled one has left the thread
        self.wait_until(last.running)
        self.resume()
        self.check_rows([last])
        self.assertFalse(last.cancel())
        self.check_rows([last])

    def test_who_waits_for_several_futures_hears_of_those_that_are_cancelled(self):
        graph = self.graph(async_threads=1, **LONG)
        self.pause()
        futures = [self.fetch(graph) for _ in range(3)]
        self.wait_until(futures[0].running)
        told = []
        for future in futures:
            future.add_done_callback(told.append)
        waiting = threading.Thread(target=lambda: told.append(
            sorted(map(id, concurrent.futures.as_completed(futures, DEADLINE_S)))))
        waiting.start()
        for future in (futures[2], futures[0], futures[1]):
            self.assertTrue(future.cancel())
        waiting.join(DEADLINE_S)
        self.assertEqual(told[:3], [futures[2], futures[0], futures[1]])
        self.assertEqual(told[3], sorted(map(id, futures)))

    def test_a_time_limit_of_asyncio_gives_the_call_up(self):
        graph = self.graph(async_threads=1, **LONG)
        self.pause()
        begun = []

        async def limited():
            begun.append(self.fetch(graph))
            await asyncio.wait_for(asyncio.wrap_future(begun[0]), 0.05)

        self.assertRaises(asyncio.TimeoutError, asyncio.run, limited())
        self.assertTrue(begun[0].cancelled())
        self.resume()
        self.check_rows([self.fetch(graph)])

    def test_what_a_future_tells_may_begin_the_next_call_and_close_the_graph(self):
        graph = self.graph(async_threads=1, max_async_calls=1)
        left, answers, over = list(range(5)), [], threading.Event()

        def tell(future):
            answers.append(rows_of(future.result()))
            if left:
                left.pop()
                self.fetch(graph).add_done_callback(tell)
            else:
                graph.close()
                over.set()

        self.fetch(graph).add_done_callback(tell)
        self.assertTrue(over.wait(DEADLINE_S))
        self.assertEqual(answers, [self.expected] * 6)

    def test_no_more_threads_are_made_than_asked_for(self):
        graph = self.graph(async_threads=3)
        before = len(threads())
        self.check_rows([self.fetch(graph) for _ in range(50)])
        self.assertLessEqual(len(threads()) - before, 3)
        graph.close()
        self.assertEqual(len(threads()), before)

    def test_closing_ends_all_calls(self):
        graph = self.graph(async_threads=2, **SHORT)
        self.pause()
        futures = [self.fetch(graph) for _ in range(40)]
        closing = threading.Thread(target=graph.close, daemon=True)
        closing.start()
        closing.join(DEADLINE_S)
        self.assertFalse(closing.is_alive())
        self.assertTrue(all(future.done() for future in futures))
        kinds = [type(future.exception(0)) for future in futures]
        self.assertLessEqual(set(kinds), {  # of those that a thread had taken, and of those in line
            vicinity_graph.DeadlineExceeded, vicinity_graph.Unavailable, vicinity_graph.Cancelled})
        self.assertEqual(kinds[-1], vicinity_graph.Cancelled)
        for begin in (lambda: self.fetch(graph), lambda: graph.sample_async("node", [1], [2])):
            self.assertRaisesRegex(vicinity_graph.FailedPrecondition, "closed", begin)

    def test_a_graph_that_nobody_has_gives_its_answers_and_its_threads_go(self):
        before = set(threads())
        graph = vicinity_graph.Graph(cluster_file=self.cluster.cluster_file, async_threads=2)
        futures = [self.fetch(graph) for _ in range(20)]
        mine = set(threads()) - before
        self.assertGreater(len(mine), 0)
        del graph
        self.check_rows(futures)
        del futures
        gc.collect()
        for thread in mine:
            thread.join(DEADLINE_S)
            self.assertFalse(thread.is_alive())

    def test_a_program_ends_with_calls_in_flight(self):
        program = (
            "import sys, vicinity_graph\n"
            "graph = vicinity_graph.Graph(cluster_file=sys.argv[1], async_threads=2,\n"
            "                             call_timeout_ms=600000, call_budget_ms=600000)\n"
            "print('open', flush=True)\n"
            "sys.stdin.readline()\n"
            "futures = [graph.fetch_async('node', 'features', [1, 2, 3]) for _ in range(200)]\n")
        child = subprocess.Popen([sys.executable, "-c", program, str(self.cluster.cluster_file)],
                                 cwd=ROOT / "client" / "python", stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.kill)
        self.assertEqual(child.stdout.readline(), "open\n")
        self.pause()
        _, errors = child.communicate("\n", timeout=DEADLINE_S)
        self.assertEqual((child.returncode, errors), (0, ""))


if __name__ == "__main__":
    run_tests()
