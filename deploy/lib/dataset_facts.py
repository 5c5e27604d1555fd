#!/usr/bin/env python3
"""Reads `vicinity describe --format json` on standard input and prints three words for
quickstart.sh: how far it can go (`train`: there are features, labels and a split; `fetch`: features
alone; `sample`: neither), how many nodes have features, and the id of a node, `-` where ids cannot
be guessed."""

import json
import sys


def main():
    types = json.load(sys.stdin)["node_types"]

    def features(node_type):
        roles = {node_type.get(role + "_column") for role in ("label", "split", "target")}
        return [column for column in node_type["columns"] if column["name"] not in roles]

    if not any(features(node_type) for node_type in types):
        reach = "sample"
    elif any(node_type.get("label_column") and node_type.get("split_column")
             for node_type in types):
        reach = "train"
    else:
        reach = "fetch"
    num_rows = sum(node_type["num_nodes"] for node_type in types if features(node_type))
    dense = len(types) == 1 and types[0]["ids"] == "dense"
    print(reach, num_rows, "0" if dense else "-")


if __name__ == "__main__":
    main()
