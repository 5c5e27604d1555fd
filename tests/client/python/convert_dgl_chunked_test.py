#!/usr/bin/env python3
"""DGL's chunked format, as its tools and GraphStorm's write it, to graphs: all chunks are there."""

import json
import os
import pathlib
import sys

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from converted import ConvertCase  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402
import pyarrow  # noqa: E402
from pyarrow import parquet  # noqa: E402

from vicinity_graph import convert  # noqa: E402

WRITES, CITES = "author:writes:paper", "paper:cites:paper"


class ChunkedTest(ConvertCase):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "chunked"
        self.counts = {"author": [4, 3], "paper": [7, 6]}
        self.edge_counts = {WRITES: [15, 14], CITES: [20, 20]}
        self.ends = {WRITES: self.pairs(7, 13, 29), CITES: self.pairs(13, 13, 40)}
        self.x = self.random.normal(size=(13, 3)).astype(numpy.float32)
        self.label = self.random.integers(0, 4, 13).astype(numpy.int32)
        self.mask = (numpy.arange(13) % 3 == 0).astype(numpy.uint8)
        self.year = self.random.integers(1990, 2020, 29)
        self.metadata = {
            "graph_name": "mag", "node_type": ["author", "paper"],
            "num_nodes_per_chunk": list(self.counts.values()),
            "num_nodes_per_type": [7, 13],
            "edge_type": [WRITES, CITES],
            "num_edges_per_chunk": list(self.edge_counts.values()),
            "num_edges_per_type": [29, 40],
            "edges": {WRITES: self.csv("edge_index/writes", self.ends[WRITES], [15, 14]),
                      CITES: self.csv("edge_index/cites", self.ends[CITES], [20, 20])},
            "node_data": {"paper": {"feat": self.npy("paper/feat", self.x, [7, 6]),
                                    "label": self.npy("paper/label", self.label, [7, 6]),
                                    "train_mask": self.npy("paper/train_mask", self.mask, [7, 6])}},
            "edge_data": {WRITES: {"year": self.npy("writes/year", self.year, [15, 14])}}}

    def pairs(self, sources, targets, count):
        return numpy.stack([self.random.integers(0, sources, count),
                            self.random.integers(0, targets, count)], axis=1)

    def chunks(self, path, array, counts, ending, save):
        paths = []
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        for number, part in enumerate(numpy.split(array, numpy.cumsum(counts)[:-1])):
            paths.append(f"{path}-{number}{ending}")
            save(self.root / paths[-1], part)
        return paths

    def npy(self, path, array, counts):
        return {"format": {"name": "numpy"},
                "data": self.chunks(path, array, counts, ".npy", numpy.save)}

    def csv(self, path, array, counts, delimiter=" ", ending=".txt"):
        def save(file, part):
            # Without an end of line at the end, as some writers leave it.
            rows = [delimiter.join(map(str, numpy.atleast_1d(row))) for row in part.tolist()]
            file.write_text("\n".join(rows))

        return {"format": {"name": "csv", "delimiter": delimiter},
                "data": self.chunks(path, array, counts, ending, save)}

    def parquet(self, path, array, counts, shape=True):
        def save(file, part):
            width = numpy.prod(part.shape[1:], dtype=int)
            columns = {str(i): column for i, column in enumerate(part.reshape(len(part), width).T)}
            table = pyarrow.table(columns)
            if shape:
                table = table.replace_schema_metadata({"shape": str(part.shape)})
            parquet.write_table(table, file, row_group_size=4)

        return {"format": {"name": "parquet"},
                "data": self.chunks(path, array, counts, ".parquet", save)}

    def converted(self, folder="arrays", **options):
        path = self.root / "metadata.json"
        path.write_text(json.dumps(self.metadata))
        return convert.from_dgl_chunked(path, self.folder / folder, **options)

    def check(self, graph):
        self.assertEqual(graph.graph.description["name"], "mag")
        self.assert_same(graph.column("paper", "feat"), self.x)
        self.assert_same(graph.column("paper", "label"), self.label)
        self.assertEqual(graph.node_types["paper"]["label_column"], "label")
        self.assertEqual(graph.splits("paper"), ["train" if each else "none" for each in self.mask])
        self.assertEqual(graph.graph.num_nodes("author"), 7)
        self.assert_ends(graph, WRITES, *self.ends[WRITES].T, {"year": self.year})
        self.assert_ends(graph, CITES, *self.ends[CITES].T)

    def test_text_and_numbers(self):
        self.check(self.imported(self.converted()))

    def test_commas_numpy_edges_and_absolute_paths(self):
        self.metadata["edges"] = {
            WRITES: self.csv("writes", self.ends[WRITES], [15, 14], ",", ".csv"),
            CITES: self.npy("cites", self.ends[CITES], [20, 20])}
        for data in self.metadata["node_data"]["paper"].values():
            data["data"] = [str(self.root / each) for each in data["data"]]
        self.check(self.imported(self.converted()))

    def test_parquet(self):
        self.metadata["edges"] = {WRITES: self.parquet("writes", self.ends[WRITES], [15, 14]),
                                  CITES: self.parquet("cites", self.ends[CITES], [20, 20], shape=False)}
        data = self.metadata["node_data"]["paper"]
        data["feat"] = self.parquet("feat", self.x, [7, 6], shape=False)
        data["label"] = self.parquet("label", self.label, [7, 6])
        self.metadata["edge_data"][WRITES]["year"] = self.parquet("year", self.year, [15, 14])
        cubes = self.random.normal(size=(13, 2, 3))
        data["cube"] = self.parquet("cube", cubes, [7, 6])
        graph = self.imported(self.converted())
        self.check(graph)
        self.assert_same(graph.column("paper", "cube"), cubes)

    def test_totals_alone_as_graphstorm_writes_them(self):
        """Files of any number of rows, edges as two columns, features as one of lists."""
        del self.metadata["num_nodes_per_chunk"], self.metadata["num_edges_per_chunk"]
        for edge_type, counts in ((WRITES, [20, 5, 4]), (CITES, [1, 39])):
            self.metadata["edges"][edge_type] = self.parquet(edge_type.split(":")[1],
                                                             self.ends[edge_type], counts, shape=False)
        rows = pyarrow.array(self.x.tolist(), type=pyarrow.list_(pyarrow.float32()))
        parquet.write_table(pyarrow.table({"feat": rows}), self.root / "feat.parquet")
        self.metadata["node_data"]["paper"]["feat"] = {"format": {"name": "parquet"},
                                                       "data": ["feat.parquet"]}
        self.check(self.imported(self.converted()))

    def test_types_without_nodes_or_edges(self):
        self.metadata.update(num_nodes_per_chunk=[[4, 3], [0, 0]], num_nodes_per_type=[7, 0],
                             num_edges_per_chunk=[[0, 0], [0, 0]], num_edges_per_type=[0, 0])
        self.ends = {each: numpy.zeros((0, 2), dtype=numpy.int64) for each in self.ends}
        empty = numpy.zeros((0, 3), dtype=numpy.float16)
        self.metadata["edges"] = {WRITES: self.csv("writes", self.ends[WRITES], [0, 0]),
                                  CITES: self.parquet("cites", self.ends[CITES], [0, 0])}
        self.metadata["node_data"] = {"paper": {"feat": self.parquet("feat", empty, [0, 0])}}
        self.metadata["edge_data"] = {WRITES: {"year": self.npy("year", self.year[:0], [0, 0])}}
        graph = self.imported(self.converted())
        self.assertEqual([graph.graph.num_nodes(each) for each in ("author", "paper")], [7, 0])
        self.assertEqual(graph.node_types["paper"]["columns"],
                         [{"name": "feat", "dtype": "float16", "shape": [3]}])

    def test_one_chunk_stays_where_it_is(self):
        self.metadata.update(num_nodes_per_chunk=[[7], [13]], num_edges_per_chunk=[[29], [40]])
        self.metadata["edges"] = {WRITES: self.csv("writes", self.ends[WRITES], [29]),
                                  CITES: self.csv("cites", self.ends[CITES], [40], ",", ".edges")}
        self.metadata["node_data"] = {"paper": {"feat": self.npy("feat", self.x, [13]),
                                                "label": self.npy("label", self.label, [13]),
                                                "train_mask": self.npy("mask", self.mask, [13])}}
        self.metadata["edge_data"] = {WRITES: {"year": self.npy("year", self.year, [29])}}
        description = self.converted()
        self.assertEqual(sorted(os.listdir(description.parent)),
                         ["graph.textproto", "paper.cites.paper+ends.csv"], "whose name ends in .edges")
        self.check(self.imported(description))

    def test_what_does_not_fit_is_an_error(self):
        feat = self.metadata["node_data"]["paper"]["feat"]

        def short():
            numpy.save(self.root / feat["data"][1], self.x[:2])

        def wide():
            numpy.save(self.root / feat["data"][1], numpy.zeros((6, 4), dtype=numpy.float32))

        def other_type():
            numpy.save(self.root / feat["data"][1], self.x[:6].astype(numpy.float64))

        def few_edges():
            self.metadata["num_edges_per_chunk"][1] = [20, 21]
            self.metadata["num_edges_per_type"][1] = 41

        def counts():
            self.metadata["num_nodes_per_type"] = [7, 14]

        def delimiter():
            self.metadata["edges"][CITES]["format"]["delimiter"] = ";"

        def kind():
            feat["format"]["name"] = "hdf5"

        def unlisted():
            self.metadata["node_data"]["venue"] = self.metadata["node_data"]["paper"]

        def no_metadata():
            del self.metadata["node_type"]

        def several_types():
            table = pyarrow.table({"0": self.x[:7, 0], "1": self.x[:7, 0].astype(numpy.float64)})
            for path in feat["data"]:
                parquet.write_table(table.slice(0, 7 if path.endswith("0.npy") else 6), self.root / path)
            feat["format"]["name"] = "parquet"

        for change, text in ((short, "feat-1.npy has 2 rows, and metadata.json says 6"),
                             (wide, r"feat-1.npy: .*\['n', 3\].* from 7 on are float32 \['n', 4\]"),
                             (other_type, "feat-1.npy: .*float32.* are float64"),
                             (few_edges, "cites-1.txt has 20 rows.*says 21"),
                             (counts, "counts of node types"), (delimiter, "';'.*commas, tabs"),
                             (kind, "'hdf5'"), (unlisted, r"node_data of \['venue'\]"),
                             (no_metadata, "has no node_type"), (several_types, "of several types")):
            with self.subTest(text=text):
                self.setUp()
                feat = self.metadata["node_data"]["paper"]["feat"]
                change()
                with self.assertRaisesRegex(ValueError, text):
                    self.converted(change.__name__)

    def test_a_missing_chunk_and_data_left_out(self):
        (self.root / "paper" / "feat-1.npy").unlink()
        with self.assertRaisesRegex(FileNotFoundError, "feat-1.npy"):
            self.converted("missing")
        graph = self.imported(self.converted(skip=["feat"], label="", weight="", name="named"))
        self.assertEqual(graph.graph.description["name"], "named")
        self.assertEqual([each["name"] for each in graph.node_types["paper"]["columns"]],
                         ["label", "split"])
        self.assertEqual(graph.node_types["paper"]["label_column"], "")


if __name__ == "__main__":
    run_tests()
