#!/usr/bin/env python3
"""Epochs of vicinity_graph.pyg's loader beside PyG's own in memory: for `deploy/bench.sh python`.

Each is seeds a second, of whole epochs in turn, the best of some; `python share` is the part of the
time in which the library had a batch ready and Python made a Data of it."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts PyG

import tables
import torch
from served_shards import ServedShards
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader as InMemory
from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE
from vicinity_graph.pyg import NeighborLoader, connect

FANOUTS = [15, 10, 5]
NUM_SHARDS = 2
NUM_WORKERS = 2  # of the machine's cores


class Timed:
    """Rounds of epochs of several loaders in turn: the best of each."""

    def __init__(self, loaders, num_batches):
        self._loaders = loaders
        self._num_batches = num_batches
        self.seconds = {name: [] for name in loaders}
        self.edges = {}

    def round(self):
        for name, loader in self._loaders.items():
            begin, seeds, edges, batches = time.perf_counter(), 0, 0, 0
            for batch in loader:
                seeds += batch.batch_size
                edges += batch.edge_index.size(1)
                batches += 1
                if batches == self._num_batches:
                    break
            self.seconds[name].append((time.perf_counter() - begin) / seeds)
            self.edges[name] = edges / seeds

    def rate(self, name):
        return 1 / min(self.seconds[name])


def python_share(loader, num_batches):
    """Of an epoch whose batches are all ready before they are asked for."""
    inner = loader._loader  # pylint: disable=protected-access
    spent = []
    for batch in inner:
        begin = time.perf_counter()
        loader._data_of(batch)  # pylint: disable=protected-access
        spent.append(time.perf_counter() - begin)
        if len(spent) == num_batches:
            break
    return sum(spent) / len(spent)


def in_memory(data):
    """The graph as PyG has it; None without what samples it."""
    if not (WITH_PYG_LIB or WITH_TORCH_SPARSE):
        print("python: neither pyg-lib nor torch-sparse is installed in this Python: no baseline",
              file=sys.stderr)
        return None
    _, edges = data
    return Data(x=data.x[:], y=data.y[:] if "y" in data[data.node_types[0]] else None,
                train_mask=data.train_mask, num_nodes=data.num_nodes,
                edge_index=torch.stack(edges.get_edge_index(edge_type=None, layout="coo")))


def make_dataset(tool, size, folder):
    scale = "20" if size == "full" else "17"
    graph, shards = folder / "graph", folder / "shards"
    subprocess.run([tool, "generate", "rmat", "--scale", scale, "--symmetric", "--dedup",
                    "--drop-self-loops", "--feature-width", "128", "--train", "0.2", "--output",
                    graph], check=True, stdout=sys.stderr)
    subprocess.run([tool, "partition", "--input", graph, "--output", shards, "--shards",
                    str(NUM_SHARDS), "--assigner", "hash"], check=True, stdout=sys.stderr)
    return shards


def measure(shards, cluster_file, batch_size, num_batches, rounds):
    served, mapped = connect(cluster_file), connect(shards)
    options = {"num_neighbors": FANOUTS, "batch_size": batch_size, "shuffle": True}
    loaders = {
        "served": NeighborLoader(served, input_nodes=served.train_mask, **options),
        "mapped": NeighborLoader(mapped, input_nodes=mapped.train_mask, **options)}
    whole = in_memory(mapped)
    if whole is not None:
        for workers in (0, NUM_WORKERS):
            loaders[f"PyG in memory, {workers} workers"] = InMemory(
                whole, input_nodes=whole.train_mask, num_workers=workers,
                persistent_workers=workers > 0, **options)
    timed = Timed(loaders, num_batches)
    for _ in range(rounds + 1):
        timed.round()
    for seconds in timed.seconds.values():
        del seconds[0]  # what is cold
    baseline = max((timed.rate(name) for name in loaders if name.startswith("PyG")), default=None)
    for name in loaders:
        yield {"case": f"{name}, batch {batch_size}", "metric": "seeds/s",
               "value": timed.rate(name), "baseline": baseline}
        print(f"{name}: {timed.edges[name]:.0f} edges a seed", file=sys.stderr)
    for name in ("served", "mapped"):
        share = python_share(loaders[name], min(num_batches, 20)) * timed.rate(name) / batch_size
        yield {"case": f"{name}, batch {batch_size}", "metric": "python share", "value": share,
               "baseline": None}


def main():
    warnings.filterwarnings("ignore", message="Using 'NeighborSampler' without")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    options = parser.parse_args()
    rounds = 5 if options.size == "full" else 3
    results = []
    with tempfile.TemporaryDirectory(prefix="vicinity_python_bench_") as folder:
        shards = make_dataset(options.programs / "client/cli/vicinity", options.size,
                              pathlib.Path(folder))
        servers = ServedShards(options.programs / "server/vicinityd", shards, NUM_SHARDS)
        try:
            for batch_size, num_batches in ((1024, 20), (64, 200)):
                results += measure(shards, servers.cluster_file, batch_size, num_batches, rounds)
        finally:
            servers.close()
    lines = [{"bench": "python", **result, "limit": None} for result in results]
    if options.format == "json":
        for line in lines:
            print(json.dumps(line))
        return
    tables.print_table(["case", "metric", "value", "PyG in memory", "ratio"], [
        [line["case"], line["metric"], f"{line['value']:.3g}",
         "" if line["baseline"] is None else f"{line['baseline']:.3g}",
         "" if line["baseline"] is None else f"{line['value'] / line['baseline']:.2f}"]
        for line in lines])


if __name__ == "__main__":
    main()
