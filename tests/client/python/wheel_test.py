#!/usr/bin/env python3
"""The wheel, installed into a folder of its own, works without this repository and without the
libraries that it was built with: package, commands, servers, the demo."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from small_cluster import PROGRAMS, ROOT, run_tests  # noqa: E402

PYTHON = "/usr/bin/python3"


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="vicinity_wheel_")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.installed = cls.folder / "installed"
        subprocess.run([ROOT / "deploy" / "wheel.sh", "--output", cls.folder, "--from", PROGRAMS],
                       check=True, stdout=subprocess.DEVNULL)
        cls.wheel, = cls.folder.glob("*.whl")
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
                        "--root-user-action=ignore", "--target", cls.installed, cls.wheel], check=True)

    def run_alone(self, *command):
        """With nothing in the environment but where Python finds the wheel."""
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(self.installed),
                       "HOME": str(self.folder)}
        done = subprocess.run(list(map(str, command)), cwd=self.folder, env=environment, text=True,
                              capture_output=True, timeout=240, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_it_is_for_every_python_3(self):
        self.assertRegex(self.wheel.name,
                         r"vicinity_graph-[0-9.]+-py3-none-manylinux_2_\d+_(x86_64|aarch64)\.whl")
        self.assertLess(self.wheel.stat().st_size, 30 << 20)
        self.assertTrue((self.installed / "vicinity_graph" / "py.typed").is_file())

    def test_it_brings_what_is_no_part_of_every_linux(self):
        package = self.installed / "vicinity_graph"
        for file in (package / "libvicinity.so.1", package / "bin" / "vicinity",
                     package / "bin" / "vicinityd"):
            needed = dict(re.findall(r"(lib\S+) => (\S+)", self.run_alone("/usr/bin/ldd", file)))
            own = {name for name, path in needed.items() if str(self.installed) in path}
            self.assertTrue(any(name.startswith("libgrpc") for name in own), file)
            self.assertLessEqual({name.split(".so")[0] for name in set(needed) - own},
                                 {"libc", "libm", "libstdc++", "libgcc_s", "libz", "libpthread",
                                  "libdl", "librt"}, file)

    def test_all_modules_are_in_it(self):
        source = ROOT / "client" / "python"
        for path in (source / "vicinity_graph").rglob("*.py"):
            self.assertTrue((self.installed / path.relative_to(source)).is_file(), path)

    def test_commands_doctor_and_demo(self):
        commands = self.installed / "bin"
        self.assertRegex(self.run_alone(commands / "vicinity", "--version"), r"vicinity \d")
        self.assertRegex(self.run_alone(commands / "vicinityd", "--version"), r"vicinityd \d")
        told = self.run_alone(PYTHON, "-m", "vicinity_graph.doctor")
        self.assertIn(str(self.installed / "vicinity_graph" / "libvicinity.so.1"), told)
        told = self.run_alone(PYTHON, "-m", "vicinity_graph.demo", "--num-nodes", 2000, "--epochs", 2)
        self.assertRegex(told, r"epoch 1: \d+ seeds in [0-9.]+ s, [0-9.]+ % of classes told")
        self.assertRegex(told, r"assemble [ █]+\d+ %")
        left = [path for path in pathlib.Path("/proc").glob("[0-9]*/exe")
                if str(self.installed) in os.path.realpath(path)]
        self.assertEqual(left, [])


if __name__ == "__main__":
    run_tests()
