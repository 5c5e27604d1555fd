#!/usr/bin/env python3
"""Runs two versions of Vicinity together: each reads and writes what the other serves and wrote.

    deploy/lib/upgrade_soak.py OLD NEW

OLD and NEW are folders with the programs vicinity, vicinityd and vicinity_train of the last version
and of this one; `deploy/soak.sh upgrade` builds them. It prints what it tries, and ends with 0 only if

1. every pair of servers (old, new) of a live graph with two servers a shard answers clients of both
   versions alike, to the last byte, and as two old servers answer old clients; each version writes
   through each server, also after the other was promoted; a trainer of each version makes an epoch;
2. a cluster that is written and read all the time goes from old to new and back by `rollout restart`,
   server by server, without a write or a read that failed and without anything that was lost.
"""

import itertools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

LIMIT = 120  # seconds, of any one command
NODES = 400
FIRST_NEW = 1_000_000  # ids of new nodes


def say(text):
    print(text, flush=True)


class Failed(Exception):
    pass


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Version:
    """The programs of one version."""

    def __init__(self, name, folder):
        self.name = name
        self.folder = pathlib.Path(folder).resolve()

    def program(self, name):
        return str(self.folder / name)

    def run(self, *args, program="vicinity"):
        """What a command prints; Failed if it fails."""
        command = [self.program(program), *map(str, args)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
        if done.returncode != 0:
            raise Failed(f"{self.name} {' '.join(command[1:])}: exit code {done.returncode}: "
                         f"{done.stderr.strip()[-500:]}")
        return done.stdout


class Cluster:
    """Servers a and b of a live graph, each of one version, which both have all shards."""

    NAMES = ("a", "b")

    def __init__(self, folder, data):
        self.folder = folder
        folder.mkdir()
        self.file = folder / "cluster.textproto"
        self.processes = {}
        servers = "".join(
            f'servers {{ name: "{name}" listen: "127.0.0.1:{free_port()}" shards: [0, 1] '
            f'admin: "127.0.0.1:{free_port()}" changes: "{name}-changes" }}\n' for name in self.NAMES)
        self.file.write_text(f'data: "{data}"\nnum_shards: 2\nchanges: "changes"\n{servers}', "utf-8")

    def start(self, name, version):
        """Ready when it returns."""
        ready = self.folder / f"{name}.ready"
        ready.unlink(missing_ok=True)
        with open(self.folder / f"{name}.log", "a", encoding="utf-8") as log:
            self.processes[name] = subprocess.Popen(
                [version.program("vicinityd"), "--cluster", str(self.file), "--name", name,
                 "--ready-file", str(ready), "--force"], stderr=log)
        for _ in range(LIMIT * 10):
            if ready.exists():
                return
            if self.processes[name].poll() is not None:
                break
            time.sleep(0.1)
        raise Failed(f"{version.name} server {name} does not start: {self.log_end(name)}")

    def stop(self, name):
        process = self.processes.pop(name, None)
        if process is None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def stop_all(self):
        for name in self.NAMES:
            self.stop(name)

    def log_end(self, name):
        return (self.folder / f"{name}.log").read_text("utf-8")[-800:]

    def alone(self, name):
        """A cluster file of one server, for clients that are to ask no other."""
        lines = self.file.read_text("utf-8").splitlines()
        kept = [line for line in lines if not line.startswith("servers") or f'name: "{name}"' in line]
        path = self.folder / f"{name}.textproto"
        path.write_text("\n".join(kept) + "\n", "utf-8")
        return path


def write(client, cluster_file, folder, first, count):
    """New nodes, edges from and to them, and what is to go, all on both servers' disks."""
    tag = f"{client.name}-{first}"
    nodes = folder / f"nodes-{tag}.jsonl"
    edges = folder / f"edges-{tag}.csv"
    nodes.write_text("".join(
        json.dumps({"id": first + i, "features": [float(i)] * 8, "label": i % 3, "split": 0}) + "\n"
        for i in range(count)), "utf-8")
    edges.write_text("source,target\n" + "".join(
        f"{first + i},{i % NODES}\n{i % NODES},{first + i}\n" for i in range(count)), "utf-8")
    common = ("--cluster", cluster_file, "--durability", "replicated")
    client.run("write", *common, "--nodes", "node", nodes)
    client.run("write", *common, "--edges", "link", edges)
    gone = folder / f"gone-{tag}.csv"
    gone.write_text(f"source,target\n{first},0\n", "utf-8")
    client.run("write", *common, "--edges", "link", "--action", "remove", gone)


def answers(client, cluster_file, ids):
    """What a client reads, as its JSON says it."""
    seeds = ",".join(map(str, ids))
    asked = [("get", *("--id", ids[0])), ("get", *("--id", ids[-1])),
             ("sample", "--seeds", seeds, "--fanouts", "5,3"),
             ("sample", "--seeds", seeds, "--fanouts", "4,4", "--replace", "--seed", "7"),
             ("walk", "--starts", seeds, "--length", "6")]
    found = [client.run(*command, "--cluster", cluster_file, "--format", "json")
             for command in asked]
    for command in ("status", "shards", "health", "describe"):
        client.run(command, "--cluster", cluster_file)
    return found


def check_answers(client, cluster_file, ids, expected):
    """A server shows what the writer of a shard has told it, which may take a moment."""
    end = time.monotonic() + 20
    while True:
        try:
            found = answers(client, cluster_file, ids)
            failure = None
        except Failed as failed:
            found, failure = None, failed
        if found == expected:
            return
        if time.monotonic() > end:
            raise failure or Failed(f"{client.name} client at {cluster_file.stem} reads\n{found}\n"
                                    f"and not\n{expected}")
        time.sleep(0.2)


def check_pair(old, new, servers, folder, data, expected):
    """One pair of servers; `expected` is None for the first, whose answers the others are to give."""
    cluster = Cluster(folder, data)
    try:
        for name, version in zip(Cluster.NAMES, servers):
            cluster.start(name, version)
        write(old, cluster.file, folder, FIRST_NEW, 30)
        write(new, cluster.file, folder, FIRST_NEW + 1000, 30)
        new.run("promote", "--cluster", cluster.file, "--shards", "0,1", "--to", "b", "--yes")
        write(new, cluster.file, folder, FIRST_NEW + 2000, 30)
        write(old, cluster.file, folder, FIRST_NEW + 3000, 30)
        old.run("promote", "--cluster", cluster.file, "--shards", "0,1", "--to", "a", "--yes")
        write(old, cluster.file, folder, FIRST_NEW + 4000, 30)
        ids = [3, 5, 11] + [FIRST_NEW + 1000 * i + 7 for i in range(5)]
        expected = expected or answers(old, cluster.file, ids)
        for client in (old, new):
            for where in (cluster.file, *(cluster.alone(name) for name in Cluster.NAMES)):
                check_answers(client, where, ids, expected)
            client.run("versions", "--cluster", cluster.file)
            client.run("--cluster", cluster.file, "--epochs", 1, "--batch-size", 16,
                       program="vicinity_train")
    finally:
        cluster.stop_all()
    return expected


class Load(threading.Thread):
    """Writes with one client and reads with the other, until told to stop or something fails."""

    def __init__(self, writer, reader, cluster, folder):
        super().__init__()
        self.writer, self.reader = writer, reader
        self.cluster, self.folder = cluster, folder
        self.written = 0
        self.failure = None
        self.ends = threading.Event()

    def run(self):
        while not self.ends.is_set() and self.failure is None:
            first = FIRST_NEW + 10 * self.written
            try:
                write(self.writer, self.cluster.file, self.folder, first, 5)
                self.written += 1
                self.reader.run("get", "--id", first + 1, "--cluster", self.cluster.file)
            except Exception as failure:  # pylint: disable=broad-exception-caught
                self.failure = failure  # whatever it is, who joins tells it


def roll(cluster, tool, to, folder):
    """Every server becomes one of version `to`, by `rollout restart` of the tool."""
    asked = folder / "asked"
    command = f"touch {asked}-{{name}}; while [ -e {asked}-{{name}} ]; do sleep 0.05; done"
    rollout = subprocess.Popen(
        [tool.program("vicinity"), "rollout", "restart", "--cluster", str(cluster.file), "--yes",
         "--command", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.monotonic() + 4 * LIMIT
    try:
        while rollout.poll() is None and time.monotonic() < end:
            for name in Cluster.NAMES:
                mark = pathlib.Path(f"{asked}-{name}")
                if mark.exists():
                    cluster.stop(name)
                    cluster.start(name, to)
                    mark.unlink()
            time.sleep(0.05)
    finally:
        if rollout.poll() is None:
            rollout.kill()
            rollout.wait()
    if rollout.returncode != 0:
        raise Failed(f"rollout to {to.name}: {rollout.stdout.read()[-800:]}")


def check_upgrade(old, new, folder, data):
    cluster = Cluster(folder, data)
    load = Load(old, new, cluster, folder)
    try:
        for name in Cluster.NAMES:
            cluster.start(name, old)
        load.start()
        time.sleep(2)
        for to in (new, old, new):
            before = load.written
            roll(cluster, new, to, folder)
            if load.written == before:
                raise Failed(f"nothing was written while servers became {to.name}: {load.failure}")
            say(f"   all servers are {to.name}; {load.written - before} rounds written meanwhile")
    except BaseException:
        cluster.stop_all()
        raise
    finally:
        load.ends.set()
        if load.ident is not None:
            load.join()
    if load.failure is not None:
        cluster.stop_all()
        raise Failed(f"while servers were rolled: {load.failure}")
    try:
        for name in Cluster.NAMES:
            where = cluster.alone(name)
            for i in range(load.written):
                for node in range(FIRST_NEW + 10 * i, FIRST_NEW + 10 * i + 5):
                    new.run("get", "--id", node, "--cluster", where)
    finally:
        cluster.stop_all()


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    old, new = Version("old", sys.argv[1]), Version("new", sys.argv[2])
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="upgrade-"))
    os.environ.pop("VICINITY_CLUSTER", None)
    try:
        say(f"old: {old.run('--version').strip()}, new: {new.run('--version').strip()}")
        old.run("generate", "block-model", "--num-nodes", NODES, "--feature-width", 8, "--train", 0.5,
                "--output", scratch / "graph")
        old.run("partition", "--input", scratch / "graph", "--shards", 2, "--output",
                scratch / "shards")
        expected = None
        for number, servers in enumerate(itertools.product((old, new), repeat=2)):
            say(f"servers {servers[0].name} and {servers[1].name}, clients old and new")
            expected = check_pair(old, new, servers, scratch / f"pair-{number}", scratch / "shards",
                                  expected)
        say("a cluster goes from old to new, back, and to new again, while it is written and read")
        check_upgrade(old, new, scratch / "upgrade", scratch / "shards")
    except (Failed, subprocess.TimeoutExpired) as failure:
        say(f"FAILED: {failure}\n(what it left is in {scratch})")
        return 1
    shutil.rmtree(scratch)
    say("all versions go together")
    return 0


if __name__ == "__main__":
    sys.exit(main())
