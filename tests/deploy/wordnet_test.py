#!/usr/bin/env python3
"""deploy/wordnet.py on a WordNet of four synsets, written here."""

import array
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy" / "wordnet.py"

# wndb(5WN): offset, lexicographer file, part of speech, hexadecimal word count, words with their
# lexical ids, pointer count, pointers, verb frames, gloss.
LEMMAS = " ".join(f"word{i} 0" for i in range(11))
DATA = {
    "data.noun": "  1 This is the licence.\n"
                 f"00000010 03 n 0b {LEMMAS} 002 ~ 00000020 n 0000 ! 00000020 n 0102 | big thing\n"
                 "00000020 44 n 01 small_thing 0 001 @ 00000010 n 0000 | Small thing; it's small\n",
    "data.verb": "00000010 29 v 01 be 0 002 + 00000010 n 0101 > 00000010 v 0000 01 + 02 00 | is\n",
    "data.adj": "00000030 00 s 01 odd 0 001 & 00000030 a 0000 | ---\n",
    "data.adv": "",
}


class WordNetTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.source = pathlib.Path(scratch.name, "wordnet")
        self.out = pathlib.Path(scratch.name, "out")
        self.source.mkdir()
        for name, text in DATA.items():
            (self.source / name).write_text(text, encoding="ascii")

    def convert(self):
        return subprocess.run([sys.executable, str(SCRIPT), str(self.out), "--wordnet",
                               str(self.source)], capture_output=True, text=True, check=False)

    def lines(self, name):
        return (self.out / name).read_text(encoding="ascii").splitlines()

    def test_synsets_get_part_of_speech_and_offset_as_id_and_file_as_label(self):
        self.assertEqual(self.convert().returncode, 0)
        self.assertEqual(self.lines("synsets.tsv"),
                         ["n00000010\t3", "n00000020\t44", "v00000010\t29", "a00000030\t0"])

    def test_pointers_become_edges_of_their_kind_and_satellites_are_adjectives(self):
        self.convert()
        self.assertEqual(self.lines("edges/hyponym.tsv"), ["n00000010\tn00000020"])
        self.assertEqual(self.lines("edges/hypernym.tsv"), ["n00000020\tn00000010"])
        self.assertEqual(self.lines("edges/similar_to.tsv"), ["a00000030\ta00000030"])
        description = (self.out / "wordnet.textproto").read_text(encoding="ascii")
        self.assertEqual(description.count("edges {"), 7)

    def test_reverses_that_wordnet_leaves_out_are_added_once(self):
        self.convert()
        # Symmetric relations take them in, others get a relation of their own.
        self.assertEqual(self.lines("edges/antonym.tsv"),
                         ["n00000010\tn00000020", "n00000020\tn00000010"])
        self.assertEqual(self.lines("edges/derivation.tsv"),
                         ["v00000010\tn00000010", "n00000010\tv00000010"])
        self.assertEqual(self.lines("edges/cause.tsv"), ["v00000010\tv00000010"])
        self.assertEqual(self.lines("edges/rev_cause.tsv"), ["v00000010\tv00000010"])
        self.assertFalse((self.out / "edges/rev_hypernym.tsv").exists())

    def test_rows_have_length_one_or_are_zero_where_there_are_no_words(self):
        self.convert()
        data = (self.out / "features.npy").read_bytes()
        header = int.from_bytes(data[8:10], "little")
        self.assertEqual((10 + header) % 64, 0)
        self.assertIn(b"'shape': (4, 256)", data[:10 + header])
        values = array.array("f", data[10 + header:])
        self.assertEqual(len(values), 4 * 256)
        lengths = [math.sqrt(sum(v * v for v in values[256 * i:256 * i + 256])) for i in range(4)]
        for length in lengths:
            self.assertAlmostEqual(length, 1, places=5)
        # "is" and "be" are two places at most; "small" counts three times.
        self.assertLessEqual(sum(v != 0 for v in values[512:768]), 2)
        self.assertGreater(max(abs(v) for v in values[256:512]), 0.5)

    def test_every_synset_is_in_one_split_and_a_second_run_gives_the_same_files(self):
        self.convert()
        members = [line for split in ("train", "validation", "test")
                   for line in self.lines(split + ".txt")]
        self.assertEqual(sorted(members), ["a00000030", "n00000010", "n00000020", "v00000010"])
        before = {path.name: path.read_bytes() for path in self.out.rglob("*") if path.is_file()}
        self.convert()
        after = {path.name: path.read_bytes() for path in self.out.rglob("*") if path.is_file()}
        self.assertEqual(before, after)

    def test_counts_that_differ_from_wordnet_are_told(self):
        run = self.convert()
        self.assertIn("counts differ", run.stderr)
        self.assertIn("117,659", run.stdout)

    def test_damage_is_an_error_that_names_the_line(self):
        for damage in ("00000010 03 n 0b word 0 | truncated\n", "00000010 45 n 01 a 0 000 | x\n"):
            (self.source / "data.noun").write_text(damage, encoding="ascii")
            run = self.convert()
            self.assertEqual(run.returncode, 1)
            self.assertIn("data.noun:1", run.stderr)

    def test_a_pointer_to_nowhere_and_a_missing_file_are_errors(self):
        (self.source / "data.verb").write_text(
            "00000010 29 v 01 be 0 001 + 00000099 n 0101 01 + 02 00 | exist\n", encoding="ascii")
        self.assertIn("n00000099", self.convert().stderr)
        (self.source / "data.verb").unlink()
        run = self.convert()
        self.assertEqual(run.returncode, 1)
        self.assertIn("data.verb", run.stderr)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
