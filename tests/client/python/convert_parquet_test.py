#!/usr/bin/env python3
"""Parquet files to graphs: of folders, one after the other, in memory that does not grow with
them."""

import os
import pathlib
import subprocess
import sys

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from converted import ConvertCase  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402
import pyarrow  # noqa: E402
from pyarrow import parquet  # noqa: E402

from vicinity_graph import convert  # noqa: E402
from vicinity_graph.convert import EdgeTable, NodeTable  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parent
CONVERT = """
import sys
sys.path.insert(0, sys.argv[4])
from converted import peak_memory
import pyarrow.parquet
from vicinity_graph import convert
def converted(path, folder):
    convert.from_tables(folder, {"node": convert.NodeTable(path, id="id", skip=["no"])}, {})

converted(sys.argv[1], sys.argv[3] + "/one")  # also what the libraries take for themselves
before = peak_memory()
converted(sys.argv[2], sys.argv[3] + "/many")
print(pyarrow.default_memory_pool().max_memory(), peak_memory() - before)
"""


class ParquetTest(ConvertCase):
    def setUp(self):
        super().setUp()
        self.count = 100
        self.x = self.random.normal(size=(self.count, 4)).astype(numpy.float32)
        self.ids = self.random.permutation(10 ** 6)[:self.count]
        self.nodes = self.folder / "nodes"
        self.parts = [10, 0, 55, 35]
        self.write_nodes()

    def table(self):
        values = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(self.x.reshape(-1)), 4)
        return pyarrow.table({"id": self.ids, "x": values})

    def write_nodes(self):
        """As Spark leaves them."""
        self.nodes.mkdir(exist_ok=True)
        (self.nodes / "_SUCCESS").write_text("")
        begin = 0
        for number, rows in enumerate(self.parts):
            part = self.table().slice(begin, rows)
            parquet.write_table(part, self.nodes / f"part-0000{number}-c000.snappy.parquet",
                                row_group_size=7)
            begin += rows

    def test_a_folder_a_list_and_a_file(self):
        alone = self.folder / "nodes.parquet"
        parquet.write_table(self.table(), alone, row_group_size=9, version="2.6")
        edges = self.folder / "edges.parquet"
        ends = self.ids[self.random.integers(0, self.count, (2, 300))]
        time = pyarrow.array(range(300), pyarrow.timestamp("us"))
        parquet.write_table(pyarrow.table({"source": ends[0], "target": ends[1], "time": time}), edges)
        files = sorted(self.nodes.glob("*.parquet"))
        for given in (self.nodes, str(self.nodes), files, alone):
            folder = self.folder / f"arrays{len(os.listdir(self.folder))}"
            description = convert.from_tables(folder, {"node": NodeTable(given, id="id")},
                                              {("node", "to", "node"): EdgeTable(edges)})
            self.folder = folder
            graph = self.imported(description)
            self.assert_same(graph.column("node", "x", self.ids), self.x)
            sources, targets, columns = graph.edges("node:to:node")
            self.assert_same(graph.graph.user_ids("node", sources).numpy(), ends[0])
            self.assert_same(graph.graph.user_ids("node", targets).numpy(), ends[1])
            self.assert_same(columns["time"], numpy.arange(300))

    def test_rows_of_null_are_counted_over_files(self):
        for number, values in enumerate(([1, 2, 3], [4], [], [5, 6, 7, None])):
            parquet.write_table(pyarrow.table({"x": pyarrow.array(values, pyarrow.int8())}),
                                self.folder / f"{number}.parquet", row_group_size=2)
        files = sorted(self.folder.glob("*.parquet"))
        with self.assertRaisesRegex(ValueError, "node.x is null in row 7"):
            convert.from_tables(self.folder / "arrays", {"node": files}, {})
        graph = self.imported(convert.from_tables(
            self.folder / "arrays", {"node": NodeTable(files, fill={"x": -1})}, {}))
        self.assertEqual(graph.column("node", "x").tolist(), [1, 2, 3, 4, 5, 6, 7, -1])

    def test_files_that_do_not_fit_are_named(self):
        def other_type():
            table = self.table().set_column(0, "id", pyarrow.array(self.ids.astype(numpy.int32)))
            parquet.write_table(table, self.nodes / "part-00002-c000.snappy.parquet")

        def other_file():
            (self.nodes / "nodes.csv").write_text("1\n")

        def partitioned():
            (self.nodes / "year=2020").mkdir()

        def none():
            for path in self.nodes.glob("*.parquet"):
                path.unlink()

        def damaged():
            (self.nodes / "part-00002-c000.snappy.parquet").write_bytes(b"PAR1 cut off")

        for change, text in ((other_type, "part-00002.*id int32.*id int64"),
                             (other_file, r"has \['nodes.csv'\] beside .parquet"),
                             (partitioned, "year=2020"), (none, "has no .parquet"),
                             (damaged, "part-00002.*Parquet")):
            with self.subTest(text=text):
                self.setUp()
                change()
                with self.assertRaisesRegex(ValueError, text):
                    convert.from_tables(self.folder / "arrays", {"node": self.nodes}, {})
        with self.assertRaisesRegex(FileNotFoundError, "nothing.parquet"):
            convert.from_tables(self.folder / "none", {"node": "nothing.parquet"}, {})

    ROWS, WIDTH = 65536, 128
    GROUP_BYTES = ROWS * WIDTH * 4

    def write_groups(self, path, groups):
        width = pyarrow.list_(pyarrow.float32(), self.WIDTH)
        schema = pyarrow.schema([("id", pyarrow.int64()), ("x", width), ("no", pyarrow.string())])
        with parquet.ParquetWriter(path, schema) as file:
            for group in range(groups):
                values = self.random.random(self.ROWS * self.WIDTH, dtype=numpy.float32)
                file.write_table(pyarrow.table({
                    "id": numpy.arange(group * self.ROWS, (group + 1) * self.ROWS),
                    "x": pyarrow.FixedSizeListArray.from_arrays(values, self.WIDTH),
                    "no": ["x"] * self.ROWS}, schema=schema), row_group_size=self.ROWS)
        return path

    def test_memory_grows_neither_with_the_file_nor_with_its_row_groups(self):
        groups = 4
        one = self.write_groups(self.folder / "one.parquet", 1)
        many = self.write_groups(self.folder / "many.parquet", groups)
        run = subprocess.run([sys.executable, "-c", CONVERT, one, many, self.folder / "arrays", TESTS],
                             capture_output=True, text=True, check=True)
        arrow, grown = map(int, run.stdout.split())
        # Less than a single row group, of 32 MiB: pages, and a batch while it is decoded.
        self.assertLess(arrow, self.GROUP_BYTES)
        self.assertLess(grown, self.GROUP_BYTES)
        written = (self.folder / "arrays" / "many" / "node.x.npy").stat().st_size
        self.assertGreater(written, groups * self.GROUP_BYTES)


if __name__ == "__main__":
    run_tests()
