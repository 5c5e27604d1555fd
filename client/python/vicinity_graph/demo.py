"""A cluster on this machine in a minute: python -m vicinity_graph.demo

Makes a graph, cuts it in two, starts a server for each shard on loopback, trains over them, and
draws where the time went. With PyTorch it trains a GraphSAGE, without it takes the batches alone.
Needs the programs that the wheel brings; ends what it started, and leaves no file behind.
"""

from __future__ import annotations

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any, Iterator, List

from . import _programs
from .errors import VicinityError
from .graph import Graph
from .loader import Loader

NUM_SHARDS = 2
FANOUTS = [15, 10]
# Of a server that reads its shard; each look is a step of a twentieth of a second.
_LOOKS = 1200

try:
    import torch
except ImportError:
    torch = None  # type: ignore[assignment]


def say(text: str) -> None:
    """A line, at once."""
    print(text, flush=True)


def run(name: str, *arguments: Any) -> None:
    """A program to its end; RuntimeError with what it said."""
    done = subprocess.run([_programs.path(name), *map(str, arguments)], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{name} {arguments[0]} ended with {done.returncode}: {done.stderr}")


class Cluster:
    """Servers of a folder's shards, and the file that names them."""

    def __init__(self, folder: pathlib.Path, shards: pathlib.Path):
        self._servers: List[subprocess.Popen] = []
        self.file = folder / "cluster.textproto"
        lines = [f"data: '{shards}' num_shards: {NUM_SHARDS}"]
        try:
            for shard in range(NUM_SHARDS):
                ready = folder / f"{shard}.ready"
                self._servers.append(subprocess.Popen(  # pylint: disable=consider-using-with
                    [_programs.path("vicinityd"), "--data", shards, "--shards", str(shard), "--listen",
                     "127.0.0.1:0", "--ready-file", ready, "--die-with-parent"],
                    stderr=subprocess.DEVNULL))
                address = self._address(ready, self._servers[-1])
                lines.append(f"servers {{ name: 's{shard}' listen: '{address}' shards: {shard} }}")
                say(f"  vicinityd with shard {shard} listens on {address}")
        except BaseException:
            self.close()
            raise
        self.file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    @staticmethod
    def _address(ready: pathlib.Path, server: subprocess.Popen) -> str:
        for _ in range(_LOOKS):
            if ready.is_file() and ready.read_text(encoding="utf-8").strip():
                return ready.read_text(encoding="utf-8").split()[0]
            if server.poll() is not None:
                break
            time.sleep(0.05)
        raise RuntimeError("a server did not start")

    def close(self) -> None:
        """Ends the servers."""
        for server in self._servers:
            server.terminate()
        for server in self._servers:
            server.wait()


class Sage:
    """GraphSAGE in plain PyTorch: of each target its own row and the mean of its neighbours'."""

    def __init__(self, width: int, num_classes: int, hidden: int = 64):
        torch.manual_seed(0)
        widths = [width] + [hidden] * (len(FANOUTS) - 1) + [num_classes]
        self._layers = [torch.nn.Linear(2 * width_in, width_out)
                        for width_in, width_out in zip(widths, widths[1:])]
        self._optimizer = torch.optim.Adam(
            [weights for layer in self._layers for weights in layer.parameters()], lr=0.01)

    def __call__(self, batch: Any) -> Any:
        rows = batch.column("features").torch()
        for number, block in enumerate(reversed(batch.blocks)):
            sources, targets = block.sources.torch().long(), block.targets.torch().long()
            sums = rows.new_zeros(block.num_targets, rows.shape[1]).index_add(
                0, targets, rows[sources])
            counts = torch.bincount(targets, minlength=block.num_targets).clamp(min=1)
            both = torch.cat([rows[:block.num_targets], sums / counts.unsqueeze(1)], dim=1)
            rows = self._layers[number](both if number == 0 else both.relu())
        return rows[batch.seeds.torch().long()]

    def train(self, batch: Any) -> float:
        """One step; the share of seeds whose class was told before it."""
        out, labels = self(batch), batch.labels.torch()
        loss = torch.nn.functional.cross_entropy(out, labels)
        self._optimizer.zero_grad()
        loss.backward()
        self._optimizer.step()
        return float((out.argmax(dim=1) == labels).float().mean())


def bars(loader: Loader) -> Iterator[str]:
    """Of each stage how long it was busy, as a part of the time that passed."""
    stats = loader.stats()
    for stage in stats["stages"]:
        share = stage["busy_seconds"] / max(stats["wall_seconds"], 1e-9) / stage["num_threads"]
        yield f"  {stage['stage']:>9} {'█' * round(40 * share):<40} {100 * share:3.0f} %"


def train(graph: Graph, epochs: int) -> None:
    """Epochs over the graph's training nodes."""
    node_type, = graph.description["node_types"]
    model = None if torch is None else Sage(64, node_type["num_classes"])
    kept = node_type["num_nodes"] // 10  # rows, so that there is something left to fetch
    with graph.loader(FANOUTS, batch_size=512, columns=[(node_type["name"], "features")],
                      cache_rows=kept) as loader:
        for epoch in range(epochs):
            begin, told, seeds = time.perf_counter(), 0.0, 0
            for batch in loader:
                told += 0.0 if model is None else model.train(batch) * len(batch.labels)
                seeds += len(batch.labels)
            seconds = time.perf_counter() - begin
            learnt = "" if model is None else f", {100 * told / seeds:.1f} % of classes told"
            say(f"  epoch {epoch}: {seeds} seeds in {seconds:.2f} s{learnt}")
        rows = {kind: loader.stats()[f"rows_{kind}"] for kind in ("cached", "remote")}
        say(f"\nRows of batches: {rows['remote']:,} came from servers, {rows['cached']:,} were kept (a "
            "tenth of all is) or on their way already.\nWhere the time went, stage by stage (they work at the same time):\n")
        for bar in bars(loader):
            say(bar)


def main() -> None:
    """The demo."""
    parser = argparse.ArgumentParser(prog="python -m vicinity_graph.demo",
                                     description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--num-nodes", type=int, default=50_000)
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vicinity_demo_") as scratch:
        folder = pathlib.Path(scratch)
        say(f"A graph of {options.num_nodes:,} nodes in communities, cut in {NUM_SHARDS} shards:")
        run("vicinity", "generate", "block-model", "--num-nodes", options.num_nodes, "--train", "0.2",
            "--output", folder / "graph")
        run("vicinity", "partition", "--input", folder / "graph", "--output", folder / "shards",
            "--shards", NUM_SHARDS, "--assigner", "hash")
        cluster = Cluster(folder, folder / "shards")
        try:
            with Graph(cluster_file=cluster.file) as graph:
                say(f"\n{graph!r}\n" + ("\nPyTorch is not installed: batches alone." if torch is None
                                        else "\nGraphSAGE over it:"))
                train(graph, options.epochs)
        finally:
            cluster.close()


if __name__ == "__main__":
    try:
        main()
    except (VicinityError, RuntimeError, OSError) as error:
        sys.exit(f"demo: {error}")
