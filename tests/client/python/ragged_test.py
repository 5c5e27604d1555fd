#!/usr/bin/env python3
"""Ragged columns: lists, texts and sparse matrices, from what people have to batches, over daemons and
mapped, equal to the arrays that they were made of."""

import pathlib
import sys
import tempfile
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts what Debian lacks

from small_cluster import DAEMON, ServedShards, run_tests, tool  # noqa: E402

import numpy  # noqa: E402
import pandas  # noqa: E402
import pyarrow  # noqa: E402
import scipy.sparse  # noqa: E402
import torch  # noqa: E402
from torch_geometric.data import Data  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph import convert  # noqa: E402
from vicinity_graph.convert import Edges, Nodes, RaggedRows  # noqa: E402
from vicinity_graph.pyg import NeighborLoader, connect  # noqa: E402

LINKS = ("paper", "cites", "paper")
NUM_NODES, NUM_WORDS = 200, 500


def bags(random):
    """A third of them empty."""
    matrix = scipy.sparse.random(NUM_NODES, NUM_WORDS, 0.01, "csr", numpy.float32, random)
    keep = numpy.repeat(random.random(NUM_NODES) < 2 / 3, numpy.diff(matrix.indptr))
    matrix.data[~keep] = 0
    matrix.eliminate_zeros()
    return matrix


def same(found, wanted):
    """Whether two sparse matrices are the same array by array."""
    return all(numpy.array_equal(getattr(found, each), getattr(wanted, each))
               for each in ("indptr", "indices", "data", "shape"))


class Served(ServedShards):
    """Of a description, cut in two."""

    def __init__(self, description):
        self._scratch = tempfile.TemporaryDirectory(prefix="vicinity_ragged_")
        folder = pathlib.Path(self._scratch.name)
        tool("import", "--description", description, "--output", folder / "whole")
        self.shards = folder / "shards"
        tool("partition", "--input", folder / "whole", "--output", self.shards, "--shards", 2,
             "--assigner", "hash")
        tool("verify", self.shards)
        super().__init__(DAEMON, self.shards, 2)

    def close(self):
        super().close()
        self._scratch.cleanup()


class RaggedTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        random = numpy.random.default_rng(3)
        cls.words = bags(random)
        cls.clicks = [random.integers(-9, 9, random.integers(0, 5)) for _ in range(NUM_NODES)]
        cls.titles = ["" if i % 7 == 0 else f"Zw\u00f6lf {i}" * (i % 3) for i in range(NUM_NODES)]
        columns = {"words": cls.words, "clicks": RaggedRows.of_lists(cls.clicks),
                   "title": RaggedRows.of_texts(cls.titles),
                   "year": numpy.arange(NUM_NODES, dtype=numpy.int32)}
        ends = random.integers(0, NUM_NODES, (2, 1500))
        with tempfile.TemporaryDirectory(prefix="vicinity_ragged_") as scratch:
            description = convert.write(pathlib.Path(scratch) / "arrays",
                                        {"paper": Nodes(NUM_NODES, columns=columns)},
                                        {LINKS: Edges(ends)})
            cls.cluster = Served(description)
        cls.addClassCleanup(cls.cluster.close)
        cls.graphs = {"served": vicinity_graph.Graph(cluster_file=cls.cluster.cluster_file),
                      "mapped": vicinity_graph.Graph(directory=cls.cluster.shards)}

    def each_graph(self):
        for where, graph in self.graphs.items():
            with self.subTest(where=where):
                yield graph

    def test_rows_are_fetched_as_they_were_imported(self):
        ids = numpy.array([5, 199, 0, 5, 77])
        for graph in self.each_graph():
            nodes = graph.resolve("paper", ids)
            words = graph.fetch_ragged("paper", "words", nodes)
            self.assertEqual(words.shape, (5, NUM_WORDS))
            self.assertTrue(same(words.scipy(), self.words[ids]))
            self.assertTrue(torch.equal(words.torch().to_dense(),
                                        torch.from_numpy(self.words[ids].toarray())))
            clicks = graph.fetch_ragged("paper", "clicks", nodes)
            self.assertEqual(clicks.values.dtype, "int64")
            self.assertEqual(clicks.tolist(), [self.clicks[i].tolist() for i in ids])
            self.assertEqual([each.tolist() for each in clicks.torch().unbind()], clicks.tolist())
            titles = graph.fetch_ragged("paper", "title", nodes)
            self.assertEqual(titles.texts(), [self.titles[i] for i in ids])
            self.assertEqual(len(graph.fetch_ragged("paper", "words", [])), 0)

    def test_batches_have_the_rows_of_their_nodes(self):
        columns = [("paper", each) for each in ("words", "year", "clicks", "title")]
        for graph in self.each_graph():
            for cache in ("auto", "none"):
                loader = graph.loader([4, 3], batch_size=16, columns=columns, cache=cache,
                                      seeds=numpy.arange(0, 200, 3), seed_type="paper")
                for _ in range(2):
                    for batch in loader:
                        ids = graph.user_ids("paper", batch.nodes()).numpy()
                        self.assertEqual(batch.column("year").tolist(), ids.tolist())
                        self.assertTrue(same(batch.ragged_column("words").scipy(), self.words[ids]))
                        self.assertEqual(batch.ragged["paper", "clicks"].tolist(),
                                         [self.clicks[i].tolist() for i in ids])
                        self.assertEqual(batch.ragged_column("title").texts(),
                                         [self.titles[i] for i in ids])
            sample = graph.sample("paper", graph.resolve("paper", [7, 8]), [5], columns=columns)
            ids = graph.user_ids("paper", sample.nodes()).numpy()
            self.assertTrue(same(sample.ragged_column("words").scipy(), self.words[ids]))

    def test_what_is_kept_is_not_fetched_again(self):
        graph = self.graphs["served"]
        counts = {}
        for cache in ("auto", "none"):
            # One batch at a time: of two that are fetched at once either may be first.
            loader = graph.loader([4, 3], batch_size=16, columns=[("paper", "words")], cache=cache,
                                  seeds=numpy.arange(200), seed_type="paper", fetch_threads=1)
            for _ in range(2):
                list(loader)
            stats = loader.stats()
            counts[cache] = stats["rows_remote"]
            self.assertEqual(stats["rows_remote"] + stats["rows_cached"] + stats["rows_local"],
                             stats["nodes"])
        self.assertEqual(counts["auto"], NUM_NODES)  # each once
        self.assertGreater(counts["none"], 5 * NUM_NODES)

    def test_what_a_column_is_not_is_said(self):
        graph = self.graphs["mapped"]
        with self.assertRaisesRegex(vicinity_graph.NotFound, "no ragged column year; it has: words"):
            graph.fetch_ragged("paper", "year", [1])
        with self.assertRaisesRegex(vicinity_graph.NotFound, "no column words"):
            graph.fetch("paper", "words", [1])
        batch = graph.sample("paper", [1], [2], columns=[("paper", "words")])
        with self.assertRaisesRegex(vicinity_graph.NotFound, "ragged_column"):
            batch.column("words")
        with self.assertRaisesRegex(vicinity_graph.NotFound, "asked for these"):
            batch.ragged_column("title")
        clicks = graph.fetch_ragged("paper", "clicks", [1])
        for wanted in (clicks.scipy, clicks.texts, lambda: clicks.shape):
            self.assertRaises(TypeError, wanted)
        self.assertRegex(repr(clicks), "<Ragged int64 of lists: 1 rows, .* values>")

    def test_pyg_has_sparse_columns_as_sparse_tensors(self):
        graph = connect(self.cluster.cluster_file)
        self.assertIn("words", {each.attr_name for each in graph[0].get_all_tensor_attrs()})
        self.assertEqual(graph[0].get_tensor_size(group_name=None, attr_name="words"),
                         (NUM_NODES, NUM_WORDS))
        for batch in NeighborLoader(graph, [4, 3], batch_size=32,
                                    input_nodes=torch.arange(0, 200, 5)):
            self.assertTrue(torch.equal(batch.words.to_dense(),
                                        torch.from_numpy(self.words[batch.n_id.numpy()].toarray())))
            self.assertEqual(batch.year.tolist(), batch.n_id.tolist())

    def test_sparse_attributes_of_pygs_data_are_imported(self):
        x = torch.from_numpy(self.words.toarray())
        ends = torch.tensor([[0, 1, 2], [1, 2, 0]])
        for sparse in (x.to_sparse_csr(), x.to_sparse()):
            with tempfile.TemporaryDirectory(prefix="vicinity_ragged_") as scratch:
                folder = pathlib.Path(scratch)
                data = Data(x=sparse, edge_index=ends, num_nodes=NUM_NODES)
                description = convert.from_pyg(data, folder / "arrays")
                tool("import", "--description", description, "--output", folder / "graph")
                graph = vicinity_graph.Graph(directory=folder / "graph")
                rows = graph.fetch_ragged("node", "x", numpy.arange(NUM_NODES))
                self.assertTrue(same(rows.scipy(), self.words))

    def test_lists_and_texts_of_tables_are_imported(self):
        clicks = [[1, 2], [], [7], [], [5, 6, 7]]
        titles = ["one", "", "dr\u00fci", "4", ""]
        frame = pandas.DataFrame({"clicks": clicks, "title": titles, "year": range(5)})
        table = pyarrow.table({"clicks": clicks, "title": titles, "year": list(range(5))})
        for given in (frame, table, table.slice(0, 5).to_batches(max_chunksize=2)):
            with tempfile.TemporaryDirectory(prefix="vicinity_ragged_") as scratch:
                folder = pathlib.Path(scratch)
                if isinstance(given, list):
                    given = pyarrow.RecordBatchReader.from_batches(table.schema, given)
                nodes = convert.NodeTable(given, ragged=["clicks", "title"])
                description = convert.from_tables(folder / "arrays", {"paper": nodes}, {})
                tool("import", "--description", description, "--output", folder / "graph")
                graph = vicinity_graph.Graph(directory=folder / "graph")
                rows = graph.fetch_ragged("paper", "clicks", range(5))
                self.assertEqual((rows.values.dtype, rows.tolist()), ("int64", clicks))
                self.assertEqual(graph.fetch_ragged("paper", "title", range(5)).texts(), titles)
        with tempfile.TemporaryDirectory(prefix="vicinity_ragged_") as scratch:
            for given in (frame, table):
                with self.assertRaisesRegex(ValueError, r"ragged=\['clicks'\]"):
                    convert.from_tables(pathlib.Path(scratch) / "a",
                                        {"paper": convert.NodeTable(given, skip=["title"])}, {})
                with self.assertRaisesRegex(ValueError, "texts and lists can be ragged"):
                    convert.from_tables(pathlib.Path(scratch) / "a", {"paper": convert.NodeTable(
                        given, skip=["title", "clicks"], ragged=["year"])}, {})
            holes = pyarrow.table({"clicks": [[1], [2, None], [3]]})
            with self.assertRaisesRegex(ValueError, "clicks is null in row 1"):
                convert.from_tables(pathlib.Path(scratch) / "a", {"paper": convert.NodeTable(
                    holes, ragged=["clicks"])}, {})

    def test_what_cannot_be_ragged_is_refused(self):
        with tempfile.TemporaryDirectory(prefix="vicinity_ragged_") as scratch:
            folder = pathlib.Path(scratch)
            edges = {LINKS: Edges([[0], [1]], columns={"bag": scipy.sparse.identity(1, format="csr")})}
            with self.assertRaisesRegex(ValueError, "bag is ragged, and columns of nodes alone"):
                convert.write(folder / "edges", {"paper": Nodes(2)}, edges)
            short = RaggedRows([0, 1], numpy.zeros(1))
            with self.assertRaisesRegex(ValueError, "first length should be 3"):
                convert.write(folder / "short", {"paper": Nodes(2, columns={"bag": short})}, {})
        with self.assertRaisesRegex(ValueError, "one dtype"):
            RaggedRows.of_lists([numpy.zeros(1), numpy.zeros(1, numpy.int8)])


if __name__ == "__main__":
    run_tests()
