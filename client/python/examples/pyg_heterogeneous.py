#!/usr/bin/env python3
"""A relational GraphSAGE of PyTorch Geometric over a graph with several node or edge types.

    deploy/wordnet.py wordnet && vicinity import --description wordnet/wordnet.textproto --output graph
    pyg_heterogeneous.py --graph graph

The seeds are the nodes of the type that has labels; WordNet has one node type, and an edge type for
each relation between words.
"""

import argparse

import torch
from torch_geometric.nn import HeteroConv, Linear, SAGEConv

from vicinity_graph.pyg import NeighborLoader, connect


class RelationalSage(torch.nn.Module):
    """A convolution for each edge type, summed at each node."""

    def __init__(self, data, hidden, num_classes, num_layers):
        super().__init__()
        self.embed = torch.nn.ModuleDict({
            node_type: Linear(max(1, data[node_type].num_features), hidden)
            for node_type in data.node_types})
        self.layers = torch.nn.ModuleList(
            HeteroConv({edge_type: SAGEConv((hidden, hidden), hidden)
                        for edge_type in data.edge_types}, aggr="sum") for _ in range(num_layers))
        self.out = Linear(hidden, num_classes)

    def forward(self, batch, node_type):
        rows = {}
        for each, embed in self.embed.items():
            store = batch[each]
            x = store.x.float() if "x" in store else torch.ones(store.num_nodes, 1)
            rows[each] = embed(x).relu()
        for layer in self.layers:
            new = layer(rows, batch.edge_index_dict)
            rows = {each: (old + new[each] if each in new else old).relu()
                    for each, old in rows.items()}
        return self.out(rows[node_type][:batch[node_type].batch_size])


def labelled_type(data):
    """The node type whose nodes have classes."""
    node_type, = [each["name"] for each in data.graph.description["node_types"]
                  if each["label_column"]]
    return node_type


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graph", required=True, help="cluster file, or directory of a dataset")
    parser.add_argument("--fanouts", type=int, nargs="+", default=[8, 4])
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()
    torch.manual_seed(0)

    data = connect(options.graph, heterogeneous=True)
    node_type = labelled_type(data)
    loaders = {split: NeighborLoader(data, options.fanouts, (node_type, mask), shuffle=shuffle,
                                     batch_size=options.batch_size)
               for split, mask, shuffle in (("train", data[node_type].train_mask, True),
                                            ("test", data[node_type].test_mask, False))}
    model = RelationalSage(data, options.hidden, data.num_classes, len(options.fanouts))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(options.epochs):
        for batch in loaders["train"]:
            store = batch[node_type]
            loss = torch.nn.functional.cross_entropy(model(batch, node_type),
                                                     store.y[:store.batch_size])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        right = total = 0
        with torch.no_grad():
            for batch in loaders["test"]:
                store = batch[node_type]
                guess = model(batch, node_type).argmax(dim=-1)
                right += int((guess == store.y[:store.batch_size]).sum())
                total += store.batch_size
        print(f"epoch {epoch}: loss {loss.item():.4f}, test accuracy {right / total:.4f}",
              flush=True)


if __name__ == "__main__":
    main()
