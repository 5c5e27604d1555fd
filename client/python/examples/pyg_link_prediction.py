#!/usr/bin/env python3
"""Which nodes are linked: GraphSAGE of PyTorch Geometric, trained on a graph's links and on pairs
that are none.

    pyg_link_prediction.py --graph cluster.textproto

Of a graph with one node type and one edge type. A twentieth of the links is kept aside and told
from as many pairs drawn at random, none of which is a link.
"""

import argparse

import torch
from torch_geometric.nn import SAGEConv

from vicinity_graph.pyg import LinkNeighborLoader, connect


class Encoder(torch.nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.first = SAGEConv(width, hidden)
        self.second = SAGEConv(hidden, hidden)

    def forward(self, batch):
        """Of each pair how likely it is a link, before the sigmoid."""
        rows = self.first(batch.x.float(), batch.edge_index).relu()
        rows = self.second(rows, batch.edge_index)
        source, target = batch.edge_label_index
        return (rows[source] * rows[target]).sum(dim=-1)


def area_under_curve(scores, labels):
    """The chance that a link has a higher score than a pair that is none."""
    order = scores.argsort()
    ranks = torch.empty_like(order)
    ranks[order] = torch.arange(1, len(order) + 1)
    links = labels > 0
    num_links, num_others = int(links.sum()), int((~links).sum())
    return (int(ranks[links].sum()) - num_links * (num_links + 1) / 2) / (num_links * num_others)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graph", required=True, help="cluster file, or directory of a dataset")
    parser.add_argument("--fanouts", type=int, nargs="+", default=[10, 5])
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    torch.manual_seed(0)

    data = connect(options.graph)
    _, edges = data
    links = torch.stack(edges.get_edge_index(edge_type=None, layout="coo"))
    links = links[:, torch.randperm(links.size(1))]
    num_kept = links.size(1) // 20
    loaders = [LinkNeighborLoader(data, options.fanouts, edge_label_index=chosen,
                                  neg_sampling="binary", exact_negatives=True,
                                  batch_size=options.batch_size, shuffle=True)
               for chosen in (links[:, num_kept:], links[:, :num_kept])]
    model = Encoder(data.num_features, options.hidden)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for epoch in range(options.epochs):
        for batch in loaders[0]:
            loss = torch.nn.functional.binary_cross_entropy_with_logits(model(batch),
                                                                        batch.edge_label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            told = [(model(batch), batch.edge_label) for batch in loaders[1]]
        scores, labels = (torch.cat(parts) for parts in zip(*told))
        print(f"epoch {epoch}: loss {loss.item():.4f}, area under the curve "
              f"{area_under_curve(scores, labels):.4f}", flush=True)


if __name__ == "__main__":
    main()
