#!/usr/bin/env python3
"""What deploy/bench/cluster.sh runs: trainers and servers on hosts joined by limited links.

Every host is a network namespace (namespaces.py) with one vicinityd, which serves one shard, and
one trainer (tests/benchmark/cluster_client.cc), which maps that shard's files and whose device step
is a timer. All share this machine's cores, which real hosts would not: the step is therefore chosen
so long that the cores are not what everybody waits for, and how busy they were is reported.
"""

import argparse
import json
import math
import os
import pathlib
import select
import shutil
import subprocess
import sys
import time

import namespaces
from cluster_report import Predicted, Report, Summary

PORT = 7070
FANOUTS = "15,10,5"
READY_SECONDS = 120
RUN_SECONDS = 600

# name: arguments of `vicinity generate` (None: WordNet), bytes of a row, seeds of a batch.
GRAPHS = {
    "wordnet": (None, 1024, 128),
    "block-model": (["block-model", "--num-nodes", "200000", "--average-degree", "20",
                     "--num-communities", "64", "--num-classes", "0", "--mixing", "0.3",
                     "--feature-width", "256", "--train", "0.1"], 1024, 16),
    "block-model-small": (["block-model", "--num-nodes", "20000", "--average-degree", "20",
                           "--num-communities", "64", "--num-classes", "0", "--mixing", "0.3",
                           "--feature-width", "256", "--train", "0.1"], 1024, 4),
}
# What a trainer keeps, and the options that say so; ALL and CACHE are filled in.
KINDS = {
    "full replication": ["--local-shards", "ALL"],
    "no cache": ["--cache", "none"],
    "static VIP": ["--cache", "vip", "--cache-rows", "CACHE"],
    "look-ahead": ["--cache", "auto", "--cache-rows", "CACHE"],
}


def say(text):
    print(text, file=sys.stderr, flush=True)


class Programs:
    """The built programs, and the datasets that they make in `data`, kept for the next run."""

    def __init__(self, folder, data):
        self.vicinityd = f"{folder}/server/vicinityd"
        self.client = f"{folder}/tests/benchmark/cluster_client"
        self._vicinity = f"{folder}/client/cli/vicinity"
        self._data = pathlib.Path(data)

    def vicinity(self, *arguments):
        done = subprocess.run([self._vicinity, *arguments], capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            sys.exit(f"vicinity {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def shards(self, graph, num_shards):
        """A folder with the graph in so many shards, each ranked as a home."""
        folder = self._data / f"cluster-{graph}-{num_shards}"
        if folder.exists():
            return str(folder)
        whole = self._data / f"cluster-{graph}"
        if not whole.exists():
            self._make(graph, whole)
        say(f"cutting {whole} in {num_shards}")
        self.vicinity("partition", "--input", str(whole), "--output", str(folder),
                      "--shards", str(num_shards), *plan_flags(graph, num_shards))
        return str(folder)

    def _make(self, graph, whole):
        say(f"making {whole}")
        self._data.mkdir(parents=True, exist_ok=True)
        generate = GRAPHS[graph][0]
        if generate is not None:
            self.vicinity("generate", *generate, "--output", str(whole))
            return
        files = self._data / "cluster-wordnet-files"
        subprocess.run(["deploy/wordnet.py", str(files)], check=True, stdout=sys.stderr)
        self.vicinity("import", "--description", str(files / "wordnet.textproto"),
                      "--output", str(whole))
        shutil.rmtree(files)


def plan_flags(graph, num_hosts):
    return ["--homes", "/".join(map(str, range(num_hosts))), "--fanouts", FANOUTS,
            "--batch-size", str(GRAPHS[graph][2])]


class Cluster:
    """A server on every host of a network, and trainers when they are asked for."""

    def __init__(self, programs, network, graph, folder, cache_share):
        self._programs = programs
        self._network = network
        self._graph = graph
        self._data = programs.shards(graph, network.num_hosts)
        self._file = f"{folder}/cluster.textproto"
        counts = json.loads(programs.vicinity("describe", "--data", self._data, "--format", "json"))
        num_nodes = sum(node_type["num_nodes"] for node_type in counts["node_types"])
        self.cache_rows = round(cache_share * num_nodes)
        self._start_servers(folder)

    def _start_servers(self, folder):
        hosts = range(self._network.num_hosts)
        self._servers = []
        for host in hosts:
            with open(f"{folder}/{host}.log", "w", encoding="utf-8") as log:
                self._servers.append(self._network.start(host, [
                    self._programs.vicinityd, "--data", self._data, "--shards", str(host),
                    "--listen", f"{self._network.address(host)}:{PORT}", "--open",
                    "--ready-file", f"{folder}/{host}.ready"], stdout=log, stderr=log))
        end = time.monotonic() + READY_SECONDS
        while not all(os.path.exists(f"{folder}/{host}.ready") for host in hosts):
            if time.monotonic() > end:
                sys.exit(f"a server is not ready after {READY_SECONDS} s; logs are in {folder}")
            time.sleep(0.05)
        with open(self._file, "w", encoding="utf-8") as file:
            file.write(f'data: "{self._data}"\nnum_shards: {self._network.num_hosts}\n'
                       'open: true\n')
            for host in hosts:
                file.write(f'servers {{ name: "host{host}" shards: {host} '
                           f'listen: "{self._network.address(host)}:{PORT}" }}\n')

    def predicted(self, *options):
        """By kind, remote rows a batch, and seconds that the busiest link at 1 Gbit/s needs for
        all trainers' batches, as `vicinity plan` tells them of later epochs."""
        return {"full replication": Predicted(0, 0)} | {
            kind: self._planned(words[words.index("--cache") + 1], *options)
            for kind, words in KINDS.items() if "--cache" in words}

    def _planned(self, policy, *options):
        row_bytes = GRAPHS[self._graph][1]
        cost = json.loads(self._programs.vicinity(
            "plan", self._data, *plan_flags(self._graph, self._network.num_hosts),
            "--policy", policy, "--seed-policy", "home", *options,
            "--cache", str(self.cache_rows * row_bytes), "--more", str(row_bytes),
            "--link-gbps", "1", "--format", "json"))["before"]
        return Predicted(cost["remote_rows_per_batch"], cost["seconds_per_batch"])

    def train(self, kind, *options):
        """What every host's trainer measured; all hosts train at once."""
        num_hosts = self._network.num_hosts
        filled = {"ALL": ",".join(map(str, range(num_hosts))), "CACHE": str(self.cache_rows)}
        kept = [filled.get(word, word) for word in KINDS[kind]]
        return self._run(range(num_hosts), lambda host: [
            "train", "--trainer", str(host), "--trainers", str(num_hosts), "--fanouts", FANOUTS,
            "--batch-size", str(GRAPHS[self._graph][2]), *options,
            *([] if "--local-shards" in kept else ["--local-shards", str(host)]), *kept])

    def fetch(self, seconds):
        """What host 0 measured that fetched rows of the others."""
        return self._run([0], lambda host: ["rows", "--local-shards", str(host),
                                            "--seconds", str(seconds)])[0]

    def _run(self, hosts, arguments):
        clients = [self._network.start(
            host, [self._programs.client, *arguments(host), "--cluster", self._file],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE) for host in hosts]
        for client in clients:
            if read_line(client, READY_SECONDS) != b"ready\n":
                sys.exit("a trainer is not ready")
        before = [self._network.received_bytes(host) for host in hosts]
        served = sum(map(core_seconds, self._servers))
        for client in clients:
            client.stdin.write(b"go\n")
            client.stdin.close()
        results = [json.loads(read_line(client, RUN_SECONDS)) for client in clients]
        cores = sum(map(core_seconds, self._servers)) - served
        cores += sum(result["cpu_seconds"] for result in results)
        for client, host, result, bytes_before in zip(clients, hosts, results, before):
            client.wait(READY_SECONDS)
            result["wire_bytes"] = self._network.received_bytes(host) - bytes_before
            result["core_seconds"] = cores  # of all hosts
        return results


def read_line(process, seconds):
    if not select.select([process.stdout], [], [], seconds)[0]:
        sys.exit(f"a trainer says nothing for {seconds} s")
    line = process.stdout.readline()
    return line or sys.exit(f"a trainer ended with status {process.wait()}")


def core_seconds(process):
    """What a process has worked, the kernel's part included."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        user, system = file.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


TCP_SENDER = """
import socket, time
server = socket.create_server(("", 7071))
peer = server.accept()[0]
end = time.monotonic() + 3
while time.monotonic() < end:
    peer.sendall(bytes(1 << 20))
"""
TCP_RECEIVER = """
import socket, sys, time
for attempt in range(100):
    try:
        peer = socket.create_connection((sys.argv[1], 7071))
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
start, total, room = time.monotonic(), 0, bytearray(1 << 20)
while True:
    got = peer.recv_into(room)
    if got == 0:
        break
    total += got
print(total * 8 / (time.monotonic() - start) / 1e9)
"""


def tcp_gbps(network):
    """What one plain connection carries from host 1 to host 0."""
    sender = network.start(1, [sys.executable, "-c", TCP_SENDER])
    received = network.run(0, [sys.executable, "-c", TCP_RECEIVER, network.address(1)],
                           capture_output=True, text=True, check=True, timeout=60)
    sender.wait(60)
    return float(received.stdout)


def bench_links(programs, options, folder, report):
    with namespaces.Network(2) as network:
        cluster = Cluster(programs, network, options.graphs[0], folder)
        for gbps in options.rates:
            network.limit(gbps)
            say(f"rows over {gbps:g} Gbit/s")
            plain = tcp_gbps(network)
            cluster.fetch(1)  # the shard is in memory after that
            report.link(gbps, cluster.fetch(options.fetch_seconds), plain)


def choose_step(options, cluster):
    """Seconds of a device step that leaves these cores half of their time."""
    if options.step_ms > 0:
        return options.step_ms / 1000
    results = cluster.train("no cache", "--steps", str(max(10, options.steps // 3)))
    slowest = max(result["seconds"] / result["steps"] for result in results)
    return math.ceil(2 * slowest / 0.005) * 0.005


def bench_training(programs, options, graph, num_hosts, folder, report):
    with namespaces.Network(num_hosts) as network:
        cluster = Cluster(programs, network, graph, folder, options.cache)
        predicted = {"on": cluster.predicted(),
                     "off": cluster.predicted("--fetch-ahead", "1", "--sample-ahead", "0")}
        step = choose_step(options, cluster)
        steps = ["--steps", str(options.steps), "--step-ms", f"{1000 * step:g}",
                 "--sample-threads", str(options.sample_threads),
                 "--fetch-threads", str(options.fetch_threads)]
        full = {}
        for pipeline in ("on", "off"):
            flag = "--pipeline" if pipeline == "on" else "--no-pipeline"
            # Without a pipeline every wait is there to be seen: one rate tells it.
            for gbps in [None] + options.rates[:None if pipeline == "on" else 1]:
                network.limit(gbps)
                where = f"{graph}, {num_hosts} hosts, step {1000 * step:g} ms"
                where += "" if gbps is None else f", {gbps:g} Gbit/s"
                for kind in list(KINDS)[1:] if gbps else list(KINDS)[:1]:
                    say(f"{where}, {kind}, pipeline {pipeline}")
                    summary = Summary(cluster.train(kind, flag, *steps), step, gbps,
                                      predicted[pipeline].get(kind))
                    full.setdefault(pipeline, summary)
                    report.add(where, kind, pipeline, summary, full[pipeline])


def numbers(text):
    return [float(word) for word in text.split(",")]


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True)
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    parser.add_argument("--data", default="/tmp/vicinity-bench")
    parser.add_argument("--hosts", type=numbers)
    parser.add_argument("--rates", type=numbers, help="Gbit/s")
    parser.add_argument("--graphs", type=lambda text: text.split(","))
    parser.add_argument("--steps", type=int)
    parser.add_argument("--step-ms", type=float, default=0)
    parser.add_argument("--sample-threads", type=int, default=1, help="of every trainer")
    parser.add_argument("--fetch-threads", type=int, default=4, help="of every trainer")
    parser.add_argument("--cache", type=float, default=0.04,
                        help="rows in every trainer, as a share of all nodes")
    parser.add_argument("--fetch-seconds", type=float, default=5)
    parser.add_argument("--only", choices=["links", "training"])
    options = parser.parse_args()
    full = options.size == "full"
    options.hosts = [int(k) for k in options.hosts or ([2, 4, 8] if full else [2])]
    options.rates = options.rates or ([1.0, 2.5] if full else [1.0])
    options.graphs = options.graphs or (
        ["wordnet", "block-model"] if full else ["block-model-small"])
    options.steps = options.steps or (60 if full else 20)
    return options


def main():
    options = parse_options()
    reason = namespaces.missing()
    if reason is not None:
        say(f"cluster: left out: {reason}")
        return
    folder = pathlib.Path(options.data) / f"cluster-run-{os.getpid()}"
    programs = Programs(options.programs, options.data)
    report = Report(options.format == "json")
    try:
        folder.mkdir(parents=True)
        if options.only != "training":
            bench_links(programs, options, make(folder / "links"), report)
        for graph in options.graphs if options.only != "links" else []:
            for num_hosts in options.hosts:
                bench_training(programs, options, graph, num_hosts,
                               make(folder / f"{graph}-{num_hosts}"), report)
        report.finish()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def make(folder):
    folder.mkdir()
    return folder


if __name__ == "__main__":
    main()
