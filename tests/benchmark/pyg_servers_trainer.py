#!/usr/bin/env python3
"""A trainer without a model over vicinityd: one case of `deploy/bench.sh pyg-servers`. Writes what
its epochs cost, as JSON."""

import argparse
import json
import pathlib
import sys

sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts PyG

import epoch_rates
from vicinity_graph.pyg import NeighborLoader, connect


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--fanouts", type=int, nargs="+", required=True)
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--servers", type=int, nargs="+", required=True, help="their pids")
    parser.add_argument("--result", type=pathlib.Path, required=True)
    options = parser.parse_args()
    data = connect(options.cluster)
    with NeighborLoader(data, num_neighbors=options.fanouts, batch_size=options.batch_size,
                        input_nodes=data.train_mask, shuffle=True,
                        cache=options.cache) as loader:
        result = epoch_rates.measure(loader, options.servers, options.seconds)
    options.result.write_text(json.dumps(result), encoding="utf-8")


if __name__ == "__main__":
    main()
