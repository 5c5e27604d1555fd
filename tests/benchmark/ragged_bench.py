#!/usr/bin/env python3
"""Bags of words, ragged and dense: for `deploy/bench.sh ragged`."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import scipy.sparse
import tables
import vicinity_graph
from served_shards import ServedShards
from vicinity_graph import convert

NUM_WORDS = 8898
WORDS_OF_NODE = 50  # on average
NUM_SHARDS = 2
TURNS = 2  # the fastest counts
NODES = {"small": 6_600, "full": 26_400}
CACHES = {"no cache": {"cache": "none"}, "by default": {}}


def make_dataset(tool, folder, column, num_nodes):
    """The column over a graph of ten edges a node, cut by hash; where it is, and its bytes on disk."""
    ends = numpy.random.default_rng(2).integers(0, num_nodes, (2, 10 * num_nodes))
    description = convert.write(folder / "arrays", {
        "node": convert.Nodes(num_nodes, columns={"words": column})},
        {("node", "to", "node"): convert.Edges(ends)})
    graph, shards = folder / "graph", folder / "shards"
    for arguments in (["import", "--description", description, "--output", graph],
                      ["partition", "--input", graph, "--output", shards, "--shards",
                       str(NUM_SHARDS), "--assigner", "hash"]):
        subprocess.run([tool, *arguments], check=True, stdout=sys.stderr)
    return shards, sum(each.stat().st_size for each in shards.glob("*/nodes.node.*.words*"))


def epoch(graph, options):
    """Seconds of the fastest of some epochs behind the first, and what each fetched on average."""
    loader = graph.loader([10, 5], seeds=None, seed_type="node", batch_size=64,
                          columns=[("node", "words")], **options)
    seconds, before = [], None
    for _ in range(1 + TURNS):
        begin = time.perf_counter()
        for batch in loader:
            pass
        seconds.append(time.perf_counter() - begin)
        if before is None:
            before = loader.stats()
    del batch
    fetched = loader.stats()["bytes_remote"] - before["bytes_remote"]
    return min(seconds[1:]), fetched / TURNS


def measured(programs, folder, column, num_nodes):
    """Values by case and metric."""
    shards, stored = make_dataset(programs / "client/cli/vicinity", folder, column, num_nodes)
    values = {("dataset", "bytes of the column"): stored}
    servers = ServedShards(programs / "server/vicinityd", shards, NUM_SHARDS)
    try:
        graph = vicinity_graph.Graph(cluster_file=servers.cluster_file)
        for name, options in CACHES.items():
            seconds, fetched = epoch(graph, options)
            values[name, "seeds/s"] = num_nodes / seconds
            values[name, "bytes fetched/epoch"] = fetched
    finally:
        servers.close()
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    options = parser.parse_args()
    num_nodes = NODES[options.size]
    words = scipy.sparse.random(num_nodes, NUM_WORDS, WORDS_OF_NODE / NUM_WORDS, "csr", numpy.float32,
                                numpy.random.default_rng(1))
    with tempfile.TemporaryDirectory(prefix="vicinity_ragged_bench_") as scratch:
        folder = pathlib.Path(scratch)
        for name in ("ragged", "dense"):
            (folder / name).mkdir()
        ragged = measured(options.programs, folder / "ragged", words, num_nodes)
        dense = measured(options.programs, folder / "dense", words.toarray(), num_nodes)
    lines = [{"bench": "ragged", "case": case, "metric": metric, "value": value,
              "baseline": dense[case, metric], "limit": None}
             for (case, metric), value in ragged.items()]
    if options.format == "json":
        for line in lines:
            print(json.dumps(line))
        return
    tables.print_table(["case", "metric", "ragged", "dense", "ratio"], [
        [line["case"], line["metric"], f"{line['value']:,.0f}", f"{line['baseline']:,.0f}",
         f"{line['value'] / line['baseline']:.3g}" if line["baseline"] else ""] for line in lines])


if __name__ == "__main__":
    main()
