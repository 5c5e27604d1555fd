"""Daemons that serve the shards of a dataset on the loopback device: for benchmarks and tests."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time


class ServedShards:
    """A vicinityd for each shard; ready, all of them, when it has been made. close() ends them,
    paused ones too. `live`: they take changes. `flags`: more of vicinityd's."""

    def __init__(self, daemon, shards, num_shards, environment=None, live=False, flags=()):
        self._live = live
        self._flags = flags
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="vicinity-served-"))
        self._servers = []
        self.cluster_file = self._folder / "cluster.textproto"
        try:
            for shard in range(num_shards):
                self._start(daemon, shards, shard, environment)
            lines = [f"data: '{shards}' num_shards: {num_shards}"]
            lines += ["changes: 'changes'"] if live else []
            lines += [f"servers {{ name: 's{shard}' listen: '{self._address(shard)}' "
                      f"shards: {shard} }}" for shard in range(num_shards)]
            self.cluster_file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        except BaseException:
            self.close()
            raise

    def _start(self, daemon, shards, shard, environment):
        with open(self._folder / f"{shard}.log", "wb") as log:
            self._servers.append(subprocess.Popen(
                [str(daemon), "--data", str(shards), "--shards", str(shard), "--listen",
                 "127.0.0.1:0", "--ready-file", str(self._folder / f"{shard}.ready"),
                 "--die-with-parent", *self._flags,
                 *(["--changes", str(self._folder / "changes")] if self._live else [])],
                stderr=log, env=environment))

    def _address(self, shard):
        """Of a server that is ready, which has two minutes; the sleep only paces the asking."""
        ready = self._folder / f"{shard}.ready"
        for _ in range(1200):
            if ready.is_file() and ready.read_text(encoding="utf-8").strip():
                return ready.read_text(encoding="utf-8").split()[0]
            if self._servers[shard].poll() is not None:
                break
            time.sleep(0.1)
        log = (self._folder / f"{shard}.log").read_text(encoding="utf-8", errors="replace")
        raise RuntimeError(f"the server of shard {shard} is not ready: {log[-1000:]}")

    def pids(self):
        return [server.pid for server in self._servers]

    def pause(self, shard):
        """It answers nothing more when this returns."""
        server = self._servers[shard]
        server.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, server.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self, shard):
        self._servers[shard].send_signal(signal.SIGCONT)

    def close(self):
        for server in self._servers:
            server.kill()
            server.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
