#!/usr/bin/env python3
"""Prometheus scrapes a real cluster and a real trainer by deploy/observability/alerts.yaml: while all is
well no alert fires, and each fires when its fault is made.

The rules are the same but for their patience: what must hold for minutes must hold for a moment here, and
rates are of the last seconds. Without Prometheus (Debian's package prometheus) there is nothing to do."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request

# Bazel runs tests among the runfiles, which hold the programs, and a link to this file: what it
# points to lies in the source tree.
PROGRAMS = pathlib.Path(os.environ.get("VICINITY_PROGRAMS", os.getcwd())).resolve()
RULES = (pathlib.Path(__file__).resolve().parent.parent.parent / "deploy" / "observability" /
         "alerts.yaml")
PROMETHEUS = shutil.which("prometheus", path="/usr/bin:/usr/local/bin")
LIMIT_S = 90  # for an alert to fire, and for a program to be ready


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def impatient(rules):
    rules = re.sub(r"for: \d+[mh]", "for: 1s", rules)
    return re.sub(r"\[(5|15)m\]", "[5s]", rules)


@unittest.skipUnless(PROMETHEUS, "prometheus is not here: Debian's package prometheus has it")
class AlertsFireTest(unittest.TestCase):
    NAMES = ("a", "b")

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.tool("generate", "block-model", "--num-nodes", "2000", "--feature-width", "64", "--train",
                  "0.5", "--output", "graph")
        self.tool("partition", "--input", "graph", "--shards", "2", "--batch-size", "64", "--output",
                  "shards-a")
        shutil.copytree(self.folder / "shards-a", self.folder / "shards-b")
        self.tool("certificate", "ca")
        self.http = {}
        self.targets = {"vicinity": [], "vicinity-tls": [], "vicinity-trainers": []}

    def path(self, name):
        return self.folder / name

    def tool(self, *args):
        done = subprocess.run([PROGRAMS / "client/cli/vicinity", *args], cwd=self.folder, text=True,
                              capture_output=True, timeout=LIMIT_S, check=False)
        self.assertEqual(done.returncode, 0, f"{args}: {done.stderr}")

    def start(self, name, *command):
        """A program that is ended with the test."""
        with open(self.path(f"{name}.log"), "ab") as log:
            process = subprocess.Popen(list(map(str, command)), cwd=self.folder, stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def log_of(self, name):
        return self.path(f"{name}.log").read_text("utf-8", "replace")[-2000:]

    def until(self, holds, what, explain):
        end = time.monotonic() + LIMIT_S
        while not holds():
            if time.monotonic() > end:
                self.fail(f"not within {LIMIT_S} s: {what}: {explain()}")
            time.sleep(0.1)

    def serve(self, name, *flags):
        ready = self.path(f"{name}.ready")
        ready.unlink(missing_ok=True)
        process = self.start(name, PROGRAMS / "server/vicinityd", "--ready-file", ready, *flags)
        self.until(ready.exists, f"server {name} is ready", lambda: self.log_of(name))
        return process

    def serve_of_cluster(self, name):
        """One of two servers of both shards, each of files of its own."""
        return self.serve(name, "--cluster", f"cluster-{name}", "--name", name, "--check-rate", "1000")

    def write_clusters(self):
        servers = ""
        for name in self.NAMES:
            self.http[name] = free_port()
            servers += (f'servers {{ name: "{name}" listen: "127.0.0.1:{free_port()}" shards: [0, 1] '
                        f'http: "127.0.0.1:{self.http[name]}" }}\n')
        for name in self.NAMES:
            self.path(f"cluster-{name}").write_text(f'data: "shards-{name}" num_shards: 2\n{servers}',
                                                    "utf-8")

    def watch(self):
        """Starts Prometheus, which sees `targets` as they come."""
        port = free_port()
        self.prometheus = f"http://127.0.0.1:{port}"
        self.path("alerts.yaml").write_text(impatient(RULES.read_text("utf-8")), "utf-8")
        jobs = ""
        for job in self.targets:
            self.add_target(job)
            tls = "scheme: https, tls_config: {ca_file: certificates/ca.pem}, " if "tls" in job else ""
            jobs += (f"  - {{job_name: {job}, {tls}file_sd_configs: [{{files: [{job}.json], "
                     "refresh_interval: 1s}]}\n")
        self.path("prometheus.yaml").write_text(
            "global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}\n"
            f"rule_files: [alerts.yaml]\nscrape_configs:\n{jobs}", "utf-8")
        self.start("prometheus", PROMETHEUS, "--config.file=prometheus.yaml",
                   f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.path=tsdb")

    def add_target(self, job, *ports):
        self.targets[job] += [f"127.0.0.1:{port}" for port in ports]
        whole = self.path(f"{job}.new")
        whole.write_text(json.dumps([{"targets": self.targets[job]}]), "utf-8")
        whole.rename(self.path(f"{job}.json"))

    def ask(self, what):
        """Nothing while it does not answer."""
        try:
            with urllib.request.urlopen(f"{self.prometheus}/api/v1/{what}", timeout=5) as reply:
                return json.load(reply)["data"]
        except OSError:
            return {}

    def looks_at(self, port):
        """How often a port was scraped and answered."""
        query = urllib.parse.quote(f'sum_over_time(up{{instance="127.0.0.1:{port}"}}[1h])')
        result = self.ask(f"query?query={query}").get("result", [])
        return float(result[0]["value"][1]) if result else 0

    def firing(self):
        """By alert the instances that it fires for."""
        found = {}
        for alert in self.ask("alerts").get("alerts", []):
            if alert["state"] == "firing":
                found.setdefault(alert["labels"]["alertname"], set()).add(
                    alert["labels"].get("instance", ""))
        return found

    def await_alert(self, name, port=None):
        instance = f"127.0.0.1:{port}" if port else ""
        self.until(lambda: instance in self.firing().get(name, ()), f"{name} fires for {instance}",
                   lambda: f"what does: {self.firing()}")

    @contextlib.contextmanager
    def overload(self, cluster):
        """Asks for more than a server can do, for as long as the block lasts. Readers give up when calls are
        refused, and an overload would end itself: each is replaced by a new one within a second."""
        over = threading.Event()

        def read(number):
            over.wait(number / 4)
            while not over.is_set():
                reader = subprocess.Popen([PROGRAMS / "client/cli/vicinity", "check", "perf", "--cluster",
                                           cluster, "--seconds", "60", "--threads", "64"],
                                          cwd=self.folder, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL)
                over.wait(1)
                reader.kill()
                reader.wait()

        readers = [threading.Thread(target=read, args=(number,)) for number in range(4)]
        for reader in readers:
            reader.start()
        try:
            yield
        finally:
            over.set()
            for reader in readers:
                reader.join()

    def await_quiet(self):
        self.until(lambda: not self.firing(), "no alert fires",
                   lambda: f"what does: {self.firing()}: {self.log_of('prometheus')}")

    def await_looks(self, count):
        for port in self.http.values():
            self.until(lambda port=port: self.looks_at(port) >= count, f"{port} is scraped",
                       lambda: self.log_of("prometheus"))

    def test_each_fault_is_told_and_nothing_else(self):
        self.write_clusters()
        servers = {name: self.serve_of_cluster(name) for name in self.NAMES}
        self.watch()
        self.add_target("vicinity", *self.http.values())
        self.await_looks(20)
        self.assertEqual(self.firing(), {})

        with self.subTest("a server is killed"):
            servers["b"].send_signal(signal.SIGKILL)
            servers["b"].wait()
            self.await_alert("VicinityServerDown", self.http["b"])
            self.await_alert("VicinityReplicaMissing")
            self.assertNotIn("VicinityShardUnserved", self.firing())
            servers["b"] = self.serve_of_cluster("b")
            self.await_quiet()

        with self.subTest("a file is damaged"):
            file = self.path("shards-b/shard-00001/nodes.node.column.features")
            with open(file, "r+b") as damaged:
                damaged.seek(100)
                damaged.write(b"damage")
            self.await_alert("VicinityShardDamaged", self.http["b"])
            self.await_alert("VicinityReplicaMissing")
            shutil.copy(self.path("shards-a/shard-00001") / file.name, file)
            self.await_quiet()

        with self.subTest("a server has more to do than it can"):
            self.http["o"] = free_port()
            self.serve("o", "--data", "shards-a", "--listen", "127.0.0.1:0", "--max-running", "1",
                       "--max-client-calls", "1024", "--http", f"127.0.0.1:{self.http['o']}")
            self.add_target("vicinity", self.http["o"])
            address = self.path("o.ready").read_text("utf-8").splitlines()[0]
            self.path("cluster-o").write_text(
                f'data: "shards-a" num_shards: 2 servers {{ name: "o" listen: "{address}" '
                "shards: [0, 1] }", "utf-8")
            with self.overload("cluster-o"):
                self.await_alert("VicinityOverloaded", self.http["o"])
            self.await_quiet()

        with self.subTest("a certificate is about to end"):
            self.tool("certificate", "server", "localhost", "--address", "127.0.0.1", "--days", "3")
            self.http["t"] = free_port()
            self.serve("t", "--data", "shards-a", "--listen", "127.0.0.1:0", "--open",
                       "--tls-certificate", "certificates/localhost.pem", "--http",
                       f"127.0.0.1:{self.http['t']}")
            self.add_target("vicinity-tls", self.http["t"])
            self.await_alert("VicinityCertificateEnds", self.http["t"])
            self.until(lambda: set(self.firing()) == {"VicinityCertificateEnds"}, "nothing else fires",
                       lambda: f"what does: {self.firing()}")

        with self.subTest("a trainer waits for its data"):
            self.http["trainer"] = free_port()
            self.start("trainer", PROGRAMS / "client/train/vicinity_train", "--cluster", "cluster-a",
                       "--model", "none", "--epochs", "1000000", "--eval-every", "0", "--batch-size",
                       "64", "--metrics-listen", f"127.0.0.1:{self.http['trainer']}")
            self.add_target("vicinity-trainers", self.http["trainer"])
            self.until(lambda: "VicinityTrainerStarved" in self.firing(), "VicinityTrainerStarved fires",
                       lambda: f"what does: {self.firing()}: {self.log_of('trainer')}")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
