#!/usr/bin/env python3
"""A trainer for ddp_test.py: trains, alone or under torchrun, and saves the model.

    ddp_trainer.py GRAPH BATCH_SIZE EPOCHS OUTPUT
"""

import os
import sys

sys.path.append("/usr/local/lib/vicinity/python")  # where deploy/setup.sh puts what Debian lacks

import torch
from torch_geometric.nn import SAGEConv
from vicinity_graph.pyg import NeighborLoader, connect


class Sage(torch.nn.Module):
    def __init__(self, width, num_classes):
        super().__init__()
        self.first, self.second = SAGEConv(width, 16), SAGEConv(16, num_classes)

    def forward(self, batch):
        rows = self.first(batch.x.double(), batch.edge_index).relu()
        return self.second(rows, batch.edge_index)[:batch.batch_size]


def main():
    path, batch_size, epochs, output = sys.argv[1:]
    torch.manual_seed(0)
    several = "RANK" in os.environ
    if several:
        torch.distributed.init_process_group("gloo")
    data = connect(path)
    loader = NeighborLoader(data, [-1, -1], data.train_mask, batch_size=int(batch_size),
                            shuffle=True, drop_last=True, distributed=several, run_seed=4)
    model = Sage(data.num_features, data.num_classes).double()
    trained = torch.nn.parallel.DistributedDataParallel(model) if several else model
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(int(epochs)):
        for batch in loader:
            loss = torch.nn.functional.cross_entropy(trained(batch), batch.y[:batch.batch_size])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    if os.environ.get("RANK", "0") == "0":
        torch.save(model.state_dict(), output)


if __name__ == "__main__":
    main()
