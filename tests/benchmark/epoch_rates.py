"""What epochs of a loader of PyG's batches cost: for `deploy/bench.sh pyg-servers` and
`minibatch`."""

import os
import time

import process_trees

WARM_SECONDS = 6  # whole epochs; by then a loader that works ahead is as far ahead as it goes


def _epochs(loader, seconds):
    """Whole epochs, until so many seconds are over: what their batches had."""
    begin = time.perf_counter()
    counts = {"seeds": 0, "batches": 0, "rows": 0, "edges": 0}
    while time.perf_counter() - begin < seconds:
        for batch in loader:
            counts["seeds"] += batch.batch_size
            counts["batches"] += 1
            counts["rows"] += batch.x.size(0)
            counts["edges"] += batch.edge_index.size(1)
    return counts


def measure(loader, servers, seconds):
    """Of this process, the servers of these pids, and the children of all: after epochs that do not
    count, whole epochs for at least so long."""
    _epochs(loader, WARM_SECONDS)
    processes = process_trees.tree([os.getpid(), *servers])
    cpu, begin = process_trees.cpu_seconds(processes), time.perf_counter()
    counts = _epochs(loader, seconds)
    spent = time.perf_counter() - begin
    cpu = process_trees.cpu_seconds(processes) - cpu
    seeds = counts["seeds"]
    return {"seeds/s": seeds / spent, "CPU-s/1,000 seeds": 1000 * cpu / seeds,
            "resident bytes": process_trees.resident_bytes(processes),
            "processes": len(processes), "batches": counts["batches"],
            "rows/seed": counts["rows"] / seeds, "edges/seed": counts["edges"] / seeds}
