#!/usr/bin/env python3
"""Epochs of vicinity_graph.pyg's loader beside PyG's own in memory: for `deploy/bench.sh python`.

Each is seeds a second over whole epochs; `python share` is the part of that time in
which Python's thread makes Data of batches that are ready."""

import argparse
import json
import pathlib
import statistics
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
EPOCHS = 3  # that count, in a turn
NUM_WORKERS = 2  # of the machine's cores


class Timed:
    """Each loader alone, made anew and closed behind its turn, since ours works ahead as long as it is
    there: an epoch that does not count, then some that do, back to back. Several turns; the best."""

    def __init__(self, makers, epochs):
        self._makers = makers
        self._epochs = epochs
        self._rates = {name: [] for name in makers}
        self.edges = {}

    def turn(self):
        for name, make in self._makers.items():
            loader = make()
            seeds, edges, begin = 0, 0, 0
            for epoch in range(self._epochs + 1):
                if epoch == 1:
                    seeds, edges, begin = 0, 0, time.perf_counter()
                for batch in loader:
                    seeds += batch.batch_size
                    edges += batch.edge_index.size(1)
            self._rates[name].append(seeds / (time.perf_counter() - begin))
            self.edges[name] = edges / seeds
            if hasattr(loader, "close"):
                loader.close()

    def rate(self, name):
        return max(self._rates[name])


def python_seconds(loader, num_batches):
    """Of its thread's time, in which it makes a Data of a batch."""
    inner = loader._loader  # pylint: disable=protected-access
    spent = []
    for batch in inner:
        begin = time.thread_time()
        loader._data_of(batch)  # pylint: disable=protected-access
        spent.append(time.thread_time() - begin)
        if len(spent) == num_batches:
            break
    return statistics.median(spent)


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


def measure(shards, cluster_file, batch_size, epochs, turns):
    served, mapped = connect(cluster_file), connect(shards)
    options = {"num_neighbors": FANOUTS, "batch_size": batch_size, "shuffle": True}
    makers = {
        "served": lambda: NeighborLoader(served, input_nodes=served.train_mask, **options),
        "served, cache of a tenth": lambda: NeighborLoader(
            served, input_nodes=served.train_mask, cache_rows=served.num_nodes // 10, **options),
        "mapped": lambda: NeighborLoader(mapped, input_nodes=mapped.train_mask, **options)}
    whole = in_memory(mapped)
    if whole is not None:
        for workers in (0, NUM_WORKERS):
            makers[f"PyG in memory, {workers} workers"] = lambda workers=workers: InMemory(
                whole, input_nodes=whole.train_mask, num_workers=workers,
                persistent_workers=workers > 0, **options)
    timed = Timed(makers, epochs)
    for _ in range(turns):
        timed.turn()
    baseline = max((timed.rate(name) for name in makers if name.startswith("PyG")), default=None)
    for name in makers:
        yield {"case": f"{name}, batch {batch_size}", "metric": "seeds/s",
               "value": timed.rate(name), "baseline": baseline}
        print(f"{name}: {timed.edges[name]:.0f} edges a seed", file=sys.stderr)
    for name in ("served", "mapped"):
        with makers[name]() as loader:
            share = python_seconds(loader, 20) * timed.rate(name) / batch_size
        yield {"case": f"{name}, batch {batch_size}", "metric": "python share", "value": share,
               "baseline": None}


def main():
    warnings.filterwarnings("ignore", message="Using 'NeighborSampler' without")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    options = parser.parse_args()
    turns = 3 if options.size == "full" else 2
    results = []
    with tempfile.TemporaryDirectory(prefix="vicinity_python_bench_") as folder:
        shards = make_dataset(options.programs / "client/cli/vicinity", options.size,
                              pathlib.Path(folder))
        servers = ServedShards(options.programs / "server/vicinityd", shards, NUM_SHARDS)
        try:
            for batch_size in (1024, 64):
                results += measure(shards, servers.cluster_file, batch_size, EPOCHS, turns)
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
