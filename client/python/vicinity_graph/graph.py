"""A graph, wherever it is: behind servers, mapped on this machine, or both."""

from __future__ import annotations

import inspect
import operator
import threading
import weakref
from concurrent.futures import Future
from typing import (TYPE_CHECKING, Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple,
                    Union)

from . import _given, change_log, tensors
from . import options as _options
from ._async_calls import AsyncCalls
from ._library import Handle, call_for_json, call_for_pointer, call_for_text, check, lib
from .batch import Batch
from .change_log import ShardChange, ShardCursor
from .errors import FailedPrecondition, InvalidArgument
from .loader import Loader
from .option_types import (Fanouts, GraphOptions, LoaderOptions, PprOptions, SampleOptions,
                           VisitOptions, WalkOptions, WriterOptions)
from .query import PreparedQuery, Query
from .query_loader import QueryLoader
from .ragged import Ragged
from .seeds import OF_SPLIT, GlobalIds, Seeds, UserIds, kept, lists_to_global, to_global
from .tensors import Tensor
from .writer import Writer

if TYPE_CHECKING:
    from typing_extensions import Unpack


@_options.documents(_options.GRAPH, GraphOptions)
class Graph:
    """A graph behind the servers of a cluster file, or the dataset of a directory.

        graph = vicinity_graph.Graph(cluster_file="cluster.textproto")

    Nodes are told by global ids, int64 from 0 to num_nodes(node_type) - 1; resolve() gives those of
    the user's own ids. Wherever ids are taken, one integer is fine, and so is anything that holds
    integers in one dimension: a list, an array of NumPy's, a tensor of PyTorch's or of this package.
    UserIds(...) around them, or around strings, says that they are the user's own ids, which are looked
    up. A loader's seeds alone are those, unless GlobalIds says that they are not.
    A column has the rows [n, *shape] of its dtype: `description` tells both.

    Threads:  any number at once; calls release the interpreter's lock.
    Forks:    a process that forks after a graph was opened cannot use it in the child, nor open
              another behind servers there (FailedPrecondition): open graphs in the child alone, or
              let multiprocessing spawn. Graphs and loaders can be pickled; they are opened again
              where they arrive.
    Errors:   NotFound names what there is, InvalidArgument the value that is wrong; Unavailable and
              DeadlineExceeded name the shard and its servers.
    """

    def __init__(self, **options: Unpack[GraphOptions]):
        self._take(call_for_pointer(lib.vicinity_graph_open, _given.options_text(options)), options)

    def _take(self, pointer: Any, options: GraphOptions,
              versions: Optional[List[Tuple[int, int]]] = None) -> None:
        self._options = options
        self._versions = versions
        self._async_calls: Optional[AsyncCalls] = None  # of those that there were
        self._async_mutex = threading.Lock()
        self._open_handle: Optional[Handle] = Handle(pointer, lib.vicinity_graph_close,
                                                     waits=not options.get("directory"))
        #: Name, shards, node and edge types with their columns, as vicinity_graph_describe.
        self.description: Dict[str, Any] = call_for_json(lib.vicinity_graph_describe,
                                                         self._open_handle)

    def __reduce__(self) -> tuple:
        # A file or a port for metrics is the first process' own.
        options = {name: value for name, value in self._options.items() if name != "metrics"}
        return _open, (options, self._versions)

    def __repr__(self) -> str:
        where = self._options.get("cluster_file") or self._options.get("directory")
        nodes = ", ".join(f"{each['num_nodes']} {each['name']}"
                          for each in self.description["node_types"])
        closed = ", closed" if self._open_handle is None else ""
        return (f"<Graph {self.description['name']!r} of {str(where)!r}: {nodes}; edges "
                f"{', '.join(self.edge_types)}; shards: {self.description['num_shards']}{closed}>")

    @property
    def handle(self) -> Handle:
        """Of the library's; FailedPrecondition if the graph is closed, or was opened before a fork."""
        if self._open_handle is None:
            raise FailedPrecondition("the graph is closed")
        return self._open_handle.here("graph")

    @property
    def node_types(self) -> List[str]:
        """Their names."""
        return [each["name"] for each in self.description["node_types"]]

    @property
    def edge_types(self) -> List[str]:
        """Their names, "source:relation:target"."""
        return [each["name"] for each in self.description["edge_types"]]

    @property
    def is_live(self) -> bool:
        """Whether it is written while it is read. What is read then is at the latest, each call for
        itself; loaders stay at the versions of when they were made."""
        return self.description["live"]

    def versions(self) -> List[Tuple[int, int]]:
        """Of each shard how many batches of changes it has, which has all that was acknowledged
        before, and the term of the writer that made the last: together they name a version for good,
        while one that is lost with its writer is numbered again in a later term."""
        pairs = tensors.of_call(lib.vicinity_graph_versions, self.handle).tolist()
        return [(version, term) for version, term in pairs]

    def at(self, versions: Any) -> Graph:
        """This graph as it was at these versions, one a shard, whatever is written: what it gives is
        the same to the byte, today and when the servers have started again.

            then = graph.at(graph.versions())

        Each is a pair as versions() gives it, or a number alone: the version that has it now. It has
        this one's connections, which stay until both are closed. OutOfRange names a shard that has
        not come so far, or whose version was taken back when its writer was lost: take versions()
        again.
        """
        pairs = _given.versions(versions)
        numbers, _ = _given.ids([number for pair in pairs for number in pair])
        pinned = Graph.__new__(Graph)
        pinned._take(call_for_pointer(lib.vicinity_graph_at, self.handle, numbers, len(pairs)),
                     self._options, pairs)
        return pinned

    def num_nodes(self, node_type: str) -> int:
        """How many there are of a type; of a live graph, in its files."""
        position = _given.position(node_type, "node type", self.node_types)
        return self.description["node_types"][position]["num_nodes"]

    def nodes(self, node_type: str, split: str = "") -> Tensor:
        """Global ids of the nodes of a split, "train", "validation" or "test", or of all: int64
        [n], in the order of the user's ids."""
        return tensors.of_call(lib.vicinity_graph_nodes, self.handle,
                               _given.name(node_type, "node_type"), _given.name(split, "split"))

    def resolve(self, node_type: str, user_ids: Any) -> Tensor:
        """Global ids of the user's ids, int64 [n], -1 for those that the graph lacks: of integers,
        or, where a type's ids are names, of a str or a list of them."""
        user_ids = user_ids.ids if isinstance(user_ids, UserIds) else user_ids
        names = _given.names(user_ids)
        if names is None:
            return self._of_ids(lib.vicinity_graph_resolve, node_type, user_ids)
        return tensors.of_call(lib.vicinity_graph_resolve_names, self.handle,
                               _given.name(node_type, "node_type"), *names)

    def user_ids(self, node_type: str, ids: Any) -> Tensor:
        """The other way: the user's integer ids of global ids, int64 [n]."""
        return self._of_ids(lib.vicinity_graph_user_ids, node_type, to_global(self, node_type, ids))

    def user_names(self, node_type: str, ids: Any) -> List[str]:
        """The names of global ids, of a type whose ids are names. Bytes that are no UTF-8 are
        escaped as os.fsdecode does, and resolve() takes them so."""
        numbers, count = _given.ids(to_global(self, node_type, ids))
        text, ends = tensors.pair_of_call(lib.vicinity_graph_user_names, self.handle,
                                          _given.name(node_type, "node_type"), numbers, count)
        joined, stops = text.memoryview().tobytes(), [0, *ends.tolist()]
        return [joined[begin:end].decode("utf-8", "surrogateescape")
                for begin, end in zip(stops, stops[1:])]

    def degrees(self, edge_type: str, ids: Any) -> Tensor:
        """How many edges of a type lead to each of these nodes of its target type: int64 [n],
        parallel edges counted each."""
        ids = self._of_ends(edge_type, ids)[0]
        return self._of_ids(lib.vicinity_graph_degrees, edge_type, ids, "edge_type")

    def owner_of(self, node_type: str, ids: Any) -> Tensor:
        """Which shard owns each of these nodes, global ids: int32 [n]. No server is asked."""
        return self._of_ids(lib.vicinity_graph_owner_of, node_type, to_global(self, node_type, ids))

    def is_local(self, node_type: str, ids: Any) -> Tensor:
        """Whether the shard of each of these nodes is mapped on this machine, so that its rows cost no
        call: uint8 [n], 1 or 0."""
        return self._of_ids(lib.vicinity_graph_is_local, node_type, to_global(self, node_type, ids))

    def ranked(self, name: str, home: Any, node_type: str, count: int = 0) -> Tuple[Tensor, Tensor]:
        """The first `count` (0: all) nodes of a type in the ranking of this name that `vicinity rank`
        stored for a home, rising shard numbers: their global ids, int64 [n], likeliest first, and the
        probability that a batch needs each, float32 [n]. NotFound names the rankings, or the homes,
        that there are."""
        return tensors.pair_of_call(lib.vicinity_graph_ranked, self.handle, _given.name(name, "name"),
                                    *_given.shards(home), _given.name(node_type, "node_type"),
                                    operator.index(count))

    def edge_ids(self, edge_type: str, sources: Any, targets: Any) -> Tensor:
        """Which edge of a type leads from sources[i] to targets[i], global ids: int64 [n], the edge's
        position in what was imported, -1 where there is none; of parallel edges the first."""
        targets, sources = self._of_ends(edge_type, targets, sources)
        (starts, count), (ends, num_targets) = _given.ids(sources), _given.ids(targets)
        if count != num_targets:
            raise InvalidArgument(f"{count} sources have {num_targets} targets: give one for each")
        return tensors.of_call(lib.vicinity_graph_edge_ids, self.handle,
                               _given.name(edge_type, "edge_type"), starts, ends, count)

    @_options.documents(_options.SAMPLE, SampleOptions, self=inspect.Parameter.empty,
                        keywords={"seed_times": (Any, None)},
                        node_type=Union[str, Sequence[str]], seeds=Any, fanouts=Fanouts)
    def sample(self, node_type: Union[str, Sequence[str]], seeds: Any, fanouts: Fanouts, *,
               seed_times: Any = None, **options: Unpack[SampleOptions]) -> Batch:
        """One sample around seeds, global ids of a node type: a Batch without labels.

            batch = graph.sample("paper", [3, 5], [15, 10], columns=[("paper", "features")])

        Of links there are two types and two lists, ["user", "item"] and [sources, targets], and so of
        seed_times, which time_column asks for: integers, one a seed. The same
        seeds and options give the same sample, whatever the shards and servers; with draws="labor"
        whatever the servers. Columns are fetched one after the other; a loader, which works ahead,
        is faster.
        """
        lists = _given.seed_lists(node_type, lists_to_global(self, node_type, seeds), seed_times)
        given = _given.columns(dict(options, fanouts=fanouts))
        return Batch(call_for_pointer(lib.vicinity_graph_sample, self.handle, lists, len(lists),
                                      _given.options_text(given)), self)

    @_options.documents(_options.SAMPLE, SampleOptions, self=inspect.Parameter.empty,
                        keywords={"seed_times": (Any, None)},
                        node_type=Union[str, Sequence[str]], seeds=Any, fanouts=Fanouts)
    def sample_async(self, node_type: Union[str, Sequence[str]], seeds: Any, fanouts: Fanouts, *,
                     seed_times: Any = None, **options: Unpack[SampleOptions]) -> Future[Batch]:
        """sample(), without waiting: a concurrent.futures.Future, whose result() is the batch that
        sample() gives with these arguments, or raises what that raises.

            futures = [graph.sample_async("paper", seeds, [15, 10]) for seeds in requests]
            batch = await asyncio.wrap_future(graph.sample_async("paper", [3, 5], [15, 10]))

        Threads:  async_threads of the graph's own make so many calls at a time, and others stand in
                  line. What is added by add_done_callback runs in these threads, or in that which
                  calls cancel(), so it should be short; it may begin other calls. What is given may be
                  changed afterwards: it is copied, but for a memoryview.
        Cancelling: the future's cancel() gives the call up, in line or being made, and is False only for
                  one that is over: result() raises concurrent.futures.CancelledError, its place
                  among max_async_calls is free at once, and what servers do for it ends soon.
        Errors:   ResourceExhausted, from here, when max_async_calls are in flight.
        """
        return self._begin(self.sample, kept(node_type), kept(seeds), kept(fanouts),
                           seed_times=kept(seed_times), **kept(options))

    @_options.documents(_options.WALK, WalkOptions, self=inspect.Parameter.empty, starts=Any,
                        length=int, keywords={"metapath": (Union[str, Sequence[str]], ""),
                                              "edge_ids": (bool, False)})
    def walk(self, starts: Any, length: int, metapath: Union[str, Sequence[str]] = "", *,
             edge_ids: bool = False,
             **options: Unpack[WalkOptions]) -> Union[Tensor, Tuple[Tensor, Tensor]]:
        """A random walk from each of starts: global ids, int64 [n, length + 1], -1 behind the end of
        a walk that had no edge to take. With edge_ids also the edges that were taken, by their
        positions in what was imported, int64 [n, length].

            nodes = graph.walk(users, 4, ["user:buys:item", "item:bought_by:user"]).torch()

        metapath: the edge types that steps follow in turn, over and over; one name, or, of a graph
        with one edge type, nothing. A step goes the way that sampling goes: from a node that an
        edge leads to, to the node where it comes from. Starts are of the target type of the first,
        repeats allowed: each walk is drawn apart. The same starts and options give the same
        walks, whatever the shards and servers.
        """
        given = (self.handle, *self._walks_from(starts, metapath), operator.index(length),
                 _given.options_text(options))
        if edge_ids:
            return tensors.pair_of_call(lib.vicinity_graph_walk, *given)
        return tensors.of_call(lambda *last: lib.vicinity_graph_walk(*last, None), *given)

    @_options.documents(_options.VISITS, VisitOptions, self=inspect.Parameter.empty, starts=Any,
                        top=int, num_walks=int, length=int,
                        keywords={"metapath": (Union[str, Sequence[str]], "")})
    def top_visited(self, starts: Any, top: int, num_walks: int, length: int, *,
                    metapath: Union[str, Sequence[str]] = "",
                    **options: Unpack[VisitOptions]) -> Tuple[Tensor, Tensor]:
        """The nodes that num_walks random walks from each of starts visit most, as PinSAGE takes a
        node's neighbours, and how often they did: two of int64 [n, top], the most visited first, -1
        and 0 behind them. Of equals that comes first which the walks came to first.

            nodes, counts = graph.top_visited(items, 10, num_walks=50, length=6, metapath=[
                "user:buys:item", "item:bought_by:user"])

        Walks, starts and metapath are those of walk(). The same starts and options give the same
        nodes and counts, whatever the shards and servers.
        """
        return tensors.pair_of_call(
            lib.vicinity_graph_top_visited, self.handle, *self._walks_from(starts, metapath),
            operator.index(length), operator.index(num_walks), operator.index(top),
            _given.options_text(options))

    @_options.documents(_options.PPR, PprOptions, self=inspect.Parameter.empty, seed_type=str,
                        seeds=Any, top=int,
                        keywords={"edge_types": (Union[str, Sequence[str]], ""),
                                  "residuals": (bool, False)})
    def ppr(self, seed_type: str, seeds: Any, top: int, *,
            edge_types: Union[str, Sequence[str]] = "", residuals: bool = False,
            **options: Unpack[PprOptions]) -> Tuple[Tensor, ...]:
        """Of each of seeds, global ids of a node type, the nodes of the highest personalised
        PageRank: int64 [n, top], the highest first, and their scores, float64 [n, top]; -1 and 0
        behind them. With residuals also what is missing of the scores of all nodes together,
        float64 [n].

            nodes, scores = graph.ppr("paper", [3, 5], 32, alpha=0.15, eps=1e-4)

        It is the chance that a walker from the seed stops at a node: with chance alpha before each
        step, and where there is no edge to take. It takes edges of edge_types (one name or several;
        nothing: all) the way that walk() does, all alike or by weight. The scores, by forward push, are from
        below: none is too high, and none is lower than it should be by more than the residual of
        its seed; where every edge also leads back and all are alike, by more than eps times the
        node's in-degree.
        The same seeds and options give the same scores, to the last bit, whatever the shards and
        servers.
        """
        numbers, count = _given.ids(to_global(self, seed_type, seeds))
        names = edge_types if isinstance(edge_types, str) else ",".join(edge_types)
        given = (self.handle, _given.name(seed_type, "seed_type"), numbers, count,
                 operator.index(top), _given.name(names, "edge_types"),
                 _given.options_text(options))
        if residuals:
            return tensors.several_of_call(3, lib.vicinity_graph_ppr, *given)
        return tensors.pair_of_call(lambda *last: lib.vicinity_graph_ppr(*last, None), *given)

    def _walks_from(self, starts: Any, metapath: Union[str, Sequence[str]]) -> Tuple[Any, ...]:
        """What the library takes of both: names, global ids, how many."""
        names = metapath if isinstance(metapath, str) else ",".join(metapath)
        first = names.split(",")[0] or ",".join(self.edge_types)  # of one type its name
        return (_given.name(names, "metapath"), *_given.ids(self._of_ends(first, starts)[0]))

    def stats(self) -> Dict[str, int]:
        """What the graph and its loaders have moved so far: calls, rows, bytes, retries; the fields
        are those of TrafficStats in client/types/graph_values.h. bulk_tcp_calls and bulk_unix_calls
        tell whether servers' bulk channels are used."""
        return call_for_json(lib.vicinity_graph_stats, self.handle)

    def metrics(self) -> List[Dict[str, Any]]:
        """All that is counted for the graph and its loaders, as Prometheus names it: dicts of name,
        help, is_counter, labels and value."""
        return call_for_json(lib.vicinity_graph_metrics, self.handle)

    def metrics_text(self) -> str:
        """The same as text for Prometheus, as the option `metrics` shows it in a file and at a port
        (docs/metrics.md). Threads: any."""
        return call_for_text(lib.vicinity_graph_metrics_text, self.handle)

    @property
    def metrics_address(self) -> str:
        """Where metrics={"listen": "127.0.0.1:0"} has led to: "127.0.0.1:41234", so
        http://127.0.0.1:41234/metrics; empty: nowhere."""
        return call_for_text(lib.vicinity_graph_metrics_address, self.handle)

    def fetch(self, node_type: str, column: str, ids: Any) -> Tensor:
        """Rows of a column for global ids, in their order, repeats allowed: [n, *shape]. For one id
        n is 1."""
        numbers, count = _given.ids(to_global(self, node_type, ids))
        return tensors.of_call(lib.vicinity_graph_fetch, self.handle,
                               _given.name(node_type, "node_type"), _given.name(column, "column"),
                               numbers, count)

    def fetch_ragged(self, node_type: str, column: str, ids: Any) -> Ragged:
        """Rows of a ragged column for global ids, in their order, repeats allowed."""
        name = _given.name(column, "column")
        numbers, count = _given.ids(to_global(self, node_type, ids))
        row_ends, indices, values = tensors.several_of_call(
            3, lib.vicinity_graph_fetch_ragged, self.handle, _given.name(node_type, "node_type"),
            name, numbers, count)
        described = self.description["node_types"][self.node_types.index(node_type)]
        spec, = [each for each in described["ragged_columns"] if each["name"] == column]
        return Ragged(row_ends, values, indices if spec["num_columns"] else None,
                      spec["num_columns"])

    def fetch_async(self, node_type: str, column: str, ids: Any) -> Future[Tensor]:
        """fetch(), without waiting, as sample_async is of sample()."""
        return self._begin(self.fetch, node_type, column, kept(ids))

    def _begin(self, call: Callable[..., Any], *arguments: Any, **options: Any) -> Future[Any]:
        _ = self.handle  # FailedPrecondition where the graph is closed
        with self._async_mutex:
            if self._async_calls is None:
                self._async_calls = AsyncCalls(*(self._option(each) for each in
                                                 ("async_threads", "max_async_calls")))
                weakref.finalize(self, self._async_calls.stop).atexit = False
        return self._async_calls.begin(lambda: call(*arguments, **options))

    def _option(self, name: str) -> Any:
        return self._options.get(name, _options.default(_options.GRAPH, name))

    def _of_ends(self, edge_type: str, targets: Any, sources: Any = None) -> Tuple[Any, Any]:
        """Both as ids that the library takes."""
        if not isinstance(targets, (GlobalIds, UserIds)) and \
                not isinstance(sources, (GlobalIds, UserIds)):
            return targets, sources
        position = _given.position(edge_type, "edge type", self.edge_types)
        described = self.description["edge_types"][position]
        return (to_global(self, self.node_types[described["target_type"]], targets),
                to_global(self, self.node_types[described["source_type"]], sources))

    def _of_ids(self, function: Any, type_name: str, ids: Any, what: str = "node_type") -> Tensor:
        numbers, count = _given.ids(ids)
        return tensors.of_call(function, self.handle, _given.name(type_name, what), numbers, count)

    def prepare(self, query: Union[str, Query]) -> PreparedQuery:
        """A query, made by Query or written as text, ready to run on this graph: steps with names,
        each going on from an earlier one.

            prepared = graph.prepare('''
                src = nodes(paper, $seeds)
                near = neighbors(src, cites, 10, where="year >= 2010", columns=[features])
                far = neighbors(near, cites, 5)
            ''')
            answer = prepared.run({"seeds": [3, 1, 4]})

        InvalidArgument tells at which line and character something else was expected, or which step
        does not fit the graph; NotFound names the types and columns there are.
        """
        return PreparedQuery(self, str(query))

    def loader(self, fanouts: Fanouts, *, seeds: Seeds = OF_SPLIT, seed_times: Any = None,
               negative_weights: Any = None, negative_source_weights: Any = None,
               **options: Unpack[LoaderOptions]) -> Loader:
        """A Loader of this graph; help(vicinity_graph.Loader) tells seeds and options."""
        return Loader(self, fanouts, seeds=seeds, seed_times=seed_times,
                      negative_weights=negative_weights,
                      negative_source_weights=negative_source_weights, **options)

    def query_loader(self, query: Union[str, Query], *, seeds: Seeds = OF_SPLIT,
                     **options: Unpack[LoaderOptions]) -> QueryLoader:
        """A loader of a query's answers; help(vicinity_graph.QueryLoader) tells seeds and options."""
        return QueryLoader(self, query, seeds=seeds, **options)

    def writer(self, **options: Unpack[WriterOptions]) -> Writer:
        """A Writer of this graph, which is live; help(vicinity_graph.Writer) tells its options."""
        return Writer(self, **options)

    def changes(self, cursor: str = "", *, shard: Optional[int] = None, after: Any = None,
                wait_ms: Optional[int] = 0) -> Iterator[ShardChange]:
        """What has been written to a live graph, a ShardChange for each version of each shard, in the
        order of a shard's versions; of all shards, or of one.

            for change in graph.changes("indexer", wait_ms=None):
                for part in change.parts:
                    refresh(part.kind, part.type, part.nodes.numpy())
                change.acknowledge()

        With a name, a cursor, it begins behind what was acknowledged by it, on whatever machine; one
        that is not known begins with the first change. So every change comes at least once: again, to
        the next reader of this name, if it was not acknowledged. Without a name it begins behind
        `after`, versions as at() takes them, of one shard a version; or, if that is not given, behind
        what there is now.

        It ends when nothing has come for wait_ms: 0 where there is no more, None never. Where it is
        iterated it raises OutOfRange if the last change that it gave was taken back, when its writer was
        lost, and FailedPrecondition for a graph that is not live.
        """
        return change_log.changes(self, cursor, shard, after, wait_ms)

    def cursors(self) -> List[ShardCursor]:
        """Of each shard the readers of its changes that have names, and what they have acknowledged.
        One that has acknowledged nothing is not among them."""
        return change_log.cursors(self)

    def drop_cursor(self, name: str) -> None:
        """Forgets a reader of changes in all shards; fine if there is none. A shard keeps 1,024."""
        check(lib.vicinity_graph_drop_cursor(self.handle, change_log.cursor_name(name)))

    def shard_states(self) -> List[Dict[str, Any]]:
        """Of a live graph its shards as they are, with all that was acknowledged before: of each
        `shard`, `version`, `term`, and how many nodes and edges it has, those that are gone counted:
        `num_nodes` and `num_edges` by type."""
        return change_log.shard_states(self)

    def close(self) -> None:
        """Its loaders and writers go on; calls that are under way end first. Of asynchronous ones it waits for
        those that are being made, which end within their timeouts; those in line raise Cancelled.
        The end of a `with` that an interrupt leaves cancels all of them."""
        with self._async_mutex:
            calls = self._async_calls
        if calls is not None:
            calls.close()
        self._open_handle = None

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, kind: Optional[type], *_: object) -> None:
        if kind is not None and not issubclass(kind, Exception) and self._async_calls is not None:
            self._async_calls.cancel()
        self.close()


def _open(options: GraphOptions, versions: Optional[List[Tuple[int, int]]] = None) -> Graph:
    graph = Graph(**options)
    return graph if versions is None else graph.at(versions)
