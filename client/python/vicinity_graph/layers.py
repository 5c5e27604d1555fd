"""Samples by layers: nodes are drawn for a layer as a whole, instead of neighbours for each target.

    from vicinity_graph.layers import ladies

    sample = ladies(graph, "paper", seeds, [512, 512], run_seed=1, step=7)
    x = graph.fetch("paper", "features", sample.nodes).torch()
    for layer in sample.layers:                        # the outermost first
        x = layer.mean(x)                              # [layer.num_targets, width]

    norms = column_norms(graph, "paper")               # once: it reads every edge
    sample = fastgcn(graph, norms, seeds, [512, 512], run_seed=1, step=7)

Draws choose nodes by neighbours of one layer at a time too, with draws="labor" of graph.sample and
loaders: that keeps a fanout for each target, and is made ahead by threads. This here is a function
of full lists: each layer reads the lists of all its targets, a hub's as well, in one sample.

Needs NumPy and PyTorch.
"""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

import numpy
import torch
from torch import Tensor

from .graph import Graph

_GOLDEN = numpy.uint64(0x9E3779B97F4A7C15)


class Layer(NamedTuple):
    """Target i is the i-th node of the sample and has the sources sources[offsets[i]] ..
    sources[offsets[i + 1] - 1], positions among the sample's nodes. The nodes of its sources are the
    first num_sources of them, the targets' the first num_targets."""

    num_targets: int
    num_sources: int
    offsets: Tensor  # int64 [num_targets + 1]
    sources: Tensor  # int64 [num_edges]
    #: Of each edge its weight in the mean over the target's list that the layer estimates: those of a
    #: target add up to 1 with ladies, with fastgcn on average.
    weights: Tensor  # float32 [num_edges]
    edge_ids: Tensor  # int64 [num_edges], places in the import

    def mean(self, rows: Tensor) -> Tensor:
        """Of the rows of the first num_sources nodes, for each target the weighted sum over its
        sources: [num_targets, ...]; 0 where there are none."""
        targets = torch.repeat_interleave(self.offsets.diff())
        weighted = rows[self.sources] * self.weights.view(-1, *[1] * (rows.dim() - 1)).to(rows)
        out = rows.new_zeros((self.num_targets, *rows.shape[1:]))
        return out.index_add_(0, targets, weighted)


class LayerSample(NamedTuple):
    nodes: Tensor  # int64 [n], global ids, the seeds first
    layers: List[Layer]  # the outermost first


def ladies(graph: Graph, node_type: str, seeds: Any, num_nodes: Sequence[int], *,
           edge_type: Optional[str] = None, weighted_by: Optional[str] = None, run_seed: int = 0,
           epoch: int = 0, step: int = 0) -> LayerSample:
    """LADIES (Zou et al., NeurIPS 2019) around seeds, global ids of a node type, each once.

    num_nodes has one number a layer, the seeds' first. A layer's candidates are the sources of its
    targets' in-edges along `edge_type`, which leads from the type to itself (nothing: the only one
    that does). With W(v, u) the weight of the edge from u to v, which is `weighted_by`, a column of
    one number an edge, or 1 / in-degree(v), and p(u) the sum over the targets v of W(v, u) ** 2, that
    many are drawn without replacement, one after the other among those left, with chances in
    proportion to p; or all there are. Nodes with p = 0 are never drawn. The layer's sources are those drawn and
    its targets, which are the next layer's targets. Its edges are all between these: the target's
    in-edges from sources that are candidates. Their weights are W(v, u) / p(u), divided by their sum
    over the target's edges, whose estimate of the mean over the list by W is what LADIES trains on.
    (DGL's example multiplies by the number of edges, for a mean that divides by it.) Where that sum is
    0 weights are 0.

    Draws: the n nodes with the smallest -log(r(u)) / p(u) (Efraimidis and Spirakis 2006), with r(u)
    a hash of run_seed, epoch, step, the layer and u's global id: the same for any servers, and
    another on another cut, as draws="labor" of graph.sample is.
    Cost: one sample a layer, of the whole lists of its targets.
    Errors: ValueError for numbers below 1, seeds given twice, weights below 0 or not finite, an edge
            type that does not lead from the type to itself, or none or several that do.
    """
    return _sampled(graph, node_type, seeds, num_nodes, _edge_type(graph, node_type, edge_type),
                    weighted_by, (run_seed, epoch, step), _layer)


class ColumnNorms(NamedTuple):
    """Of the nodes of a type how much they weigh in the lists of all others: what fastgcn draws by.
    16 bytes a node; of column_norms."""

    node_type: str
    edge_type: str
    weighted_by: Optional[str]
    nodes: Any  # int64 [n], NumPy, global ids, rising
    #: Node i is drawn with the chance (sums[i] - sums[i - 1]) / sums[n - 1].
    sums: Any  # float64 [n], NumPy


def column_norms(graph: Graph, node_type: str, *, edge_type: Optional[str] = None,
                 weighted_by: Optional[str] = None, edges_at_once: int = 1 << 22) -> ColumnNorms:
    """The squared norms of the columns of W, as ladies has it, over all nodes of a type: of node u the
    sum of W(v, u) ** 2 over all edges that lead from it, parallel ones each.

    Cost: the lists of all nodes are read once, in samples of up to edges_at_once edges (or of one
    node that has more), some 100 bytes an edge of one sample, and 32 bytes a node. The graph's edges
    do not change: once is enough for a run.
    Errors: as ladies; ValueError if no edge has a weight above 0.
    """
    edge_type = _edge_type(graph, node_type, edge_type)
    if edges_at_once < 1:
        raise ValueError(f"edges_at_once is {edges_at_once}: 1 or more")
    nodes = numpy.sort(graph.nodes(node_type).numpy())
    norms = numpy.zeros(len(nodes))
    ends = numpy.cumsum(graph.degrees(edge_type, nodes).numpy())
    first = 0
    while first < len(nodes):
        before = ends[first - 1] if first > 0 else 0
        end = max(first + 1, int(numpy.searchsorted(ends, before + edges_at_once, side="right")))
        lists = _lists(graph, node_type, nodes[first:end], edge_type, weighted_by)
        sources, edge_of = numpy.unique(lists.sources, return_inverse=True)
        norms[numpy.searchsorted(nodes, sources)] += numpy.bincount(
            edge_of, weights=lists.weights ** 2, minlength=len(sources))
        first = end
    sums = numpy.cumsum(norms)
    if len(sums) == 0 or not sums[-1] > 0:
        raise ValueError(f"no edge of type {edge_type} has a weight above 0: there is nothing to draw")
    return ColumnNorms(node_type, edge_type, weighted_by, nodes, sums)


def fastgcn(graph: Graph, norms: ColumnNorms, seeds: Any, num_nodes: Sequence[int], *,
            run_seed: int = 0, epoch: int = 0, step: int = 0) -> LayerSample:
    """FastGCN (Chen et al., ICLR 2018) around seeds, global ids of the norms' node type, each once.

    num_nodes has one number s a layer, the seeds' first. For each layer s nodes are drawn with
    replacement from all nodes of the type, whatever the layer above, u with the chance q(u) in
    proportion to its norm. The layer's sources are those drawn and its targets, which are the next
    layer's targets; its edges are the target's in-edges from nodes that were drawn. Where u was drawn
    m times the edge's weight is m W(v, u) / (s q(u)): so the expectation of Layer.mean is exactly the
    mean over the whole list by W, and a target of which no source was drawn has 0. With W as ladies
    has it that is the mean over in-edges; the paper's matrix, symmetric and with loops, is one whose
    entries are `weighted_by`.

    Draws are hashes of run_seed, epoch, step, the layer and the draw's number: the same for any
    servers, and another on another cut.
    Cost: one sample a layer, of the whole lists of its targets. ladies, which draws from their
    neighbours alone, has more edges for as many nodes, at the same cost.
    Errors: as ladies.
    """
    def layer(nodes: Any, lists: _Lists, count: int, stream: Any) -> Any:
        return _independent_layer(nodes, lists, norms, count, stream)

    return _sampled(graph, norms.node_type, seeds, num_nodes, norms.edge_type, norms.weighted_by,
                    (run_seed, epoch, step), layer)


def _sampled(graph: Graph, node_type: str, seeds: Any, num_nodes: Sequence[int], edge_type: str,
             weighted_by: Optional[str], draw: Tuple[int, int, int],
             layer_of: Callable[..., Any]) -> LayerSample:
    if len(num_nodes) == 0 or min(num_nodes) < 1:
        raise ValueError(f"num_nodes are {list(num_nodes)}: one for each layer, 1 or more")
    nodes = numpy.asarray(seeds, dtype=numpy.int64)
    values, counts = numpy.unique(nodes, return_counts=True)
    if len(values) != len(nodes):
        raise ValueError(f"seed {values[counts > 1][0]} is given twice")
    made = []
    for number, count in enumerate(num_nodes):
        lists = _lists(graph, node_type, nodes, edge_type, weighted_by)
        layer, nodes = layer_of(nodes, lists, count, _stream(*draw, number))
        made.append(layer)
    return LayerSample(torch.from_numpy(nodes), made[::-1])


class _Lists(NamedTuple):
    """Whole lists of some targets."""

    targets: Any  # int64 [num_edges], positions
    sources: Any  # int64 [num_edges], global ids
    weights: Any  # float64 [num_edges]
    edge_ids: Any  # int64 [num_edges]


def _edge_type(graph: Graph, node_type: str, edge_type: Optional[str]) -> str:
    fitting = [each for each in graph.edge_types if each.split(":")[::2] == [node_type, node_type]]
    if edge_type in fitting:
        return edge_type
    if edge_type is not None:
        raise ValueError(f"edge type {edge_type!r} does not lead from {node_type!r} to itself: "
                         f"{fitting} do")
    if not fitting:
        raise ValueError(f"no edge type leads from {node_type!r} to itself: there are "
                         f"{graph.edge_types}")
    if len(fitting) != 1:
        raise ValueError(f"edge types from {node_type!r} to itself are {fitting}: say which")
    return fitting[0]


def _lists(graph: Graph, node_type: str, nodes: Any, edge_type: str,
           weighted_by: Optional[str]) -> _Lists:
    columns = [] if weighted_by is None else [(edge_type, weighted_by)]
    fanouts = [[-1 if each == edge_type else 0 for each in graph.edge_types]]
    batch = graph.sample(node_type, nodes, fanouts, edge_ids=True, edge_columns=columns)
    if not batch.blocks:
        return _Lists(*[numpy.empty(0, dtype) for dtype in ("i8", "i8", "f8", "i8")])
    block = batch.blocks[0]
    targets = block.targets.numpy().astype(numpy.int64)
    if weighted_by is None:
        weights = 1.0 / numpy.bincount(targets, minlength=len(nodes))[targets]
    else:
        weights = batch.edge_columns[0, edge_type, weighted_by].numpy().astype(numpy.float64)
        if weights.shape != targets.shape:
            raise ValueError(f"column {weighted_by!r} of {edge_type} has not one number an edge")
        if not (numpy.isfinite(weights) & (weights >= 0)).all():
            raise ValueError(f"column {weighted_by!r} of {edge_type} has weights that are below 0 or "
                             "not finite")
    sources = batch.nodes(node_type).numpy()[block.sources.numpy()]
    return _Lists(targets, sources, weights, block.edge_ids.numpy())


def _layer(nodes: Any, lists: _Lists, count: int, stream: Any) -> Any:
    """The layer whose targets are these, and its nodes."""
    candidates, edge_of = numpy.unique(lists.sources, return_inverse=True)
    chances = numpy.bincount(edge_of, weights=lists.weights ** 2, minlength=len(candidates))
    possible = numpy.flatnonzero(chances > 0)
    keys = -numpy.log(_uniform(stream, candidates[possible])) / chances[possible]
    drawn = candidates[possible[numpy.argsort(keys, kind="stable")[:count]]]
    all_nodes = _with(nodes, drawn)
    place, here = _places(all_nodes, candidates)
    kept = here[edge_of] & (lists.weights > 0)
    targets, edge_of = lists.targets[kept], edge_of[kept]
    estimates = lists.weights[kept] / chances[edge_of]
    sums = numpy.bincount(targets, weights=estimates, minlength=len(nodes))
    return _made(nodes, all_nodes, lists, kept, place[edge_of], estimates / sums[targets])


def _independent_layer(nodes: Any, lists: _Lists, norms: ColumnNorms, count: int,
                       stream: Any) -> Any:
    """As _layer, whose nodes are drawn from all there are."""
    sums = norms.sums
    last = numpy.searchsorted(sums, sums[-1])  # that has a chance: products may be rounded up
    at = numpy.searchsorted(sums, _uniform(stream, numpy.arange(count)) * sums[-1], side="right")
    drawn, times = numpy.unique(numpy.minimum(at, last), return_counts=True)
    chances = (sums[drawn] - numpy.where(drawn > 0, sums[drawn - 1], 0)) / sums[-1]
    of_drawn, here = _places(norms.nodes[drawn], lists.sources)
    kept = here & (lists.weights > 0)
    of_drawn = of_drawn[kept]
    weights = times[of_drawn] * lists.weights[kept] / (count * chances[of_drawn])
    all_nodes = _with(nodes, norms.nodes[drawn])
    place, _ = _places(all_nodes, lists.sources[kept])
    return _made(nodes, all_nodes, lists, kept, place, weights)


def _with(nodes: Any, drawn: Any) -> Any:
    return numpy.concatenate([nodes, numpy.sort(drawn[~numpy.isin(drawn, nodes)])])


def _places(nodes: Any, ids: Any) -> Any:
    """Where each id is among nodes, which are different and at least one, and whether it is."""
    order = numpy.argsort(nodes, kind="stable")
    place = order[numpy.searchsorted(nodes, ids, sorter=order).clip(max=len(nodes) - 1)]
    return place, nodes[place] == ids


def _made(nodes: Any, all_nodes: Any, lists: _Lists, kept: Any, sources: Any, weights: Any) -> Any:
    """The layer of the edges that are kept, from these sources, and its nodes."""
    offsets = numpy.zeros(len(nodes) + 1, numpy.int64)
    numpy.cumsum(numpy.bincount(lists.targets[kept], minlength=len(nodes)), out=offsets[1:])
    return Layer(len(nodes), len(all_nodes), torch.from_numpy(offsets),
                 torch.from_numpy(sources.astype(numpy.int64)),
                 torch.from_numpy(weights.astype(numpy.float32)),
                 torch.from_numpy(lists.edge_ids[kept].astype(numpy.int64))), all_nodes


def _mixed(values: Any, stream: Any) -> Any:
    """The numbers of sampler/layer_chooser.h, uint64."""
    with numpy.errstate(over="ignore"):
        x = values ^ stream
        x = (x ^ x >> numpy.uint64(32)) * numpy.uint64(0xD6E8FEB86659FD93)
        x ^= x >> numpy.uint64(32)
        x = (x + stream * _GOLDEN + numpy.uint64(1)) * numpy.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ x >> numpy.uint64(29)) * numpy.uint64(0x94D049BB133111EB)
        return x ^ x >> numpy.uint64(32)


def _stream(*what: int) -> Any:
    stream = numpy.zeros(1, numpy.uint64)
    for value in what:
        stream = _mixed(numpy.array([value % 2 ** 64], numpy.uint64), stream)
    return stream


def _uniform(stream: Any, ids: Any) -> Any:
    """Of each id a number in (0, 1)."""
    numbers = _mixed(ids.astype(numpy.uint64), stream)
    return ((numbers >> numpy.uint64(12)).astype(numpy.float64) + 0.5) * 2.0 ** -52
