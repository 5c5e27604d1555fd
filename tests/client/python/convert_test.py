#!/usr/bin/env python3
"""From PyG's Data and HeteroData to a graph and back, through import: all of it is there."""

import pathlib
import sys
import tempfile
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts what Debian lacks

from small_cluster import run_tests, tool  # noqa: E402

import torch  # noqa: E402
from torch_geometric.data import Data, HeteroData  # noqa: E402

from vicinity_graph import convert  # noqa: E402
from vicinity_graph.pyg import NeighborLoader, connect  # noqa: E402


class ConvertTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vicinity_convert_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        torch.manual_seed(4)

    def imported(self, data, heterogeneous=None, **options):
        description = convert.from_pyg(data, self.folder / "arrays", **options)
        tool("import", "--description", description, "--output", self.folder / "graph")
        return connect(self.folder / "graph", heterogeneous=heterogeneous)

    def papers(self):
        return Data(x=torch.randn(40, 3), y=torch.randint(0, 4, (40,)),
                    edge_index=torch.randint(0, 40, (2, 300)), edge_attr=torch.randn(300, 2),
                    edge_weight=torch.rand(300), year=torch.arange(40), old=torch.rand(40) < 0.5,
                    half=torch.randn(40, 5).half(), brain=torch.randn(40).bfloat16(),
                    train_mask=torch.arange(40) < 9, val_mask=torch.arange(40) > 30)

    def test_a_batch_of_everybody_is_the_data(self):
        papers = self.papers()
        data = self.imported(papers, weight_attr="edge_weight")
        batch = next(iter(NeighborLoader(data, [-1], batch_size=40)))
        self.assertEqual(batch.n_id.tolist(), list(range(40)))
        for name in ("x", "y", "year", "old", "half", "brain", "train_mask", "val_mask"):
            self.assertEqual(batch[name].dtype, papers[name].dtype, name)
            self.assertTrue(torch.equal(batch[name], papers[name]), name)
        self.assertEqual(sorted(batch.e_id.tolist()), list(range(300)))
        for name in ("edge_attr", "edge_weight"):
            self.assertTrue(torch.equal(batch[name], papers[name][batch.e_id]), name)
        self.assertTrue(torch.equal(batch.edge_index, papers.edge_index[:, batch.e_id]))
        self.assertEqual(data.graph.description["edge_types"][0]["weight_column"], "edge_weight")
        self.assertEqual(data.num_classes, 4)

    def test_several_types(self):
        shop = HeteroData()
        shop["user"].x = torch.randn(9, 2)
        shop["item"].num_nodes = 5
        shop["item"].y = torch.randn(5)  # a number, no class
        shop["item"].test_mask = torch.tensor([[True, False]] * 5)
        shop["user", "buys", "item"].edge_index = torch.tensor([[0, 1, 8], [2, 3, 3]])
        shop["user", "buys", "item"].price = torch.tensor([3, 4, 5])
        shop["item", "rev_buys", "user"].edge_index = torch.tensor([[2, 3, 3], [0, 1, 8]])
        data = self.imported(shop, split=1)
        batch = next(iter(NeighborLoader(data, [-1], input_nodes="item", batch_size=5)))
        self.assertEqual(batch.metadata(), shop.metadata())
        self.assertTrue(torch.equal(batch["item"].y, shop["item"].y))
        self.assertFalse(bool(batch["item"].test_mask.any()))
        edges = batch["user", "buys", "item"]
        users = batch["user"].n_id
        self.assertEqual(sorted(zip(users[edges.edge_index[0]].tolist(),
                                    edges.edge_index[1].tolist(), edges.price.tolist())),
                         [(0, 2, 3), (1, 3, 4), (8, 3, 5)])

    def test_ids_of_ones_own_and_names(self):
        arrays = convert.write(
            self.folder / "arrays",
            {"word": convert.Nodes(count=3, ids=['a "b"', "c,d", "é"], labels=[0, -1, 1])},
            {("word", "near", "word"): convert.Edges(ends=[['a "b"', "c,d"], ["c,d", "é"]],
                                                      columns={"weight": [1.0, 2.5]},
                                                      weight="weight")})
        tool("import", "--description", arrays, "--output", self.folder / "graph")
        data = connect(self.folder / "graph")
        self.assertEqual(data.graph.resolve("word", ["é", 'a "b"', "c,d"]).tolist(), [2, 0, 1])
        batch = next(iter(NeighborLoader(data, [-1], batch_size=3)))
        ends = [data.names("word", batch.n_id[end]) for end in batch.edge_index]
        self.assertEqual(sorted(zip(*ends, batch.weight.tolist())),
                         [('a "b"', "c,d", 1.0), ("c,d", "é", 2.5)])
        self.assertEqual(batch.y[batch.n_id.sort().indices].tolist(), [0, -1, 1])

    def test_names_stay_names_and_lines_stay_whole(self):
        arrays = convert.write(self.folder / "arrays",
                               {"word": convert.Nodes(count=3, ids=["7", "07", "-1"])}, {})
        tool("import", "--description", arrays, "--output", self.folder / "graph")
        graph = connect(self.folder / "graph", heterogeneous=True).graph
        self.assertEqual(graph.resolve("word", ["07", "-1", "7"]).tolist(), [1, 2, 0])
        with self.assertRaisesRegex(ValueError, "end of line"):
            convert.write(self.folder / "other", {"word": convert.Nodes(count=1, ids=["a\nb"])}, {})

    def test_splits_as_ogb_gives_them(self):
        papers = self.papers()
        del papers.train_mask, papers.val_mask
        data = self.imported(papers, split_idx={"train": torch.tensor([3, 1]), "valid": [7],
                                                "test": [39]})
        self.assertEqual(data.train_mask.nonzero().view(-1).tolist(), [1, 3])
        self.assertEqual(data.val_mask.nonzero().view(-1).tolist(), [7])
        self.assertEqual(data.test_mask.nonzero().view(-1).tolist(), [39])
        with self.assertRaisesRegex(ValueError, "holdout"):
            convert.from_pyg(papers, self.folder / "other", split_idx={"holdout": [1]})

    def test_what_would_be_lost_is_an_error(self):
        for change, text in (
                (lambda data: setattr(data, "name", "cora"), "'name'"),
                (lambda data: setattr(data, "total", torch.tensor([3])), "'total'"),
                (lambda data: setattr(data, "w", torch.eye(data.num_edges).to_sparse()), "ragged"),
                (lambda data: setattr(data, "train_mask", torch.arange(40)), "no bool"),
                (lambda data: setattr(data, "edge_index", None), "edge_index")):
            data = self.papers()
            change(data)
            with self.subTest(text=text), self.assertRaises(ValueError) as caught:
                convert.from_pyg(data, self.folder / text)
            self.assertIn(text.strip("'"), str(caught.exception))
        data = self.papers()
        data.name = "cora"
        convert.from_pyg(data, self.folder / "skipped", skip=["name"])
        with self.assertRaises(FileExistsError):
            convert.from_pyg(data, self.folder / "skipped", skip=["name"])
        for nodes, text in ((convert.Nodes(3, columns={"x": [1, 2]}), "first length should be 3"),
                            (convert.Nodes(2, columns={"a b": [1, 2]}), "no name"),
                            (convert.Nodes(2, columns={"x": ["a", "b"]}), "numbers"),
                            (convert.Nodes(2, ids=[1]), "1 ids for 2")):
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                convert.write(self.folder / text.replace(" ", "_"), {"node": nodes}, {})


if __name__ == "__main__":
    run_tests()
