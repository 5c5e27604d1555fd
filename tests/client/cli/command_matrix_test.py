#!/usr/bin/env python3
"""Every command of the tool: as a table and as JSON, on a terminal and into a pipe, with the
cluster up, in part, away, and where TLS does not fit. What it prints and how it ends."""

import contextlib
import json
import os
import pathlib
import pty
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

# Bazel runs tests among the runfiles, which hold the programs.
PROGRAMS = pathlib.Path(os.environ.get("VICINITY_PROGRAMS", os.getcwd()))
TOOL = str(PROGRAMS / "client" / "cli" / "vicinity")
DAEMON = str(PROGRAMS / "server" / "vicinityd")

# Exit codes (docs/cli.md).
OK, USAGE, NOT_FOUND, NOT_CONNECTED, DEGRADED, DENIED, PRECONDITION, BAD_DATA = (
    0, 2, 3, 4, 5, 6, 7, 65)
LIMIT_S = 60  # for a program

# A ring of six nodes with two chords; node i's features are i + 1 and 0.5.
FILES = {
    "edges.csv": "0,1\n1,2\n2,3\n3,4\n4,5\n5,0\n0,2\n1,3\n",
    "features.csv": "1,0.5\n2,0.5\n3,0.5\n4,0.5\n5,0.5\n6,0.5\n",
    "labels.csv": "0\n1\n0\n1\n0\n1\n",
    "train.csv": "0\n1\n2\n",
    "new.csv": "source,target\n0,3\n5,2\n",
    "trainer.prom": "".join(
        f'vicinity_loader_stage_{name}{{loader="0",stage="train"{label}}} {value}\n'
        for name, label, value in (("batch_seconds_count", "", 10),
                                   ("seconds_total", ',state="busy"', 2))),
}
IMPORT = ["import", "--edges", "edges.csv", "--num-nodes", "6", "--features", "features.csv",
          "--labels", "labels.csv", "--train", "train.csv", "--name", "ring"]
PARTITION = ["partition", "--input", "ring", "--shards", "2", "--assigner", "range",
             "--batch-size", "2", "--fanouts", "2,2"]

QUERY = "seeds = nodes(node, $seeds); near = neighbors(seeds, link)"

# Of servers of all shards, one by one: what they tell of those that are there is shown.
ASKING = {
    "status": ["status"],
    "shards": ["shards"],
    "health": ["health"],
    "describe": ["describe"],
    "config": ["config", "get"],
}
# Of the graph: a server of every shard is needed.
READING = {
    "get": ["get", "--id", "2"],
    "sample": ["sample", "--seeds", "2,3", "--fanouts", "2"],
    "walk": ["walk", "--starts", "2,3", "--length", "3"],
    "query": ["query", "--input", "seeds=2,3", QUERY],
}
# health ends with one code however many servers are well.
HEALTH = {"health": ASKING["health"]}
OTHERS = {name: args for name, args in {**ASKING, **READING}.items() if name != "health"}
# Of a live graph.
LIVE = {
    "write": ["write", "--edges", "link", "new.csv"],
    "versions": ["versions"],
    "watch": ["watch", "--from", "0", "--count", "1"],
    "backup": ["backup", "create", "--to", "kept"],
}
# Of datasets on disk.
LOCAL = {
    "describe": ["describe", "--data", "cut"],
    "get": ["get", "--data", "cut", "--id", "2"],
    "sample": ["sample", "--data", "cut", "--seeds", "2", "--fanouts=-1"],
    "walk": ["walk", "--data", "cut", "--starts", "2", "--length", "3"],
    "query": ["query", "--data", "cut", "--input", "seeds=2", QUERY],
    "verify": ["verify", "cut"],
    "index": ["index", "cut", "--nodes", "node:label"],
    "rank": ["rank", "cut", "--fanouts", "2", "--batch-size", "2", "--name", "short"],
    "plan": ["plan", "cut", "--fanouts", "2", "--batch-size", "2"],
    "policies": ["policies", "cut", "--fanouts", "2", "--batch-size", "2", "--epochs", "1"],
    "why": ["why", "trainer.prom"],
}

GET_AS_TABLE = """\
node 2: shard 0, global id 2

COLUMN    TYPE     VALUE
features  float32  [3, 0.5]
label     int32    0
split     uint8    1

EDGE TYPE       IN-EDGES
node:link:node         2
"""


class Answer:
    def __init__(self, code, out, told):
        self.code, self.out, self.told = code, out, told

    def __repr__(self):
        return f"exit {self.code}\n--- output\n{self.out}\n--- told\n{self.told}"


def on_terminal(argv, **options):
    """As subprocess.run, with a terminal of 100 columns as its output."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(argv, stdout=theirs, stderr=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, text=True, **options)
    os.close(theirs)
    pieces = []

    def read():
        # The last reader of a terminal whose writers are gone gets an error, not an end.
        with contextlib.suppress(OSError):
            while piece := os.read(ours, 65536):
                pieces.append(piece)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        told = process.communicate(timeout=LIMIT_S)[1]
    finally:
        process.kill()
        reader.join()
        os.close(ours)
    return Answer(process.returncode, b"".join(pieces).decode().replace("\r\n", "\n"), told)


def through_pipe(argv, **options):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          stdin=subprocess.DEVNULL, **options)
    return Answer(done.returncode, done.stdout, done.stderr)


class Server:
    """A daemon that serves one shard; `flags` secure it."""

    def __init__(self, folder, shard, flags=()):
        ready = pathlib.Path(folder, f"ready{shard}{len(flags)}")
        self._log = open(f"{ready}.log", "wb")
        self._process = subprocess.Popen(
            [DAEMON, "--data", "cut", "--shards", str(shard), "--listen", "127.0.0.1:0",
             "--ready-file", str(ready), "--drain", "0", "--die-with-parent", *flags],
            cwd=folder, stdout=self._log, stderr=self._log)
        for _ in range(600):
            if ready.exists() or self._process.poll() is not None:
                break
            threading.Event().wait(0.05)
        if not ready.exists():
            raise RuntimeError(pathlib.Path(f"{ready}.log").read_text(encoding="utf-8"))
        self.address = ready.read_text(encoding="ascii").split()[0]

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._log.close()


def free_port():
    """That nobody listens on: it stays taken, without a listener, until the socket is closed."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    return taken


def write_cluster(path, addresses, more=""):
    servers = "\n".join(f'servers {{ name: "s{i}" listen: "{address}" shards: {i} }}'
                        for i, address in enumerate(addresses))
    pathlib.Path(path).write_text(f'data: "cut"\nnum_shards: 2\n{more}\n{servers}\n',
                                  encoding="ascii")


def make_certificate(folder, name):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext",
         "subjectAltName=IP:127.0.0.1", "-keyout", f"{name}.key", "-out", f"{name}.pem"],
        cwd=folder, check=True, capture_output=True)
    os.chmod(pathlib.Path(folder, f"{name}.key"), 0o600)


class CommandMatrixTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="vicinity_cli_")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = scratch.name
        cls.environment = {k: v for k, v in os.environ.items() if not k.startswith("VICINITY_")}
        for name, text in FILES.items():
            pathlib.Path(cls.folder, name).write_text(text, encoding="ascii")
        for args in (IMPORT + ["--output", "ring"], PARTITION + ["--output", "cut"]):
            answer = cls.run_tool(args)
            if answer.code != OK:
                raise RuntimeError(str(answer))
        servers = [Server(cls.folder, shard) for shard in (0, 1)]
        for server in servers:
            cls.addClassCleanup(server.kill)
        nobody = free_port()
        cls.addClassCleanup(nobody.close)
        away = f"127.0.0.1:{nobody.getsockname()[1]}"
        up = [server.address for server in servers]
        write_cluster(pathlib.Path(cls.folder, "up"), up)
        write_cluster(pathlib.Path(cls.folder, "one_down"), [up[0], away])
        write_cluster(pathlib.Path(cls.folder, "all_down"), [away, away.replace("127.0.0.1",
                                                                                "127.0.0.2")])

    @classmethod
    def run_tool(cls, args, terminal=False):
        run = on_terminal if terminal else through_pipe
        return run([TOOL, *args], cwd=cls.folder, env=cls.environment)

    def check(self, args, code, terminal=False):
        answer = self.run_tool(args, terminal)
        self.assertEqual(answer.code, code, f"{args}: {answer}")
        # Whoever fails says why, by its name, in text; and nobody shows a terminal's codes to a
        # program.
        if code != OK:
            self.assertRegex(answer.told, "^vicinity" if code == USAGE else "vicinity [a-z]+: ")
        self.assertNotIn("\x1b", answer.told)
        return answer

    def check_formats(self, args, code):
        """The four ways to print; the answers by format. A terminal gets what a pipe gets."""
        answers = {}
        for form in ("table", "json"):
            for terminal in (False, True):
                with self.subTest(args=args, form=form, terminal=terminal):
                    answer = self.check([*args, "--format", form], code, terminal)
                    if form == "json" and answer.out:
                        json.loads(answer.out)
                    self.assertNotIn("\x1b", answer.out)
                    answers[form, terminal] = answer
            with self.subTest(args=args, form=form):
                self.assertEqual(answers[form, True].out.count("\n"),
                                 answers[form, False].out.count("\n"))
        return answers["table", False], answers["json", False]

    def on_cluster(self, cluster, commands, code, more=()):
        # What needs all servers waits for those that are away, or refuse: not for long.
        timeout = {NOT_CONNECTED: "0.5", DENIED: "1"}.get(code, "20")
        return {name: self.check_formats([*args, "--cluster", cluster, "--timeout", timeout, *more],
                                         code)
                for name, args in commands.items()}

    def test_every_command_is_tried_here(self):
        names = {line.split()[0] for line in self.check(["help"], OK).out.splitlines()
                 if line.startswith("  ")}
        tried = {*ASKING, *READING, *LIVE, *LOCAL, "import", "generate", "partition", "token", "top",
                 "admin", "logs"}
        # Commands with tests of their own, which make certificates, repair datasets, fold changes or
        # need several servers of a shard, or calls that were traced.
        elsewhere = {"certificate", "repair", "rebuild", "fold", "swap", "promote", "trace", "completion",
                     "vicinity", "check", "context", "doctor", "rollout", "debug"}
        self.assertEqual(names - elsewhere - tried, set())

    def test_with_all_servers_up_every_command_is_done(self):
        answers = self.on_cluster("up", {**ASKING, **READING}, OK)
        self.assertEqual(answers["get"][0].out, GET_AS_TABLE)
        get = json.loads(answers["get"][1].out)
        self.assertEqual(get["columns"]["features"], [3, 0.5])
        self.assertEqual(get["in_degrees"], {"node:link:node": 2})
        self.assertEqual([len(shard["replicas"])
                          for shard in json.loads(answers["shards"][1].out)["shards"]], [1, 1])
        sample = json.loads(answers["sample"][1].out)
        self.assertEqual((sample["seeds"], sample["num_edges"]), ([2, 3], 4))
        steps = json.loads(answers["query"][1].out)["steps"]
        self.assertEqual((steps[0]["nodes"], steps[1]["offsets"][-1]), ([2, 3], 4))
        walks = json.loads(answers["walk"][1].out)["walks"]
        self.assertEqual([(walk[0], len(walk)) for walk in walks], [(2, 4), (3, 4)])

    def test_a_live_graph_is_written_and_watched(self):
        servers = [Server(self.folder, shard, ["--open", "--changes", f"changes{shard}"])
                   for shard in (0, 1)]
        for server in servers:
            self.addCleanup(server.kill)
        write_cluster(pathlib.Path(self.folder, "live"), [server.address for server in servers],
                      'changes: "changes"')
        answers = self.on_cluster("live", LIVE, OK)
        # Each of the four ways to print wrote once more.
        self.assertEqual(json.loads(answers["write"][1].out)["written"], 2)
        shards = json.loads(answers["versions"][1].out)["shards"]
        self.assertEqual([shard["version"] for shard in shards], [4, 4])
        self.assertEqual(json.loads(answers["watch"][1].out)["version"], 1)
        self.assertEqual(sum(shard["version"] for shard in
                             json.loads(answers["backup"][1].out)["shards"]),
                         sum(shard["version"] for shard in shards))
        for name, (table, _) in self.on_cluster("up", LIVE, PRECONDITION).items():
            self.assertIn("read-only", table.told, name)

    def test_with_one_server_down_what_the_other_has_is_shown(self):
        for name, (table, _) in self.on_cluster("one_down", ASKING, DEGRADED).items():
            self.assertIn("s1", table.told, name)
            self.assertTrue(table.out, name)
        for name, (table, _) in self.on_cluster("one_down", READING, NOT_CONNECTED).items():
            self.assertIn("a server of every shard is needed", table.told, name)
            self.assertIn("vicinity shards --cluster one_down", table.told, name)
            self.assertEqual(table.out, "", name)

    def test_with_all_servers_down_the_exit_code_says_so(self):
        answers = self.on_cluster("all_down", HEALTH, DEGRADED)
        answers.update(self.on_cluster("all_down", OTHERS, NOT_CONNECTED))
        for name in ASKING:
            self.assertIn("s0", answers[name][0].told, name)

    def test_top_draws_whatever_is_there(self):
        for cluster in ("up", "one_down", "all_down"):
            table, _ = self.check_formats(["top", "--cluster", cluster, "--once", "--interval",
                                           "0.05", "--timeout", "2"], OK)
            self.assertIn("s0", table.out)

    def test_admin_asks_the_admin_ports_alone(self):
        self.check(["admin", "reload", "--cluster", "up"], PRECONDITION)
        self.check(["admin", "reload", "--server", "127.0.0.1:1", "--timeout", "2"],
                   NOT_CONNECTED)
        self.check(["admin", "drain", "--cluster", "up"], USAGE)
        self.check(["logs", "--cluster", "up"], PRECONDITION)
        self.check(["logs", "--server", "127.0.0.1:1", "--timeout", "2"], NOT_CONNECTED)

    def test_tls_that_does_not_fit_is_told_as_that(self):
        make_certificate(self.folder, "server")
        make_certificate(self.folder, "other")
        servers = [Server(self.folder, shard, ["--open", "--tls-certificate", "server.pem",
                                               "--tls-key", "server.key"]) for shard in (0, 1)]
        for server in servers:
            self.addCleanup(server.kill)
        write_cluster(pathlib.Path(self.folder, "tls"), [server.address for server in servers])
        self.on_cluster("tls", {**ASKING, **READING}, OK, ["--ca", "server.pem"])
        answers = self.on_cluster("tls", HEALTH, DEGRADED, ["--ca", "other.pem"])
        answers.update(self.on_cluster("tls", OTHERS, DENIED, ["--ca", "other.pem"]))
        for name, (table, _) in answers.items():
            self.assertIn("is not to be believed", table.told, name)
        for name, (table, _) in self.on_cluster("tls", {"get": READING["get"]}, DENIED).items():
            self.assertIn("speaks TLS and this client was not told to", table.told, name)
        for name, (table, _) in self.on_cluster("up", {"get": READING["get"]}, DENIED,
                                                ["--ca", "server.pem"]).items():
            self.assertIn("does not speak TLS", table.told, name)

    def test_datasets_on_disk_need_no_server(self):
        for name, args in LOCAL.items():
            table, _ = self.check_formats(args, OK)
            self.assertTrue(table.out, name)

    def test_datasets_are_made_whole_and_never_twice(self):
        made = 0
        for args in (IMPORT, PARTITION,
                     ["generate", "block-model", "--num-nodes", "300", "--feature-width", "2"]):
            for form in ("table", "json"):
                made += 1
                whole = [*args, "--output", f"made{made}", "--format", form]
                answer = self.check(whole, OK, terminal=made % 2 == 1)
                if form == "json":
                    json.loads(answer.out)
                again = self.check(whole, PRECONDITION)
                self.assertRegex(again.told, "already|exists")
                self.check(["verify", f"made{made}"], OK)

    def test_a_token_is_printed_once_and_only_its_hash_kept(self):
        args = ["token", "--name", "trainer", "--access-file", "access"]
        token = self.check(args, OK).out.strip()
        self.assertTrue(token.startswith("vct_"), token)
        self.assertNotIn(token, pathlib.Path(self.folder, "access").read_text(encoding="ascii"))
        self.check(args, PRECONDITION)

    def test_bash_completes_commands_subcommands_and_flags(self):
        for words, expected in ((["sta"], ["status"]), (["admin", "dra"], ["drain"]),
                                (["generate", "rmat", "--edges-p"], ["--edges-per-node"]),
                                (["get", "--clu"], ["--cluster"]), (["help", "verif"], ["verify"]),
                                (["get", "--format", "js"], ["json"]),
                                (["admin", "drain", "--format", "t"], ["table"]),
                                (["get", "cluster.text"], [])):
            line = " ".join(["vicinity", *words])
            script = (f'source <("$0" completion bash); COMP_WORDS=({line}); '
                      f'COMP_CWORD={len(words)}; _vicinity; echo "${{COMPREPLY[@]}}"')
            answer = through_pipe(["bash", "-c", script, TOOL], cwd=self.folder)
            self.assertEqual((answer.out.split(), answer.told), (expected, ""), line)
        self.check(["completion", "csh"], USAGE)

    def test_what_is_mistyped_is_told_with_what_was_meant(self):
        for args, text in (
                (["statsu"], "there is no command statsu; did you mean status?"),
                (["status", "--clutser", "up"], "no flag --clutser; did you mean --cluster?"),
                (["partition", "--inptu", "ring", "--output", "x", "--shards", "2"],
                 "no flag --inptu; did you mean --input?"),
                (["generate", "rmta"], "did you mean rmat?"),
                (["status", "--cluster", "up", "--format=yaml"],
                 '--format should be json or table, not "yaml"'),
                (["sample", "--data", "cut", "--seeds", "1", "--fanouts", "15x10"],
                 '--fanouts should be of the form N,N,..., not "15x10"'),
                (["partition", "--input", "ring", "--output", "x", "--shards", "0-3"],
                 '--shards should be of the form K, not "0-3"')):
            answer = self.check(args, USAGE)
            self.assertIn(text, answer.told)
            self.assertEqual(answer.out, "")

    def test_what_is_not_there_is_told_as_that(self):
        for args, code, text in (
                (["describe", "--data", "none"], NOT_FOUND, "none: there is no such folder"),
                (["verify", "."], NOT_FOUND, ".: is no dataset"),
                (["get", "--data", "cut", "--id", "99"], NOT_FOUND, "has the id 99"),
                (["get", "--data", "cut", "--id", "x"], USAGE, '"x" is not an id'),
                (["get", "--data", "cut", "--id", "1", "--columns", "feature"], NOT_FOUND,
                 "feature"),
                (["status", "--cluster", "none"], NOT_FOUND, "none"),
                (["import", "--edges", "labels.csv", "--output", "x"], BAD_DATA, "labels.csv")):
            self.assertIn(text, self.check(args, code).told)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    # A test may fail in several of its parts.
    failed = len({getattr(test, "test_case", test)
                  for test, _ in result.failures + result.errors})
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
