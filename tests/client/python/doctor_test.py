#!/usr/bin/env python3
"""What `python -m vicinity_graph.doctor` says where all fits, and where something does not."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from small_cluster import LIBRARY, ROOT, run_tests  # noqa: E402

import vicinity_graph  # noqa: E402


class DoctorTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vicinity_doctor_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def module(self, name, text):
        """One that stands before what is installed."""
        (self.folder / f"{name}.py").write_text(text, encoding="utf-8")

    def ask(self, library=LIBRARY):
        path = os.pathsep.join([str(self.folder), str(ROOT / "client" / "python")])
        return subprocess.run([sys.executable, "-m", "vicinity_graph.doctor"], check=False,
                              capture_output=True, text=True,
                              env=dict(os.environ, PYTHONPATH=path, VICINITY_LIBRARY=str(library)))

    def test_where_all_fits_it_tells_versions_and_exits_with_0(self):
        asked = self.ask()
        self.assertEqual(asked.returncode, 0, asked.stdout + asked.stderr)
        self.assertIn(f"ok    libvicinity: {vicinity_graph.__version__}, ABI version {vicinity_graph._library.ABI_VERSION}, {LIBRARY}",
                      asked.stdout)
        for subject in ("Python", "numpy", "torch", "torch_geometric", "GPU"):
            self.assertIn(f"ok    {subject}: ", asked.stdout)

    def test_a_library_that_is_missing_or_another_is_a_fault_and_no_traceback(self):
        wrong = self.folder / "libvicinity.so"
        wrong.write_bytes(b"no library")
        for library in ("/nowhere/libvicinity.so", wrong, "libm.so.6"):
            asked = self.ask(library)
            self.assertEqual(asked.returncode, 1)
            self.assertIn("FAULT libvicinity: ", asked.stdout)
            self.assertIn("VICINITY_LIBRARY names another", asked.stdout)
            self.assertEqual(asked.stderr, "")

    def test_what_is_optional_is_a_fault_only_if_it_is_there_and_does_not_fit(self):
        self.module("numpy", "__version__ = '1.20'")
        self.module("torch", "raise ModuleNotFoundError('none', name='torch')")
        self.module("torch_geometric", "import part_that_is_not_there")
        asked = self.ask()
        self.assertEqual(asked.returncode, 1)
        self.assertIn("FAULT numpy: 1.20: has no from_dlpack", asked.stdout)
        self.assertIn("ok    torch: not installed", asked.stdout)
        self.assertIn("FAULT torch_geometric: does not load", asked.stdout)

    def test_a_dgl_for_another_pytorch_is_a_fault(self):
        self.module("dgl", "raise FileNotFoundError('Cannot find DGL C++ graphbolt library')")
        asked = self.ask()
        self.assertEqual(asked.returncode, 1)
        self.assertIn("FAULT dgl: does not load: Cannot find DGL C++", asked.stdout)

    def test_what_others_warn_of_is_no_finding(self):
        self.module("torch_geometric", "import warnings\n__version__ = '2'\n"
                    "warnings.warn('torch.jit.script is deprecated', FutureWarning)\n")
        asked = self.ask()
        self.assertIn("ok    torch_geometric: 2", asked.stdout)
        self.assertEqual(asked.stderr, "")

    def test_a_gpu_is_named(self):
        self.module("torch", "__version__ = '9'\nfrom_dlpack = None\n"
                    "class cuda:\n    is_available = staticmethod(lambda: True)\n"
                    "    device_count = staticmethod(lambda: 1)\n"
                    "    get_device_name = staticmethod(lambda number: f'card {number}')\n")
        self.module("torch_geometric", "__version__ = '2'")
        asked = self.ask()
        self.assertIn('ok    GPU: card 0: placement="device"', asked.stdout)
        self.assertIn("ok    torch_geometric: 2", asked.stdout)


class ImportTest(unittest.TestCase):
    def test_without_its_library_the_package_says_what_to_do(self):
        asked = subprocess.run(
            [sys.executable, "-c", "from vicinity_graph import Graph"], check=False,
            capture_output=True, text=True,
            env=dict(os.environ, PYTHONPATH=str(ROOT / "client" / "python"),
                     VICINITY_LIBRARY="/nowhere/libvicinity.so"))
        self.assertEqual(asked.returncode, 1)
        self.assertIn("VICINITY_LIBRARY names another", asked.stderr)

    def test_an_attribute_that_is_none_is_an_error(self):
        with self.assertRaises(AttributeError):
            vicinity_graph.no_such_name
        self.assertIn("Graph", dir(vicinity_graph))


if __name__ == "__main__":
    run_tests()
