#!/usr/bin/env python3
"""graphlearn-torch in its server mode, over its public interface: a server, or a trainer without a
model, of one case of `deploy/bench.sh pyg-servers`.

The folder --graph has the arrays of a graph whose edges go both ways: `offsets` [nodes + 1] and
`neighbors` of the nodes' lists, `x`, `owners` (which server has a node), `train` (the seeds).
"""

import argparse
import json
import pathlib

import epoch_rates
import graphlearn_torch.distributed as graphlearn
import numpy
import torch

ADDRESS = "127.0.0.1"


def load(folder, name):
    return torch.from_numpy(numpy.load(folder / f"{name}.npy"))


def share(folder, num_servers, rank):
    """One server's: the lists and rows of the nodes that it owns, in tables over all nodes."""
    offsets, owners = load(folder, "offsets"), load(folder, "owners")
    mine = owners == rank
    degrees = offsets.diff()
    own_offsets = torch.zeros_like(offsets)
    own_offsets[1:] = (degrees * mine).cumsum(0)
    neighbors = load(folder, "neighbors")[mine.repeat_interleave(degrees)]
    rows = torch.full_like(owners, -1)
    rows[mine] = torch.arange(int(mine.sum()))
    dataset = graphlearn.DistDataset(num_servers, rank, node_pb=owners, edge_dir="out")
    dataset.init_graph((own_offsets, neighbors), layout="CSR", graph_mode="CPU")
    dataset.init_node_features(load(folder, "x")[mine], id2idx=rows, with_gpu=False)
    return dataset


def serve(options):
    torch.multiprocessing.set_start_method("spawn")  # its workers take a lock that was made so
    graphlearn.init_server(
        num_servers=options.num_servers, server_rank=options.rank,
        dataset=share(options.graph, options.num_servers, options.rank), master_addr=ADDRESS,
        master_port=options.ports[0], num_clients=1)
    graphlearn.wait_and_shutdown_server()


def seeds_of(folder, rank):
    """A file of a server's seeds, which is how a trainer names them."""
    train = load(folder, "train")
    path = folder / f"train-{rank}.pt"
    torch.save(train[load(folder, "owners")[train] == rank], path)
    return str(path)


def train(options):
    graphlearn.init_client(
        num_servers=options.num_servers, num_clients=1, client_rank=0, master_addr=ADDRESS,
        master_port=options.ports[0])
    ranks = list(range(options.num_servers))
    loader = graphlearn.DistNeighborLoader(
        data=None, num_neighbors=options.fanouts, batch_size=options.batch_size, shuffle=True,
        input_nodes=[seeds_of(options.graph, rank) for rank in ranks], collect_features=True,
        to_device=torch.device("cpu"),
        worker_options=graphlearn.RemoteDistSamplingWorkerOptions(
            server_rank=ranks, num_workers=options.workers,
            worker_devices=[torch.device("cpu")] * options.workers, master_addr=ADDRESS,
            master_port=options.ports[1], worker_key="train"))
    result = epoch_rates.measure(loader, options.servers, options.seconds)
    options.result.write_text(json.dumps(result), encoding="utf-8")
    loader.shutdown()  # without which servers leave their shared memory behind
    graphlearn.shutdown_client()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    roles = parser.add_subparsers(required=True)
    for name, run in (("serve", serve), ("train", train)):
        role = roles.add_parser(name)
        role.set_defaults(run=run)
        role.add_argument("--graph", type=pathlib.Path, required=True)
        role.add_argument("--num-servers", type=int, required=True)
        role.add_argument("--ports", type=int, nargs=2, required=True)
    roles.choices["serve"].add_argument("--rank", type=int, required=True)
    role = roles.choices["train"]
    role.add_argument("--workers", type=int, required=True, help="of each server")
    role.add_argument("--fanouts", type=int, nargs="+", required=True)
    role.add_argument("--batch-size", type=int, required=True)
    role.add_argument("--seconds", type=float, required=True)
    role.add_argument("--servers", type=int, nargs="+", required=True, help="their pids")
    role.add_argument("--result", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
