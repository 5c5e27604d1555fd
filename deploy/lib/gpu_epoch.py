#!/usr/bin/env python3
"""How much of an epoch a GPU waits for data: GraphSAGE of three layers, hidden 256, on a generated
graph (full size: that of ogbn-products, 2.4 million nodes, 120 million edges, 100 features) whose
shards real daemons serve on this machine. With and without the pool in device memory, with and
without the pipeline; and the losses of all, which have to be equal.

Waiting is what the trainer's stream does between the end of a step and the moment when all of the
next batch is there, measured by events of the stream. On the CPU (--device cpu), where nothing runs
beside the trainer, by the clock: that shows that the program works, and no more.

Needs the package `vicinity` and the example graphsage.py on PYTHONPATH, and prints as every
benchmark does (deploy/bench.sh). The last figure is a check: exit status 1 if losses differ.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import graphsage
import tables
import torch
from served_shards import ServedShards

import vicinity_graph

NUM_SHARDS = 2
FANOUTS = [15, 10, 5]
GOAL = 0.03  # of an epoch
WINDOW_BYTES = 4 << 30  # a batch of full size counts a third of a GiB, and ten are to be under way

# The graph, and what is trained on it. Of the edges drawn, a twentieth are doubles and dropped.
SIZES = {
    "tiny": {"nodes": 3000, "degree": 10, "features": 16, "train": 0.2, "hidden": 16, "batch": 64,
             "checked": 5},
    "small": {"nodes": 200_000, "degree": 25, "features": 100, "train": 0.2, "hidden": 256,
              "batch": 1024, "checked": 5},
    "full": {"nodes": 2_400_000, "degree": 53, "features": 100, "train": 0.08, "hidden": 256,
             "batch": 1024, "checked": 10},
}
# Name, pool, pipeline; the last is what the others are compared with.
CASES = [("pool and pipeline", True, True), ("pipeline, no pool", False, True),
         ("pool, no pipeline", True, False), ("no pool, no pipeline", False, False)]


def say(text):
    print(text, file=sys.stderr, flush=True)


def environment(options):
    """Of the programs; None: this one's."""
    return dict(os.environ, LD_LIBRARY_PATH=options.libraries) if options.libraries else None


def make_shards(options, size):
    """The folder of the graph's shards, which is kept for the next run."""
    folder = pathlib.Path(options.data) / f"epoch-{options.size}"
    if (folder / "done").is_file():
        return folder / "shards"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    start = time.monotonic()

    def tool(*arguments):
        subprocess.run([options.tool, *map(str, arguments)], check=True, stdout=sys.stderr,
                       env=environment(options))

    tool("generate", "block-model", "--num-nodes", size["nodes"], "--average-degree",
         size["degree"], "--num-communities", 47, "--num-classes", 47, "--feature-width",
         size["features"], "--train", size["train"], "--output", folder / "graph")
    tool("partition", "--input", folder / "graph", "--output", folder / "shards", "--shards",
         NUM_SHARDS, "--assigner", "hash", "--homes", "0/1", "--fanouts",
         ",".join(map(str, FANOUTS)), "--batch-size", size["batch"])
    shutil.rmtree(folder / "graph")
    (folder / "done").touch()
    say(f"epoch: the graph took {time.monotonic() - start:.0f} s to make")
    return folder / "shards"


class Report:
    """JSON lines as they come, or a table at the end."""

    def __init__(self, options):
        self._as_json = options.format == "json"
        self._size = options.size
        self._rows = []

    def add(self, case, metric, value, baseline=None, limit=None):
        case = f"GraphSAGE, {self._size}, {case}"
        if self._as_json:
            print(json.dumps({"bench": "gpu", "case": case, "metric": metric, "value": value,
                              "baseline": baseline, "limit": limit}), flush=True)
        self._rows.append([case, metric] + ["-" if figure is None else f"{figure:.4g}"
                                            for figure in (value, baseline, limit)])

    def finish(self):
        if not self._as_json:
            tables.print_table(["case", "metric", "value", "baseline", "limit"], self._rows)


class StreamClock:
    """Where the GPU's time goes, by events in the trainer's stream; nothing waits for them before
    the epoch is over."""

    def __init__(self):
        self._events = []

    def mark(self):
        self._events.append(torch.cuda.Event(enable_timing=True))
        self._events[-1].record()

    def seconds(self):
        """Between each mark and the next."""
        self._events[-1].synchronize()
        return [a.elapsed_time(b) / 1000 for a, b in zip(self._events, self._events[1:])]


class WallClock:
    def __init__(self):
        self._times = []

    def mark(self):
        self._times.append(time.monotonic())

    def seconds(self):
        return [b - a for a, b in zip(self._times, self._times[1:])]


def loading(options, size, width, pool):
    """The loader's options: of the first of two trainers, with the first of the two shards at home.
    """
    common = {"batch_size": size["batch"], "run_seed": 7, "num_trainers": NUM_SHARDS,
              "homes": [[i] for i in range(NUM_SHARDS)], "sample_threads": options.threads,
              "window_bytes": WINDOW_BYTES, "cache": "none"}
    if not pool:
        return common
    pool_bytes = int(options.pool_share * size["nodes"] * width * 4)
    kind = "cuda" if options.device == "cuda" else "host"  # its twin
    return {**common, "placement": "device", "device": {"kind": kind, "home_bytes": pool_bytes},
            "cache": "auto", "cache_bytes": pool_bytes}


class Trainer:
    """One case: a loader, and a model at its start."""

    def __init__(self, graph, options, size, pool):
        self.device = torch.device(options.device)
        node_type, self.column, width, num_classes = graphsage.describe(graph)
        self.loader = graph.loader(FANOUTS, columns=[(node_type, self.column)],
                                   **loading(options, size, width, pool))
        torch.manual_seed(0)
        self.model = graphsage.GraphSage(width, size["hidden"], num_classes, len(FANOUTS))
        self.model.to(self.device)
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.003)

    def train(self, epoch, num_steps, pipeline):
        """The losses, the seconds in which the device waited for batches, and those of the epoch.
        """
        clock = StreamClock() if self.device.type == "cuda" else WallClock()
        losses = []
        if pipeline:
            self.loader.start_epoch(epoch, 0, num_steps)
        for step in range(num_steps):
            clock.mark()
            if not pipeline:  # a batch is begun when the step before has been handed in
                self.loader.start_epoch(epoch, step, step + 1)
            batch = graphsage.DeviceBatch(self.loader.next(), self.column, self.device)
            clock.mark()
            losses.append(graphsage.step(self.model, self.optimizer, batch))
            del batch  # its memory is free for the batch after the next
        clock.mark()
        seconds = clock.seconds()
        return [loss.item() for loss in losses], sum(seconds[::2]), sum(seconds)


def say_stages(name, before, after, num_steps):
    """How long each stage of the loader worked on a step: who holds the others up."""
    stages = []
    for old, new in zip(before["stages"], after["stages"]):
        busy = (new["busy_seconds"] - old["busy_seconds"]) / num_steps
        stages.append(f"{new['stage']} {1000 * busy:.1f} ms of {new['num_threads']} threads")
    say(f"epoch: {name}: a step's {', '.join(stages)}")


def measure(graph, options, size, report):
    """Whether the losses were equal."""
    losses = {}
    waits = {}
    for name, pool, pipeline in reversed(CASES):
        # Sums in a fixed order, so that equal batches give equal losses.
        torch.use_deterministic_algorithms(True)
        losses[name], _, _ = Trainer(graph, options, size, pool).train(0, size["checked"], pipeline)
        torch.use_deterministic_algorithms(False)
        trainer = Trainer(graph, options, size, pool)
        num_steps = len(trainer.loader)
        trainer.train(0, max(1, num_steps // 4), pipeline)  # warm: pool, clocks, memory
        before = trainer.loader.stats()
        _, waited, epoch = trainer.train(1, num_steps, pipeline)
        after = trainer.loader.stats()
        rows = after["rows_remote"] - before["rows_remote"]
        waits[name] = waited / epoch
        say(f"epoch: {name}: {waited:.3f} of {epoch:.3f} s waiting for data")
        say_stages(name, before, after, num_steps)
        report.add(name, "share of the epoch waiting for data", waits[name], waits[CASES[-1][0]], GOAL)
        report.add(name, "seconds/step", epoch / num_steps)
        report.add(name, "remote rows/step", rows / num_steps)
        trainer.loader.close()
    equal = len({tuple(each) for each in losses.values()}) == 1
    report.add("all four", f"{size['checked']} losses equal (1: yes)", float(equal))
    if not equal:
        say(f"epoch: losses differ: {losses}")
    return equal


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", required=True, help="the program vicinity")
    parser.add_argument("--daemon", required=True, help="the program vicinityd")
    parser.add_argument("--libraries", help="LD_LIBRARY_PATH of the two")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    parser.add_argument("--data", default="/tmp/vicinity-bench")
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--threads", type=int, default=max(1, (os.cpu_count() or 1) // 2),
                        help="of sampling")
    parser.add_argument("--pool-share", type=float, default=0.25, help="of all features' bytes: for remote rows, and for those at home")
    options = parser.parse_args()
    size = SIZES[options.size]
    if options.device == "cuda":
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # for equal sums
        if not torch.cuda.is_available():
            say("epoch: there is no GPU")
            return 3
        torch.set_num_threads(1)  # as the example does

    report = Report(options)
    served = ServedShards(options.daemon, make_shards(options, size), NUM_SHARDS,
                          environment(options))
    try:
        graph = vicinity_graph.Graph(cluster_file=str(served.cluster_file), local_shards=[0])
        equal = measure(graph, options, size, report)
    finally:
        served.close()
    report.finish()
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main())
