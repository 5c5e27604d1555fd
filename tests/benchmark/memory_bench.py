#!/usr/bin/env python3
"""What `vicinity partition` says that it needs of memory, and what it takes: for `deploy/bench.sh
memory`. Taken is private memory of the tool and its METIS child together, and what is resident of
the job that they share; sampled as often as that can be read."""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import process_trees
import tables

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
CUTS = ["hash", "metis"]
NUM_SHARDS = 4


def graphs(size):
    """By name, the arguments that make each."""
    full = size == "full"
    described = {"cora": "tests/data/cora.textproto", "tolokers": "tests/data/tolokers.textproto"}
    made = {name: ["import", "--description", path] for name, path in described.items()}
    made["block model"] = [
        "generate", "block-model", "--num-nodes", "1000000" if full else "20000",
        "--average-degree", "30" if full else "20", "--feature-width", "8", "--train", "0.08"]
    made["R-MAT"] = ["generate", "rmat", "--scale", "20" if full else "15", "--symmetric",
                     "--dedup", "--drop-self-loops", "--train", "0.08"]
    made["WordNet"] = ["import", "--description", "{data}/wordnet/wordnet.textproto"]
    cnr = pathlib.Path("../shared/data/cnr2000.npz")
    if cnr.exists():
        made["cnr-2000"] = ["import", "--edges", f"{cnr}:edges", "--num-nodes", "325557",
                            "--add-reverse", "--dedup", "--drop-self-loops"]
    else:
        print(f"cnr-2000: {cnr} is not there; left out", file=sys.stderr)
    return made


def make_graph(tool, data, size, name, arguments):
    data = data / "memory"
    path = data / f"{name.replace(' ', '-')}-{size}"
    if not path.exists():
        data.mkdir(parents=True, exist_ok=True)
        if name == "WordNet":
            subprocess.run(["deploy/wordnet.py", data / "wordnet"], check=True, stdout=sys.stderr)
        arguments = [part.format(data=data) for part in arguments]
        subprocess.run([tool, *arguments, "--output", path], check=True, stderr=subprocess.DEVNULL)
    return path


def private_and_shared(pid):
    """Bytes that are a process's own, and resident bytes of a METIS job; none once it is gone."""
    private = shared = 0
    of_job = False
    try:
        with open(f"/proc/{pid}/smaps", encoding="ascii") as maps:
            for line in maps:
                if re.match("[0-9a-f]+-[0-9a-f]+ ", line):
                    of_job = "vicinity_metis_" in line
                elif line.startswith("Rss:") and of_job:
                    shared += int(line.split()[1]) << 10
                elif line.startswith("Anonymous:"):
                    private += int(line.split()[1]) << 10
    except OSError:
        pass
    return private, shared


def held(pid):
    parts = [private_and_shared(each) for each in [pid, *process_trees.children(pid)]]
    return sum(part[0] for part in parts) + max(part[1] for part in parts)


def cut(tool, graph, assigner):
    """Bytes foretold and taken."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=graph.parent))
    try:
        with open(folder / "said", "w+", encoding="utf-8") as said:
            process = subprocess.Popen(
                [tool, "partition", "--input", graph, "--shards", str(NUM_SHARDS), "--assigner",
                 assigner, "--output", folder / "shards"], stdout=subprocess.DEVNULL, stderr=said)
            taken = 0
            while process.poll() is None:
                taken = max(taken, held(process.pid))
            said.seek(0)
            text = said.read()
            if process.returncode != 0:
                sys.exit(text)
        amount, unit = re.search(r"needs about ([0-9.]+) (\w+) of memory", text).groups()
        return float(amount) * UNITS[unit], taken
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--size", choices=["small", "full"], default="small")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("/tmp/vicinity-bench"))
    options = parser.parse_args()
    rows = []
    for name, arguments in graphs(options.size).items():
        graph = make_graph(options.tool, options.data, options.size, name, arguments)
        for assigner in CUTS:
            foretold, taken = cut(options.tool, graph, assigner)
            line = {"bench": "memory", "case": f"{name}, {assigner}", "metric": "bytes",
                    "value": taken, "baseline": foretold, "limit": None}
            if options.format == "json":
                print(json.dumps(line), flush=True)
            rows.append([line["case"], f"{taken / (1 << 20):.1f} MiB",
                         f"{foretold / (1 << 20):.1f} MiB", f"{foretold / taken:.2f}"])
    if options.format == "table":
        tables.print_table(["graph, cut", "taken", "foretold", "foretold / taken"], rows)


if __name__ == "__main__":
    main()
