#!/usr/bin/env python3
"""From DGL's graphs to a graph and back. DGL itself is not needed: StandIn has the part of a
DGLGraph that `convert` asks for. VICINITY_TEST_DGL=1 runs the same over DGL, wherever it can be
imported."""

import os
import pathlib
import sys
import types

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from converted import ConvertCase  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402
import torch  # noqa: E402

from vicinity_graph import convert  # noqa: E402


class Edges:
    """graph.edges: a view by type that can be called, too. Edges lie in an order of their own."""

    def __init__(self, ends, data, canonical):
        self._ends, self._data, self._canonical = ends, data, canonical

    def __call__(self, form="uv", order="eid", etype=None):
        assert form == "uv" and order == "eid", "the ids of edges are their places"
        return self._ends[self._canonical(etype)]

    def __getitem__(self, edge_type):
        return types.SimpleNamespace(data=self._data[self._canonical(edge_type)])


class StandIn:
    is_block = False

    def __init__(self, ends, counts):
        self.ntypes = list(counts)
        self.canonical_etypes = list(ends)
        self._counts = counts
        self._node_data = {each: {} for each in counts}
        self._edge_data = {each: {} for each in ends}
        self.nodes = {each: types.SimpleNamespace(data=data)
                      for each, data in self._node_data.items()}
        self.edges = Edges(ends, self._edge_data, lambda each: each or self.canonical_etypes[0])

    def num_nodes(self, node_type):
        return self._counts[node_type]

    @property
    def ndata(self):
        return self._node_data[self.ntypes[0]]

    @property
    def edata(self):
        return self._edge_data[self.canonical_etypes[0]]


def graph_of(ends, counts):
    if os.environ.get("VICINITY_TEST_DGL"):
        import dgl
        return dgl.heterograph({each: tuple(pair) for each, pair in ends.items()}, counts)
    return StandIn(ends, counts)


def homogeneous(sources, targets, count):
    if os.environ.get("VICINITY_TEST_DGL"):
        import dgl
        return dgl.graph((sources, targets), num_nodes=count)
    return StandIn({("_N", "_E", "_N"): (sources, targets)}, {"_N": count})


class DglTest(ConvertCase):
    def papers(self):
        torch.manual_seed(3)
        self.ends = torch.randint(0, 40, (2, 300))
        graph = homogeneous(*self.ends, 40)
        graph.ndata["feat"] = torch.randn(40, 3)
        graph.ndata["label"] = torch.randint(0, 4, (40, 1))  # as OGB's loader for DGL has it
        graph.ndata["train_mask"] = torch.arange(40) < 9
        graph.ndata["val_mask"] = (torch.arange(40) > 30).to(torch.uint8)  # as older DGL has it
        graph.ndata["half"] = torch.randn(40, 5).half()
        graph.edata["w"] = torch.rand(300)
        graph.edata["count"] = torch.arange(300)
        return graph

    def test_one_type(self):
        papers = self.papers()
        graph = self.imported(convert.from_dgl(papers, self.folder / "arrays", weight_attr="w"))
        self.assert_same(graph.column("node", "feat"), papers.ndata["feat"])
        self.assert_same(graph.column("node", "half"), papers.ndata["half"])
        self.assertEqual(graph.node_types["node"]["label_column"], "label")
        self.assertEqual(graph.column("node", "label").tolist(),
                         papers.ndata["label"].view(-1).tolist())
        self.assertEqual(graph.splits("node"), ["train"] * 9 + ["none"] * 22 + ["validation"] * 9)
        self.assert_ends(graph, "node:to:node", *self.ends,
                         {"w": papers.edata["w"], "count": papers.edata["count"]})
        self.assertEqual(graph.edge_types["node:to:node"]["weight_column"], "w")

    def test_several_types(self):
        buys = (torch.tensor([0, 1, 8, 1]), torch.tensor([2, 3, 3, 3]))
        knows = (torch.tensor([1, 7], dtype=torch.int64), torch.tensor([7, 0]))
        shop = graph_of({("user", "buys", "item"): buys, ("user", "knows", "user"): knows},
                        {"user": 9, "item": 5})
        shop.nodes["user"].data["x"] = torch.randn(9, 2)
        shop.nodes["item"].data["label"] = torch.randn(5, 2)  # numbers, no class
        shop.edges["user", "buys", "item"].data["price"] = torch.tensor([3, 4, 5, 6])
        graph = self.imported(convert.from_dgl(
            shop, self.folder / "arrays", split_idx={"train": {"user": torch.tensor([8, 2])},
                                                     "test": {"item": torch.tensor([1])}}))
        self.assert_same(graph.column("user", "x"), shop.nodes["user"].data["x"])
        self.assert_same(graph.column("item", "label"), shop.nodes["item"].data["label"])
        self.assertEqual(graph.node_types["item"]["target_column"], "label")
        self.assertEqual(numpy.flatnonzero(graph.column("user", "split")).tolist(), [2, 8])
        self.assertEqual(graph.splits("item"), ["none", "test", "none", "none", "none"])
        self.assert_ends(graph, "user:buys:item", *buys, {"price": torch.tensor([3, 4, 5, 6])})
        self.assert_ends(graph, "user:knows:user", *knows)

    def test_another_label_and_data_left_out(self):
        papers = self.papers()
        papers.ndata["topic"] = torch.arange(40, dtype=torch.int32) % 3
        graph = self.imported(convert.from_dgl(papers, self.folder / "arrays", label="topic",
                                               skip=["half", "count"]))
        self.assertEqual(graph.node_types["node"]["label_column"], "topic")
        self.assertEqual(sorted(each["name"] for each in graph.node_types["node"]["columns"]),
                         ["feat", "label", "split", "topic"])
        self.assertEqual(sorted(graph.edges("node:to:node")[2]), ["w"])

    def test_what_does_not_fit_is_an_error(self):
        def sparse(graph):
            graph.edata["adj"] = torch.eye(len(graph.edata["w"])).to_sparse()

        def name(graph):
            graph.ndata["a b"] = torch.zeros(40)

        def mask(graph):
            graph.ndata["test_mask"] = torch.arange(40)

        def block(graph):
            graph.is_block = True

        changes = [(name, "'a b' is no name"), (mask, "test is int64, no bool")]
        if not os.environ.get("VICINITY_TEST_DGL"):  # which refuses them before
            changes += [(sparse, "adj is ragged"), (block, "block of a batch")]
        for change, text in changes:
            papers = self.papers()
            change(papers)
            with self.subTest(text=text), self.assertRaisesRegex(ValueError, text):
                convert.from_dgl(papers, self.folder / change.__name__)
        with self.assertRaisesRegex(ValueError, r"to be 'weight', and edges have \['count', 'w'\]"):
            convert.from_dgl(self.papers(), self.folder / "weight", weight_attr="weight")
        with self.assertRaisesRegex(ValueError, "names the node type 'paper'"):
            convert.from_dgl(self.papers(), self.folder / "type", split_idx={"train": {"paper": [1]}})


if __name__ == "__main__":
    run_tests()
