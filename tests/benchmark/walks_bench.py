#!/usr/bin/env python3
"""Random walks beside DGL's: for `deploy/bench.sh walks`."""

import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import tables
import vicinity_graph
from bench_turns import fastest
from served_shards import ServedShards
from vicinity_graph import convert

LENGTH = 10
LAST_TIME = 1 << 40
NUM_SHARDS = 4
TURNS = 3  # the fastest counts
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


def imported(tool, folder, nodes, edges):
    """The directory of the dataset."""
    description = convert.write(folder / "arrays", nodes, edges)
    subprocess.run([tool, "import", "--description", description, "--output", folder / "graph"],
                   check=True, stdout=sys.stderr)
    return folder / "graph"


class Graphs:
    """One of one relation with weights, times and kinds (ten of them) of its edges, one of two
    relations, as arrays and as datasets."""

    def __init__(self, tool, folder, size):
        self.num_nodes = 1 << (20 if size == "full" else 17)
        generator = numpy.random.default_rng(1)
        amount = 16 * self.num_nodes
        self.sources, self.targets = (power_law(generator, self.num_nodes, amount)
                                      for _ in range(2))
        self.columns = {"weight": generator.random(amount).astype("float32"),
                        "time": generator.integers(LAST_TIME, size=amount),
                        "kind": generator.integers(10, size=amount)}
        ends = numpy.stack([self.sources, self.targets])
        node = {"node": convert.Nodes(count=self.num_nodes)}
        self.plain = imported(tool, folder / "plain", node, {
            ("node", "to", "node"): convert.Edges(ends, self.columns, "weight")})
        both = {each: convert.Nodes(count=self.num_nodes) for each in ("user", "item")}
        self.typed = imported(tool, folder / "typed", both, {
            ("user", "buys", "item"): convert.Edges(ends),
            ("item", "bought_by", "user"): convert.Edges(ends[::-1])})
        # Where there is an edge to take.
        self.starts = generator.choice(self.targets, self.num_nodes // 8)


def rates(walks, starts):
    """Steps a second of each way to walk, by name: functions that give walks from the starts,
    [n, length + 1] with -1 behind an end."""
    steps = {name: int((walk(starts)[:, 1:] >= 0).sum()) for name, walk in walks.items()}
    seconds = fastest({name: lambda walk=walk: walk(starts) for name, walk in walks.items()}, TURNS)
    return {name: steps[name] / seconds[name] for name in walks}


def ours(graph, metapath="", **options):
    return lambda starts: graph.walk(starts, LENGTH, metapath, **options).numpy()


def of_dgl(graphs):
    """Walks by name; of nothing, which is said, where there is no DGL. Its walks go along edges,
    ours against them: it gets them the other way round."""
    try:
        import dgl  # pylint: disable=import-outside-toplevel
        import torch  # pylint: disable=import-outside-toplevel
    except ImportError as error:
        print(f"no baseline of walks, since this Python has no DGL: {error}", file=sys.stderr)
        return {}
    torch.set_num_threads(1)
    dgl.utils.set_num_threads(1)
    sources, targets = torch.from_numpy(graphs.sources), torch.from_numpy(graphs.targets)
    plain = dgl.graph((targets, sources), num_nodes=graphs.num_nodes)
    plain.edata["weight"] = torch.from_numpy(graphs.columns["weight"])
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


@contextlib.contextmanager
def one_core():
    """For this thread and those that it starts."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def on_one_core(graphs):
    with one_core():
        plain, typed = (vicinity_graph.Graph(directory=each)
                        for each in (graphs.plain, graphs.typed))
        walks = {name: ours(plain, **options) for name, options in KINDS.items()}
        walks["metapath"] = ours(typed, RELATIONS)
        beside = of_dgl(graphs)
        for name, walk in walks.items():
            sides = {"ours": walk, "DGL": beside[name]} if name in beside else {"ours": walk}
            found = rates(sides, graphs.starts)
            yield {"case": f"{name}, mapped, one core", "metric": "steps/s", "value": found["ours"],
                   "baseline": found.get("DGL")}


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
                   "value": rates({"ours": ours(graph, **options)}, starts)["ours"],
                   "baseline": None}
            before = graph.stats()["calls"]
            ours(graph, **options)(starts[:100])
            yield {"case": f"{case}, 100 walks", "metric": "calls",
                   "value": graph.stats()["calls"] - before, "baseline": None}
    finally:
        servers.close()


def report(bench, results, output_format):
    """Prints them: dicts of case, metric, value, and baseline, which is DGL's."""
    lines = [{"bench": bench, **result, "limit": None} for result in results]
    if output_format == "json":
        for line in lines:
            print(json.dumps(line))
        return
    tables.print_table(["case", "metric", "value", "baseline", "ratio"], [
        [line["case"], line["metric"], f"{line['value']:,.0f}",
         "" if line["baseline"] is None else f"{line['baseline']:,.0f}",
         "" if line["baseline"] is None else f"{line['value'] / line['baseline']:.2f}"]
        for line in lines])


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
    report("walks", results, options.format)


if __name__ == "__main__":
    main()
