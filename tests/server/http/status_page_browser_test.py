#!/usr/bin/env python3
"""The status page in a real browser, headless Chromium, before real servers: what it shows of a cluster
whose servers are all there, or one of which is away, and that its script complains of nothing.

Without Chromium (Debian's package chromium) there is nothing to do."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

# Bazel runs tests among the runfiles, which hold the programs.
PROGRAMS = pathlib.Path(os.environ.get("VICINITY_PROGRAMS", os.getcwd())).resolve()
CHROMIUM = shutil.which("chromium", path="/usr/bin:/usr/local/bin")
LIMIT_S = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipUnless(CHROMIUM, "chromium is not here: Debian's package of this name has it")
class StatusPageBrowserTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder, True)
        for command in (["generate", "block-model", "--num-nodes", "400", "--output", "graph"],
                        ["partition", "--input", "graph", "--shards", "2", "--output", "shards"]):
            done = subprocess.run([PROGRAMS / "client/cli/vicinity", *command], cwd=self.folder,
                                  capture_output=True, text=True, timeout=LIMIT_S, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.http = free_port()
        (self.folder / "cluster").write_text(
            'data: "shards" num_shards: 2\n'
            f'servers {{ name: "first" listen: "127.0.0.1:{free_port()}" shards: [0, 1] '
            f'http: "127.0.0.1:{self.http}" }}\n'
            f'servers {{ name: "second" listen: "127.0.0.1:{free_port()}" shards: [1] }}\n', "utf-8")
        self.servers = {name: self.serve(name) for name in ("first", "second")}

    def serve(self, name):
        ready = self.folder / f"{name}.ready"
        process = subprocess.Popen([PROGRAMS / "server/vicinityd", "--cluster", "cluster", "--name", name,
                                    "--ready-file", ready], cwd=self.folder, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        end = time.monotonic() + LIMIT_S
        while not ready.exists():
            self.assertLess(time.monotonic(), end, f"server {name} is not ready")
            time.sleep(0.05)
        return process

    def look(self, *flags):
        """The page's text after some seconds of its script's time, and what its console was told."""
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={self.folder / 'profile'}", "--virtual-time-budget=5000",
             "--enable-logging=stderr", "--dump-dom", *flags, f"http://127.0.0.1:{self.http}/"],
            capture_output=True, text=True, timeout=LIMIT_S, check=False)
        body = re.sub(r"(?s)<(script|style).*?</\1>", "", done.stdout)
        return (re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body)),
                [line for line in done.stderr.splitlines() if "CONSOLE" in line])

    def await_text(self, pattern, *flags):
        """The servers ask each other beside the page, which shows it when it looks again."""
        end = time.monotonic() + LIMIT_S
        while True:
            text, console = self.look(*flags)
            self.assertEqual(console, [])
            if re.search(pattern, text):
                return text
            self.assertLess(time.monotonic(), end, f"no {pattern} in: {text}")

    def test_a_cluster_is_shown_whole_and_with_a_server_away(self):
        text = self.await_text(r"second in \d")
        self.assertRegex(text, r"first\s+serving")
        self.assertIn("Nothing.", text)
        self.assertIn("this one", text)
        self.servers["second"].kill()
        self.servers["second"].wait()
        self.await_text(r"second no: ", "--window-size=390,800")  # on a phone

    def test_a_console_that_is_told_something_is_seen(self):
        (self.folder / "page.html").write_text("<script>undefinedFunction()</script>", "utf-8")
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={self.folder / 'profile'}", "--enable-logging=stderr", "--dump-dom",
             f"file://{self.folder}/page.html"], capture_output=True, text=True, timeout=LIMIT_S,
            check=False)
        self.assertIn("CONSOLE", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
