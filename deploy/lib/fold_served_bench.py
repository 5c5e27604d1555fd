#!/usr/bin/env python3
"""What deploy/bench/fold-served.sh runs: a live server, online readers, and a fold beside them."""

import argparse
import contextlib
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import tables

SIZES = {"small": 16, "full": 20}  # 2^scale nodes
EDGES_PER_NODE = 10
ALONE_SECONDS = 10
LONGEST_SECONDS = 900
ROW_FLOATS = 16
EDGE_TYPE = "link"  # of what `vicinity generate` makes


def say(text):
    print(text, file=sys.stderr, flush=True)


class Programs:
    """The built programs, and one server of a dataset that takes changes."""

    def __init__(self, folder, work):
        self._folder = folder
        self._work = work
        self.data = f"{work}/graph"
        self.cluster = f"{work}/cluster.textproto"
        self._port = None
        self._server = None

    def vicinity(self, *arguments, **options):
        done = subprocess.run([f"{self._folder}/client/cli/vicinity", *arguments],
                              capture_output=True, text=True, timeout=LONGEST_SECONDS, check=False,
                              **options)
        if done.returncode != 0:
            sys.exit(f"vicinity {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def start(self):
        """Seconds until the server has said that it is ready."""
        ready = pathlib.Path(f"{self._work}/ready")
        ready.unlink(missing_ok=True)
        begun = time.monotonic()
        with open(f"{self._work}/log", "ab") as log:
            self._server = subprocess.Popen(
                [f"{self._folder}/server/vicinityd", "--data", self.data, "--changes",
                 f"{self._work}/changes", "--listen", f"127.0.0.1:{self._port or 0}",
                 "--ready-file", str(ready)], stdout=log, stderr=log)
        while not (ready.exists() and ready.read_text(encoding="utf-8")):
            if self._server.poll() is not None or time.monotonic() - begun > LONGEST_SECONDS:
                sys.exit(f"vicinityd: {pathlib.Path(f'{self._work}/log').read_text()[-2000:]}")
            time.sleep(0.005)
        seconds = time.monotonic() - begun
        address = ready.read_text(encoding="utf-8").strip()
        self._port = address.rsplit(":", 1)[1]
        pathlib.Path(self.cluster).write_text(
            f'data: "{self.data}"\nchanges: "{self._work}/changes"\nnum_shards: 1\n'
            f'servers {{ name: "a" listen: "{address}" shards: 0 }}\n', encoding="utf-8")
        return seconds

    def stop(self):
        if self._server is not None:
            self._server.terminate()
            self._server.wait(timeout=60)
            self._server = None

    def own_bytes(self):
        """Memory of the server's that is no file's."""
        for line in pathlib.Path(f"/proc/{self._server.pid}/status").read_text().splitlines():
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) << 10
        return 0

    @contextlib.contextmanager
    def readers(self, result):
        """Four of them read until the block ends; `result` gets what they saw."""
        with subprocess.Popen(
                [f"{self._folder}/tests/benchmark/cluster_client", "online", "--cluster",
                 self.cluster, "--threads", "4", "--fanouts", "10,10", "--seconds",
                 str(LONGEST_SECONDS)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
            if reader.stdout.readline().strip() != "ready":
                sys.exit("the readers did not begin")
            reader.stdin.write("\n")
            reader.stdin.flush()
            yield
            reader.stdin.write("\n")
            reader.stdin.close()
            result.update(json.loads(reader.stdout.readline()))


def write_edges(programs, num_nodes, num_edges):
    """Pipes lines of random edges into `vicinity write`."""
    path = pathlib.Path(programs.data).with_suffix(".csv")
    draw = random.Random(1)
    with open(path, "w", encoding="utf-8") as lines:
        lines.write("source,target\n")
        for _ in range(num_edges // 1000):
            lines.writelines(f"{draw.randrange(num_nodes)},{draw.randrange(num_nodes)}\n"
                             for _ in range(1000))
    programs.vicinity("write", "--cluster", programs.cluster, "--edges", EDGE_TYPE, "--durability",
                      "buffered", str(path))
    path.unlink()


def fold(programs):
    out = f"{programs.data}.folded"
    begun = time.monotonic()
    programs.vicinity("fold", "--data", programs.data, "--cluster", programs.cluster, "--out", out)
    seconds = time.monotonic() - begun
    subprocess.run(["rm", "-r", out], check=True)
    return seconds


def measure(programs, scale, report):
    num_nodes = 1 << scale
    num_edges = num_nodes * EDGES_PER_NODE
    say(f"making a graph of {num_nodes} nodes")
    programs.vicinity("generate", "rmat", "--scale", str(scale), "--edges-per-node",
                      str(EDGES_PER_NODE), "--feature-width", str(ROW_FLOATS), "--output",
                      programs.data)
    programs.start()
    before = programs.own_bytes()
    say(f"writing {num_edges} edges")
    write_edges(programs, num_nodes, num_edges)
    changes = f"{num_edges} new edges"
    report(changes, "bytes of memory each", (programs.own_bytes() - before) / num_edges)
    programs.stop()
    report(changes, "start until ready s", programs.start())
    say("reading")
    alone, beside = {}, {}
    with programs.readers(alone):
        time.sleep(ALONE_SECONDS)
    say("folding, alone and beside readers")
    fold_alone = fold(programs)
    with programs.readers(beside):
        fold_beside = fold(programs)
    report(changes, "fold beside readers s", fold_beside, fold_alone)
    for metric in ("p50_ms", "p99_ms", "longest_ms"):
        report("four readers beside the fold", metric.replace("_", " "), beside[metric],
               alone[metric])
    report("four readers beside the fold", "requests/s", beside["requests"] / beside["seconds"],
           alone["requests"] / alone["seconds"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--size", choices=SIZES, default="small")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    options = parser.parse_args()
    rows = []

    def report(case, metric, value, baseline=None):
        rows.append([case, metric, f"{value:,.2f}", "-" if baseline is None else f"{baseline:,.2f}"])
        if options.format == "json":
            print(json.dumps({"bench": "fold-served", "case": case, "metric": metric,
                              "value": value, "baseline": baseline, "limit": None}), flush=True)

    with tempfile.TemporaryDirectory() as work:
        programs = Programs(options.programs, work)
        try:
            measure(programs, SIZES[options.size], report)
        finally:
            programs.stop()
    if options.format == "table":
        tables.print_table(["what", "", "measured", "alone"], rows)


if __name__ == "__main__":
    main()
