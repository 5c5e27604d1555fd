"""What has been written to a live graph, version by version, and readers of it that have names."""

from __future__ import annotations

import ctypes
import operator
import time
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import _given, tensors
from ._library import (CHANGED_EDGE_IDS, CHANGED_NODES, CHANGED_SOURCES, ChangeInfo, Handle,
                       call_for_json, call_for_pointer, check, lib)
from ._library import ChangePart as _Part
from .errors import FailedPrecondition, InvalidArgument
from .tensors import Tensor
from .writer import KINDS

if TYPE_CHECKING:
    from .graph import Graph

_AT_ONCE = 16  # changes of a shard in memory: up to about a MiB each
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.01, 0.5  # between two looks for more


class ChangePart(NamedTuple):
    """Nodes or edges of one type that a change has changed in one way."""

    #: "new_nodes", "new_edges", "node_values", "edge_values", "removed_edges", "removed_nodes".
    kind: str
    #: Of nodes "paper", of edges "paper:cites:paper".
    type: str
    #: Whose values are others now; else empty.
    column: str
    #: How many.
    count: int
    #: Which: global ids, of edges those of the nodes they lead to; int64 [count]. Nodes that go are told
    #: by the shards that own them: a shard that only lists the key of one counts it without an id.
    nodes: Tensor
    #: Of new edges where they come from, else none: int64 [count].
    sources: Tensor
    #: Of edges their ids, else none: int64 [count].
    edge_ids: Tensor


class ShardCursor(NamedTuple):
    """How far a reader with a name has come in one shard."""

    name: str
    shard: int
    #: The last version that it has acknowledged, and the term of the writer that made it.
    version: int
    term: int
    #: Versions that have come since.
    behind: int
    #: When it did, by the server's clock.
    unix_micros: int


class ShardChange:
    """What made one version of a shard out of the one before."""

    __slots__ = ("_cursor", "_graph", "parts", "session", "shard", "term", "unix_micros", "version")

    def __init__(self, graph: Graph, cursor: str, log: Handle, index: int):
        self._graph = graph
        self._cursor = cursor
        info = ChangeInfo()
        check(lib.vicinity_change_log_change(log, index, ctypes.byref(info)))
        self.shard: int = info.shard
        self.version: int = info.version
        #: Of the writer that made it: with it the version is named for good.
        self.term: int = info.term
        #: When it was committed, by the server's clock.
        self.unix_micros: int = info.unix_micros
        #: The writer's, which no other has.
        self.session: bytes = ctypes.string_at(info.session, info.num_session_bytes)
        self.parts: List[ChangePart] = [_part_of(graph, log, index, part)
                                        for part in range(info.num_parts)]

    def __repr__(self) -> str:
        parts = ", ".join(f"{part.count} {part.kind} of {part.type}" for part in self.parts)
        return f"<ShardChange: shard {self.shard}, version {self.version}: {parts}>"

    def acknowledge(self) -> None:
        """This change and all before it in its shard have been dealt with: its reader, and whoever has
        the same name, goes on behind it. On the server's disk when it returns. FailedPrecondition
        where the changes are read without a name."""
        if not self._cursor:
            raise FailedPrecondition("these changes are read without a name: "
                                     "graph.changes(\"name\") remembers what is acknowledged")
        check(lib.vicinity_graph_acknowledge(self._graph.handle, self.shard,
                                             cursor_name(self._cursor), self.version, self.term))


def _part_of(graph: Graph, log: Handle, change: int, part: int) -> ChangePart:
    info = _Part()
    check(lib.vicinity_change_log_part(log, change, part, ctypes.byref(info)))
    kind = KINDS[info.kind]
    types = graph.edge_types if "edge" in kind else graph.node_types
    nodes, sources, edge_ids = (tensors.of_call(lib.vicinity_change_log_tensor, log, change, part, ids)
                                for ids in (CHANGED_NODES, CHANGED_SOURCES, CHANGED_EDGE_IDS))
    return ChangePart(kind, types[info.type], info.column.decode(), info.count, nodes, sources,
                      edge_ids)


def cursor_name(name: str) -> bytes:
    """For the library; InvalidArgument for what is no name."""
    given = _given.name(name, "cursor")
    if not 1 <= len(given) <= 64 or b"\0" in given:
        raise InvalidArgument(f"cursor is {name!r}: a name has 1 to 64 bytes, none of them 0")
    return given


class _ShardReader:
    """The changes of one shard, some at a time."""

    def __init__(self, graph: Graph, shard: int, cursor: str, after: Optional[Tuple[int, int]]):
        self._graph = graph
        self._shard = shard
        self._cursor = cursor
        self._after = after  # None: what the cursor has acknowledged

    def read(self) -> Iterator[ShardChange]:
        """Those that are there, up to a number of them."""
        # The server knows of a cursor only what was acknowledged, so what has been given is told to it.
        if self._after is None:
            pointer = call_for_pointer(lib.vicinity_graph_changes_of, self._graph.handle, self._shard,
                                       cursor_name(self._cursor), _AT_ONCE)
        else:
            pointer = call_for_pointer(lib.vicinity_graph_changes, self._graph.handle, self._shard,
                                       *self._after, _AT_ONCE)
        log = Handle(pointer, lib.vicinity_change_log_release, waits=False)
        for index in range(lib.vicinity_change_log_size(log)):
            change = ShardChange(self._graph, self._cursor, log, index)
            self._after = change.version, change.term
            yield change


def changes(graph: Graph, cursor: str, shard: Optional[int], after: Any,
            wait_ms: Optional[int]) -> Iterator[ShardChange]:
    """Graph.changes."""
    num_shards = graph.description["num_shards"]
    if shard is not None and not 0 <= operator.index(shard) < num_shards:
        raise InvalidArgument(f"shard {shard} of {num_shards}")
    shards = range(num_shards) if shard is None else [operator.index(shard)]
    if cursor:
        cursor_name(cursor)
        if after is not None:
            raise InvalidArgument("a cursor begins where it has acknowledged: give it, or after")
        return _read(graph, [_ShardReader(graph, each, cursor, None) for each in shards], wait_ms)
    if after is None:
        every = graph.versions()
        begins = [every[each] for each in shards]
    else:
        begins = _given.versions(after) if shard is None else [_given.version(after)]
    if len(begins) != len(shards):
        raise InvalidArgument(f"{len(begins)} versions of {num_shards} shards: give one a shard")
    readers = [_ShardReader(graph, each, "", begin) for each, begin in zip(shards, begins)]
    return _read(graph, readers, wait_ms)


def _read(graph: Graph, readers: Sequence[_ShardReader],
          wait_ms: Optional[int]) -> Iterator[ShardChange]:
    """What all of them have, in turns, until nothing has come for so long."""
    end, pause, asked = None, _FIRST_PAUSE_S, False
    while True:
        any_read = False
        for reader in readers:
            for change in reader.read():
                any_read = True
                yield change
        if any_read:
            end, pause, asked = None, _FIRST_PAUSE_S, False
            continue
        if wait_ms is not None:
            now = time.monotonic()
            end = now + wait_ms / 1000 if end is None else end
            if now >= end:
                if asked:
                    return
                # Of the writers, so that no server which lacks some of that is read from now on.
                graph.versions()
                asked = True
                continue
            pause = min(pause, end - now)
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_S)


def cursors(graph: Graph) -> List[ShardCursor]:
    """Of all shards."""
    return [ShardCursor(**each) for each in call_for_json(lib.vicinity_graph_cursors, graph.handle)]


def shard_states(graph: Graph) -> List[Dict[str, Any]]:
    """With counts by the names of types."""
    states = call_for_json(lib.vicinity_graph_shard_states, graph.handle)
    for state in states:
        state["num_nodes"] = dict(zip(graph.node_types, state["num_nodes"]))
        state["num_edges"] = dict(zip(graph.edge_types, state["num_edges"]))
    return states
