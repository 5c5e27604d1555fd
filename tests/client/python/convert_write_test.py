#!/usr/bin/env python3
"""What all of `convert` writes: every array as it was, files where they are, descriptions that the
tool reads wherever they lie."""

import os
import pathlib
import sys

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from converted import ConvertCase, Converted  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402

from vicinity_graph import convert  # noqa: E402
from vicinity_graph.convert import Edges, File, Nodes  # noqa: E402

LINKS = ("node", "to", "node")


class WriteTest(ConvertCase):
    def test_arrays_of_any_order_are_the_same_rows(self):
        large = self.random.integers(-2 ** 62, 2 ** 62, (3000, 300))  # some pieces of 4 MiB
        arrays = {"plain": large, "fortran": numpy.asfortranarray(large), "turned": large[::-1, ::2],
                  "swapped": large.astype(">i8"), "cube": large.reshape(3000, 30, 10),
                  "narrow": large[:, :0], "one": large[:, 0], "list": large[:, 1].tolist()}
        graph = self.imported(convert.write(self.folder / "arrays", {"node": Nodes(3000, columns=arrays)},
                                            {}))
        for name, array in arrays.items():
            if name != "narrow":  # which has no values to fetch
                self.assert_same(graph.column("node", name), numpy.asarray(array, dtype="<i8"), name)
        columns = {each["name"]: each for each in graph.node_types["node"]["columns"]}
        self.assertEqual(columns["narrow"]["shape"], [0])

    def test_ends_of_any_order_are_the_same_edges(self):
        ends = self.random.integers(0, 9, (2, 50))
        for given in (ends, numpy.asfortranarray(ends), list(ends), ends.tolist(),
                      [ends[0].astype(numpy.int32), ends[1]], ends.astype(">u2")):
            folder = self.folder / f"arrays{len(os.listdir(self.folder))}"
            description = convert.write(folder, {"node": Nodes(9)}, {LINKS: Edges(given)})
            self.folder = folder
            self.assert_ends(self.imported(description), "node:to:node", *ends)
        for given in (ends.astype(float), ends[:1], [ends[0], ends[1][:3]], ends.T):
            with self.assertRaisesRegex(ValueError, "ends are"):
                convert.write(self.folder / "refused", {"node": Nodes(9)}, {LINKS: Edges(given)})

    def test_columns_may_have_the_names_of_other_files(self):
        ids = numpy.array([7, 3, 5])
        names = ("ids", "ends", "train", "train_mask", "test")
        columns = {name: self.random.integers(0, 99, 3) for name in names}
        graph = self.imported(convert.write(
            self.folder / "arrays",
            {"node": Nodes(3, ids=ids, columns=columns, masks={"train": numpy.array([1, 0, 0])},
                           splits={"test": [5]})},
            {LINKS: Edges([[7, 5], [5, 3]], columns={name: columns[name][:2] for name in names})}))
        for name in names:
            self.assert_same(graph.column("node", name, ids), columns[name], name)
        self.assertEqual(graph.splits("node", ids), ["train", "none", "test"])
        found = graph.edges("node:to:node")
        self.assertEqual(graph.graph.user_ids("node", found[0]).tolist(), [7, 5])
        for name in names:
            self.assert_same(found[2][name], columns[name][:2])

    def test_columns_that_are_copied_to_edges_are_their_sources(self):
        time, y = self.random.integers(0, 99, 5), numpy.array([2, -1, 0, 1, 1])
        ends = self.random.integers(0, 5, (2, 30))
        nodes = {"node": Nodes(5, columns={"time": time}, labels=y, label_name="y"), "other": Nodes(3)}
        edges = {LINKS: Edges(ends, columns={"own": numpy.arange(30)}),
                 ("other", "to", "node"): Edges(ends % 3)}
        graph = self.imported(convert.write(self.folder / "arrays", nodes, edges,
                                            copy_to_edges=["time", "y"]))
        self.assert_ends(graph, "node:to:node", *ends, {"own": numpy.arange(30), "time": time[ends[0]],
                                                        "y": y[ends[0]]})
        self.assertEqual(graph.edge_types["other:to:node"]["columns"], [])  # which has no such nodes
        for names, text in ((["hour"], r"\['hour'\], which no nodes have; they have \['time', 'y'\]"),
                            ("time", "give a list"), (["own"], "'own'")):
            with self.subTest(names=names), self.assertRaisesRegex(ValueError, text):
                convert.write(self.folder / "refused", nodes, edges, copy_to_edges=names)
        edges[LINKS].columns["time"] = numpy.arange(30)
        with self.assertRaisesRegex(ValueError, r"node.to.node has \['time'\] twice"):
            convert.write(self.folder / "refused", nodes, edges, copy_to_edges=["time"])

    def test_edges_in_the_order_of_time(self):
        time, ends = self.random.integers(-9, 9, 40), self.random.integers(0, 3, (2, 40))
        of_node = numpy.array([5, -5, 0])
        nodes = {"node": Nodes(3, columns={"born": of_node})}
        edges = {LINKS: Edges(ends, columns={"time": time})}
        for order, times in (("time", time), ("born", of_node[ends[0]])):
            with self.subTest(order=order):
                description = convert.write(self.folder / order, nodes, edges,
                                            copy_to_edges=["born"], time_order=order)
                graph = Converted(description, self.folder / f"{order}_graph")
                self.assertEqual(graph.edge_types["node:to:node"]["time_order"], order)
                self.assert_ends(graph, "node:to:node", *ends, {"time": time, "born": of_node[ends[0]]})
                for node in range(3):
                    batch = graph.graph.sample("node", [node], [-1], edge_ids=True)
                    found = batch.edge_ids().numpy()
                    expected = sorted(numpy.flatnonzero(ends[1] == node),
                                      key=lambda edge: (times[edge], ends[0][edge], edge))
                    self.assertEqual(found.tolist(), [int(edge) for edge in expected])
        with self.assertRaisesRegex(ValueError, r"time_order is 'born', and edges have \['time'\]"):
            convert.write(self.folder / "refused", nodes, edges, time_order="born")
        self.assertFalse((self.folder / "refused").exists())

    def test_files_are_read_where_they_are(self):
        x = self.random.normal(size=(4, 2)).astype(numpy.float32)
        bits = numpy.array([0x3f80, 0x4000, 0x7fc0, 0x8000], dtype=numpy.uint16)
        numpy.savez(self.folder / "a.npz", x=x, bits=bits)
        numpy.save(self.folder / "ends.npy", [[0, 1, 2], [3, 3, 0]])
        table = self.folder / 'a "table".csv'
        table.write_text("name,group,weight\nann,1,5\nbob,-1,6\nc c,0,7\nd,1,8\n")
        nodes = Nodes(4, columns={"x": File(self.folder / "a.npz", member="x"),
                                  "bits": File(self.folder / "a.npz", member="bits", read_as="BFLOAT16"),
                                  "weight": File(table, columns=[2], header=True)},
                      labels=File(table, columns=[1], header=True), notes={"weight": "in kg"})
        edges = Edges(File(self.folder / "ends.npy", transposed=True), count=3)
        description = convert.write(self.folder / "arrays", {"node": nodes}, {LINKS: edges})
        self.assertEqual(os.listdir(description.parent), ["graph.textproto"])
        graph = self.imported(description)
        self.assert_same(graph.column("node", "x"), x)
        self.assert_same(graph.column("node", "weight"), numpy.array([5, 6, 7, 8]))
        self.assertEqual(graph.column("node", "label").tolist(), [1, -1, 0, 1])
        self.assert_ends(graph, "node:to:node", [0, 1, 2], [3, 3, 0])
        dtypes = {each["name"]: each["dtype"] for each in graph.node_types["node"]["columns"]}
        self.assertEqual(dtypes["bits"], "bfloat16")
        self.assertIn("# weight: in kg\n", description.read_text())

    def test_names_of_a_file_and_a_folder_that_moves(self):
        (self.folder / "names.csv").write_text("7\n07\n")
        folder = self.folder / "arrays of Zoë"
        nodes = {"word": Nodes(2, ids=File(self.folder / "names.csv"), names=True,
                               columns={"x": numpy.arange(2)}, splits={"train": ["07"]})}
        edges = {("word", "near", "word"): Edges([["7"], ["07"]])}
        convert.write(folder, nodes, edges)
        folder.rename(self.folder / "moved")
        graph = self.imported(self.folder / "moved" / "graph.textproto")
        self.assertEqual(graph.column("word", "x", ["07", "7"]).tolist(), [1, 0])
        self.assertEqual(graph.splits("word", ["7", "07"]), ["none", "train"])

    def test_what_does_not_fit_is_an_error_and_leaves_no_folder(self):
        numbers = numpy.arange(2)
        for nodes, text in (
                (Nodes(2, columns={"x": numbers.astype(numpy.uint16)}), "node.x is uint16.*cast it"),
                (Nodes(2, columns={"x": numbers.astype(complex)}), "node.x is complex128"),
                (Nodes(2, columns={"x": numbers}, labels=numbers, label_name="x"), r"\['x'\] twice"),
                (Nodes(2, columns={"split": numbers}, splits={"test": [0]}), r"\['split'\] twice"),
                (Nodes(2, masks={"test": numbers}, splits={"test": [0]}), r"splits has \['test'\] twice"),
                (Nodes(2, masks={"test": numbers + 1}), "no bool, nor integers 0 and 1"),
                (Nodes(2, splits={"test": [0.5]}), r"test are float64 \[1\]"),
                (Nodes(2, ids=[0.5, 1]), "ids are float64"),
                (Nodes(2, columns={"x": 1}), "first length should be 2")):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                convert.write(self.folder / "arrays", {"node": nodes}, {})
            self.assertFalse((self.folder / "arrays").exists())

    def test_the_tool_names_a_file_that_is_gone(self):
        file = self.folder / "x.npy"
        numpy.save(file, numpy.arange(3))
        description = convert.write(self.folder / "arrays", {"node": Nodes(2, columns={"x": File(file)})},
                                    {})
        self.assertIn(f"{file}: has 3 rows", self.import_error(description))
        numpy.save(file, numpy.arange(2))
        self.imported(description)


if __name__ == "__main__":
    run_tests()
