#!/usr/bin/env python3
"""Random walks beside DGL's: for `deploy/bench.sh walks`."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import tables
import vicinity_graph
from served_shards import ServedShards
from vicinity_graph import convert

LENGTH = 10
NUM_SHARDS = 4
TURNS = 3  # the best counts
RELATIONS = ("user:buys:item", "item:bought_by:user")
KINDS = {
    "uniform": {},
    "weighted": {"weighted_by": "weight"},
    "node2vec": {"p": 0.25, "q": 4.0},
}


def power_law(generator, num_nodes, num_edges):
    """Ends of edges: few nodes have many."""
    places = (num_nodes * generator.random(num_edges) ** 2.5).astype(numpy.int64)
    return generator.permutation(num_nodes)[places]


class Graphs:
    """One of one relation with weights, one of two relations, as arrays and as datasets."""

    def __init__(self, tool, folder, size):
        self.num_nodes = 1 << (20 if size == "full" else 17)
        generator = numpy.random.default_rng(1)
        amount = 16 * self.num_nodes
        self.sources, self.targets = (power_law(generator, self.num_nodes, amount)
                                      for _ in range(2))
        self.weights = generator.random(amount).astype("float32")
        ends = numpy.stack([self.sources, self.targets])
        node = {"node": convert.Nodes(count=self.num_nodes)}
        self.plain = self._imported(tool, folder / "plain", node, {
            ("node", "to", "node"): convert.Edges(ends, {"weight": self.weights}, "weight")})
        both = {each: convert.Nodes(count=self.num_nodes) for each in ("user", "item")}
        self.typed = self._imported(tool, folder / "typed", both, {
            ("user", "buys", "item"): convert.Edges(ends),
            ("item", "bought_by", "user"): convert.Edges(ends[::-1])})
        # Where there is an edge to take.
        self.starts = generator.choice(self.targets, self.num_nodes // 8)

    @staticmethod
    def _imported(tool, folder, nodes, edges):
        description = convert.write(folder / "arrays", nodes, edges)
        subprocess.run([tool, "import", "--description", description, "--output",
                        folder / "graph"], check=True, stdout=sys.stderr)
        return folder / "graph"


def rate(walk, starts):
    """Steps a second of walks, [n, length + 1] with -1 behind an end."""
    walk(starts[:1000])
    best = 0
    for _ in range(TURNS):
        begin = time.perf_counter()
        nodes = walk(starts)
        seconds = time.perf_counter() - begin
        best = max(best, int((nodes[:, 1:] >= 0).sum()) / seconds)
    return best


def ours(graph, metapath="", **options):
    return lambda starts: graph.walk(starts, LENGTH, metapath, **options).numpy()


def of_dgl(graphs):
    """Walks by name; of nothing, which is said, where there is no DGL. Its walks go along edges,
    ours against them: it gets them the other way round."""
    try:
        import dgl  # pylint: disable=import-outside-toplevel
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        print(f"walks: no baseline, since this Python has no DGL: {error}", file=sys.stderr)
        return {}
    torch.set_num_threads(1)
    dgl.utils.set_num_threads(1)
    sources, targets = torch.from_numpy(graphs.sources), torch.from_numpy(graphs.targets)
    plain = dgl.graph((targets, sources), num_nodes=graphs.num_nodes)
    plain.edata["weight"] = torch.from_numpy(graphs.weights)
    plain.create_formats_()
    typed = dgl.heterograph(
        {("item", "to", "user"): (targets, sources), ("user", "to", "item"): (sources, targets)},
        num_nodes_dict={"item": graphs.num_nodes, "user": graphs.num_nodes})
    typed.create_formats_()
    walk = dgl.sampling.random_walk
    path = [("item", "to", "user"), ("user", "to", "item")] * (LENGTH // 2)
    walks = {
        "uniform": lambda starts: walk(plain, starts, length=LENGTH)[0],
        "weighted": lambda starts: walk(plain, starts, length=LENGTH, prob="weight")[0],
        "node2vec": lambda starts: dgl.sampling.node2vec_random_walk(plain, starts, 0.25, 4.0,
                                                                     LENGTH),
        "metapath": lambda starts: walk(typed, starts, metapath=path)[0]}
    return {name: lambda starts, each=each: each(torch.from_numpy(starts)).numpy()
            for name, each in walks.items()}


def on_one_core(graphs):
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    plain, typed = (vicinity_graph.Graph(directory=each) for each in (graphs.plain, graphs.typed))
    walks = {name: ours(plain, **options) for name, options in KINDS.items()}
    walks["metapath"] = ours(typed, RELATIONS)
    beside = of_dgl(graphs)
    for name, walk in walks.items():
        value = rate(walk, graphs.starts)
        baseline = rate(beside[name], graphs.starts) if name in beside else None
        yield {"case": f"{name}, mapped, one core", "metric": "steps/s", "value": value,
               "baseline": baseline}
    os.sched_setaffinity(0, cores)


def served(graphs, programs, assigner):
    shards = graphs.plain.parent / assigner
    subprocess.run([programs / "client/cli/vicinity", "partition", "--input", graphs.plain,
                    "--output", shards, "--shards", str(NUM_SHARDS), "--assigner", assigner],
                   check=True, stdout=sys.stderr)
    servers = ServedShards(programs / "server/vicinityd", shards, NUM_SHARDS)
    try:
        graph = vicinity_graph.Graph(cluster_file=servers.cluster_file)
        starts = graph.resolve("node", graphs.starts).numpy()
        for name, options in KINDS.items():
            case = f"{name}, {NUM_SHARDS} servers, {assigner} cut"
            yield {"case": case, "metric": "steps/s",
                   "value": rate(ours(graph, **options), starts), "baseline": None}
            before = graph.stats()["calls"]
            ours(graph, **options)(starts[:100])
            yield {"case": f"{case}, 100 walks", "metric": "calls",
                   "value": graph.stats()["calls"] - before, "baseline": None}
    finally:
        servers.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vicinity_walks_bench_") as folder:
        graphs = Graphs(options.programs / "client/cli/vicinity", pathlib.Path(folder),
                        options.size)
        results = list(on_one_core(graphs))
        for assigner in ("metis", "hash"):
            results += served(graphs, options.programs, assigner)
    lines = [{"bench": "walks", **result, "limit": None} for result in results]
    if options.format == "json":
        for line in lines:
            print(json.dumps(line))
        return
    tables.print_table(["case", "metric", "value", "DGL", "ratio"], [
        [line["case"], line["metric"], f"{line['value']:,.0f}",
         "" if line["baseline"] is None else f"{line['baseline']:,.0f}",
         "" if line["baseline"] is None else f"{line['value'] / line['baseline']:.1f}"]
        for line in lines])


if __name__ == "__main__":
    main()
