#!/usr/bin/env python3
"""deploy/observability: what generate.py makes is what is there, it refuses what does not exist, and
promtool, where it is installed, understands every query and plays the alerts."""

import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy" / "observability"
PROMTOOL = shutil.which("promtool", path="/usr/bin:/usr/local/bin")

sys.dont_write_bytecode = True  # beside the sources


def load_generator():
    spec = importlib.util.spec_from_file_location("generate", FOLDER / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def promtool(*arguments):
    return subprocess.run([PROMTOOL, *map(str, arguments)], capture_output=True, text=True,
                          check=False)


class ObservabilityTest(unittest.TestCase):
    def setUp(self):
        self.generate = load_generator()

    def test_what_is_there_is_what_the_generator_makes(self):
        done = subprocess.run([sys.executable, FOLDER / "generate.py", "--check"],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_metrics_and_labels_that_are_not_listed_are_refused(self):
        self.assertEqual(self.generate.faults_of_queries(), [])
        self.generate.ALERTS.append(
            ("Wrong", "warning", "1m", 'sum by (shards) (vicinity_server_gone{lanes="data"})', "", ""))
        self.assertEqual(self.generate.faults_of_queries(),
                         ["alert Wrong: no metric vicinity_server_gone",
                          "alert Wrong: no metric has a label lanes",
                          "alert Wrong: no metric has a label shards"])

    def test_every_metric_that_is_listed_is_on_the_page(self):
        page = (FOLDER.parent.parent / "docs" / "metrics.md").read_text(encoding="utf-8")
        for name in self.generate.known_metrics():
            self.assertIn(f"| `{name}` |", page)
        for name, *_ in self.generate.ALERTS:
            self.assertIn(f"| `{name}` |", page)

    def test_alerts_have_names_of_their_own_and_say_what_to_do(self):
        names = [name for name, *_ in self.generate.ALERTS]
        self.assertEqual(len(names), len(set(names)))
        for name, severity, _, _, summary, description in self.generate.ALERTS:
            self.assertRegex(name, "^Vicinity[A-Z]")
            self.assertIn(severity, ("critical", "warning"))
            self.assertTrue(summary and description.endswith("."), name)

    def test_panels_have_numbers_and_places_of_their_own(self):
        panels = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))["panels"]
        self.assertEqual(len(panels), len({panel["id"] for panel in panels}))
        taken = set()
        for panel in panels:
            at = panel["gridPos"]
            self.assertLessEqual(at["x"] + at["w"], 24)
            cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                     for y in range(at["y"], at["y"] + at["h"])}
            self.assertFalse(taken & cells, panel["title"])
            taken |= cells

    def test_every_query_of_the_dashboard_keeps_to_the_chosen_servers(self):
        query = self.generate.with_server(
            'sum by (grpc_method) (rate(grpc_server_started_total{grpc_code!="OK"}[1m])) / vicinity_server_connections')
        self.assertEqual(
            query,
            'sum by (grpc_method) (rate(grpc_server_started_total{job=~"$job",instance=~"$instance",'
            'grpc_code!="OK"}[1m])) / vicinity_server_connections{job=~"$job",instance=~"$instance"}')
        panels = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))["panels"]
        for panel in panels:
            for target in panel.get("targets", []):
                names = self.generate.METRIC_NAME.findall(target["expr"])
                of_trainers = [name for name in names if self.generate.OF_TRAINERS.match(name)]
                self.assertEqual(target["expr"].count('instance=~"$host",trainer=~"$trainer"'),
                                 len(of_trainers), target["expr"])
                self.assertEqual(target["expr"].count('instance=~"$instance"'),
                                 len(names) - len(of_trainers), target["expr"])

    @unittest.skipUnless(PROMTOOL, "promtool is not here: Debian's package prometheus has it")
    def test_promtool_takes_the_alerts_and_plays_them(self):
        checked = promtool("check", "rules", FOLDER / "alerts.yaml")
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        played = promtool("test", "rules", FOLDER / "alerts_test.yaml")
        self.assertEqual(played.returncode, 0, played.stdout + played.stderr)

    @unittest.skipUnless(PROMTOOL, "promtool is not here: Debian's package prometheus has it")
    def test_promtool_understands_every_query_of_the_dashboard(self):
        panels = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))["panels"]
        queries = [target["expr"].replace("$__rate_interval", "1m")
                   for panel in panels for target in panel.get("targets", [])]
        self.assertGreater(len(queries), 50)
        rules = {"groups": [{"name": "panels", "rules": [
            {"record": f"panel:{i}", "expr": query} for i, query in enumerate(queries)]}]}
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "panels.yaml"
            path.write_text(json.dumps(rules), encoding="utf-8")  # which YAML is
            checked = promtool("check", "rules", path)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=2).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
