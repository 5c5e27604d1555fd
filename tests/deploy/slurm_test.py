#!/usr/bin/env python3
"""deploy/slurm/vicinity.sbatch, with stand-ins for Slurm and the programs: who serves what, in which
order things begin and end, and whose exit code comes back."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

# Bazel runs a link to this file: what it points to lies in the source tree.
SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "deploy" / "slurm" / "vicinity.sbatch"
DAEMON = pathlib.Path("server/vicinityd").resolve()  # Bazel's, below the folder that tests begin in
LONGEST = 20  # seconds that anything may take

# Hosts are folders' names here; `srun` runs the command once for each, on this machine.
STAND_INS = {
    "scontrol": 'tr , "\\n" <<< "$3"',
    "srun": '''hosts="$SLURM_JOB_NODELIST"
while [[ "$1" == --* ]]; do
  if [[ "$1" == --nodelist=* ]]; then hosts="${1#*=}"; fi
  shift
done
tasks=() worst=0
for host in ${hosts//,/ }; do
  SLURMD_NODENAME="$host" "$@" & tasks+=($!)
done
for task in "${tasks[@]}"; do
  wait "$task" || worst=$?
done
exit "$worst"''',
    "scancel": '[[ "$*" == "--signal=TERM 12.0" ]] || exit 1; kill $(cat "$EVENTS".pid-*)',
    "vicinityd": '''[[ "$*" != *--nonsense* ]] || exit 2
trap 'echo stopped >> "$EVENTS"; exit 0' TERM
echo $$ > "$EVENTS.pid-$SLURMD_NODENAME"
echo "server $*" >> "$EVENTS"
while :; do sleep 0.05; done''',
    # Servers are ready when all have begun, or never.
    "vicinity": '''[[ "$(grep -c ^server "$EVENTS")" == "$(grep -c ^servers "$VICINITY_CLUSTER")" ]]
echo "healthy" >> "$EVENTS"''',
}


class SlurmTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "bin").mkdir()
        for name, body in STAND_INS.items():
            path = self.folder / "bin" / name
            path.write_text(f"#!/usr/bin/env bash\nset -e\n{body}\n", "ascii")
            path.chmod(0o755)
        (self.folder / "shards").mkdir()

    def run_job(self, hosts, shards, *command, data="shards", **settings):
        """(exit code, what happened, the cluster file or None, what was said)"""
        text = f"num_shards: {shards}\n" if shards > 1 else ""
        (self.folder / "shards" / "manifest.textproto").write_text(f'name: "x"\n{text}', "ascii")
        events = self.folder / "events"
        events.write_text("", "ascii")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("VICINITY")}
        environment.update(settings, PATH=f"{self.folder / 'bin'}:{os.environ['PATH']}", EVENTS=str(events),
                           SLURM_JOB_ID="12", SLURM_SUBMIT_DIR=str(self.folder), SLURM_JOB_NODELIST=hosts)
        with subprocess.Popen([SCRIPT, data, *command], env=environment, cwd=self.folder, stderr=subprocess.PIPE,
                              text=True, start_new_session=True) as job:
            try:
                said = job.communicate(timeout=LONGEST)[1]
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)  # with its stand-ins
                raise
        cluster = self.folder / "vicinity-12" / "cluster.textproto"
        return (job.returncode, events.read_text("ascii").splitlines(),
                cluster.read_text("ascii") if cluster.exists() else None, said)

    def served(self, text):
        """By name: the shards that it has."""
        return {name: [int(shard) for shard in shards.split(", ")] for name, shards in
                re.findall(r'^servers \{ name: "(.*?)".* shards: \[(.*)\] \}$', text, re.MULTILINE)}

    def test_servers_begin_then_the_trainers_then_servers_are_stopped(self):
        code, events, cluster, _ = self.run_job("n1,n2", 4, 'echo trainer on $VICINITY_HEAD >> "$EVENTS"')
        self.assertEqual(code, 0)
        self.assertEqual(sorted(events[:2]), [
            f"server --cluster {self.folder}/vicinity-12/cluster.textproto --name n{host}" for host in (1, 2)])
        self.assertEqual(events[2:], ["healthy", "trainer on n1", "trainer on n1", "stopped", "stopped"])
        self.assertEqual(self.served(cluster), {"n1": [0, 2], "n2": [1, 3]})
        self.assertIn('advertise: "n2:7500"', cluster)
        self.assertIn("\nopen: true\n", cluster)

    def test_the_exit_code_is_the_trainers(self):
        code, events, _, _ = self.run_job("n1", 1, "exit 7")
        self.assertEqual((code, events[1:]), (7, ["healthy", "stopped"]))

    def test_copies_are_on_hosts_of_their_own(self):
        for hosts, shards, copies in ((3, 4, 2), (3, 4, 3), (4, 2, 2), (2, 5, 1), (5, 3, 1)):
            names = ",".join(f"n{host}" for host in range(hosts))
            code, _, cluster, _ = self.run_job(names, shards, "true", VICINITY_COPIES=str(copies))
            self.assertEqual(code, 0)
            served = self.served(cluster)
            self.assertEqual(sorted(shard for some in served.values() for shard in some),
                             sorted(list(range(shards)) * copies))
            for some in served.values():
                self.assertEqual(len(some), len(set(some)))

    def test_the_daemon_takes_the_cluster_file(self):
        for settings in ({}, {"VICINITY_TLS": "/certificates"}):
            _, _, cluster, _ = self.run_job("n1,n2,n3", 4, "true", VICINITY_COPIES="2", **settings)
            self.assertEqual("tls {" in cluster, bool(settings))
            self.assertEqual("open: true" in cluster, not settings)
            # It was read to the end if what is wrong is the name.
            done = subprocess.run([DAEMON, "--cluster", self.folder / "vicinity-12" / "cluster.textproto", "--name",
                                   "stranger"], capture_output=True, text=True, check=False, timeout=LONGEST)
            self.assertEqual(done.returncode, 2)
            self.assertIn('no server "stranger"', done.stderr)

    def test_what_makes_no_sense_is_refused(self):
        self.assertEqual(self.run_job("n1", 1)[0], 2)
        code, events, _, said = self.run_job("n1", 1, "true", data="nowhere")
        self.assertEqual((code, events), (2, []))
        self.assertIn("nowhere: there is no dataset", said)
        code, events, _, said = self.run_job("n1,n2", 1, "true", VICINITY_COPIES="3")
        self.assertEqual((code, events), (2, []))
        self.assertIn("the job has 2 hosts", said)

    def test_servers_that_do_not_start_end_the_job(self):
        code, events, _, said = self.run_job("n1", 1, 'echo trainer >> "$EVENTS"', VICINITY_OPTIONS="--nonsense")
        self.assertEqual(code, 2)
        self.assertIn("the servers have ended", said)
        self.assertNotIn("trainer", events)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
