#!/usr/bin/env python3
"""Fetches rows of nodes drawn at random, one call behind the other, and prints the microseconds
that each took: the Python side of `deploy/bench.sh rows`."""

import argparse
import array
import random
import time

import vicinity_graph


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--column", required=True, help="of the first node type")
    parser.add_argument("--rows", type=int, required=True, help="in a call")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--transport", default="auto", help="an option of the graph")
    options = parser.parse_args()

    with vicinity_graph.Graph(cluster_file=options.cluster,
                              transport=options.transport) as graph:
        node_type = graph.node_types[0]
        num_nodes = graph.num_nodes(node_type)
        ids = array.array("q", (random.randrange(num_nodes) for _ in range(options.rows)))
        graph.fetch(node_type, options.column, ids)  # the first call of a process finds it cold
        end = time.perf_counter() + options.seconds
        while time.perf_counter() < end:
            asked = time.perf_counter()
            graph.fetch(node_type, options.column, ids)
            print(1e6 * (time.perf_counter() - asked))


if __name__ == "__main__":
    main()
