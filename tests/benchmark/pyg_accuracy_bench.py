#!/usr/bin/env python3
"""PyG's SAGEConv trained over vicinity_graph.pyg's loader and in memory: for `deploy/bench.sh
pyg-accuracy`.

Both begin with the same weights and train on the same splits with the same fanouts. Edge types are
sampled each by itself; of cora there is one, and of WordNet's, some thirty, each has a SAGEConv of its own
in every layer, by PyG's HeteroConv. Accuracy is that of all neighbours: through the loader, with fanouts of
-1, here; of the whole graph at once, there."""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts PyG

import accuracy_summary
import numpy
import tables
import torch
from served_shards import ServedShards
from torch_geometric.data import HeteroData
from torch_geometric.loader import NeighborLoader as InMemory
from torch_geometric.loader import NodeLoader
from torch_geometric.nn import HeteroConv, SAGEConv
from torch_geometric.sampler import BaseSampler, HeteroSamplerOutput
from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE
from vicinity_graph.pyg import NeighborLoader, connect

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NUM_SHARDS = 2
EVALUATED = 1024  # nodes of a batch

# "evaluated": after so many of the last epochs, the best of which counts. "every": of each split only
# every so-manieth node is trained on, or asked about.
SETTINGS = {
    "cora": {"fanouts": [10, 10], "batch_size": 32, "hidden": 64, "dropout": 0.5, "lr": 0.01,
             "weight_decay": 5e-4, "epochs": 30, "evaluated": 30, "every": 1},
    "wordnet": {"fanouts": [3, 2], "batch_size": 512, "hidden": 32, "dropout": 0.0,
                "lr": 0.01, "weight_decay": 0.0, "epochs": 3, "evaluated": 1, "every": 4}}


class Sage(torch.nn.Module):
    """The first layer of several relations has a projection before it, which they share."""

    def __init__(self, width, num_classes, edge_types, settings):
        super().__init__()
        hidden = [settings["hidden"]] * (len(settings["fanouts"]) - 1)
        self.projection = torch.nn.Identity()
        if len(edge_types) > 1:
            self.projection = torch.nn.Linear(width, settings["hidden"])
            width = settings["hidden"]
        self.layers = torch.nn.ModuleList(
            HeteroConv({each: SAGEConv(*pair) for each in edge_types})
            for pair in zip([width, *hidden], [*hidden, num_classes]))
        self.dropout = settings["dropout"]

    def forward(self, data):
        """Of a HeteroData of one node type: scores of all its nodes."""
        name, = data.node_types
        found = {name: self.projection(data[name].x.float())}
        for layer in self.layers[:-1]:
            found = {name: torch.nn.functional.dropout(
                layer(found, data.edge_index_dict)[name].relu(), self.dropout, self.training)}
        return self.layers[-1](found, data.edge_index_dict)[name]


class NumpySampler(BaseSampler):
    """PyG's neighbour sampling, in a few lines: a hop draws, for each edge type and each node that the
    hop before met first, so many in-edges without replacement."""

    def __init__(self, data, fanouts):
        self._type, = data.node_types
        self._num_nodes = data[self._type].num_nodes
        self._fanouts = fanouts
        self._lists = {}
        for edge_type in data.edge_types:
            sources, targets = data[edge_type].edge_index.numpy()
            order = numpy.argsort(targets, kind="stable")
            starts = numpy.searchsorted(targets[order], numpy.arange(self._num_nodes + 1))
            self._lists[edge_type] = starts, sources[order]

    def sample_from_nodes(self, index, **_):
        random = numpy.random.default_rng(int(torch.randint(1 << 62, ())))
        nodes = fresh = index.node.numpy()
        place = numpy.full(self._num_nodes, -1)
        place[nodes] = numpy.arange(len(nodes))
        rows, cols = ({each: [] for each in self._lists} for _ in range(2))
        for fanout in self._fanouts:
            known = len(nodes)
            for edge_type, lists in self._lists.items():
                targets, sources = self._draw(random, lists, fresh, fanout)
                met = numpy.unique(sources[place[sources] < 0])
                place[met] = numpy.arange(len(nodes), len(nodes) + len(met))
                nodes = numpy.concatenate([nodes, met])
                rows[edge_type].append(place[sources])
                cols[edge_type].append(place[targets])
            fresh = nodes[known:]

        def joined(parts):
            return {each: torch.from_numpy(numpy.concatenate(lists)) for each, lists in parts.items()}

        return HeteroSamplerOutput(node={self._type: torch.from_numpy(nodes)}, row=joined(rows),
                                   col=joined(cols), edge=dict.fromkeys(rows),
                                   metadata=(index.input_id, index.time))

    @staticmethod
    def _draw(random, lists, targets, fanout):
        starts, sources = lists
        degrees = starts[targets + 1] - starts[targets]
        owner = numpy.repeat(numpy.arange(len(targets)), degrees)
        within = numpy.arange(len(owner)) - numpy.repeat(numpy.cumsum(degrees) - degrees, degrees)
        edges = starts[targets][owner] + within
        # By owner, shuffled: `within` then is the place of an edge in its owner's draw.
        order = numpy.lexsort((random.random(len(owner)), owner))
        taken = within < fanout
        return targets[owner[taken]], sources[edges[order[taken]]]


def train(model, batches, settings, accuracy):
    """Test accuracy at the best validation accuracy; `accuracy` gives both."""
    optimizer = torch.optim.Adam(model.parameters(), lr=settings["lr"],
                                 weight_decay=settings["weight_decay"])
    found = []
    for epoch in range(settings["epochs"]):
        model.train()
        for batch in batches:
            nodes, = (batch[each] for each in batch.node_types)
            out = model(batch)[:nodes.batch_size]
            loss = torch.nn.functional.cross_entropy(out, nodes.y[:nodes.batch_size])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch < settings["epochs"] - settings["evaluated"]:
            continue
        model.eval()
        with torch.no_grad():
            found.append(accuracy(model))
    return max(found, key=lambda each: each[0])[1]


class Served:
    """Through the service."""

    def __init__(self, cluster_file, settings):
        self.data = connect(cluster_file, heterogeneous=True)
        self.type, = self.data.node_types
        self._settings = settings
        #: By split the ids of its nodes that count; of a type whose ids are strings they are no places
        #: in a mask.
        self.nodes = {split: self.data.schema.of_mask(
            self.type, getattr(self.data[self.type], f"{split}_mask"))[::settings["every"]]
                      for split in ("train", "val", "test")}

    def batches(self):
        return NeighborLoader(self.data, self._settings["fanouts"],
                              (self.type, self.nodes["train"]), shuffle=True,
                              batch_size=self._settings["batch_size"])

    def accuracy(self, model):
        return [self._share(model, self.nodes[split]) for split in ("val", "test")]

    def _share(self, model, asked):
        right = 0
        with NeighborLoader(self.data, [-1] * len(self._settings["fanouts"]), (self.type, asked),
                            batch_size=EVALUATED) as loader:
            for batch in loader:
                nodes = batch[self.type]
                guess = model(batch)[:nodes.batch_size].argmax(dim=-1)
                right += int((guess == nodes.y[:nodes.batch_size]).sum())
        return right / asked.numel()


class Alone:
    """The same graph in memory, with the same ids."""

    def __init__(self, served, settings):
        self._settings = settings
        self._nodes = served.nodes
        self._type = served.type
        remote = served.data
        self.data = HeteroData()
        everybody = torch.arange(remote[self._type].num_nodes)
        for name in ("x", "y"):
            self.data[self._type][name] = getattr(remote[self._type], name)[everybody]
        for edge_type in remote.edge_types:
            self.data[edge_type].edge_index = torch.stack(
                remote[1].get_edge_index(edge_type=edge_type, layout="coo"))

    def batches(self):
        options = {"input_nodes": (self._type, self._nodes["train"]), "shuffle": True,
                   "batch_size": self._settings["batch_size"]}
        if WITH_PYG_LIB or WITH_TORCH_SPARSE:
            return InMemory(self.data, self._settings["fanouts"], **options)
        return NodeLoader(self.data, NumpySampler(self.data, self._settings["fanouts"]), **options)

    def accuracy(self, model):
        right = model(self.data).argmax(dim=-1) == self.data[self._type].y
        return [float(right[self._nodes[split]].float().mean()) for split in ("val", "test")]


def make_shards(tool, graph, folder):
    description = ROOT / "tests/data/cora.textproto"
    if graph == "wordnet":
        subprocess.run([ROOT / "deploy/wordnet.py", folder / "wordnet"], check=True,
                       stdout=sys.stderr)
        description = folder / "wordnet/wordnet.textproto"
    subprocess.run([tool, "import", "--description", description, "--output", folder / "graph"],
                   check=True, stdout=sys.stderr)
    subprocess.run([tool, "partition", "--input", folder / "graph", "--output", folder / "shards",
                    "--shards", str(NUM_SHARDS), "--assigner", "hash"], check=True,
                   stdout=sys.stderr)
    return folder / "shards"


def measure(cluster_file, settings, num_seeds):
    """Test accuracies of both, seed by seed."""
    served = Served(cluster_file, settings)
    alone = Alone(served, settings)
    num_classes = int(alone.data[served.type].y.max()) + 1
    found = {"service": [], "memory": []}
    for seed in range(1, num_seeds + 1):
        for name, where in zip(found, (served, alone)):
            torch.manual_seed(seed)
            model = Sage(alone.data[served.type].x.size(1), num_classes, alone.data.edge_types, settings)
            found[name].append(train(model, where.batches(), settings, where.accuracy))
            print(f"seed {seed}, {name}: {found[name][-1]:.4f}", file=sys.stderr)
        # One model, both ways: what is left to noise is the training alone.
        difference = max(abs(a - b) for a, b in zip(served.accuracy(model), alone.accuracy(model)))
        print(f"one model's accuracies differ by {difference:.5f}", file=sys.stderr)
    return found


CASES = {"service": "vicinity_graph.pyg, two servers", "memory": "PyG in memory"}


def print_json(graph, found):
    memory = statistics.mean(found["memory"])
    mean, error, agree = accuracy_summary.agreement(found["service"], found["memory"])
    results = []
    for name, values in found.items():
        results += [(CASES[name], "test accuracy", statistics.mean(values),
                     None if name == "memory" else memory, None),
                    (CASES[name], "test accuracy, standard deviation",
                     accuracy_summary.deviation(values), None, None)]
    results += [("service against memory", "difference of test accuracy", mean, 0.0,
                 max(accuracy_summary.HALF_A_POINT, 2 * error)),
                ("service against memory", "agree (1: yes)", int(agree), None, None)]
    for case, metric, value, baseline, limit in results:
        print(json.dumps({"bench": "pyg-accuracy", "case": f"{graph}, {case}", "metric": metric,
                          "value": value, "baseline": baseline, "limit": limit}))


def print_table(graph, found):
    seeds = range(1, len(found["service"]) + 1)
    tables.print_table(
        [f"{graph}: test accuracy in %", *(f"seed {seed}" for seed in seeds), "mean", "deviation"],
        [[CASES[name], *(f"{100 * value:.2f}" for value in values),
          f"{100 * statistics.mean(values):.2f}", f"{100 * accuracy_summary.deviation(values):.2f}"]
         for name, values in found.items()])
    mean, error, agree = accuracy_summary.agreement(found["service"], found["memory"])
    print(f"with the service against without: {100 * mean:+.2f} points, standard error "
          f"{100 * error:.2f}: they {'agree' if agree else 'DIFFER'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--graph", choices=sorted(SETTINGS), default="cora")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--format", choices=["table", "json"], default="table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vicinity_pyg_accuracy_") as folder:
        shards = make_shards(options.programs / "client/cli/vicinity", options.graph,
                             pathlib.Path(folder))
        servers = ServedShards(options.programs / "server/vicinityd", shards, NUM_SHARDS)
        try:
            found = measure(servers.cluster_file, SETTINGS[options.graph], options.seeds)
        finally:
            servers.close()
    (print_json if options.format == "json" else print_table)(options.graph, found)


if __name__ == "__main__":
    main()
