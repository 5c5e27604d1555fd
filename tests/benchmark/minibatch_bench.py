#!/usr/bin/env python3
"""Epochs of batches whose neighbours and rows all come from servers, by gRPC and by the bulk channel,
beside PyG's own loader in memory: for `deploy/bench.sh minibatch`.

A way's CPU is that of the trainer and what it starts, and of the servers where it has some."""

import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import warnings

import epoch_rates
import python_bench  # which finds PyG, too
import tables
from served_shards import ServedShards
from torch_geometric.loader import NeighborLoader as InMemory
from vicinity_graph.pyg import NeighborLoader, connect

BATCH_SIZE = 1024
WAYS = {"gRPC": "grpc", "bulk channel": "bulk"}
METRICS = ["seeds/s", "CPU-s/1,000 seeds", "rows/seed"]
SECONDS = {"small": 6, "full": 30}  # that count, of a turn
BASELINE = "PyG in memory"


def use_two_cores():
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])


class Way:
    """A loader that is made anew for each turn; of several turns the median of each figure."""

    def __init__(self, make, servers):
        self._make = make
        self._servers = servers
        self._turns = []

    def turn(self, seconds):
        loader = self._make()
        self._turns.append(epoch_rates.measure(loader, self._servers, seconds))
        if hasattr(loader, "close"):
            loader.close()

    def figures(self):
        return {metric: statistics.median(turn[metric] for turn in self._turns)
                for metric in METRICS}


def over_servers(servers, transport):
    """And the graph, whose statistics tell which way its calls went."""
    data = connect(servers.cluster_file, transport=transport)
    way = Way(lambda: NeighborLoader(data, num_neighbors=python_bench.FANOUTS, cache="none",
                                     batch_size=BATCH_SIZE, input_nodes=data.train_mask,
                                     shuffle=True), servers.pids())
    return way, data.schema.graph


def in_memory(whole, workers):
    return Way(lambda: InMemory(whole, input_nodes=whole.train_mask, num_workers=workers,
                                persistent_workers=workers > 0, batch_size=BATCH_SIZE, shuffle=True,
                                num_neighbors=python_bench.FANOUTS), [])


def measure(servers, shards, seconds, turns):
    ways, graphs = {}, {}
    for name, transport in WAYS.items():
        ways[name], graphs[name] = over_servers(servers, transport)
    whole = python_bench.in_memory(connect(shards))
    for workers in (0, python_bench.NUM_WORKERS):
        if whole is not None:
            ways[f"{BASELINE}, {workers} workers"] = in_memory(whole, workers)
    for _ in range(turns):
        for way in ways.values():
            way.turn(seconds)
    figures = {name: way.figures() for name, way in ways.items()}
    baselines = [figures[name] for name in figures if name.startswith(BASELINE)]
    baseline = max(baselines, key=lambda each: each["seeds/s"], default=None)
    for name, graph in graphs.items():
        stats = graph.stats()
        print(f"{name}: of {stats['bytes_received']} bytes {stats['bulk_tcp_bytes_received']} by bulk "
              f"TCP, {stats['bulk_unix_bytes_received']} by a bulk Unix socket", file=sys.stderr)
    for name, each in figures.items():
        for metric in METRICS:
            yield {"case": f"{name}, batch {BATCH_SIZE}", "metric": metric, "value": each[metric],
                   "baseline": baseline and baseline[metric]}


def main():
    warnings.filterwarnings("ignore", message="Using 'NeighborSampler' without")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, help="that count, of a turn")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    options = parser.parse_args()
    use_two_cores()
    with tempfile.TemporaryDirectory(prefix="vicinity_minibatch_bench_") as folder:
        shards = python_bench.make_dataset(options.programs / "client/cli/vicinity", options.size,
                                           pathlib.Path(folder))
        servers = ServedShards(options.programs / "server/vicinityd", shards,
                               python_bench.NUM_SHARDS, flags=["--bulk", "local"])
        try:
            results = list(measure(servers, shards, options.seconds or SECONDS[options.size],
                                   options.turns))
        finally:
            servers.close()
    lines = [{"bench": "minibatch", **result, "limit": None} for result in results]
    if options.format == "json":
        for line in lines:
            print(json.dumps(line))
        return
    tables.print_table(["case", "metric", "value", BASELINE, "ratio"], [
        [line["case"], line["metric"], f"{line['value']:,.4g}",
         "" if line["baseline"] is None else f"{line['baseline']:,.4g}",
         "" if line["baseline"] is None else f"{line['value'] / line['baseline']:.2f}"]
        for line in lines])


if __name__ == "__main__":
    main()
