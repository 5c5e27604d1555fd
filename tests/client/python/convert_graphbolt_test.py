#!/usr/bin/env python3
"""GraphBolt's OnDiskDataset, a folder with metadata.yaml, to graphs: all of it is there."""

import os
import pathlib
import sys
from unittest import mock

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from converted import ConvertCase  # noqa: E402
from small_cluster import run_tests  # noqa: E402

import numpy  # noqa: E402
import torch  # noqa: E402

from vicinity_graph import convert  # noqa: E402

OF_ONE_TYPE = """
dataset_name: papers
graph:
  nodes:
    - num: 20
  edges:
    - format: csv
      path: edges/cite.csv
feature_data:
  - domain: node
    name: feat
    format: numpy
    in_memory: false
    path: data/node-feat.npy
  - domain: edge
    name: weight
    format: torch
    path: data/edge-weight.pt
tasks:
  - name: node_classification
    num_classes: 7
    train_set:
      - data:
          - name: seeds
            format: numpy
            path: set/train-seeds.npy
          - name: labels
            format: torch
            path: set/train-labels.pt
    validation_set:
      - data:
          - name: seeds
            format: numpy
            path: set/validation-seeds.npy
          - name: labels
            format: torch
            path: set/validation-labels.pt
    test_set:
      - data:
          - name: seeds
            format: numpy
            path: set/test-seeds.npy
          - name: labels
            format: torch
            path: set/test-labels.pt
"""

OF_SEVERAL_TYPES = """
dataset_name: shop
graph:
  nodes:
    - type: user
      num: 9
    - type: item
      num: 5
  edges:
    - type: "user:buys:item"
      format: numpy
      path: edges/buys.npy
    - type: "user:knows:user"
      format: csv
      path: edges/knows.csv
  feature_data:
    - domain: edge
      type: "user:buys:item"
      name: timestamp
      format: numpy
      path: data/buys-timestamp.npy
feature_data:
  - domain: node
    type: user
    name: feat
    format: torch
    path: data/user-feat.pt
  - domain: node
    type: item
    name: price
    format: numpy
    path: data/item-price.npy
  - domain: graph
    name: version
    format: numpy
    path: data/version.npy
tasks:
  - name: link_prediction
    train_set:
      - type: "user:buys:item"
        data:
          - name: seeds
            format: numpy
            path: set/pairs.npy
  - name: node_regression
    train_set:
      - type: item
        data:
          - format: numpy
            path: set/item-seeds.npy
          - format: numpy
            path: set/item-labels.npy
    test_set:
      - type: user
        data:
          - name: seed_nodes
            format: numpy
            path: set/user-seeds.npy
"""


class GraphBoltTest(ConvertCase):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "dataset"
        for folder in ("edges", "data", "set"):
            (self.root / folder).mkdir(parents=True)

    def save(self, path, array):
        path = self.root / path
        if path.suffix == ".pt":
            torch.save(torch.as_tensor(array), path)
        elif path.suffix == ".csv":
            path.write_text("".join(f"{source},{target}\n" for source, target in array.T))
        else:
            numpy.save(path, array)

    def papers(self, label_type=torch.int64):
        self.edges = self.random.integers(0, 20, (2, 60))
        self.feat = self.random.normal(size=(20, 4)).astype(numpy.float32)
        self.weight = self.random.random(60).astype(numpy.float32)
        self.sets = {"train": [3, 1, 19], "validation": [0], "test": [5, 6]}
        self.save("edges/cite.csv", self.edges)
        self.save("data/node-feat.npy", self.feat)
        self.save("data/edge-weight.pt", self.weight)
        for name, seeds in self.sets.items():
            self.save(f"set/{name}-seeds.npy", numpy.array(seeds, dtype=numpy.int32))
            self.save(f"set/{name}-labels.pt", torch.tensor([seed % 7 for seed in seeds]).to(label_type))
        return self.described(OF_ONE_TYPE)

    def described(self, text):
        (self.root / "metadata.yaml").write_text(text)
        return self.root

    def test_one_type(self):
        for given in (self.papers(), self.root / "metadata.yaml"):
            self.folder = self.folder / f"of_{given.name}"
            graph = self.imported(convert.from_graphbolt(given, self.folder / "arrays",
                                                         weight="weight"))
            self.assertEqual(graph.graph.description["name"], "papers")
            self.assert_same(graph.column("node", "feat"), self.feat)
            self.assert_ends(graph, "node:to:node", *self.edges, {"weight": self.weight})
            self.assertEqual(graph.edge_types["node:to:node"]["weight_column"], "weight")
            self.assertEqual(graph.node_types["node"]["num_classes"], 7)
            splits, labels = ["none"] * 20, [-1] * 20
            for name, seeds in self.sets.items():
                for seed in seeds:
                    splits[seed], labels[seed] = name, seed % 7
            self.assertEqual(graph.splits("node"), splits)
            self.assert_same(graph.column("node", "label"), numpy.array(labels))
        self.assertNotIn("node.feat.npy", os.listdir(self.folder / "arrays"))

    def test_unsigned_labels_know_none_too(self):
        graph = self.imported(convert.from_graphbolt(self.papers(torch.uint8), self.folder / "arrays"))
        labels = graph.column("node", "label")
        self.assertEqual((labels.dtype, labels[3], labels[2]), (numpy.int64, 3, -1))

    def shop(self):
        self.buys = numpy.stack([self.random.integers(0, 9, 12), self.random.integers(0, 5, 12)])
        self.knows = self.random.integers(0, 9, (2, 8))
        self.user_feat = torch.randn(9, 2).half()
        self.price = self.random.normal(size=(5, 1))
        self.time = self.random.integers(0, 100, 12)
        self.save("edges/buys.npy", self.buys)
        self.save("edges/knows.csv", self.knows)
        self.save("data/user-feat.pt", self.user_feat)
        self.save("data/item-price.npy", self.price)
        self.save("data/buys-timestamp.npy", self.time)
        self.save("data/version.npy", [1])
        self.save("set/pairs.npy", self.buys.T)
        self.save("set/item-seeds.npy", [4, 0])
        self.save("set/item-labels.npy", numpy.array([[0.5, 1], [2, 3]]))
        self.save("set/user-seeds.npy", [8])
        return self.described(OF_SEVERAL_TYPES)

    def test_several_types(self):
        graph = self.imported(convert.from_graphbolt(
            self.shop(), self.folder / "arrays", task="node_regression", skip=["version"]))
        self.assert_same(graph.column("user", "feat"), self.user_feat)
        self.assert_same(graph.column("item", "price"), self.price)
        self.assert_ends(graph, "user:buys:item", *self.buys, {"timestamp": self.time})
        self.assert_ends(graph, "user:knows:user", *self.knows)
        self.assertEqual(graph.node_types["item"]["target_column"], "labels")
        labels = graph.column("item", "labels")
        self.assertEqual(labels[[4, 0]].tolist(), [[0.5, 1], [2, 3]])
        self.assertTrue(numpy.isnan(labels[[1, 2, 3]]).all())
        self.assertEqual(graph.splits("item"), ["train", "none", "none", "none", "train"])
        self.assertEqual(graph.splits("user"), ["none"] * 8 + ["test"])

    def test_tasks_of_links_are_left_out_when_asked(self):
        root = self.shop()
        with self.assertRaisesRegex(ValueError, r"several tasks.*\['link_prediction', 'node_regre"):
            convert.from_graphbolt(root, self.folder / "several", skip=["version"])
        with self.assertRaisesRegex(ValueError, "seeds are pairs.*task=None"):
            convert.from_graphbolt(root, self.folder / "pairs", skip=["version"],
                                   task="link_prediction")
        with self.assertRaisesRegex(ValueError, "no task 'other'"):
            convert.from_graphbolt(root, self.folder / "other", skip=["version"], task="other")
        graph = self.imported(convert.from_graphbolt(root, self.folder / "none", task=None,
                                                     skip=["version"]))
        self.assertEqual(graph.node_types["item"]["split_column"], "")

    def test_what_does_not_fit_is_an_error(self):
        self.shop()
        for old, new, error, text in (
                ("shop", "store", ValueError, "'version' is of the domain"),
                ("type: item\n    name", "type: thing\n    name", ValueError, "'thing' is none"),
                ("format: csv", "format: orc", ValueError, "'orc'"),
                ("type: \"user:buys:item\"\n      name", "type: buys\n      name", ValueError,
                 "'buys' is no edge type"),
                ("num: 5", "num: 6", ValueError, r"item-price.npy is \[5, 1\].*are 6 rows"),
                ("user-feat.pt", "users.pt", FileNotFoundError, "users.pt"),
                ("name: price", "name: [price", ValueError, "metadata.yaml: "),
                ("graph:\n  nodes", "graph_topology:\n  nodes", ValueError,
                 "has no graph: it is what GraphBolt made.*folder above")):
            root = self.described(OF_SEVERAL_TYPES.replace(old, new))
            with self.subTest(text=text), self.assertRaisesRegex(error, text):
                convert.from_graphbolt(root, self.folder / f"arrays_{len(os.listdir(self.folder))}")

    def test_labels_that_fit_no_node_or_type_are_an_error(self):
        root = self.papers()
        self.save("set/train-seeds.npy", [3, 1, 20])
        with self.assertRaisesRegex(ValueError, "seeds of node are 1 to 20, and there are 20"):
            convert.from_graphbolt(root, self.folder / "beyond")
        self.save("set/train-seeds.npy", [3, 1])
        with self.assertRaisesRegex(ValueError, "2 seeds and 3 labels"):
            convert.from_graphbolt(root, self.folder / "short")
        root = self.papers()
        self.save("set/train-labels.pt", torch.tensor([1, 2, 3], dtype=torch.int32))
        with self.assertRaisesRegex(ValueError, "several types or shapes"):
            convert.from_graphbolt(root, self.folder / "types")
        root = self.papers()
        for name, seeds in self.sets.items():
            self.save(f"set/{name}-labels.pt", torch.ones(len(seeds), 3, dtype=torch.bool))
        with self.assertRaisesRegex(ValueError, "labels of node are bool, and not all nodes"):
            convert.from_graphbolt(root, self.folder / "truths")

    def test_without_pyyaml_the_error_says_what_to_install(self):
        root = self.papers()
        with mock.patch.dict(sys.modules, {"yaml": None}):
            with self.assertRaisesRegex(ValueError, "pip install pyyaml"):
                convert.from_graphbolt(root, self.folder / "arrays")


if __name__ == "__main__":
    run_tests()
