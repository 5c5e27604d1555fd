#!/usr/bin/env python3
"""GraphSAGE in plain PyTorch over Vicinity's batches: no graph library, and no copy of rows.

    graphsage.py --cluster cluster.textproto --epochs 3

Of a graph with one node type and one edge type. With --device cuda the rows are put together on the
GPU, where the loader's cache is, and the training loop never waits for it on the host.
"""

import argparse

import torch

import vicinity_graph


class Layer(torch.nn.Module):
    """Each target's own row and the mean of its neighbours', each through a matrix."""

    def __init__(self, width_in, width_out):
        super().__init__()
        self.own = torch.nn.Linear(width_in, width_out)
        self.neighbours = torch.nn.Linear(width_in, width_out, bias=False)

    def forward(self, rows, hop):
        """`rows` are those of all nodes known after the hop, its targets first."""
        total = rows.new_zeros(hop.num_targets, rows.shape[1])
        total = total.index_add(0, hop.targets, rows.index_select(0, hop.sources))
        mean = total / hop.counts.clamp(min=1).unsqueeze(1)
        return self.own(rows[:hop.num_targets]) + self.neighbours(mean)


class GraphSage(torch.nn.Module):
    def __init__(self, width, hidden, num_classes, num_layers):
        super().__init__()
        widths = [width] + [hidden] * (num_layers - 1) + [num_classes]
        self.layers = torch.nn.ModuleList(Layer(*pair) for pair in zip(widths, widths[1:]))

    def forward(self, batch):
        rows = batch.rows
        for i, hop in enumerate(reversed(batch.hops)):
            rows = self.layers[i](rows if i == 0 else torch.relu(rows), hop)
        return rows.index_select(0, batch.seeds)


class Hop:
    """A block of a batch on the trainer's device."""

    def __init__(self, block, device):
        self.num_targets = block.num_targets
        self.sources = on_device(block.sources, device).long()
        offsets = on_device(block.offsets, device)
        self.counts = offsets[1:] - offsets[:-1]
        # The size is known: without it, the host would wait for the device to count.
        self.targets = torch.repeat_interleave(torch.arange(self.num_targets, device=device),
                                               self.counts, output_size=block.num_edges)


class DeviceBatch:
    """What the model reads of a batch, on its device."""

    def __init__(self, batch, column, device):
        self.hops = [Hop(block, device) for block in batch.blocks]
        self.seeds = on_device(batch.seeds, device).long()
        self.labels = on_device(batch.labels, device)
        self.rows = on_device(batch.column(column), device)


def on_device(tensor, device):
    """Without a copy where it is there already; else copied behind the stream's work, from memory
    that the device reads by itself, so that the host does not wait."""
    shared = torch.from_dlpack(tensor)
    if shared.device.type == device.type:
        return shared
    return shared.pin_memory().to(device, non_blocking=True)


def describe(graph):
    """The only node type, its feature column, the width of that, and the number of classes."""
    node_type, = graph.description["node_types"]
    kept = {node_type[role + "_column"] for role in ("label", "split", "target")}
    column, = [each for each in node_type["columns"] if each["name"] not in kept]
    return node_type["name"], column["name"], column["shape"][0], node_type["num_classes"]


def placement(device):
    """Options of a loader whose rows come out on the device."""
    if device.type == "cpu":
        return {}
    return {"placement": "device", "device": {"kind": "cuda", "ordinal": device.index or 0}}


def step(model, optimizer, batch):
    """The loss, still on its way if the device is a GPU."""
    loss = torch.nn.functional.cross_entropy(model(batch), batch.labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cluster", required=True)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--fanouts", type=int, nargs="+", default=[15, 10, 5])
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--hidden", type=int, default=256)
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    device = torch.device(options.device)
    if device.type == "cuda":
        # The cores are the loader's. PyTorch's own threads, which copy a batch's ids to pinned
        # memory, would wait for each other's turn there: several times as long as one of them takes.
        torch.set_num_threads(1)
    torch.manual_seed(0)

    graph = vicinity_graph.Graph(cluster_file=options.cluster)
    node_type, column, width, num_classes = describe(graph)
    loader = graph.loader(options.fanouts, batch_size=options.batch_size,
                          columns=[(node_type, column)], **placement(device))
    model = GraphSage(width, options.hidden, num_classes, len(options.fanouts)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    for epoch in range(options.epochs):
        losses = [step(model, optimizer, DeviceBatch(batch, column, device)) for batch in loader]
        print(f"epoch {epoch}: loss {torch.stack(losses).mean().item():.4f}", flush=True)


if __name__ == "__main__":
    main()
