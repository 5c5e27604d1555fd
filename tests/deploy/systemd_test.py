#!/usr/bin/python3
"""deploy/systemd: the unit as systemd's own tools read it, and vicinityd as a service manager sees it."""

import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
UNITS = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy" / "systemd"
DAEMON = pathlib.Path("server/vicinityd").resolve()  # Bazel's, below the folder that tests begin in
TOOL = pathlib.Path("client/cli/vicinity").resolve()
LONGEST = 60  # seconds that anything may take


def output_of(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True,
                          timeout=LONGEST, **options).stdout


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(dir="/tmp")  # a short path, for sockets
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def needs(self, tool):
        if shutil.which(tool) is None:
            self.skipTest(f"there is no {tool} here")


class UnitTest(Scratch):
    def settings(self):
        """Of the unit: (name, value), in order."""
        lines = (UNITS / "vicinityd@.service").read_text("ascii").splitlines()
        return [tuple(line.split("=", 1)) for line in lines if re.match("[A-Z]", line)]

    def test_systemd_takes_it(self):
        self.needs("systemd-analyze")
        # It wants to see the programs and pages that a unit names: here they are not installed.
        text = (UNITS / "vicinityd@.service").read_text("ascii")
        text = text.replace("/usr/bin/vicinityd ", f"{shutil.which('true')} ")
        unit = self.folder / "vicinityd@one.service"
        unit.write_text(re.sub("(?m)^Documentation=.*\n", "", text), "ascii")
        done = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True,
                              check=False, timeout=LONGEST)
        own = [line for line in done.stderr.splitlines() if "vicinityd" in line]
        self.assertEqual((done.returncode, own), (0, []), done.stderr)

    def test_it_is_confined(self):
        self.needs("systemd-analyze")
        report = output_of("systemd-analyze", "security", "--offline=true", UNITS / "vicinityd@.service")
        score = float(re.search(r"exposure level for \S+: ([0-9.]+)", report)[1])
        self.assertLessEqual(score, 2.0)

    def test_its_flags_are_known(self):
        command, = [value for name, value in self.settings() if name == "ExecStart"]
        known = output_of(DAEMON, "--help")
        flags = re.findall("--[a-z-]+", command)
        self.assertTrue(flags)
        for flag in flags:
            self.assertIn(f"  {flag} ", known)

    def test_it_has_time_to_stop(self):
        drain = float(re.search(r"--drain NUMBER=(\d+)", output_of(DAEMON, "--help"))[1])
        limit, = [int(value) for name, value in self.settings() if name == "TimeoutStopSec"]
        self.assertGreaterEqual(limit, drain + 10)

    def test_faults_that_stay_are_not_tried_again(self):
        kept, = [value.split() for name, value in self.settings() if name == "RestartPreventExitStatus"]
        done = subprocess.run([DAEMON, "--no-such-flag"], capture_output=True, check=False, timeout=LONGEST)
        self.assertIn(str(done.returncode), kept)

    def test_the_user_and_the_folders_are_made(self):
        self.needs("systemd-sysusers")
        if os.geteuid() != 0:
            self.skipTest("giving files to others takes root")
        (self.folder / "etc").mkdir()
        output_of("systemd-sysusers", f"--root={self.folder}", UNITS / "vicinity.sysusers")
        user = re.search("(?m)^vicinity:.*$", (self.folder / "etc/passwd").read_text("ascii"))[0].split(":")
        self.assertEqual(user[5:], ["/var/lib/vicinity", "/usr/sbin/nologin"])
        output_of("systemd-tmpfiles", "--create", f"--root={self.folder}", UNITS / "vicinity.tmpfiles")
        for path, owner, mode in (("etc/vicinity", 0, 0o40750), ("var/lib/vicinity", int(user[2]), 0o40750)):
            seen = (self.folder / path).stat()
            self.assertEqual((seen.st_uid, seen.st_gid, seen.st_mode), (owner, int(user[3]), mode), path)


class NotifyTest(Scratch):
    """A real daemon, and a socket where systemd would listen."""

    def setUp(self):
        super().setUp()
        output_of(TOOL, "generate", "block-model", "--num-nodes", 200, "--output", self.folder / "graph")
        output_of(TOOL, "partition", "--input", self.folder / "graph", "--output", self.folder / "shards",
                  "--shards", 1, "--assigner", "hash")
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.manager.close)
        self.manager.bind(str(self.folder / "notify"))
        self.manager.settimeout(LONGEST)

    def start(self, watchdog_seconds=None, *, flags=()):
        environment = dict(os.environ, NOTIFY_SOCKET=str(self.folder / "notify"))
        if watchdog_seconds is not None:
            environment["WATCHDOG_USEC"] = str(int(watchdog_seconds * 1_000_000))
        with open(self.folder / "log", "wb") as log:
            daemon = subprocess.Popen(
                [DAEMON, "--data", self.folder / "shards", "--listen", "127.0.0.1:0", "--ready-file",
                 self.folder / "ready", *flags], env=environment, stderr=log)

        def end():
            daemon.kill()
            daemon.wait(LONGEST)
        self.addCleanup(end)
        return daemon

    def told(self):
        """The next message, as a dictionary."""
        text = self.manager.recv(4096).decode("ascii")
        self.assertTrue(text.endswith("\n"))
        return dict(line.split("=", 1) for line in text.splitlines())

    def told_until(self, wanted):
        """The next message with `wanted`; what comes before are signs of life."""
        while True:
            message = self.told()
            if wanted in message:
                return message
            self.assertEqual(message, {"WATCHDOG": "1"})

    def test_each_step_is_told(self):
        daemon = self.start()
        self.assertEqual(self.told(), {"STATUS": f"opening {self.folder / 'shards'}"})
        ready = self.told()
        self.assertEqual(ready["READY"], "1")
        address = (self.folder / "ready").read_text("ascii").strip()
        self.assertIn(f"serving shards 0 of blocks on {address}".split(" of ", maxsplit=1)[0], ready["STATUS"])
        self.assertIn(address, ready["STATUS"])
        output_of(TOOL, "health", "--server", address)
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(self.told(), {"STOPPING": "1", "STATUS": "letting calls end"})
        self.assertEqual(daemon.wait(LONGEST), 0)
        self.manager.settimeout(0)
        with self.assertRaises(BlockingIOError):
            self.told()

    def test_a_frozen_server_gives_no_sign_of_life(self):
        daemon = self.start(watchdog_seconds=0.3)
        self.assertEqual(list(self.told()), ["STATUS"])
        self.assertEqual(self.told()["READY"], "1")
        for _ in range(5):
            self.assertEqual(self.told(), {"WATCHDOG": "1"})
        daemon.send_signal(signal.SIGSTOP)
        self.manager.settimeout(1)
        with self.assertRaises(socket.timeout):
            for _ in range(100):  # what was under way
                self.told()
        daemon.send_signal(signal.SIGCONT)
        self.manager.settimeout(LONGEST)
        self.assertEqual(self.told(), {"WATCHDOG": "1"})
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(self.told_until("STOPPING")["STOPPING"], "1")

    def test_a_server_with_tls_gives_signs_of_life(self):
        output_of(TOOL, "certificate", "ca", cwd=self.folder)
        output_of(TOOL, "certificate", "server", "localhost", cwd=self.folder)
        certificates = self.folder / "certificates"
        self.start(watchdog_seconds=0.3, flags=["--tls-certificate", certificates / "localhost.pem", "--tls-ca",
                                                certificates / "ca.pem"])
        self.told_until("STATUS")
        self.assertEqual(self.told_until("READY")["READY"], "1")
        begun = time.monotonic()
        for _ in range(10):
            self.assertEqual(self.told(), {"WATCHDOG": "1"})
        self.assertGreater(time.monotonic() - begun, 0.8)
        self.assertNotIn("error", (self.folder / "log").read_text("ascii"))
        self.assertNotIn("warning", (self.folder / "log").read_text("ascii"))

    def test_a_start_that_fails_is_never_ready(self):
        daemon = self.start(flags=["--shards", "7"])
        self.assertEqual(list(self.told()), ["STATUS"])
        self.assertNotEqual(daemon.wait(LONGEST), 0)
        self.manager.settimeout(0)
        with self.assertRaises(BlockingIOError):
            self.told()


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
