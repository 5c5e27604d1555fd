"""What `convert` wrote, imported by the tool and opened: nodes and edges as the user knows them."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts what Debian lacks

from small_cluster import TOOL, tool  # noqa: E402

import numpy  # noqa: E402

import vicinity_graph  # noqa: E402

SPLITS = ["none", "train", "validation", "test"]


def peak_memory():
    """The most bytes that this process has had resident. (getrusage counts those of whoever forked
    it.)"""
    status = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) << 10


class Converted:
    """The dataset that the tool makes of a description, mapped."""

    def __init__(self, description, folder, *flags):
        tool("import", "--description", description, "--output", folder, *flags)
        self.graph = vicinity_graph.Graph(directory=folder)
        self.node_types = {each["name"]: each for each in self.graph.description["node_types"]}
        self.edge_types = {each["name"]: each for each in self.graph.description["edge_types"]}

    def column(self, node_type, name, ids=None):
        """All rows, in the order of these ids of the user's (dense ones: of all)."""
        ids = numpy.arange(self.graph.num_nodes(node_type)) if ids is None else ids
        return self.graph.fetch(node_type, name, self.graph.resolve(node_type, ids)).numpy()

    def splits(self, node_type, ids=None):
        """Of each node the name of its split."""
        return [SPLITS[each] for each in self.column(node_type, "split", ids)]

    def edges(self, edge_type):
        """Global ids of sources and targets, and the columns, in the order of the edges' ids."""
        target_type = edge_type.split(":")[2]
        names = [each["name"] for each in self.edge_types[edge_type]["columns"]]
        fanouts = [[-1 if each == edge_type else 0 for each in self.edge_types]]
        batch = self.graph.sample(target_type, self.graph.nodes(target_type), fanouts, edge_ids=True,
                                  edge_columns=[(edge_type, name) for name in names])
        block, = [each for each in batch.blocks if each.edge_type == edge_type]
        order = numpy.argsort(block.edge_ids.numpy())
        targets = batch.nodes(target_type).numpy()[block.first_target + block.targets.numpy()]
        sources = batch.nodes(edge_type.split(":")[0]).numpy()[block.sources.numpy()]
        columns = {name: batch.edge_columns[0, edge_type, name].numpy()[order] for name in names}
        return sources[order], targets[order], columns


class ConvertCase(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="vicinity_convert_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.random = numpy.random.default_rng(7)

    def imported(self, description, *flags):
        return Converted(description, self.folder / "graph", *flags)

    def import_error(self, description):
        """What the tool says of a description that it refuses."""
        run = subprocess.run([str(TOOL), "import", "--description", str(description), "--output",
                              str(self.folder / "refused")],
                             capture_output=True, text=True, check=False)
        self.assertEqual(run.returncode, 65, run.stderr)
        return run.stderr

    def assert_same(self, found, wanted, what=""):
        """Type, shape and every bit."""
        wanted = numpy.asarray(wanted)
        self.assertEqual(found.dtype, wanted.dtype, what)
        self.assertEqual(found.shape, wanted.shape, what)
        self.assertEqual(found.tobytes(), numpy.ascontiguousarray(wanted).tobytes(), what)

    def assert_ends(self, converted, edge_type, sources, targets, columns=None):
        """Ends by dense ids, and columns, edge by edge."""
        found_sources, found_targets, found = converted.edges(edge_type)
        self.assertEqual(found_sources.tolist(), numpy.asarray(sources).tolist())
        self.assertEqual(found_targets.tolist(), numpy.asarray(targets).tolist())
        self.assertEqual(sorted(found), sorted(columns or {}))
        for name, values in (columns or {}).items():
            self.assert_same(found[name], values, name)
