#!/usr/bin/env python3
"""Epochs over servers, ours and graphlearn-torch's: for `deploy/bench.sh pyg-servers`.

A case has servers and a trainer of its own, which are ended behind it. CPU and memory are those of
the trainer, the servers, and all that they start."""

import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts PyG

import numpy
import process_trees
import tables
from served_shards import ServedShards
from vicinity_graph.pyg import connect

HERE = pathlib.Path(__file__).resolve().parent
FANOUTS = [15, 10, 5]
BATCH_SIZES = [1024, 64]
SCALES = {"small": "17", "full": "20"}
SECONDS = {"small": 12, "full": 60}  # that count, of a case
TRAINER_SECONDS = 600  # at most
FAREWELL_SECONDS = 60  # at most, of a server whose trainer has ended
OURS = {"Vicinity": "auto", "Vicinity without a cache": "none"}
METRICS = ["seeds/s", "CPU-s/1,000 seeds", "resident bytes", "rows/seed", "edges/seed"]


def make_dataset(tool, size, num_servers, folder):
    graph, shards = folder / "graph", folder / "shards"
    subprocess.run([tool, "generate", "rmat", "--scale", SCALES[size], "--symmetric", "--dedup",
                    "--drop-self-loops", "--feature-width", "128", "--train", "0.2", "--output",
                    graph], check=True, stdout=sys.stderr)
    subprocess.run([tool, "partition", "--input", graph, "--output", shards, "--shards",
                    str(num_servers), "--assigner", "hash"], check=True, stdout=sys.stderr)
    return shards


def write_arrays(shards, num_servers, folder):
    """The same graph as baselines/graphlearn_servers.py takes it, cut by chance as well."""
    data = connect(shards)
    sources, targets = data[1].get_edge_index(edge_type=None, layout="coo")
    order = numpy.argsort(sources.numpy(), kind="stable")
    degrees = numpy.bincount(sources.numpy(), minlength=data.num_nodes)
    arrays = {"offsets": numpy.concatenate([[0], numpy.cumsum(degrees)]),
              "neighbors": targets.numpy()[order], "x": data.x[:].numpy(),
              "train": data.train_mask.numpy().nonzero()[0],
              "owners": numpy.random.default_rng(1).integers(num_servers, size=data.num_nodes)}
    folder.mkdir()
    for name, array in arrays.items():
        numpy.save(folder / f"{name}.npy", array)


class Cases:
    """Runs each over so many servers. `folder` has the graph, and gets what they write."""

    def __init__(self, programs, folder, num_servers, seconds):
        self._daemon = programs / "server/vicinityd"
        self._shards = folder / "shards"
        self._arrays = folder / "arrays"
        self._result = folder / "result.json"
        self._num_servers = num_servers
        self._seconds = seconds
        # It imports torch_sparse for what nobody here calls.
        stubs = folder / "stubs"
        stubs.mkdir()
        if importlib.util.find_spec("torch_sparse") is None:
            (stubs / "torch_sparse.py").touch()
        path = [str(HERE), os.environ["PYTHONPATH"], str(stubs)]
        # PyTorch's RPC looks for this host's name otherwise, and warns of its own use of itself.
        self._environment = {**os.environ, "PYTHONPATH": ":".join(path), "TP_SOCKET_IFNAME": "lo",
                             "PYTHONWARNINGS": "ignore::FutureWarning"}

    def _train(self, program, batch_size, servers, *arguments):
        with self._started([
                *program, *arguments, "--batch-size", str(batch_size), "--fanouts",
                *map(str, FANOUTS), "--seconds", str(self._seconds), "--servers",
                *map(str, servers), "--result", self._result]) as trainer:
            if trainer.wait(TRAINER_SECONDS) != 0:
                sys.exit(f"pyg-servers: {program[0]} ended with status {trainer.returncode}")
        return json.loads(self._result.read_text(encoding="utf-8"))

    @contextlib.contextmanager
    def _started(self, program):
        """A process, which is ended with all that it has started if it is still there; what such ones
        of graphlearn-torch share stays behind in /dev/shm and in `ipcs -m`."""
        process = subprocess.Popen([sys.executable, *program], env=self._environment,
                                   stdout=sys.stderr, start_new_session=True)
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def ours(self, cache, batch_size):
        served = ServedShards(self._daemon, self._shards, self._num_servers)
        try:
            return self._train([HERE / "pyg_servers_trainer.py"], batch_size, served.pids(),
                               "--cluster", served.cluster_file, "--cache", cache)
        finally:
            served.close()

    def graphlearn(self, workers, batch_size):
        program = HERE / "baselines/graphlearn_servers.py"
        common = ["--graph", self._arrays, "--num-servers", str(self._num_servers),
                  "--ports", *map(str, free_ports(2))]
        with contextlib.ExitStack() as stack:
            servers = [stack.enter_context(self._started([program, "serve", *common, "--rank",
                                                          str(rank)]))
                       for rank in range(self._num_servers)]
            result = self._train([program, "train"], batch_size,
                                 [server.pid for server in servers], *common, "--workers",
                                 str(workers))
            for server in servers:
                server.wait(FAREWELL_SECONDS)
        return result


def free_ports(count):
    """Of the loopback device; nobody had them a moment ago."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0)))
                   for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


def measure(cases, batch_size, with_peer):
    """Each side's lines; the peer's first, which is what ours are compared with."""
    peer = None
    if with_peer:
        peer = cases.graphlearn(len(os.sched_getaffinity(0)), batch_size)
        yield from lines("graphlearn-torch", batch_size, peer, None)
    for name, cache in OURS.items():
        yield from lines(name, batch_size, cases.ours(cache, batch_size), peer)


def lines(name, batch_size, result, baseline):
    print(f"{name}, batch {batch_size}: {result['batches']} batches, {result['processes']} "
          f"processes", file=sys.stderr)
    for metric in METRICS:
        yield {"bench": "pyg-servers", "case": f"{name}, batch {batch_size}", "metric": metric,
               "value": result[metric], "baseline": baseline and baseline[metric], "limit": None}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--format", choices=["table", "json"], default="table")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("pyg-servers: terminated"))  # ends all
    with_peer = importlib.util.find_spec("graphlearn_torch") is not None
    if not with_peer:
        print("pyg-servers: no baseline, since this Python has no graphlearn-torch",
              file=sys.stderr)
    results = []
    with tempfile.TemporaryDirectory(prefix="vicinity_pyg_servers_bench_") as folder:
        folder = pathlib.Path(folder)
        shards = make_dataset(options.programs / "client/cli/vicinity", options.size,
                              options.servers, folder)
        if with_peer:
            write_arrays(shards, options.servers, folder / "arrays")
        cases = Cases(options.programs, folder, options.servers, SECONDS[options.size])
        for batch_size in BATCH_SIZES:
            results += measure(cases, batch_size, with_peer)
    if options.format == "json":
        for line in results:
            print(json.dumps(line))
        return
    tables.print_table(["case", "metric", "value", "graphlearn-torch", "ratio"], [
        [line["case"], line["metric"], f"{line['value']:,.4g}",
         "" if line["baseline"] is None else f"{line['baseline']:,.4g}",
         "" if line["baseline"] is None else f"{line['value'] / line['baseline']:.2f}"]
        for line in results])


if __name__ == "__main__":
    main()
