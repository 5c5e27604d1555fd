#!/usr/bin/env python3
"""MAG240M of OGB's large-scale challenge: arrays far larger than memory stay where they are."""

import pathlib
import subprocess
import sys

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from converted import ConvertCase  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402
import torch  # noqa: E402

from vicinity_graph import convert  # noqa: E402

TESTS = pathlib.Path(__file__).resolve().parent
CONVERT = """
import sys
sys.path.insert(0, sys.argv[3])
from converted import peak_memory
from vicinity_graph import convert
before = peak_memory()
convert.from_ogb(sys.argv[1], sys.argv[2])
print(peak_memory() - before)
"""


class Mag240mTest(ConvertCase):
    COUNTS = {"paper": 12, "author": 7, "institution": 3}

    def setUp(self):
        super().setUp()
        self.root = self.folder / "mag240m_kddcup2021"
        processed = self.root / "processed"
        self.x = self.random.normal(size=(12, 5)).astype(numpy.float16)
        self.y = numpy.full(12, numpy.nan, dtype=numpy.float32)
        self.y[:6] = self.random.integers(0, 4, 6)
        self.year = self.random.integers(1990, 2021, 12)
        self.ends = {("author", "writes", "paper"): (7, 12, 30),
                     ("author", "affiliated_with", "institution"): (7, 3, 8),
                     ("paper", "cites", "paper"): (12, 12, 25)}
        self.ends = {each: numpy.stack([self.random.integers(0, sources, count),
                                        self.random.integers(0, targets, count)])
                     for each, (sources, targets, count) in self.ends.items()}
        for edge_type, ends in self.ends.items():
            self.save(processed / "___".join(edge_type) / "edge_index.npy", ends)
        self.save(processed / "paper" / "node_feat.npy", self.x)
        self.save(processed / "paper" / "node_label.npy", self.y)
        self.save(processed / "paper" / "node_year.npy", self.year)
        torch.save({**self.COUNTS, "num_classes": 153}, self.root / "meta.pt")
        torch.save({"train": torch.arange(4), "valid": torch.tensor([4]),
                    "test": torch.tensor([8, 9])}, self.root / "split_dict.pt")
        (self.root / "RELEASE_v1.txt").write_text("")

    def save(self, path, array):
        path.parent.mkdir(parents=True, exist_ok=True)
        numpy.save(path, array)

    def test_all_of_it_is_there(self):
        graph = self.imported(convert.from_ogb(self.root, self.folder / "arrays"))
        self.assertEqual({each: graph.graph.num_nodes(each) for each in graph.node_types}, self.COUNTS)
        self.assert_same(graph.column("paper", "x"), self.x)
        self.assert_same(graph.column("paper", "node_year"), self.year)
        self.assertEqual(graph.column("paper", "y").tolist(),
                         numpy.nan_to_num(self.y, nan=-1).astype(int).tolist())
        self.assertEqual(graph.node_types["paper"]["num_classes"], 153)
        self.assertEqual(graph.splits("paper"), ["train"] * 4 + ["validation"] + ["none"] * 3 +
                         ["test"] * 2 + ["none"] * 2)
        for edge_type, ends in self.ends.items():
            self.assert_ends(graph, ":".join(edge_type), *ends)

    def test_what_the_dataset_class_gives_are_splits(self):
        """MAG240MDataset.get_idx_split() has the test nodes as a whole and in two shares."""
        (self.root / "split_dict.pt").unlink()
        test = numpy.array([8, 9])
        splits = {"train": numpy.arange(4), "valid": numpy.array([4]), "test-whole": test,
                  "test-dev": test[:1], "test-challenge": test[1:]}
        by_type = {each: {"paper": ids} for each, ids in splits.items()}
        graph = self.imported(convert.from_ogb(self.root, self.folder / "arrays", split_idx=by_type))
        self.assertEqual(graph.splits("paper")[8:10], ["test", "test"])
        with self.assertRaisesRegex(ValueError, "by type.*paper"):
            convert.from_ogb(self.root, self.folder / "other", split_idx=splits)

    def test_features_of_the_real_size_are_not_read(self):
        """187 GB of float16, and 1.3 billion citations, that are a hole in their files."""
        papers, cites = 121_751_666, 1_297_748_926
        processed = self.root / "processed"
        self.save_hole(processed / "paper" / "node_feat.npy", numpy.float16, (papers, 768))
        self.save_hole(processed / "paper" / "node_label.npy", numpy.float32, (papers,))
        self.save_hole(processed / "paper" / "node_year.npy", numpy.int16, (papers,))
        self.save_hole(processed / "paper___cites___paper" / "edge_index.npy", numpy.int64, (2, cites))
        torch.save({**self.COUNTS, "paper": papers, "num_classes": 153}, self.root / "meta.pt")
        run = subprocess.run([sys.executable, "-c", CONVERT, self.root, self.folder / "arrays", TESTS],
                             capture_output=True, text=True, check=True)
        # PyTorch, which reads the splits, is in it.
        self.assertLess(int(run.stdout), 1 << 30)
        written = sum(path.stat().st_size for path in (self.folder / "arrays").iterdir())
        self.assertLess(written, 1 << 16)
        text = (self.folder / "arrays" / "graph.textproto").read_text()
        self.assertIn(f'path: "{processed / "paper" / "node_feat.npy"}"', text)
        self.assertIn(f"count: {papers}", text)

    def save_hole(self, path, dtype, shape):
        with open(path, "wb") as file:
            numpy.lib.format.write_array_header_1_0(file, {
                "descr": numpy.lib.format.dtype_to_descr(numpy.dtype(dtype)), "fortran_order": False,
                "shape": shape})
            file.truncate(file.tell() + numpy.dtype(dtype).itemsize * int(numpy.prod(shape)))

    def test_files_that_do_not_fit_are_named(self):
        self.save(self.root / "processed" / "paper" / "node_year.npy", self.year[:5])
        with self.assertRaisesRegex(ValueError, r"node_year.npy is \[5\].*12 nodes"):
            convert.from_ogb(self.root, self.folder / "short")
        convert.from_ogb(self.root, self.folder / "skipped", skip=["paper/node_year.npy"])
        self.save(self.root / "processed" / "venue" / "node_feat.npy", self.x)
        with self.assertRaisesRegex(ValueError, "venue/node_feat.npy.*no part.*skip="):
            convert.from_ogb(self.root, self.folder / "other", skip=["paper/node_year.npy"])
        (self.root / "meta.pt").write_bytes(b"PK\3\4 cut off")
        with self.assertRaisesRegex(ValueError, "meta.pt is damaged"):
            convert.from_ogb(self.root, self.folder / "damaged")


if __name__ == "__main__":
    run_tests()
