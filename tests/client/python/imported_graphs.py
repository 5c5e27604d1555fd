"""Graphs of arrays that a test made, imported, cut in two and served: what they hold is known."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import numpy  # noqa: E402
from small_cluster import DAEMON, ServedShards, tool  # noqa: E402


class ImportedGraph(ServedShards):
    """`description` is that of `vicinity import`, whose paths name `arrays`: {"x.npy": array}, or
    files of text. `live`: its servers take changes."""

    def __init__(self, description, arrays, num_shards=2, live=False):
        self._scratch = tempfile.TemporaryDirectory(prefix="vicinity_imported_")
        folder = pathlib.Path(self._scratch.name)
        for name, values in arrays.items():
            if isinstance(values, str):
                (folder / name).write_text(values, encoding="utf-8")
            else:
                numpy.save(folder / name, values)
        (folder / "graph.textproto").write_text(description, encoding="utf-8")
        tool("import", "--description", folder / "graph.textproto", "--output", folder / "whole")
        self.shards = folder / "shards"
        tool("partition", "--input", folder / "whole", "--output", self.shards, "--shards",
             num_shards, "--assigner", "hash")
        super().__init__(DAEMON, self.shards, num_shards, live=live)

    def close(self):
        super().close()
        self._scratch.cleanup()


class Papers(ImportedGraph):
    """Of one type: random edges, some of them twice; `ids` are not dense if they are given. `more` is
    added to the description."""

    def __init__(self, num_nodes=300, num_edges=2400, ids=None, more=""):
        random = numpy.random.default_rng(5)
        self.ids = numpy.arange(num_nodes) if ids is None else numpy.asarray(ids)
        self.edge_index = self.ids[random.integers(0, num_nodes, (2, num_edges))]
        self.x = random.normal(size=(num_nodes, 6)).astype(numpy.float32)
        self.y = random.integers(0, 5, num_nodes).astype(numpy.int32)
        self.train_mask = random.random(num_nodes) < 0.5
        self.weight = random.integers(0, 3, num_edges).astype(numpy.float32)
        self.time = random.integers(-50, 50, num_edges)
        arrays = {"edges.npy": self.edge_index, "x.npy": self.x, "y.npy": self.y,
                  "train.npy": self.train_mask, "weight.npy": self.weight, "time.npy": self.time}
        given = f"count: {num_nodes}"
        if ids is not None:
            arrays["ids.npy"] = self.ids
            given = 'ids { path: "ids.npy" }'
        super().__init__(f"""
            name: "papers"
            nodes {{
              name: "paper" {given}
              columns {{ name: "features" array {{ path: "x.npy" }} }}
              label {{ array {{ path: "y.npy" }} }}
              train {{ mask {{ path: "train.npy" }} }}
            }}
            edges {{
              source: "paper" relation: "cites" target: "paper"
              ends {{ path: "edges.npy" }} transposed: true
              columns {{ name: "weight" array {{ path: "weight.npy" }} }}
              weight_column: "weight"
              columns {{ name: "time" array {{ path: "time.npy" }} }}
            }}
            {more}""", arrays)


class Shop(ImportedGraph):
    """Users that buy items, items that are bought by users, users that know users; items have names,
    and their labels are real numbers. `more` is added to the description."""

    USERS, ITEMS = 200, 60

    def __init__(self, more=""):
        random = numpy.random.default_rng(6)
        self.names = [f"item {i}" for i in range(self.ITEMS)]
        self.x = random.normal(size=(self.USERS, 4)).astype(numpy.float32)
        self.prices = random.normal(size=(self.ITEMS, 2)).astype(numpy.float32)
        self.buys = (random.integers(0, self.USERS, 900), random.integers(0, self.ITEMS, 900))
        self.knows = random.integers(0, self.USERS, (700, 2))
        self.train_mask = random.random(self.USERS) < 0.4
        self.y = random.integers(0, 3, self.USERS).astype(numpy.int32)
        edges = "".join(f"{user},{self.names[item]}\n" for user, item in zip(*self.buys))
        back = "".join(f"{self.names[item]},{user}\n" for user, item in zip(*self.buys))
        super().__init__(f"""
            name: "shop"
            nodes {{
              name: "user" count: {self.USERS}
              columns {{ name: "x" array {{ path: "x.npy" }} }}
              label {{ array {{ path: "y.npy" }} }}
              train {{ mask {{ path: "train.npy" }} }}
              test {{ ids {{ path: "test.npy" }} }}
            }}
            nodes {{
              name: "item" ids {{ path: "names.csv" }}
              columns {{ name: "prices" array {{ path: "prices.npy" }} }}
              target_column: "prices"
            }}
            edges {{ source: "user" relation: "buys" target: "item" ends {{ path: "buys.csv" }} }}
            edges {{ source: "item" relation: "of" target: "user" ends {{ path: "back.csv" }} }}
            edges {{ source: "user" relation: "knows" target: "user" ends {{ path: "knows.npy" }} }}
            {more}""", {"x.npy": self.x, "y.npy": self.y, "train.npy": self.train_mask,
                  "test.npy": (~self.train_mask).nonzero()[0], "prices.npy": self.prices,
                  "names.csv": "".join(f"{name}\n" for name in self.names), "buys.csv": edges,
                  "back.csv": back, "knows.npy": self.knows})
