#!/usr/bin/env python3
"""deploy/lib/manual.py: pages and completions have what the programs' help has."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
LIB = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy" / "lib"
DAEMON = pathlib.Path("server/vicinityd").resolve()  # Bazel's, below the folder that tests begin in
TOOL = pathlib.Path("client/cli/vicinity").resolve()

sys.dont_write_bytecode = True  # beside the sources
sys.path.insert(0, str(LIB))
import help_text  # pylint: disable=wrong-import-position

LONG_FLAG = re.compile(r"^  (?:-\w,)?(--[a-z][a-z-]*)", re.MULTILINE)


def said(*command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True, timeout=60).stdout


class ManualTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.output = pathlib.Path(cls.scratch.name)
        said(sys.executable, LIB / "manual.py", "--tool", TOOL, "--daemon", DAEMON, "--version", "1.2.3",
             "--output", cls.output)
        cls.commands = re.findall(r"^  (\w+)  ", said(TOOL, "help").partition("Commands:")[2], re.MULTILINE)

    def page(self, name, section=1):
        """Its text, without what roff wants."""
        text = (self.output / f"man{section}" / f"{name}.{section}").read_text("utf-8")
        return text.replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")

    def test_each_command_has_a_page_that_the_first_page_names(self):
        self.assertGreater(len(self.commands), 20)
        pages = {path.name for path in (self.output / "man1").iterdir()}
        self.assertEqual(pages, {"vicinity.1"} | {f"vicinity-{name}.1" for name in self.commands})
        for name in self.commands:
            self.assertIn(f".BR vicinity-{name} (1)", self.page("vicinity"))

    def test_each_flag_is_in_the_page(self):
        for name in self.commands:
            page = self.page(f"vicinity-{name}")
            texts = [said(TOOL, "help", name)]
            for sub in help_text.parse(name, texts[0]).of("Subcommands"):
                texts.append(said(TOOL, name, sub.form, "--help"))
            flags = {flag for text in texts for flag in LONG_FLAG.findall(text)}
            self.assertIn("--help", flags)
            for flag in flags:
                self.assertRegex(page, rf"(?m)^\\fB(-\w,)?{flag}\b")
        page = self.page("vicinityd", 8)
        flags = LONG_FLAG.findall(said(DAEMON, "--help"))
        self.assertGreater(len(flags), 20)
        for flag in flags:
            self.assertRegex(page, rf"(?m)^\\fB(-\w,)?{flag}\b")

    def test_pages_say_what_the_help_says(self):
        page = self.page("vicinity-health")
        self.assertIn('"Vicinity 1.2.3"', page)
        self.assertIn("vicinity-health - ask every server whether it serves; exit code 5 if one does not", page)
        self.assertIn("vicinity health --cluster cluster.textproto", page)
        self.assertRegex(page, r"(?s)EXIT STATUS.*\\fB5\\fR\nanswered, but part of the cluster is down")
        self.assertIn("end servers, calls under way first", self.page("vicinity-admin"))
        self.assertIn("vicinityd - serves shards of a graph", self.page("vicinityd", 8))

    def test_groff_takes_them(self):
        groff = shutil.which("groff")
        if groff is None:
            self.skipTest("there is no groff here")
        pages = sorted(self.output.glob("man?/*"))
        done = subprocess.run([groff, "-man", "-ww", "-z", "-Tutf8", *pages], capture_output=True, text=True,
                              check=True, timeout=60)
        self.assertEqual(done.stderr, "")

    def test_completions_have_commands_subcommands_and_flags(self):
        for shell in ("bash/vicinity", "zsh/_vicinity", "fish/vicinity.fish"):
            text = (self.output / "completions" / shell).read_text("utf-8")
            for word in (*self.commands, "drain", "log-level"):
                self.assertRegex(text, rf"\b{word}\b", shell)
            self.assertIn("durability", text)

    def test_shells_take_the_completions(self):
        for shell, path in (("bash", "bash/vicinity"), ("zsh", "zsh/_vicinity"), ("fish", "fish/vicinity.fish")):
            if shutil.which(shell) is not None:
                said(shell, "-n", self.output / "completions" / path)

    def test_zsh_completes(self):
        if shutil.which("zsh") is None:
            self.skipTest("there is no zsh here")

        def completed(*words):
            # In place of zsh's own functions, which ask a terminal.
            script = ("_describe() { print -l -- ${(P)2}; }; _files() { }; compdef() { }; "
                      f"words=({' '.join(words)} ''); CURRENT={len(words) + 1}; "
                      f"source {self.output}/completions/zsh/_vicinity; _vicinity")
            return {line.partition(":")[0] for line in said("zsh", "-f", "-c", script).splitlines()}
        self.assertIn("certificate", completed("vicinity"))
        self.assertIn("drain", completed("vicinity", "admin"))
        self.assertIn("--cluster", completed("vicinity", "health"))
        self.assertNotIn("--durability", completed("vicinity", "health"))
        self.assertIn("--cluster", completed("vicinity", "admin", "drain"))
        self.assertNotIn("drain", completed("vicinity", "admin", "drain"))

    def test_fish_completes(self):
        if shutil.which("fish") is None:
            self.skipTest("there is no fish here")

        def completed(line):
            script = f"source {self.output}/completions/fish/vicinity.fish; complete -C '{line}'"
            return {words.split("\t")[0] for words in said("fish", "--no-config", "-c", script).splitlines()}
        self.assertIn("certificate", completed("vicinity cert"))
        self.assertIn("drain", completed("vicinity admin dr"))
        self.assertIn("--cluster", completed("vicinity health --cl"))
        self.assertNotIn("--durability", completed("vicinity health --d"))

    def test_a_help_of_another_form_is_an_error(self):
        with self.assertRaises(ValueError):
            help_text.parse("x", "x: y\n\nUsage: x\n\nOptions:\n    --indented TEXT\n")


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
