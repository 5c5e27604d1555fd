"""Changes of a live graph: what is new, what changes, what goes."""

from __future__ import annotations

import ctypes
import threading
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Tuple

from . import _given, _given_columns, tensors
from . import options as _options
from ._library import (WRITTEN_EDGE_IDS, WRITTEN_NODE_IDS, WRITTEN_SHARDS, WRITTEN_UNSENT,
                       WRITTEN_UNSURE, WRITTEN_VERSIONS, Handle, call_for_json, call_for_pointer,
                       check, lib)
from .errors import BY_CODE, FailedPrecondition, InvalidArgument, RefusedRows, VicinityError
from .option_types import WriterOptions
from .seeds import GlobalIds, UserIds, to_global
from .tensors import Tensor

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .graph import Graph

#: {name: values}: of columns an array [n, *shape], or nested lists; of ragged ones n rows.
Values = Mapping[str, Any]

# In the order of VicinityChangeKind.
KINDS = ("new_nodes", "new_edges", "node_values", "edge_values", "removed_edges", "removed_nodes")

_NAMED_IN_ERRORS = 5


class ChangedRow(NamedTuple):
    """One node or edge of Changes."""

    #: "new_nodes", "new_edges", "node_values", "edge_values", "removed_edges", "removed_nodes".
    kind: str
    #: Which of the parts of its kind, from 0.
    part: int
    #: Which of the part's.
    row: int


class RefusedRow(NamedTuple):
    """One that a server, or the library, did not take."""

    #: As of ChangedRow.
    kind: str
    part: int
    row: int
    #: InvalidArgument, AlreadyExists or NotFound.
    error: VicinityError


class Written:
    """What became of Changes.

    Of those of a write that failed (VicinityError.written) `unsure` and `unsent` tell which rows may be
    applied, and which are not.
    """

    def __init__(self, pointer: int, num_parts: Mapping[str, int]):
        self._handle = Handle(pointer, lib.vicinity_written_release, waits=False)
        #: How many nodes and edges are applied.
        self.num_applied: int = lib.vicinity_written_num_applied(self._handle)
        #: Of the shards that were written the version that all of it is in, by shard.
        self.versions: Dict[int, int] = dict(zip(self._tensor(WRITTEN_SHARDS).tolist(),
                                                 self._tensor(WRITTEN_VERSIONS).tolist()))
        #: Of each part of new nodes their global ids, int64 [n], -1 of those that are not known to be
        #: applied.
        self.node_ids: List[Tensor] = [self._tensor(WRITTEN_NODE_IDS, part)
                                       for part in range(num_parts["new_nodes"])]
        #: Of each part of new edges likewise.
        self.edge_ids: List[Tensor] = [self._tensor(WRITTEN_EDGE_IDS, part)
                                       for part in range(num_parts["new_edges"])]
        #: Those that were not applied, in the order they were given: each alone, its error says why.
        self.refused: List[RefusedRow] = [
            RefusedRow(each["kind"], each["part"], each["row"],
                       BY_CODE.get(each["code"], VicinityError)(each["message"]))
            for each in call_for_json(lib.vicinity_written_refused, self._handle)]

    def __repr__(self) -> str:
        return f"<Written: {self.num_applied} applied, {len(self.refused)} refused>"

    @property
    def unsure(self) -> List[ChangedRow]:
        """Of a write that failed: rows that no answer came for, applied or not. What they are comes
        first when their shard is written again with the same Writer, and then once."""
        return self._rows(WRITTEN_UNSURE)

    @property
    def unsent(self) -> List[ChangedRow]:
        """Of a write that failed: other rows that are not applied."""
        return self._rows(WRITTEN_UNSENT)

    def _rows(self, part: int) -> List[ChangedRow]:
        return [ChangedRow(KINDS[kind], number, row)
                for kind, number, row in self._tensor(part).tolist()]

    def _tensor(self, part: int, index: int = 0) -> Tensor:
        return tensors.of_call(lib.vicinity_written_tensor, self._handle, part, index)


class Changes:
    """What is to change, for one Writer.write: any number of parts, each of one type.

        changes = writer.changes()
        changes.add_nodes("paper", [900, 901], columns={"features": rows, "year": [2024, 2025]})
        changes.remove_edges("paper:cites:paper", targets, edge_ids)
        written = writer.write(changes)

    A part has any number of rows; what it is given is copied. Each method tells which part of its kind
    it made, from 0: Written.node_ids[part] are the ids of the new nodes. Each shard takes nodes that
    are new first, then edges that are new, values of nodes, of edges, edges that go, nodes that go. A
    new node gets its global id when it is written: edges to it come with a later write.

    Nodes are global ids, or UserIds, which are looked up at once. Columns are {name: values}: arrays of
    the column's own dtype and of the shape [n, *shape] (NumPy's, PyTorch's, whatever has DLPack or a
    buffer), of bool also uint8 and of bfloat16 its bits as uint16; or numbers in lists. Ragged columns
    are {name: rows}, a row a list or an array of its values, of texts a str, of a sparse matrix
    (indices, values), indices rising; or a whole Ragged or matrix of SciPy's. What is new needs all
    columns of its type.

    Errors:  NotFound and InvalidArgument of what does not fit the graph's description, which adds
             nothing; FailedPrecondition while they are being written.
    Threads: any, one part after the other.
    """

    def __init__(self, graph: Graph):
        self._graph = graph
        self._handle = Handle(call_for_pointer(lib.vicinity_changes_create),
                              lib.vicinity_changes_release, waits=False)
        self._mutex = threading.Lock()
        self._num_parts = dict.fromkeys(KINDS, 0)
        self._num_rows = 0

    def __reduce__(self) -> tuple:
        raise TypeError("Changes are not pickled: collect them where they are written")

    def __len__(self) -> int:
        """Nodes and edges of all parts."""
        return self._num_rows

    def __repr__(self) -> str:
        parts = ", ".join(f"{count} {kind}" for kind, count in self._num_parts.items() if count)
        return f"<Changes: {self._num_rows} rows, parts: {parts or 'none'}>"

    def add_nodes(self, node_type: str, ids: Any, columns: Optional[Values] = None,
                  ragged: Optional[Values] = None) -> int:
        """Nodes by the user's own ids, which no node of the type has: integers, or names where the
        type's ids are names."""
        if isinstance(ids, GlobalIds):
            raise InvalidArgument("new nodes are told by the user's own ids: their global ids come "
                                  "when they are written")
        ids = ids.ids if isinstance(ids, UserIds) else ids
        names = _given.names(ids)
        given = _given.ids(ids) if names is None else names
        function = (lib.vicinity_changes_add_nodes if names is None
                    else lib.vicinity_changes_add_named_nodes)
        return self._add_nodes("new_nodes", function, node_type, given, columns, ragged)

    def add_edges(self, edge_type: str, sources: Any, targets: Any,
                  columns: Optional[Values] = None) -> int:
        """Edges from sources[i] to targets[i]."""
        spec, source_type, target_type = self._edge_spec(edge_type)
        starts, count = _given.ids(to_global(self._graph, source_type, sources))
        ends, num_targets = _given.ids(to_global(self._graph, target_type, targets))
        if count != num_targets:
            raise InvalidArgument(f"{count} sources have {num_targets} targets: give one for each")
        return self._add("new_edges", lib.vicinity_changes_add_edges, edge_type,
                         (starts, ends, count),
                         _given_columns.columns(repr(edge_type), spec["columns"], columns, count))

    def update_nodes(self, node_type: str, nodes: Any, columns: Optional[Values] = None,
                     ragged: Optional[Values] = None) -> int:
        """Other values for nodes, in one column or several: a node gets all of them or none. Of two
        nodes alike the later one counts."""
        given = _given.ids(to_global(self._graph, node_type, nodes))
        return self._add_nodes("node_values", lib.vicinity_changes_update_nodes, node_type, given,
                               columns, ragged)

    def update_edges(self, edge_type: str, targets: Any, edge_ids: Any, columns: Values) -> int:
        """Other values for edges, each told by where it leads and by its id, which Graph.edge_ids and
        batches have."""
        spec = self._edge_spec(edge_type)[0]
        given = self._edges(edge_type, targets, edge_ids)
        return self._add("edge_values", lib.vicinity_changes_update_edges, edge_type, given,
                         _given_columns.columns(repr(edge_type), spec["columns"], columns, given[-1]))

    def remove_edges(self, edge_type: str, targets: Any, edge_ids: Any) -> int:
        """Edges, told likewise."""
        return self._add("removed_edges", lib.vicinity_changes_remove_edges, edge_type,
                         self._edges(edge_type, targets, edge_ids))

    def remove_nodes(self, node_type: str, nodes: Any) -> int:
        """Nodes, and the edges that lead to them. Edges that come from them stay until they are
        removed."""
        self._node_spec(node_type)
        return self._add("removed_nodes", lib.vicinity_changes_remove_nodes, node_type,
                         _given.ids(to_global(self._graph, node_type, nodes)))

    def _node_spec(self, node_type: str) -> Dict[str, Any]:
        position = _given.position(node_type, "node type", self._graph.node_types)
        return self._graph.description["node_types"][position]

    def _edge_spec(self, edge_type: str) -> Tuple[Dict[str, Any], str, str]:
        """With the types of sources and targets."""
        position = _given.position(edge_type, "edge type", self._graph.edge_types)
        spec = self._graph.description["edge_types"][position]
        names = self._graph.node_types
        return spec, names[spec["source_type"]], names[spec["target_type"]]

    def _edges(self, edge_type: str, targets: Any, edge_ids: Any) -> Tuple[Any, ...]:
        target_type = self._edge_spec(edge_type)[2]
        ends, count = _given.ids(to_global(self._graph, target_type, targets))
        numbers, num_edges = _given.ids(edge_ids)
        if count != num_edges:
            raise InvalidArgument(f"{num_edges} edge_ids have {count} targets: give one for each")
        return ends, numbers, count

    def _add_nodes(self, kind: str, function: Any, node_type: str, given: Tuple[Any, ...],
                   columns: Optional[Values], ragged: Optional[Values]) -> int:
        spec, where, count = self._node_spec(node_type), repr(node_type), given[-1]
        return self._add(kind, function, node_type, given,
                         _given_columns.columns(where, spec["columns"], columns, count),
                         _given_columns.ragged(where, spec["ragged_columns"], ragged, count))

    def _add(self, kind: str, function: Any, type_name: str, given: Tuple[Any, ...],
             columns: Any = (), ragged: Any = ()) -> int:
        with self._mutex:
            check(function(self._handle, type_name.encode(), *given))
            for name, dtype, values in columns:
                check(lib.vicinity_changes_column(self._handle, name.encode(), dtype.encode(),
                                                  values.data, values.num_bytes))
            for name, dtype, rows in ragged:
                check(lib.vicinity_changes_ragged(self._handle, name.encode(), dtype.encode(),
                                                  rows.row_ends, rows.indices, rows.num_indices,
                                                  rows.values.data, rows.values.num_bytes))
            part = self._num_parts[kind]
            self._num_parts[kind] += 1
            self._num_rows += given[-1]
        return part

    def _parts(self) -> Dict[str, int]:
        with self._mutex:
            return dict(self._num_parts)


@_options.documents(_options.WRITER, WriterOptions, graph="Graph")
class Writer:
    """Writes changes of a live graph to the shards that own them.

        with graph.writer(durability="buffered") as writer:
            papers = writer.add_nodes("paper", [900, 901], columns={"features": rows})
            writer.add_edges("paper:cites:paper", papers, UserIds([7, 42]))

    Every method returns when its changes are applied, as durable as the options say, and any graph
    that asks from then on sees them. They travel in batches of about 1 MiB, which become visible one
    by one. A batch that got no answer is sent again with its number, so each is applied once, whatever
    servers and connections do meanwhile; where no answer comes for give_up_after_ms, and after an
    interrupt, it comes first when its shard is written again with this writer.

    What methods take is told at Changes, which have any number of such parts for one write.

    Errors:  before anything is sent NotFound (a type or column, naming those there are) and
             InvalidArgument (dtypes, shapes, lengths). RefusedRows where rows were refused, each alone:
             the others are applied. FailedPrecondition for a graph that is not live;
             PermissionDenied without the role `write`; what a shard last said when give_up_after_ms is
             over, plus up to the graph's call_budget_ms: VicinityError.written then tells which rows
             are applied, may be, and are not.
    Threads: any number write at once; calls release the interpreter's lock.
    Forks:   as of graphs. A writer is not pickled: make one in each process.
    """

    def __init__(self, graph: Graph, **options: Unpack[WriterOptions]):
        self._graph = graph
        self._open_handle: Optional[Handle] = Handle(
            call_for_pointer(lib.vicinity_writer_create, graph.handle,
                             _given.options_text(options)), lib.vicinity_writer_release)

    def __reduce__(self) -> tuple:
        raise TypeError("a Writer is not pickled, for it numbers its batches: make one in each "
                        "process, of the graph, which is pickled")

    def __repr__(self) -> str:
        closed = ", closed" if self._open_handle is None else ""
        return f"<Writer of {self._graph.description['name']!r}{closed}>"

    @property
    def handle(self) -> Handle:
        """Of the library's; FailedPrecondition if the writer is closed, or was made before a fork."""
        if self._open_handle is None:
            raise FailedPrecondition("the writer is closed")
        return self._open_handle.here("writer")

    def changes(self) -> Changes:
        """None yet, to be collected for write()."""
        return Changes(self._graph)

    def write(self, changes: Changes, *, allow_refused: bool = False) -> Written:
        """Applies them. With allow_refused rows that are refused raise nothing: Written.refused lists
        them. Written again, new edges come twice."""
        num_parts = changes._parts()  # pylint: disable=protected-access
        given = ctypes.c_void_p()
        try:
            check(lib.vicinity_writer_write(
                self.handle, changes._handle,  # pylint: disable=protected-access
                ctypes.byref(given)))
        except VicinityError as error:
            if given.value is not None:
                error.written = Written(given.value, num_parts)
            raise
        written = Written(given.value, num_parts)  # type: ignore[arg-type]
        if written.refused and not allow_refused:
            raise _refused(written)
        return written

    def add_nodes(self, node_type: str, ids: Any, columns: Optional[Values] = None,
                  ragged: Optional[Values] = None) -> Tensor:
        """Nodes that are new, by the user's own ids, with all columns of their type: their global ids,
        int64 [n]. RefusedRows, with AlreadyExists, of those that there are; its `ids` are those of the
        others."""
        changes = self.changes()
        part = changes.add_nodes(node_type, ids, columns, ragged)
        return self.write(changes).node_ids[part]

    def add_edges(self, edge_type: str, sources: Any, targets: Any,
                  columns: Optional[Values] = None) -> Tensor:
        """Edges that are new, from sources[i] to targets[i], with all columns of their type: their
        edge ids, int64 [n]. RefusedRows, with NotFound, of those to nodes that do not exist."""
        changes = self.changes()
        part = changes.add_edges(edge_type, sources, targets, columns)
        return self.write(changes).edge_ids[part]

    def update_nodes(self, node_type: str, nodes: Any, columns: Optional[Values] = None,
                     ragged: Optional[Values] = None) -> Written:
        """Other values for nodes, in one column or several."""
        changes = self.changes()
        changes.update_nodes(node_type, nodes, columns, ragged)
        return self.write(changes)

    def update_edges(self, edge_type: str, targets: Any, edge_ids: Any, columns: Values) -> Written:
        """Other values for edges, each told by where it leads and by its id."""
        changes = self.changes()
        changes.update_edges(edge_type, targets, edge_ids, columns)
        return self.write(changes)

    def remove_edges(self, edge_type: str, targets: Any, edge_ids: Any) -> Written:
        """Edges go, told likewise. RefusedRows, with NotFound, of those that there are not."""
        changes = self.changes()
        changes.remove_edges(edge_type, targets, edge_ids)
        return self.write(changes)

    def remove_nodes(self, node_type: str, nodes: Any) -> Written:
        """Nodes go, with the edges that lead to them; those that come from them stay."""
        changes = self.changes()
        changes.remove_nodes(node_type, nodes)
        return self.write(changes)

    def close(self) -> None:
        """Writes that are under way end first. The graph stays open."""
        self._open_handle = None

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _refused(written: Written) -> RefusedRows:
    named = "; ".join(f"{row.kind}[{row.part}] row {row.row}: {row.error.name}: {row.error}"
                      for row in written.refused[:_NAMED_IN_ERRORS])
    more = "; ..." if len(written.refused) > _NAMED_IN_ERRORS else ""
    count = len(written.refused)
    return RefusedRows(f"of {count + written.num_applied} nodes and edges {count} are refused, the "
                       f"others are written: {named}{more}", written.refused, written)
