"""How DGL's GraphBolt draws the minibatches of samplers_bench.py, by its functions alone: a pipeline of
its samplers calls the same, and has work of its own beside. One thread."""

import dgl
import torch
from dgl import graphbolt
from torch.utils.data.datapipes.iter import IterableWrapper

dgl.utils.set_num_threads(1)
torch.set_num_threads(1)


def in_lists(num_nodes, ends, columns):
    """A graph of one type, sampled from the target of an edge to its source."""
    indptr, indices, order = _in_order(num_nodes, ends)
    return graphbolt.fused_csc_sampling_graph(indptr, indices, edge_attributes={
        name: torch.from_numpy(column)[order] for name, column in columns.items()})


def typed_in_lists(node_type, num_nodes, relations):
    """One of several relations between nodes of one type, {name: ends}."""
    ends = torch.cat([torch.from_numpy(each) for each in relations.values()], dim=1)
    types = torch.cat([torch.full((each.shape[1],), i) for i, each in enumerate(relations.values())])
    indptr, indices, order = _in_order(num_nodes, ends)
    return graphbolt.fused_csc_sampling_graph(
        indptr, indices, node_type_offset=torch.tensor([0, num_nodes]), type_per_edge=types[order],
        node_type_to_id={node_type: 0},
        edge_type_to_id={f"{node_type}:{name}:{node_type}": i for i, name in enumerate(relations)})


def _in_order(num_nodes, ends):
    """Stably, so that a list has its edges of one relation together, if they come so."""
    sources, targets = (torch.as_tensor(each) for each in ends)
    order = torch.argsort(targets, stable=True)
    indptr = torch.zeros(num_nodes + 1, dtype=torch.int64)
    indptr[1:] = torch.bincount(targets, minlength=num_nodes).cumsum(0)
    return indptr, sources[order], order


def given(seeds, times):
    """As it takes them. It draws what is earlier, where we draw what is not later."""
    return torch.from_numpy(seeds), torch.from_numpy(times + 1)


def given_of_type(node_type):
    """Likewise, of typed graphs."""
    return lambda seeds, times: ({node_type: torch.from_numpy(seeds)}, torch.from_numpy(times + 1))


def drawn(sample, fanouts):
    """Minibatches whose hops draw for every node met so far; fanouts are a list of numbers a hop."""
    fanouts = [torch.tensor(each) for each in fanouts]

    def draw(seeds, _):
        nodes, edges = seeds, []
        for each in fanouts:
            nodes, compacted = graphbolt.unique_and_compact_csc_formats(
                sample(nodes, each).sampled_csc, nodes)
            edges.append(compacted)
        return nodes, edges
    return draw


def drawn_by_time(graph, fanouts, time_column, weighted_by=None):
    """Of each seed what is earlier than its time."""
    sampler = graphbolt.TemporalNeighborSampler(
        IterableWrapper([]), graph, fanouts[::-1], prob_name=weighted_by,
        edge_timestamp_attr_name=time_column)

    def draw(seeds, times):
        nodes, subgraphs = sampler.sample_subgraphs(seeds, times)
        return nodes, [each.sampled_csc for each in subgraphs]
    return draw


def size(minibatch):
    """Its edges and nodes."""
    nodes, hops = minibatch
    lists = [each for hop in hops for each in (hop.values() if isinstance(hop, dict) else [hop])]
    nodes = nodes.values() if isinstance(nodes, dict) else [nodes]
    return sum(each.indices.numel() for each in lists), sum(each.numel() for each in nodes)
