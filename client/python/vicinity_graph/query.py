"""Queries: what one call asks of a graph, as named steps."""

from __future__ import annotations

import collections
import ctypes
import json
import operator
import random
from concurrent.futures import Future, ThreadPoolExecutor
from typing import (TYPE_CHECKING, Any, Deque, Dict, Iterator, List, Mapping, Optional, Sequence, Union)

from . import _given, tensors
from ._library import Handle, Input, call_for_json, call_for_pointer, cancellation, lib
from .errors import InvalidArgument, NotFound
from .seeds import to_global
from .tensors import Tensor

if TYPE_CHECKING:
    from .graph import Graph

# VicinityStepPart.
(_OFFSETS, _NODES, _EDGE_IDS, _WEIGHTS, _COLUMN, _EDGE_COLUMN, _WALKS, _WALK_EDGES,
 _COUNTS, _SCORES, _RESIDUALS, _TARGETS, _EDGE_INDEX) = range(13)


class Query:
    """A query that is made step by step; str() is its text, which Graph.prepare takes as well.

        query = vicinity_graph.Query()
        query.nodes("src", "paper", "$seeds")
        query.neighbors("near", "src", "cites", 10, where="year >= 2010", columns=["features"])
        query.neighbors("far", "near", "cites", 5)
        answer = graph.prepare(query).run({"seeds": [3, 1, 4]})

    Every method takes the name of the step and gives the query, so that calls can be chained. What
    arguments mean: docs/python.md; what does not fit the graph, Graph.prepare says.
    """

    def __init__(self) -> None:
        self._steps: List[str] = []

    def nodes(self, name: str, node_type: str, ids: Union[str, Sequence[Any], None] = None, *,
              split: str = "", count: Optional[int] = None, by: str = "", where: str = "",
              order_by: str = "", descending: bool = False, limit: Optional[int] = None,
              columns: Sequence[str] = ()) -> Query:
        """Nodes of a type: those of an input, "$seeds", or of these ids of the user's; or all, those
        of a split, or count of these, drawn with replacement, by a column or all alike."""
        return self._add(name, "nodes", [node_type], ids=ids, split=split, count=count, by=by,
                         where=where, order_by=order_by, descending=descending, limit=limit,
                         columns=columns)

    def neighbors(self, name: str, of: str, edge_type: str, count: Optional[int] = None, *,
                  by: str = "", replace: bool = False, direction: str = "in", where: str = "",
                  order_by: str = "", descending: bool = False, limit: Optional[int] = None,
                  columns: Sequence[str] = (), edge_columns: Sequence[str] = (),
                  edge_ids: bool = False) -> Query:
        """Where the edges come from that lead to each node of a step: all, or count of each list. With
        direction="out" where those lead that come from it, in graphs imported with their reversed
        edges as a type of their own (`vicinity import --add-reverse-apart`)."""
        given = [of, edge_type] if count is None else [of, edge_type, count]
        return self._add(name, "neighbors", given, by=by, replace=replace,
                         direction="" if direction == "in" else direction, where=where,
                         order_by=order_by, descending=descending, limit=limit, columns=columns,
                         edge_columns=edge_columns, edge_ids=edge_ids)

    def negatives(self, name: str, of: str, edge_type: str, count: int, *, by: str = "",
                  degree_power: float = 0, exact: bool = True, shared: bool = False,
                  like: str = "", same: Sequence[str] = (), shares: Sequence[float] = (),
                  columns: Sequence[str] = ()) -> Query:
        """For each node of a step, as a source, count targets to which no edge of it leads; with
        `shared` the same ones for all, but where they are edges (a loader's option "shared"). Of these
        shares[i] have in the column same[i] the value that the link's own target has, a node of the
        step `like`."""
        return self._add(name, "negatives", [of, edge_type, count], by=by,
                         degree_power=degree_power or None, exact=None if exact else False,
                         shared=shared, like=like, same=same, shares=shares, columns=columns)

    def layer(self, name: str, of: str, edge_type: str, count: int, *, by: str = "",
              square_root: bool = False, columns: Sequence[str] = ()) -> Query:
        """count nodes, drawn with replacement from the neighbours of all nodes of a step together, in
        proportion to the sum of the weights of their edges, or to its root."""
        return self._add(name, "layer", [of, edge_type, count], by=by, square_root=square_root,
                         columns=columns)

    def walk(self, name: str, of: str, metapath: Union[str, Sequence[str]], length: int, *,
             weighted_by: str = "", restart_prob: float = 0, p: float = 1, q: float = 1,
             node_type: str = "", edge_ids: bool = False, columns: Sequence[str] = ()) -> Query:
        """A random walk from each node of a step, as Graph.walk makes them: `length` steps along an
        edge type, or a metapath over and over. Its list has the nodes of node_type (nothing: of the
        type of the starts) that it comes to, itself first; `walks` of the answer has all."""
        return self._add(name, "walk", [of, metapath, length], weighted_by=weighted_by,
                         restart_prob=restart_prob or None, p=None if p == 1 else p,
                         q=None if q == 1 else q, node_type=node_type, edge_ids=edge_ids,
                         columns=columns)

    def visited(self, name: str, of: str, metapath: Union[str, Sequence[str]], top: int, *,
                length: int, num_walks: int, exclude_start: bool = False, weighted_by: str = "",
                restart_prob: float = 0, p: float = 1, q: float = 1, node_type: str = "",
                columns: Sequence[str] = ()) -> Query:
        """The `top` nodes that num_walks walks from each node of a step visit most, the most visited
        first, as Graph.top_visited has them: PinSAGE's neighbours."""
        return self._add(name, "visited", [of, metapath, top], length=length, num_walks=num_walks,
                         exclude_start=exclude_start, weighted_by=weighted_by,
                         restart_prob=restart_prob or None, p=None if p == 1 else p,
                         q=None if q == 1 else q, node_type=node_type, columns=columns)

    def ppr(self, name: str, of: str, edge_types: Union[str, Sequence[str]], top: int, *,
            alpha: float = 0.15, eps: float = 1e-4, max_neighbors: Optional[int] = None,
            weighted_by: str = "", node_type: str = "", columns: Sequence[str] = ()) -> Query:
        """The `top` nodes of the highest personalised PageRank of each node of a step, the highest
        first, as Graph.ppr has them; edge_types may be [], which are all of the graph."""
        return self._add(name, "ppr", [of, edge_types, top], alpha=None if alpha == 0.15 else alpha,
                         eps=None if eps == 1e-4 else eps, max_neighbors=max_neighbors,
                         weighted_by=weighted_by, node_type=node_type, columns=columns)

    def induced(self, name: str, among: Union[str, Sequence[str]], edge_type: str, *,
                where: str = "", columns: Sequence[str] = (), edge_columns: Sequence[str] = (),
                edge_ids: bool = False) -> Query:
        """All edges of a type between the nodes of one step or several, each node once."""
        return self._add(name, "induced", [among, edge_type], where=where, columns=columns,
                         edge_columns=edge_columns, edge_ids=edge_ids)

    def __str__(self) -> str:
        return "".join(step + "\n" for step in self._steps)

    def __repr__(self) -> str:
        return f"<Query {'; '.join(self._steps)!r}>"

    def _add(self, name: str, kind: str, given: Sequence[Any], ids: Any = None,
             **named: Any) -> Query:
        parts = [_text(each) for each in given]
        if ids is not None:
            is_input = isinstance(ids, str) and ids.startswith("$")
            parts.append(ids if is_input else _list(ids))
        parts += [f"{key}={_text(value)}" for key, value in named.items()
                  if not (value is None or value is False and key != "exact")
                  and value != "" and not (isinstance(value, (list, tuple)) and not value)]
        self._steps.append(f"{name} = {kind}({', '.join(parts)})")
        return self


def _text(value: Any) -> str:
    """As it is written in a query."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        if '"' in value and "'" in value:
            raise InvalidArgument(f"{value!r} has both kinds of quotes, so it cannot be written")
        quote = "'" if '"' in value else '"'
        return f"{quote}{value}{quote}"
    if isinstance(value, (list, tuple)):
        return _list(value)
    return str(value)


def _list(values: Any) -> str:
    if isinstance(values, str):
        raise InvalidArgument(f"{values!r} is no list; an input has a $ before its name")
    listed = values.tolist() if hasattr(values, "tolist") else values
    return "[" + ", ".join(_text(each) for each in listed) + "]"


class StepAnswer:
    """What a step of a query gave. Tensors share the answer's memory.

    Nodes of the i-th list are nodes[offsets[i]:offsets[i + 1]]: those of the i-th node of the step
    that it goes on from. Steps of kind "nodes" and "layer" have one list.
    """

    def __init__(self, answer: Handle, number: int, step: Mapping[str, Any]):
        self._answer = answer
        self._number = number
        self._step = step

    @property
    def name(self) -> str:
        """Of the step."""
        return self._step["name"]

    @property
    def node_type(self) -> str:
        """Of its nodes."""
        return self._step["node_type"]

    @property
    def offsets(self) -> Tensor:
        """int64 [number of lists + 1]"""
        return self._tensor(_OFFSETS)

    @property
    def nodes(self) -> Tensor:
        """Global ids: int64 [n]"""
        return self._tensor(_NODES)

    @property
    def edge_ids(self) -> Tensor:
        """Of each node the edge that led to it, its position in what was imported: int64 [n]. NotFound
        where the step did not ask for edge_ids."""
        return self._tensor(_EDGE_IDS)

    @property
    def weights(self) -> Tensor:
        """Of a layer, what the chance of each node was in proportion to: float64 [n]"""
        return self._tensor(_WEIGHTS)

    @property
    def walks(self) -> Tensor:
        """Of a walk, where each came by, its start first: global ids, -1 behind the end of one that
        had no edge to take, or ended by chance; int64 [number of walks, length + 1]"""
        return self._tensor(_WALKS)

    @property
    def walk_edges(self) -> Tensor:
        """Of a walk that asks for edge_ids, which edge each step took: int64 [number of walks,
        length], -1 behind the end"""
        return self._tensor(_WALK_EDGES)

    @property
    def counts(self) -> Tensor:
        """Of the most visited nodes, how often walks came to each: int64 [n]"""
        return self._tensor(_COUNTS)

    @property
    def scores(self) -> Tensor:
        """Of personalised PageRank, the score of each node: float64 [n]"""
        return self._tensor(_SCORES)

    @property
    def residuals(self) -> Tensor:
        """Likewise, by how much the scores of each list may be too low: float64 [number of lists]"""
        return self._tensor(_RESIDUALS)

    @property
    def targets(self) -> Tensor:
        """Of a subgraph the nodes that its edges may lead to, each once, as `nodes` are those that they
        may come from: the same where both are of one type. Global ids: int64 [t]"""
        return self._tensor(_TARGETS)

    @property
    def edge_index(self) -> Tensor:
        """Of a subgraph its edges: where each comes from, a position in `nodes`, and where it leads, a
        position in `targets`; int64 [2, number of edges]"""
        return self._tensor(_EDGE_INDEX)

    def column(self, name: str) -> Tensor:
        """Rows of the nodes, [n, *shape]. NotFound names the columns that the step asked for."""
        return self._tensor(_COLUMN, self._find("columns", name))

    def edge_column(self, name: str) -> Tensor:
        """Likewise of the edges that led to the nodes, or of a subgraph's."""
        return self._tensor(_EDGE_COLUMN, self._find("edge_columns", name))

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"<StepAnswer {self.name}: {len(self)} {self.node_type}>"

    def _find(self, what: str, name: str) -> int:
        return _given.position(name, f"column among the {what} of step {self.name}",
                               self._step[what])

    def _tensor(self, part: int, index: int = 0) -> Tensor:
        return tensors.of_call(lib.vicinity_answer_tensor, self._answer, self._number, part, index)


class QueryAnswer(Mapping):
    """The answers of a query's steps, by their names, in their order."""

    def __init__(self, answer: Handle, steps: Sequence[Mapping[str, Any]]):
        self._steps = {step["name"]: StepAnswer(answer, number, step)
                       for number, step in enumerate(steps)}

    def __getitem__(self, name: str) -> StepAnswer:
        if name not in self._steps:
            raise NotFound(f"the query has no step {name!r}, but {', '.join(self._steps)}")
        return self._steps[name]

    def __contains__(self, name: object) -> bool:
        return name in self._steps

    def __iter__(self) -> Any:
        return iter(self._steps)

    def __len__(self) -> int:
        return len(self._steps)

    def __repr__(self) -> str:
        return f"<QueryAnswer {', '.join(map(repr, self._steps.values()))}>"


class PreparedQuery:
    """A query that fits its graph and is ready to run, any number of times: of Graph.prepare().

    Threads:  any number at once; calls release the interpreter's lock.
    """

    def __init__(self, graph: Graph, text: str):
        self._graph = graph
        self._handle = Handle(
            call_for_pointer(lib.vicinity_query_prepare, graph.handle, text.encode()),
            lib.vicinity_query_release, waits=graph.handle.waits)
        #: Its text, inputs and steps, as vicinity_query_describe.
        self.description: Dict[str, Any] = call_for_json(lib.vicinity_query_describe, self._handle)

    @property
    def inputs(self) -> Dict[str, str]:
        """The node types of its inputs, by their names."""
        return {each["name"]: each["node_type"] for each in self.description["inputs"]}

    def run(self, inputs: Optional[Mapping[str, Any]] = None, *, run_seed: int = 0, epoch: int = 0,
            batch: int = 0) -> QueryAnswer:
        """Its answer for nodes by the names of inputs, global ids, or UserIds around the user's own.

            near = prepared.run({"seeds": [3, 1, 4]}, epoch=2)["near"]
            near.nodes.numpy(), near.offsets.numpy(), near.column("features").torch()

        The same inputs and numbers give the same answer, whatever the shards and servers. NotFound for
        ids that the graph does not have; InvalidArgument for an input that is missing, or is none.
        """
        given = dict(inputs or {})
        lists = (Input * len(given))()
        kept = []  # what the lists point to
        for each, (name, ids) in zip(lists, given.items()):
            numbers, each.num_ids = _given.ids(self._found(name, ids))
            each.name = _given.name(name, "an input's name")
            each.ids = ctypes.cast(numbers, ctypes.POINTER(ctypes.c_int64))
            kept.append(numbers)
        answer = Handle(call_for_pointer(lib.vicinity_query_run, self._handle.here("query"), lists,
                                         len(lists), run_seed, epoch, batch),
                        lib.vicinity_answer_release)
        return QueryAnswer(answer, self.description["steps"])

    def batches(self, inputs: Mapping[str, Any], batch_size: int, *, shuffle: bool = True,
                drop_last: bool = False, run_seed: int = 0, epoch: int = 0,
                ahead: int = 2) -> Iterator[QueryAnswer]:
        """An epoch of answers: of every input, all as long, batch_size nodes at a time, `ahead` runs
        being made beside the one that is worked on.

            for answer in prepared.batches({"users": users, "items": items}, 64, epoch=3):
                train(answer["hop1"], answer["neg"])

        Shuffled, the order is another in each epoch, and the same for the same run_seed. Batch b is
        what run() gives for its nodes with batch=b. Errors are raised where their batch would be.
        Each run fetches its own rows; Graph.query_loader holds them for the batches that follow.
        """
        given = {name: _given.ids(self._found(name, ids))[0] for name, ids in inputs.items()}
        lengths = {len(ids) for ids in given.values()}
        if len(lengths) != 1 or operator.index(batch_size) < 1 or operator.index(ahead) < 0:
            raise InvalidArgument(
                f"inputs of lengths {sorted(lengths)}, batch_size {batch_size}, ahead {ahead}: give "
                "one or more inputs, all as long, a size of at least 1, and ahead of at least 0")
        order = list(range(lengths.pop()))
        if shuffle:
            random.Random(f"{run_seed} {epoch}").shuffle(order)
        ends = len(order) // batch_size * batch_size if drop_last else len(order)
        parts = [order[begin:begin + batch_size] for begin in range(0, ends, batch_size)]
        return self._in_order(given, parts, run_seed, epoch, ahead)

    def _found(self, name: str, ids: Any) -> Any:
        """Global ids for an input; of a name that is none as they are: the library refuses it."""
        return to_global(self._graph, self.inputs[name], ids) if name in self.inputs else ids

    def _in_order(self, given: Dict[str, Any], parts: List[List[int]], run_seed: int,
                  epoch: int, ahead: int) -> Iterator[QueryAnswer]:
        given_up = cancellation()

        def run(number: int) -> QueryAnswer:
            of_batch = {name: [ids[i] for i in parts[number]] for name, ids in given.items()}
            with given_up.of_thread():
                return self.run(of_batch, run_seed=run_seed, epoch=epoch, batch=number)

        with ThreadPoolExecutor(ahead + 1, "vicinity_query") as threads:
            under_way: Deque[Future] = collections.deque()
            try:
                for number in range(min(ahead + 1, len(parts))):
                    under_way.append(threads.submit(run, number))
                for number in range(len(parts)):
                    answer = under_way.popleft().result()
                    if number + ahead + 1 < len(parts):
                        under_way.append(threads.submit(run, number + ahead + 1))
                    yield answer
            finally:
                for each in under_way:
                    each.cancel()
                given_up.cancel()  # what is made for nobody, so that its threads end

    def explain(self, sizes: Optional[Mapping[str, int]] = None) -> List[Dict[str, Any]]:
        """What is expected of a run with inputs of these sizes, {"seeds": 1024}; nothing is drawn. Of
        each step: name, does (for people), lists, nodes, shard_calls and bytes over the wire, by the
        degrees of up to 1,024 nodes of each type."""
        return call_for_json(lib.vicinity_query_explain, self._handle.here("query"),
                             json.dumps(dict(sizes or {})).encode())

    def __str__(self) -> str:
        return self.description["text"]

    def __repr__(self) -> str:
        return f"<PreparedQuery {self.description['text']!r}>"
