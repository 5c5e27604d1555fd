#!/usr/bin/env python3
"""Ways to sample beside DGL's, on the same graph and core: for `deploy/bench.sh samplers`.

Minibatches are two hops around seeds, mapped: ours by Graph.sample, DGL's by GraphBolt. Sides take
turns, and the fastest turn counts."""

import argparse
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import tables
import vicinity_graph
import walks_bench
from bench_turns import fastest
from vicinity_graph import convert

ROOT = pathlib.Path(__file__).resolve().parents[2]
FANOUTS = [15, 10]
BATCH_SIZE = 1024
NUM_BATCHES = 32
TURNS = 5
WAYS = {
    "uniform": {},
    "by weight": {"weighted_by": "weight"},
    "a tenth of the edges": {"where": "kind = 3"},
    "LABOR": {"draws": "labor"},
    "until a time": {"disjoint": True, "time_column": "time"},
    "until a time, by weight": {"disjoint": True, "time_column": "time", "weighted_by": "weight"},
}


class Ours:
    """One way: draw() makes the minibatch of a step."""

    def __init__(self, graph, **options):
        self._graph = graph
        self._timed = "time_column" in options
        self._options = options

    def draw(self, step, seeds, times):
        return self._graph.sample("node", seeds, FANOUTS, step=step, **self._options,
                                  seed_times=times if self._timed else None)

    @staticmethod
    def size(batch):
        """Its edges and nodes."""
        return sum(len(each.sources) for each in batch.blocks), len(batch.nodes("node"))


class OfDgl:
    """Likewise; `draw` is of graphbolt_ways."""

    def __init__(self, draw, size):
        self._draw = draw
        self.size = size

    def draw(self, _, seeds, times):
        return self._draw(seeds, times)


def untyped(graphbolt, graphs):
    """DGL's ways by name. A condition is weights of 0 and 1 for it, which it is given ready: a mask of
    booleans it makes weights of for every hop, of all edges, which takes many times as long."""
    columns = {**graphs.columns, "tenth": (graphs.columns["kind"] == 3).astype("float32")}
    graph = graphbolt.in_lists(graphs.num_nodes, (graphs.sources, graphs.targets), columns)
    fanouts = [[each] for each in FANOUTS]

    def probable(name):
        return lambda nodes, fanout: graph.sample_neighbors(nodes, fanout, probs_name=name)
    return {
        "uniform": graphbolt.drawn(graph.sample_neighbors, fanouts),
        "by weight": graphbolt.drawn(probable("weight"), fanouts),
        "a tenth of the edges": graphbolt.drawn(probable("tenth"), fanouts),
        "LABOR": graphbolt.drawn(graph.sample_layer_neighbors, fanouts),
        "until a time": graphbolt.drawn_by_time(graph, FANOUTS, "time"),
        "until a time, by weight": graphbolt.drawn_by_time(graph, FANOUTS, "time", "weight")}


class Minibatches:
    """Of all seeds, in pieces, with a time for each; `as_dgl` makes of these what DGL is given."""

    def __init__(self, seeds, times, as_dgl):
        parts = range(0, len(seeds), BATCH_SIZE)
        self._ours = [(seeds[each:each + BATCH_SIZE], times[each:each + BATCH_SIZE])
                      for each in parts]
        self._dgl = [as_dgl(*each) for each in self._ours] if as_dgl else []

    def measure(self, sides):
        """By the side's name: edges a second, and nodes a minibatch. A pass before them fills caches;
        which edges meet a condition we remember in the first turns at the latest."""
        sizes = {name: self._sizes(side) for name, side in sides.items()}
        seconds = fastest({name: lambda side=side: self._pass(side) for name, side in sides.items()},
                          TURNS)
        return {name: (sizes[name][0] / seconds[name], sizes[name][1] / len(self._ours))
                for name in sides}

    def _of(self, side):
        return enumerate(self._dgl if isinstance(side, OfDgl) else self._ours)

    def _pass(self, side):
        for step, given in self._of(side):
            side.draw(step, *given)

    def _sizes(self, side):
        return numpy.sum([side.size(side.draw(step, *given)) for step, given in self._of(side)],
                         axis=0)


def lines(case, ours, baseline=(None, None)):
    for metric, value, other in zip(("edges/s", "nodes/batch"), ours, baseline):
        yield {"case": case, "metric": metric, "value": float(value),
               "baseline": None if other is None else float(other)}


def neighbours(graphs, graphbolt):
    generator = numpy.random.default_rng(2)
    seeds = generator.choice(numpy.unique(graphs.targets), NUM_BATCHES * BATCH_SIZE,
                             replace=False)
    times = generator.integers(walks_bench.LAST_TIME, size=len(seeds))
    beside = untyped(graphbolt, graphs) if graphbolt else {}
    graph = vicinity_graph.Graph(directory=graphs.plain)
    minibatches = Minibatches(seeds, times, graphbolt and graphbolt.given)
    for name, options in WAYS.items():
        sides = {"ours": Ours(graph, **options)}
        if name in beside:
            sides["DGL"] = OfDgl(beside[name], graphbolt.size)
        yield from lines(f"neighbours {name}", *minibatches.measure(sides).values())


class WordNet:
    """Its relations, {name: ends}, and the datasets of them and of all as one."""

    def __init__(self, tool, folder):
        folder.mkdir()
        files = folder / "files"
        subprocess.run([ROOT / "deploy/wordnet.py", files], check=True, stdout=sys.stderr)
        rows = {line.split("\t")[0]: row for row, line in enumerate(
            (files / "synsets.tsv").read_text(encoding="ascii").splitlines())}
        self.num_nodes = len(rows)
        self.relations = {
            each.stem: numpy.array([[rows[end] for end in line.split("\t")] for line in
                                    each.read_text(encoding="ascii").splitlines()]).T
            for each in sorted((files / "edges").glob("*.tsv"))}
        nodes = {"node": convert.Nodes(count=self.num_nodes)}
        self.typed = walks_bench.imported(tool, folder / "typed", nodes, {
            ("node", name, "node"): convert.Edges(ends) for name, ends in self.relations.items()})
        self.as_one = walks_bench.imported(tool, folder / "as_one", nodes, {
            ("node", "to", "node"): convert.Edges(
                numpy.concatenate([*self.relations.values()], axis=1))})


def typed(wordnet, graphbolt):
    sides = {"ours": Ours(vicinity_graph.Graph(directory=wordnet.typed)),
             "as one": Ours(vicinity_graph.Graph(directory=wordnet.as_one))}
    if graphbolt:
        graph = graphbolt.typed_in_lists("node", wordnet.num_nodes, wordnet.relations)
        fanouts = [[each] * len(wordnet.relations) for each in FANOUTS]
        sides["DGL"] = OfDgl(graphbolt.drawn(graph.sample_neighbors, fanouts), graphbolt.size)
    seeds = numpy.random.default_rng(3).permutation(wordnet.num_nodes)[:NUM_BATCHES * BATCH_SIZE]
    given = graphbolt and graphbolt.given_of_type("node")
    found = Minibatches(seeds, numpy.zeros_like(seeds), given).measure(sides)
    case = f"neighbours by {len(wordnet.relations)} relations of WordNet"
    yield from lines(case, found["ours"], found.get("DGL", (None, None)))
    yield {"case": f"{case}, beside ours of all as one", "metric": "ns/edge",
           "value": 1e9 / found["ours"][0], "baseline": 1e9 / found["as one"][0]}


def the_peer():
    """graphbolt_ways; None, which is said, where there is no DGL."""
    if importlib.util.find_spec("dgl") is None:
        print("samplers: no baseline, since this Python has no DGL", file=sys.stderr)
        return None
    import graphbolt_ways  # pylint: disable=import-outside-toplevel
    return graphbolt_ways


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    options = parser.parse_args()
    tool = options.programs / "client/cli/vicinity"
    graphbolt = the_peer()
    with tempfile.TemporaryDirectory(prefix="vicinity_samplers_bench_") as folder:
        folder = pathlib.Path(folder)
        graphs = walks_bench.Graphs(tool, folder, options.size)
        wordnet = WordNet(tool, folder / "wordnet")
        results = [{**each, "case": f"walks {each['case']}"}
                   for each in walks_bench.on_one_core(graphs)]
        with walks_bench.one_core():
            results += [*neighbours(graphs, graphbolt), *typed(wordnet, graphbolt)]
    walks_bench.report("samplers", results, options.format)


if __name__ == "__main__":
    main()
