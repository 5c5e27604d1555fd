#!/usr/bin/env python3
"""Node property datasets of OGB, in the four layouts of their raw/, to graphs: all of it is
there."""

import gzip
import pathlib
import sys

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from converted import ConvertCase  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402
import torch  # noqa: E402

from vicinity_graph import convert  # noqa: E402

CITES = "node:to:node"


def write_text(path, rows):
    """As OGB does, to_csv(index=False, header=False, compression="gzip")."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt") as file:
        file.writelines(",".join(map(str, numpy.atleast_1d(row))) + "\n" for row in rows)


class OgbTest(ConvertCase):
    def arxiv(self):
        """ogbn-arxiv's layout, text of one type."""
        root = self.folder / "ogbn_arxiv"
        self.edge_index = self.random.integers(0, 30, (2, 200))
        self.x = self.random.normal(size=(30, 4)).astype(numpy.float32)
        self.year = self.random.integers(1990, 2020, 30)
        self.y = self.random.integers(0, 5, 30)
        write_text(root / "raw" / "edge.csv.gz", self.edge_index.T)
        write_text(root / "raw" / "num-node-list.csv.gz", [30])
        write_text(root / "raw" / "num-edge-list.csv.gz", [200])
        write_text(root / "raw" / "node-feat.csv.gz", self.x)
        write_text(root / "raw" / "node_year.csv.gz", self.year)
        write_text(root / "raw" / "node-label.csv.gz", self.y)
        for split, ids in (("train", range(0, 20)), ("valid", range(20, 25)), ("test", range(25, 30))):
            write_text(root / "split" / "time" / f"{split}.csv.gz", ids)
        write_text(root / "mapping" / "nodeidx2paperid.csv.gz", ["node idx,paper id", "0,9657784"])
        (root / "RELEASE_v1.txt").write_text("")
        return root

    def test_text_of_one_type(self):
        for given in (self.arxiv(), self.folder / "ogbn_arxiv" / "raw"):
            self.folder = self.folder / given.name
            description = convert.from_ogb(given, self.folder / "arrays")
            self.assertEqual([path.name for path in description.parent.iterdir()], [description.name],
                             "what the tool reads is not copied")
            graph = self.imported(description)
            self.assert_same(graph.column("node", "x"), self.x)
            self.assert_same(graph.column("node", "node_year"), self.year)
            self.assertEqual(graph.node_types["node"]["label_column"], "y")
            self.assertEqual(graph.node_types["node"]["num_classes"], 5)
            self.assertEqual(graph.column("node", "y").tolist(), self.y.tolist())
            self.assertEqual(graph.splits("node"),
                             ["train"] * 20 + ["validation"] * 5 + ["test"] * 5)
            self.assert_ends(graph, CITES, *self.edge_index)

    def test_a_node_of_several_classes_has_a_target(self):
        root = self.arxiv()
        tasks = self.random.integers(0, 2, (30, 3))
        write_text(root / "raw" / "node-label.csv.gz", tasks)
        write_text(root / "raw" / "species.csv.gz", [3] * 30)  # ogbn-proteins has it so
        weights = self.random.random((200, 8)).astype(numpy.float32)
        write_text(root / "raw" / "edge-feat.csv.gz", weights)
        graph = self.imported(convert.from_ogb(root, self.folder / "arrays"))
        self.assertEqual(graph.node_types["node"]["target_column"], "y")
        self.assertEqual(graph.node_types["node"]["label_column"], "")
        self.assert_same(graph.column("node", "y"), tasks)
        self.assert_same(graph.column("node", "node_species"), numpy.full(30, 3))
        self.assert_ends(graph, CITES, *self.edge_index, {"edge_attr": weights})

    def test_edges_that_ogb_doubles_are_doubled_by_the_import(self):
        root = self.arxiv()
        graph = self.imported(convert.from_ogb(root, self.folder / "arrays"), "--add-reverse")
        loops = int((self.edge_index[0] == self.edge_index[1]).sum())
        sources, targets, _ = graph.edges(CITES)
        self.assertEqual(len(sources), 400 - loops)
        self.assertEqual(sorted(zip(sources, targets)), sorted(
            [*zip(*self.edge_index), *((t, s) for s, t in zip(*self.edge_index) if s != t)]))

    def test_numbers_of_one_type(self):
        """ogbn-papers100M's layout."""
        raw = self.folder / "ogbn_papers100M" / "raw"
        raw.mkdir(parents=True)
        edge_index = self.random.integers(0, 30, (2, 200))
        x = self.random.normal(size=(30, 4)).astype(numpy.float32)
        year = self.random.integers(1990, 2020, (30, 1))
        y = numpy.full((30, 1), numpy.nan, dtype=numpy.float32)
        y[:10, 0] = range(10)
        numpy.savez(raw / "data.npz", edge_index=edge_index, node_feat=x, node_year=year,
                    num_nodes_list=numpy.array([30]), num_edges_list=numpy.array([200]))
        numpy.savez_compressed(raw / "node-label.npz", node_label=y)
        split = raw.parent / "split" / "time"
        for name, ids in (("train", range(5)), ("valid", [7]), ("test", [9, 8])):
            write_text(split / f"{name}.csv.gz", ids)
        graph = self.imported(convert.from_ogb(raw.parent, self.folder / "arrays", num_classes=172))
        self.assert_same(graph.column("node", "x"), x)
        self.assert_same(graph.column("node", "node_year"), year)
        self.assertEqual(graph.column("node", "y").tolist(), [*range(10)] + [-1] * 20)
        self.assertEqual(graph.node_types["node"]["num_classes"], 172)
        self.assertEqual(graph.splits("node")[5:11],
                         ["none", "none", "validation", "test", "test", "none"])
        self.assert_ends(graph, CITES, *edge_index)

    def mag(self, kind="text"):
        """ogbn-mag's layout, of several types."""
        root = self.folder / "ogbn_mag"
        self.counts = {"author": 8, "paper": 6}
        self.writes = self.random.integers(0, 6, (2, 20))
        self.cites = self.random.integers(0, 6, (2, 9))
        self.x = self.random.normal(size=(6, 3)).astype(numpy.float32)
        self.year = self.random.integers(2000, 2020, (6, 1))
        self.y = self.random.integers(0, 3, (6, 1))
        getattr(self, f"mag_of_{kind}")(root / "raw")
        return root

    def mag_of_text(self, raw):
        write_text(raw / "num-node-dict.csv.gz", [list(self.counts), list(self.counts.values())])
        write_text(raw / "triplet-type-list.csv.gz",
                   [["author", "writes", "paper"], ["paper", "cites", "paper"]])
        write_text(raw / "nodetype-has-label.csv.gz", [list(self.counts), [False, True]])
        write_text(raw / "node-label" / "paper" / "node-label.csv.gz", self.y)
        write_text(raw / "node-feat" / "paper" / "node-feat.csv.gz", self.x)
        write_text(raw / "node-feat" / "paper" / "node_year.csv.gz", self.year)
        for name, ends in (("author___writes___paper", self.writes),
                           ("paper___cites___paper", self.cites)):
            write_text(raw / "relations" / name / "edge.csv.gz", ends.T)
            write_text(raw / "relations" / name / "num-edge-list.csv.gz", [ends.shape[1]])
            write_text(raw / "relations" / name / "edge_reltype.csv.gz", range(ends.shape[1]))
        split = raw.parent / "split" / "time"
        write_text(split / "nodetype-has-split.csv.gz", [list(self.counts), [False, True]])
        for name, ids in (("train", [0, 1, 2]), ("valid", [3]), ("test", [5])):
            write_text(split / "paper" / f"{name}.csv.gz", ids)

    def mag_of_numbers(self, raw):
        raw.mkdir(parents=True)
        numpy.savez(raw / "num_nodes_dict.npz",
                    **{key: numpy.array([count]) for key, count in self.counts.items()})
        ends = {"author___writes___paper": self.writes, "paper___cites___paper": self.cites}
        numpy.savez(raw / "edge_index_dict.npz", **ends)
        numpy.savez(raw / "num_edges_dict.npz",
                    **{key: numpy.array([each.shape[1]]) for key, each in ends.items()})
        numpy.savez(raw / "edge_reltype.npz",
                    **{key: numpy.arange(each.shape[1]) for key, each in ends.items()})
        numpy.savez(raw / "node_feat_dict.npz", paper=self.x)
        numpy.savez(raw / "node_year.npz", paper=self.year)
        numpy.savez(raw / "node-label.npz", paper=self.y)
        split = raw.parent / "split" / "time"
        split.mkdir(parents=True)
        torch.save({each: {"paper": torch.tensor(ids)} for each, ids in
                    (("train", [0, 1, 2]), ("valid", [3]), ("test", [5]))}, split / "split_dict.pt")

    def test_several_types(self):
        for kind in ("text", "numbers"):
            self.folder = self.folder / kind
            graph = self.imported(convert.from_ogb(self.mag(kind), self.folder / "arrays"))
            self.assertEqual({each: graph.graph.num_nodes(each) for each in graph.node_types},
                             self.counts)
            self.assert_same(graph.column("paper", "x"), self.x)
            year = self.year if kind == "numbers" else self.year.reshape(-1)
            self.assert_same(graph.column("paper", "node_year"), year)
            self.assertEqual(graph.column("paper", "y").reshape(-1).tolist(),
                             self.y.reshape(-1).tolist())
            self.assertEqual(graph.splits("paper"),
                             ["train", "train", "train", "validation", "none", "test"])
            self.assert_ends(graph, "author:writes:paper", *self.writes,
                             {"edge_reltype": numpy.arange(20)})
            self.assert_ends(graph, "paper:cites:paper", *self.cites, {"edge_reltype": numpy.arange(9)})

    def test_arrays_in_fortran_order_and_big_endian_are_copied(self):
        root = self.mag("numbers")
        numpy.savez(root / "raw" / "edge_index_dict.npz", **{
            "author___writes___paper": numpy.asfortranarray(self.writes),
            "paper___cites___paper": self.cites.astype(">i8")})
        numpy.savez(root / "raw" / "node_feat_dict.npz", paper=numpy.asfortranarray(self.x))
        graph = self.imported(convert.from_ogb(root, self.folder / "arrays"))
        self.assert_same(graph.column("paper", "x"), self.x)
        self.assertEqual(graph.edges("author:writes:paper")[0].tolist(), self.writes[0].tolist())
        self.assertEqual(graph.edges("paper:cites:paper")[1].tolist(), self.cites[1].tolist())

    def test_splits_in_a_pickle_are_read_only_on_trust(self):
        root = self.arxiv()
        folder = root / "split" / "time"
        for path in folder.iterdir():
            path.unlink()
        splits = {"train": numpy.arange(3), "valid": numpy.array([3]), "test": numpy.array([4])}
        torch.save(splits, folder / "split_dict.pt", pickle_protocol=4)
        wanted = ["train"] * 3 + ["validation", "test", "none"]
        if not hasattr(torch.serialization, "safe_globals"):
            with self.assertRaisesRegex(ValueError, "split_dict.pt holds more.*trust_pickle=True.*"
                                                    "split_idx=dataset.get_idx_split"):
                convert.from_ogb(root, self.folder / "refused")
        graph = self.imported(convert.from_ogb(root, self.folder / "trusted", trust_pickle=True))
        self.assertEqual(graph.splits("node")[:6], wanted)
        self.folder = self.folder / "given"
        graph = self.imported(convert.from_ogb(root, self.folder / "arrays", split_idx=splits))
        self.assertEqual(graph.splits("node")[:6], wanted)

    def test_a_program_in_a_pickle_does_not_run(self):
        root = self.arxiv()
        mark = self.folder / "ran"

        class Program:
            def __reduce__(self):
                return exec, (f"open({str(mark)!r}, 'w').close()",)

        for path in (root / "split" / "time").iterdir():
            path.unlink()
        torch.save({"train": Program()}, root / "split" / "time" / "split_dict.pt")
        with self.assertRaisesRegex(ValueError, "holds more"):
            convert.from_ogb(root, self.folder / "arrays")
        self.assertFalse(mark.exists())

    def test_what_would_be_lost_is_an_error(self):
        def other_file(root):
            write_text(root / "raw" / "weights.csv.gz", [1])

        def two_graphs(root):
            write_text(root / "raw" / "num-node-list.csv.gz", [10, 20])

        def two_splits(root):
            write_text(root / "split" / "random" / "train.csv.gz", [1])

        def links(root):
            (root / "split" / "time" / "train.csv.gz").rename(root / "split" / "time" / "train.pt")

        def no_edges(root):
            (root / "raw" / "edge.csv.gz").unlink()

        for change, error, text in ((other_file, ValueError, r"\['weights.csv.gz'\].*skip="),
                                    (two_graphs, ValueError, "counts 2 graphs"),
                                    (two_splits, ValueError, r"split= one of \['random', 'time'\]"),
                                    (links, FileNotFoundError, "no train.csv.gz.*split=None"),
                                    (no_edges, FileNotFoundError, "edge.csv")):
            with self.subTest(text=text):
                self.folder = self.folder / change.__name__
                root = self.arxiv()
                change(root)
                with self.assertRaisesRegex(error, text):
                    convert.from_ogb(root, self.folder / "arrays")
        root = self.arxiv()
        other_file(root)
        two_splits(root)
        convert.from_ogb(root, self.folder / "skipped", skip=["weights.csv.gz"], split="time")
        with self.assertRaisesRegex(FileNotFoundError, "num-node-list.csv.gz"):
            convert.from_ogb(self.folder, self.folder / "nothing")

    def test_an_array_of_another_length_is_an_error(self):
        root = self.mag("numbers")
        numpy.savez(root / "raw" / "node_year.npz", paper=self.year[1:])
        with self.assertRaisesRegex(ValueError, r"node_year.npz:paper is \[5, 1\].*6 nodes"):
            convert.from_ogb(root, self.folder / "short")
        numpy.savez(root / "raw" / "node_year.npz", papers=self.year)
        with self.assertRaisesRegex(ValueError, "papers is of no type"):
            convert.from_ogb(root, self.folder / "other")


if __name__ == "__main__":
    run_tests()
