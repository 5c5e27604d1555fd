#!/usr/bin/env python3
"""What is easily done wrong with the Python package: it works as meant, or is refused with an error
that says what to do."""

import array
import inspect
import pathlib
import pydoc
import sys
import typing
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from small_cluster import ROOT, SmallDataset, run_tests, tool  # noqa: E402

import vicinity_graph  # noqa: E402
from vicinity_graph import option_types, options  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None
try:
    import torch
except ImportError:
    torch = None

FANOUTS = [4, 3]


class DatasetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dataset = SmallDataset()
        cls.addClassCleanup(cls.dataset.close)

    def setUp(self):
        self.graph = vicinity_graph.Graph(directory=self.dataset.shards)

    def loader(self, **options):
        return self.graph.loader(FANOUTS, **{"batch_size": 64, **options})

    def assertRefused(self, kind, text, call, *arguments, **keywords):
        with self.assertRaises(kind) as caught:
            call(*arguments, **keywords)
        self.assertIn(text, str(caught.exception))


class PassTest(DatasetTest):
    """A loader has one pass at a time; batches of two are never mixed."""

    def assertOver(self, one_pass):
        self.assertRefused(vicinity_graph.FailedPrecondition, "two loaders", next, one_pass)

    def test_nested_loops_over_one_loader_end_with_an_error_instead_of_never(self):
        loader = self.loader()
        inner = []
        with self.assertRaises(vicinity_graph.FailedPrecondition) as caught:
            for _ in loader:
                inner.append([batch.step for batch in loader])
        self.assertIn("this pass over epoch 0 is over", str(caught.exception))
        self.assertEqual(inner, [list(range(len(loader)))])

    def test_zip_of_a_loader_with_itself_is_refused_and_drops_no_batches_in_silence(self):
        loader = self.loader()
        with self.assertRaises(vicinity_graph.FailedPrecondition):
            list(zip(loader, loader))

    def test_two_loaders_go_side_by_side(self):
        pairs = list(zip(self.loader(), self.loader()))
        self.assertEqual([(a.epoch, a.step) for a, _ in pairs], [(b.epoch, b.step) for _, b in pairs])
        self.assertEqual(len(pairs), len(self.loader()))

    def test_a_pass_that_was_left_is_over_when_another_begins(self):
        loader = self.loader()
        left = iter(loader)
        self.assertEqual(next(left).step, 0)
        self.assertEqual([batch.epoch for batch in loader][0], 1)
        self.assertOver(left)

    def test_a_pass_that_has_not_begun_takes_no_epoch(self):
        loader = self.loader()
        unused = iter(loader)
        self.assertEqual(next(iter(loader)).epoch, 0)
        self.assertEqual(next(unused).epoch, 1)

    def test_an_ended_pass_stays_ended(self):
        loader = self.loader()
        whole = iter(loader)
        self.assertEqual(len(list(whole)), len(loader))
        self.assertEqual(list(whole), [])
        next(iter(loader))
        self.assertEqual(list(whole), [])

    def test_next_takes_no_batch_out_of_a_pass(self):
        loader = self.loader()
        one_pass = iter(loader)
        next(one_pass)
        self.assertRefused(vicinity_graph.FailedPrecondition, "start_epoch", loader.next)
        self.assertEqual(next(one_pass).step, 1)
        loader.start_epoch(7)
        self.assertEqual((loader.next().epoch, loader.next().step), (7, 1))
        self.assertOver(one_pass)


class IdsTest(DatasetTest):
    """Ids are integers in one dimension, of whatever kind."""

    def rows(self, ids):
        return self.graph.fetch("node", "features", ids).tolist()

    def test_ids_of_every_kind_are_the_same_ids(self):
        expected = self.rows([5, 3, 5])
        kinds = [(5, 3, 5), array.array("q", [5, 3, 5]), array.array("i", [5, 3, 5]),
                 iter([5, 3, 5]), self.graph.resolve("node", self.graph.user_ids("node", [5, 3, 5]))]
        if numpy is not None:
            kinds += [numpy.array([5, 3, 5], dtype) for dtype in ("int64", "int32", "uint8")]
            kinds += [numpy.array([5, 0, 3, 0, 5, 0])[::2], [numpy.int64(5), 3, numpy.int32(5)]]
        if torch is not None:
            kinds += [torch.tensor([5, 3, 5]), torch.tensor([5, 3, 5], dtype=torch.int32)]
        for ids in kinds:
            with self.subTest(kind=type(ids)):
                self.assertEqual(self.rows(ids), expected)
        self.assertEqual(self.rows([]), [])

    def test_one_id_is_a_list_of_one(self):
        kinds = [5]
        if numpy is not None:
            kinds += [numpy.int64(5), numpy.array(5)]
        if torch is not None:
            kinds.append(torch.tensor(5))
        for one in kinds:
            with self.subTest(kind=type(one)):
                self.assertEqual(self.rows(one), self.rows([5]))

    def test_a_mask_is_not_taken_for_ids_0_and_1(self):
        self.assertRefused(vicinity_graph.InvalidArgument, "mask", self.rows, [True, False])
        if numpy is not None:
            self.assertRefused(vicinity_graph.InvalidArgument, "mask", self.rows,
                               numpy.array([True, False]))

    def test_what_is_no_list_of_integers_is_refused_by_its_value(self):
        for ids, text in (([1.5], "1.5"), ("12", "'12'"), ([1, "a"], "'a'"), ([None], "None"),
                          ([1 << 64], "64 bits"), (b"abc", "b'abc'")):
            self.assertRefused(vicinity_graph.InvalidArgument, text, self.rows, ids)
        if numpy is not None:
            for ids, text in ((numpy.zeros((2, 3), int), "(2, 3)"), (numpy.array([1.0]), "1.0"),
                              (numpy.array([1 << 63], "uint64"), "64 bits")):
                self.assertRefused(vicinity_graph.InvalidArgument, text, self.rows, ids)


class TensorTest(DatasetTest):
    def test_a_tensor_tells_its_dtype_shape_and_length(self):
        rows = self.graph.fetch("node", "features", [1, 2, 3])
        width = len(rows.tolist()[0])
        self.assertEqual((rows.dtype, rows.shape, len(rows)), ("float32", (3, width), 3))
        self.assertEqual(repr(rows), f"<Tensor float32 [3, {width}] on cpu>")
        self.assertEqual(self.graph.nodes("node").dtype, "int64")
        self.assertEqual(len(self.graph.fetch("node", "features", [])), 0)

    def test_a_column_on_a_device_tells_them_and_can_still_be_taken(self):
        batch = next(iter(self.loader(columns=[("node", "features")], placement="device",
                                      device={"kind": "host"})))
        column = batch.column("features")
        self.assertEqual(column.shape[0], len(batch.nodes()))
        self.assertIn("float32", repr(column))
        self.assertEqual(column.shape, (len(column.tolist()), column.shape[1]))

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_numpy_takes_a_tensor_where_an_array_is_meant(self):
        rows = self.graph.fetch("node", "features", [1, 2])
        self.assertEqual(numpy.asarray(rows).tolist(), rows.tolist())
        self.assertEqual(numpy.asarray(rows, "float64").dtype, numpy.float64)
        self.assertEqual(numpy.concatenate([rows, rows]).shape, (4, rows.shape[1]))
        shared = numpy.asarray(rows).__array_interface__["data"]
        self.assertEqual(numpy.asarray(rows).__array_interface__["data"], shared)
        self.assertNotEqual(rows.__array__(copy=True).__array_interface__["data"], shared)
        with self.assertRaises(ValueError):
            rows.__array__("float64", copy=False)


class OptionsTest(DatasetTest):
    def test_paths_arrays_and_ranges_are_fine(self):
        self.assertEqual(self.graph.num_nodes("node"), 2000)
        loader = self.graph.loader((4, 3), homes=[range(2)], columns=(("node", "features"),))
        self.assertGreater(len(loader), 0)
        if numpy is not None:
            loader = self.graph.loader(numpy.array(FANOUTS), batch_size=numpy.int32(64))
            self.assertEqual(next(iter(loader)).num_hops, 2)

    def test_a_wrong_value_is_named_with_what_should_be(self):
        for given, text in (({"batch_size": "64"}, "integer"), ({"cache": "lru"}, '"vip"'),
                            ({"columns": ["features"]}, "pairs"), ({"columns": "features"}, "pairs"),
                            ({"homes": object()}, "object")):
            self.assertRefused(vicinity_graph.InvalidArgument, text, self.loader, **given)

    def test_types_and_defaults_of_all_options_are_in_the_signatures(self):
        for described, types, shown in (
                (options.GRAPH, option_types.GraphOptions, vicinity_graph.Graph),
                (options.LOADER, option_types.LoaderOptions, vicinity_graph.Loader),
                (options.WRITER, option_types.WriterOptions, vicinity_graph.Writer)):
            parameters = inspect.signature(shown).parameters
            hints = typing.get_type_hints(types)
            self.assertEqual(set(hints), {each["name"] for each in described} - {"fanouts"})
            for name, hint in hints.items():
                self.assertEqual(parameters[name].annotation, types.__annotations__[name])
                if "words" in next(each for each in described if each["name"] == name):
                    self.assertIn(parameters[name].default, typing.get_args(hint))


class NamesTest(DatasetTest):
    def test_a_name_that_is_none_is_answered_with_those_there_are(self):
        batch = next(iter(self.loader(columns=[("node", "features")])))
        for call in (self.graph.num_nodes, self.graph.nodes, batch.nodes):
            self.assertRefused(vicinity_graph.NotFound, "node", call, "paper")
        self.assertRefused(vicinity_graph.NotFound, "('node', 'features')", batch.column, "colour")
        self.assertRefused(vicinity_graph.InvalidArgument, "node_type is 0", self.graph.nodes, 0)

    def test_reprs_tell_what_things_are(self):
        self.assertIn("2000 node", repr(self.graph))
        self.assertIn(str(self.dataset.shards), repr(self.graph))
        loader = self.loader(columns=[("node", "features")])
        self.assertIn(f"[4, 3], {loader.num_seeds} seeds in {len(loader)} batches", repr(loader))
        batch = next(iter(loader))
        self.assertIn("epoch 0, step 0: 64 seeds of node", repr(batch))
        self.assertIn("columns: node.features", repr(batch))
        self.assertIn("<Block hop 0 along ", repr(batch.blocks[0]))
        loader.close()
        self.graph.close()
        self.assertEqual(repr(loader), "<Loader, closed>")
        self.assertIn("closed", repr(self.graph))

    def test_the_version_is_the_librarys(self):
        self.assertEqual(tool("--version").split()[-1], vicinity_graph.__version__)

    def test_everything_public_says_what_it_is(self):
        for name in vicinity_graph.__all__:
            shown = getattr(vicinity_graph, name)
            if not inspect.isclass(shown):
                continue
            self.assertTrue(shown.__doc__, name)
            for member, value in vars(shown).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    self.assertTrue(inspect.getdoc(value), f"{name}.{member}")
        self.assertIn("two at once", pydoc.render_doc(vicinity_graph.Loader))
        package = ROOT / "client" / "python" / "vicinity_graph"
        self.assertTrue((package / "py.typed").is_file())


if __name__ == "__main__":
    run_tests()
