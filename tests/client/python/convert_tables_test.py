#!/usr/bin/env python3
"""DataFrames and tables of Arrow to graphs: types and values as they were, or an error that names
the column and the row."""

import datetime
import os
import pathlib
import sys
from unittest import mock

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from converted import ConvertCase  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402
import pandas  # noqa: E402
import pyarrow  # noqa: E402

from vicinity_graph import convert  # noqa: E402
from vicinity_graph.convert import EdgeTable, NodeTable  # noqa: E402

BUYS = ("user", "buys", "item")
TYPES = ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"]


class Stream:
    """What polars, DuckDB and others have."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def kinds_of(table):
    """The same rows, in all kinds of tables."""
    yield "Table", table
    yield "chunks", pyarrow.concat_tables([table.slice(0, 2), table.slice(2)])
    yield "RecordBatchReader", table.to_reader(max_chunksize=3)
    yield "stream", Stream(table)
    if len(table.to_batches()) == 1:
        yield "RecordBatch", table.to_batches()[0]


class TablesTest(ConvertCase):
    def converted(self, nodes, edges=None, **options):
        folder = self.folder / f"arrays{len(os.listdir(self.folder))}"
        return convert.from_tables(folder, nodes, edges or {}, **options)

    def users(self):
        """Strings as ids, and a column of each type."""
        columns = {"name": [f'user "{i}", é' for i in range(6)],
                   "age": numpy.array([3, -1, 7, 0, 5, 6], dtype=numpy.int16),
                   "group": numpy.array([0, -1, 2, 2, 1, 0], dtype=numpy.int32),
                   "use": ["train", "test", "", "validation", "val", "train"]}
        for each in TYPES:
            columns[f"of_{each}"] = self.random.integers(0, 2, 6).astype(each)
        columns["of_float32"] = numpy.array([0.1, -0.0, numpy.nan, numpy.inf, 1e-45, 3], numpy.float32)
        columns["of_int64"] = numpy.array([2 ** 62 + 1, -2 ** 63, 2 ** 53 + 1, 0, 1, -1])
        return columns

    def check_users(self, description, columns):
        self.folder = description.parent
        graph = self.imported(description)
        ids = columns["name"]
        self.assertEqual(graph.graph.user_names("user", graph.graph.resolve("user", ids)), ids)
        for name in ["age", *(f"of_{each}" for each in TYPES)]:
            wanted = columns[name]
            wanted = wanted.astype(numpy.uint8) if wanted.dtype == bool else wanted
            self.assert_same(graph.column("user", name, ids), wanted, name)
        self.assertEqual({each["name"]: each["dtype"] for each in graph.node_types["user"]["columns"]
                          if each["name"].startswith("of_")}, {f"of_{each}": each for each in TYPES})
        self.assert_same(graph.column("user", "group", ids), columns["group"])
        self.assertEqual(graph.node_types["user"]["label_column"], "group")
        self.assertEqual(graph.node_types["user"]["num_classes"], 5)
        self.assertEqual(graph.node_types["user"]["target_column"], "age")
        self.assertEqual(graph.splits("user", ids),
                         ["train", "test", "none", "validation", "validation", "train"])
        sources, targets, found = graph.edges("user:buys:item")
        self.assertEqual(graph.graph.user_names("user", sources), [ids[5], ids[0], ids[0]])
        self.assertEqual(graph.graph.user_ids("item", targets).tolist(), [-7, 10 ** 15, -7])
        self.assert_same(found["price"], numpy.array([1.5, 0, 2]))
        self.assertEqual(graph.edge_types["user:buys:item"]["weight_column"], "price")

    def described(self, users, items, buys):
        return self.converted(
            {"user": NodeTable(users, id="name", label="group", num_classes=5, target="age", split="use"),
             "item": NodeTable(items, id="key")},
            {BUYS: EdgeTable(buys, source="who", target="what", weight="price")})

    def tables(self):
        columns = self.users()
        items = {"key": numpy.array([10 ** 15, -7])}
        buys = {"who": [columns["name"][i] for i in (5, 0, 0)], "what": numpy.array([-7, 10 ** 15, -7]),
                "price": numpy.array([1.5, 0, 2])}
        return columns, items, buys

    def test_pandas(self):
        columns, items, buys = self.tables()
        # Without pyarrow: pandas alone is enough.
        with mock.patch.dict(sys.modules, {"pyarrow": None}):
            description = self.described(*map(pandas.DataFrame, (columns, items, buys)))
        self.check_users(description, columns)

    def test_arrow(self):
        columns, items, buys = self.tables()
        home = self.folder
        for (kind, users), (_, of_items), (_, bought) in zip(
                *(kinds_of(pyarrow.table(each)) for each in (columns, items, buys))):
            with self.subTest(kind=kind):
                self.folder = home
                self.check_users(self.described(users, of_items, bought), columns)

    def test_dense_ids_need_no_column(self):
        edges = pandas.DataFrame({"source": [0, 2], "target": [1, 1]})
        graph = self.imported(self.converted({"node": pandas.DataFrame({"x": [1.0, 2, 3]})},
                                             {("node", "to", "node"): edges}, name="three"))
        self.assertEqual(graph.graph.description["name"], "three")
        self.assert_same(graph.column("node", "x"), numpy.array([1.0, 2, 3]))
        self.assert_ends(graph, "node:to:node", [0, 2], [1, 1])

    def test_lists_make_rows(self):
        x = self.random.normal(size=(5, 3)).astype(numpy.float32)
        cube = numpy.arange(5 * 2 * 3, dtype=numpy.int16).reshape(5, 2, 3)
        row = pyarrow.list_(pyarrow.int16(), 3)
        table = pyarrow.table({
            "fixed": pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(x.reshape(-1)), 3),
            "list": pyarrow.array(x.tolist(), type=pyarrow.list_(pyarrow.float32())),
            "large": pyarrow.array(x.tolist(), type=pyarrow.large_list(pyarrow.float32())),
            "cube": pyarrow.array(cube.tolist(), type=pyarrow.list_(row, 2)),
            "tensor": pyarrow.ExtensionArray.from_storage(
                pyarrow.fixed_shape_tensor(pyarrow.int16(), (2, 3)),
                pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(cube.reshape(-1)), 6)),
            "x0": x[:, 0], "x1": x[:, 1], "x2": x[:, 2]})
        sliced = pyarrow.concat_tables([table.slice(4), table]).slice(1)
        frame = pandas.DataFrame({"list": list(x), "cube": list(cube), "x0": x[:, 0], "x1": x[:, 1],
                                  "x2": x[:, 2]})
        for kind, each in [*kinds_of(sliced), ("DataFrame", frame)]:
            with self.subTest(kind=kind):
                graph = self.imported(self.converted({"node": NodeTable(
                    each, stack={"stacked": ["x0", "x1", "x2"]})}))
                for name in graph.node_types["node"]["columns"]:
                    wanted = cube if name["name"] in ("cube", "tensor") else x
                    self.assert_same(graph.column("node", name["name"]), wanted, name["name"])
                self.assertEqual(len(graph.node_types["node"]["columns"]),
                                 3 if kind == "DataFrame" else 6)
            self.folder = self.folder / "next"
            self.folder.mkdir()

    def test_times_are_integers_of_a_unit_that_the_description_says(self):
        early, late = datetime.datetime(1969, 12, 31, 23, 59, 59, 1), datetime.datetime(2020, 1, 31, 5)
        table = pyarrow.table({unit: pyarrow.array([0, late], pyarrow.timestamp(unit))
                               for unit in ("s", "ms", "us", "ns")})
        table = table.append_column("zone", pyarrow.array([early, late],
                                                          pyarrow.timestamp("us", tz="Europe/Berlin")))
        table = table.append_column("day", pyarrow.array([early.date(), late.date()]))
        table = table.append_column("took", pyarrow.array([1, 2 ** 62 + 1], pyarrow.duration("ms")))
        seconds = 1580446800
        description = self.converted({"node": table})
        graph = self.imported(description)
        for unit, scale in (("s", 1), ("ms", 10 ** 3), ("us", 10 ** 6), ("ns", 10 ** 9)):
            self.assert_same(graph.column("node", unit), numpy.array([0, seconds * scale]))
        self.assert_same(graph.column("node", "zone"), numpy.array([-999999, seconds * 10 ** 6]))
        self.assert_same(graph.column("node", "day"), numpy.array([-1, seconds // 86400]))
        self.assert_same(graph.column("node", "took"), numpy.array([1, 2 ** 62 + 1]))
        text = description.read_text()
        for note in ("ns: int64, nanoseconds since 1970-01-01, of no time zone",
                     "zone: int64, microseconds since 1970-01-01, UTC",
                     "day: int64, days since 1970-01-01", "took: int64, milliseconds"):
            self.assertIn(f"# {note}\n", text)

    def test_times_of_pandas(self):
        when = pandas.to_datetime(["1969-12-31 23:59:59.000000001", "2020-01-31 05:00:00.0"])
        frame = pandas.DataFrame({"when": when, "zone": when.tz_localize("Asia/Tokyo"),
                                  "took": pandas.to_timedelta([1, 2 ** 62 + 1])})
        description = self.converted({"node": frame})
        graph = self.imported(description)
        self.assert_same(graph.column("node", "when"), numpy.array([-10 ** 9 + 1, 1580446800 * 10 ** 9]))
        self.assert_same(graph.column("node", "zone"),
                         graph.column("node", "when") - 9 * 3600 * 10 ** 9)
        self.assert_same(graph.column("node", "took"), numpy.array([1, 2 ** 62 + 1]))
        self.assertIn("# zone: int64, nanoseconds since 1970-01-01, UTC\n", description.read_text())

    def test_categories_are_decoded(self):
        levels = numpy.array([2 ** 40, 7, 2 ** 40])
        arrow = pyarrow.table({"id": pyarrow.array(["b", "a", "c"]).dictionary_encode(),
                               "level": pyarrow.array(levels).dictionary_encode(),
                               "use": pyarrow.array(["test", "", "test"]).dictionary_encode()})
        frame = pandas.DataFrame({"id": pandas.Categorical(["b", "a", "c"]),
                                  "level": pandas.Categorical(levels),
                                  "use": pandas.Categorical(["test", "", "test"])})
        for table in (arrow, frame):
            description = self.converted({"node": NodeTable(table, id="id", split="use")})
            self.folder = description.parent
            graph = self.imported(description)
            ids = ["b", "a", "c"]
            self.assert_same(graph.column("node", "level", ids), levels)
            self.assertEqual(graph.splits("node", ids), ["test", "none", "test"])

    def test_nulls_are_filled_when_asked(self):
        arrow = pyarrow.table({
            "whole": pyarrow.array([1, None, 3], pyarrow.int32()),
            "real": pyarrow.array([1.5, float("nan"), None]),
            "time": pyarrow.array([None, 5, 6], pyarrow.timestamp("s")),
            "truth": pyarrow.array([True, None, False]),
            "use": pyarrow.array(["train", None, "test"]),
            "group": pyarrow.array([None, 4, None], pyarrow.int64()),
            "row": pyarrow.array([[1, 2], None, [3, None]], pyarrow.list_(pyarrow.int8(), 2))})
        frame = pandas.DataFrame({
            "whole": pandas.array([1, None, 3], dtype="Int32"),
            "real": pandas.array([1.5, numpy.nan, None], dtype="Float64"),
            "time": pandas.to_datetime([None, "1970-01-01 00:00:00.000000005", None]),
            "truth": pandas.array([True, None, False], dtype="boolean"),
            "use": pandas.Categorical(["train", None, "test"]),
            "group": pandas.Categorical([None, 4, None])})
        frame["real"] = pandas.arrays.FloatingArray(numpy.array([1.5, numpy.nan, 0]),
                                                    numpy.array([False, False, True]))
        fill = {"whole": -5, "real": -0.5, "time": 0, "truth": True, "use": "", "group": -1}
        for table, given in ((arrow, {**fill, "row": 9}), (frame, fill)):
            description = self.converted({"node": NodeTable(table, label="group", split="use",
                                                            fill=given)})
            self.folder = description.parent
            graph = self.imported(description)
            self.assert_same(graph.column("node", "whole"), numpy.array([1, -5, 3], numpy.int32))
            self.assert_same(graph.column("node", "real"), numpy.array([1.5, numpy.nan, -0.5]))
            self.assertEqual(graph.column("node", "time").tolist(), [0, 5, 6 if "row" in given else 0])
            self.assertEqual(graph.column("node", "truth").tolist(), [1, 1, 0])
            self.assertEqual(graph.splits("node"), ["train", "none", "test"])
            self.assertEqual(graph.column("node", "group").tolist(), [-1, 4, -1])
            if "row" in given:
                self.assert_same(graph.column("node", "row"),
                                 numpy.array([[1, 2], [9, 9], [3, 9]], numpy.int8))

    def test_nulls_are_refused_with_column_and_row(self):
        rows = 70000  # more than a batch
        at = 66666

        def column(values, missing, kind):
            values = [values] * rows
            values[at] = missing
            return pyarrow.array(values, kind)

        for kind, values, missing in (
                (pyarrow.int32(), 1, None), (pyarrow.float64(), 1.5, None),
                (pyarrow.timestamp("s"), 1, None),
                (pyarrow.dictionary(pyarrow.int8(), pyarrow.int64()), 1, None),
                (pyarrow.list_(pyarrow.int8(), 2), [1, 2], None),
                (pyarrow.list_(pyarrow.int8(), 2), [1, 2], [1, None]),
                (pyarrow.list_(pyarrow.int8()), [1, 2], None),
                (pyarrow.list_(pyarrow.int8()), [1, 2], [None, 2])):
            with self.subTest(kind=kind), self.assertRaisesRegex(
                    ValueError, f"node.x is null in row {at}: .*fill=.'x': ...."):
                self.converted({"node": pyarrow.table({"x": column(values, missing, kind)})})
        for dtype, values, missing in (("Int64", 1, None), ("boolean", True, None),
                                       ("datetime64[ns]", 5, None), ("category", 5, None),
                                       (object, [1, 2], None)):
            series = pandas.Series(column(values, missing, None).to_pylist(), dtype=dtype)
            with self.subTest(dtype=dtype), self.assertRaisesRegex(ValueError,
                                                                   f"node.x is null in row {at}"):
                self.converted({"node": pandas.DataFrame({"x": series})})
        names = column("a", None, pyarrow.string())
        for table in (pyarrow.table({"id": names}), pandas.DataFrame({"id": names.to_pylist()})):
            with self.assertRaisesRegex(ValueError, f"node.id is null in row {at}"):
                self.converted({"node": NodeTable(table, id="id")})

    def test_what_fits_no_column_is_an_error_that_names_it(self):
        decimal = pyarrow.array([1], pyarrow.decimal128(5, 2))
        for values, text in ((pyarrow.array(["a"]), "node.x is string"), (decimal, "is decimal128"),
                             (pyarrow.array([b"a"]), "is binary"), (pyarrow.array([{"a": 1}]), "struct"),
                             (pyarrow.array([1], pyarrow.uint32()), "node.x is uint32.*cast it"),
                             (pyarrow.array([1], pyarrow.uint64()), "node.x is uint64"),
                             (pyarrow.array([[1, 2], [3]]), "2 values in row 0, and 1 in row 1"),
                             (pyarrow.array([["a"]]), "node.x is string"),
                             (pyarrow.array([None]), "node.x is null in row 0")):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                self.converted({"node": pyarrow.table({"x": values})})
            self.converted({"node": NodeTable(pyarrow.table({"x": values, "y": values}),
                                              skip=["x", "y"])})
        for values, text in ((["a", "b"], "node.x (holds 'a' in row 0|is str)"),
                             ([1 + 2j, 0], "complex128"),
                             ([[1, 2], [3.0, 4.0]], "int64 in row 0, and float64 in row 1"),
                             ([[1, 2], [3]], "2 values in row 0, and 1 in row 1"),
                             (pandas.array([1, 2], "UInt16"), "node.x is uint16"),
                             (pandas.interval_range(0, 2), "interval"),
                             (pandas.Categorical(["a", "b"]), "holds 'a'|is str")):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                self.converted({"node": pandas.DataFrame({"x": values})})

    def test_columns_that_are_named_must_be_there(self):
        frame = pandas.DataFrame({"id": [1, 2], "x": [0.5, 1]})
        for table, text in (
                (NodeTable(frame, id="key"), r"no column 'key': there are \['id', 'x'\]"),
                (NodeTable(frame, label="y"), "no column 'y'"), (NodeTable(frame, fill={"z": 0}), "'z'"),
                (NodeTable(frame, id="id", target="id"), "target='id' is none"),
                (NodeTable(frame, stack={"x": ["id"]}), "stack='x' is a column already"),
                (NodeTable(frame, stack={"both": ["id", "x"]}), "several types"),
                (NodeTable(frame, id="x"), "node.x is float64.*ids are integers or strings"),
                (NodeTable(frame, split="x"), "node.x is float64.*a split is"),
                (NodeTable(frame.rename(columns={"x": "a b"})), "'a b' is no name"),
                (NodeTable(frame.rename(columns={"x": "id"})), "have one name"),
                (NodeTable(frame.set_index("id")), "index.*reset_index"),
                (NodeTable({"x": [1]}), "is a dict, no table"),
                (NodeTable(pandas.DataFrame({"use": ["train", "dev"]}), split="use"),
                 "node.use is 'dev' in row 1"),
                (NodeTable(pandas.DataFrame({"use": ["a"]}), label="use"), "is text.*factorize"),
                (NodeTable(pandas.DataFrame({"use": ["a", 1]}), id="use"), "in row 1 it is 1"),
                (NodeTable(pandas.DataFrame({"x": pandas.array([None], "Int8")}), fill={"x": 128}),
                 "its fill 128 is no such value"),
                (NodeTable(pandas.DataFrame({"use": [None, "test"]}), split="use", fill={"use": 0}),
                 "is text, and its fill 0 is none"),
                (NodeTable(pyarrow.table({"x": pyarrow.array([None], pyarrow.int8())}),
                           fill={"x": 1.5}), "its fill 1.5 is no such value")):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                self.converted({"node": table})

    def test_edges_name_the_nodes_as_these_are_named(self):
        nodes = {"user": NodeTable(pandas.DataFrame({"id": ["a", "b"]}), id="id"),
                 "item": pandas.DataFrame({"x": [1.0]})}
        for edges, text in (({"source": [1], "target": [0]}, "source is int64.*'user' are strings"),
                            ({"source": ["a"], "target": ["b"]}, "target is text.*'item' are integers"),
                            ({"from": ["a"], "target": [0]}, "no column 'source'"),
                            ({"source": ["a"], "target": [0], "w": [1.0]}, "weight='weight' is none")):
            table = EdgeTable(pandas.DataFrame(edges), weight="weight" if "w" in edges else "")
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                self.converted(nodes, {BUYS: table})
        with self.assertRaisesRegex(ValueError, "no nodes 'shop'"):
            self.converted(nodes, {("user", "visits", "shop"): pandas.DataFrame()})
        with self.assertRaisesRegex(ValueError, "end of line"):
            self.converted({"user": NodeTable(pandas.DataFrame({"id": ["a\nb"]}), id="id")})

    def test_empty_tables(self):
        frame = pandas.DataFrame({"id": numpy.zeros(0, int), "x": numpy.zeros(0, numpy.float32)})
        for table in (frame, pyarrow.Table.from_pandas(frame)):
            edges = {"source": numpy.zeros(0, int), "target": numpy.zeros(0, int)}
            description = self.converted({"node": NodeTable(table, id="id")},
                                         {("node", "to", "node"): pyarrow.table(edges)})
            self.folder = description.parent
            graph = self.imported(description)
            self.assertEqual(graph.graph.num_nodes("node"), 0)
            self.assertEqual(graph.node_types["node"]["columns"][0]["dtype"], "float32")

    def test_an_error_leaves_no_folder(self):
        bad = pandas.DataFrame({"x": ["a"]})
        with self.assertRaises(ValueError):
            convert.from_tables(self.folder / "arrays", {"node": bad}, {})
        convert.from_tables(self.folder / "arrays", {"node": NodeTable(bad, skip=["x"])}, {})
        with self.assertRaises(FileExistsError):
            convert.from_tables(self.folder / "arrays", {"node": NodeTable(bad, skip=["x"])}, {})
        self.assertTrue((self.folder / "arrays" / "graph.textproto").exists())

    def test_without_pyarrow_the_error_says_what_to_install(self):
        with mock.patch.dict(sys.modules, {"pyarrow": None}):
            with self.assertRaisesRegex(ValueError, "pip install pyarrow"):
                self.converted({"node": "nodes.parquet"})


if __name__ == "__main__":
    run_tests()
