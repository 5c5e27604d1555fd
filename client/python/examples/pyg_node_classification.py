#!/usr/bin/env python3
"""GraphSAGE of PyTorch Geometric over a graph on servers: one trainer, or several under torchrun.

    pyg_node_classification.py --graph cluster.textproto
    torchrun --nproc_per_node 2 pyg_node_classification.py --graph cluster.textproto
    pyg_node_classification.py --graph cluster.textproto --checkpoint run.pt     # again: it goes on

Of a graph with one node type and one edge type. Beside a script for a graph in memory, `connect` and
the import of NeighborLoader are other lines; a checkpoint has the loader's state in it, so a run
that was killed goes on with the next batch, also on another number of trainers.
"""

import argparse
import os

import torch
from torch_geometric.nn import SAGEConv

from vicinity_graph.pyg import NeighborLoader, connect


class Sage(torch.nn.Module):
    def __init__(self, width, hidden, num_classes, num_layers):
        super().__init__()
        widths = [width] + [hidden] * (num_layers - 1) + [num_classes]
        self.layers = torch.nn.ModuleList(SAGEConv(*pair) for pair in zip(widths, widths[1:]))

    def forward(self, x, edge_index):
        for layer in self.layers[:-1]:
            x = torch.nn.functional.dropout(layer(x, edge_index).relu(), 0.5, self.training)
        return self.layers[-1](x, edge_index)


class Checkpoint:
    """Model, optimizer and where the loader is, in a file that is whole or the one before."""

    def __init__(self, path, model, optimizer, loader):
        self._path, self._parts = path, {"model": model, "optimizer": optimizer, "loader": loader}

    def save(self):
        if self._path and rank() == 0:
            torch.save({name: part.state_dict() for name, part in self._parts.items()},
                       self._path + ".partial")
            os.replace(self._path + ".partial", self._path)

    def load(self):
        """The epoch that training is in."""
        if not self._path or not os.path.exists(self._path):
            return 0
        saved = torch.load(self._path)
        for name, part in self._parts.items():
            part.load_state_dict(saved[name])
        return saved["loader"]["epoch"]


def rank():
    return int(os.environ.get("RANK", "0"))


def evaluate(model, data, mask, options):
    """The share of these nodes whose class the model tells."""
    model.eval()
    right = total = 0
    loader = NeighborLoader(data, options.fanouts, mask, batch_size=options.batch_size)
    with torch.no_grad():
        for batch in loader:
            guess = model(batch.x.float(), batch.edge_index)[:batch.batch_size].argmax(dim=-1)
            right += int((guess == batch.y[:batch.batch_size]).sum())
            total += batch.batch_size
    return right / total


def train(model, loader, optimizer, checkpoint, every):
    """What is left of an epoch; its mean loss."""
    model.train()
    losses = []
    for step, batch in enumerate(loader):
        out = model(batch.x.float(), batch.edge_index)[:batch.batch_size]
        loss = torch.nn.functional.cross_entropy(out, batch.y[:batch.batch_size])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if (step + 1) % every == 0:
            checkpoint.save()
    return sum(losses) / max(1, len(losses))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--graph", required=True, help="cluster file, or directory of a dataset")
    parser.add_argument("--fanouts", type=int, nargs="+", default=[15, 10])
    parser.add_argument("--batch-size", type=int, default=512)
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", help="file to go on from, and to save to")
    parser.add_argument("--checkpoint-every", type=int, default=10, help="batches")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    several = "RANK" in os.environ
    if several:
        torch.distributed.init_process_group("gloo")

    data = connect(options.graph)
    loader = NeighborLoader(data, options.fanouts, data.train_mask, batch_size=options.batch_size,
                            shuffle=True, distributed=several, run_seed=options.seed)
    model = Sage(data.num_features, options.hidden, data.num_classes, len(options.fanouts))
    trained = torch.nn.parallel.DistributedDataParallel(model) if several else model
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=1e-4)
    checkpoint = Checkpoint(options.checkpoint, model, optimizer, loader)
    for epoch in range(checkpoint.load(), options.epochs):
        loss = train(trained, loader, optimizer, checkpoint, options.checkpoint_every)
        checkpoint.save()
        if rank() == 0:
            print(f"epoch {epoch}: loss {loss:.4f}, validation accuracy "
                  f"{evaluate(model, data, data.val_mask, options):.4f}", flush=True)
    if rank() == 0:
        print(f"test accuracy {evaluate(model, data, data.test_mask, options):.4f}")


if __name__ == "__main__":
    main()
