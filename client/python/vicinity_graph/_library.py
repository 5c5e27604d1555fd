"""The shared library behind the package: client/c_api/vicinity.h in the terms of ctypes.

ctypes releases the interpreter's lock in every call. Of those that wait, _waiting makes interruptible
ones.
"""

import ctypes
import json
import os
import pathlib

from . import _waiting
from .errors import BY_CODE, FailedPrecondition, VicinityError

ABI_VERSION = 2
OK = 0
NOT_READY = -1

# VicinityPart.
NODES, HOP_ENDS, TREES, SEEDS, LABELS, COLUMN, EDGE_COLUMN = range(7)
BLOCK_OFFSETS, BLOCK_SOURCES, BLOCK_TARGETS, BLOCK_EDGE_IDS = range(7, 11)
USER_IDS, INPUT_POSITIONS, EDGE_INDEX, EDGE_IDS = range(11, 15)
RAGGED_ROW_ENDS, RAGGED_INDICES, RAGGED_VALUES = range(15, 18)
QUERY_SEEDS = 18

# VicinityWrittenPart.
WRITTEN_SHARDS, WRITTEN_VERSIONS, WRITTEN_NODE_IDS, WRITTEN_EDGE_IDS = range(4)
WRITTEN_UNSURE, WRITTEN_UNSENT = 4, 5

# VicinityChangedIds.
CHANGED_NODES, CHANGED_SOURCES, CHANGED_EDGE_IDS = range(3)

# VicinitySeedKind.
SEEDS_GLOBAL_IDS, SEEDS_USER_IDS, SEEDS_USER_NAMES, SEEDS_MASK = range(1, 5)


class Info(ctypes.Structure):
    """One of the structures that begin with their size."""

    def __init__(self):
        super().__init__()
        self.struct_size = ctypes.sizeof(self)


class BatchInfo(Info):
    _fields_ = [("struct_size", ctypes.c_size_t), ("epoch", ctypes.c_int64),
                ("step", ctypes.c_int64), ("batches_done", ctypes.c_int64),
                ("num_seed_lists", ctypes.c_int32),
                ("num_node_types", ctypes.c_int32), ("num_hops", ctypes.c_int32),
                ("num_blocks", ctypes.c_int32), ("num_columns", ctypes.c_int32),
                ("num_edge_columns", ctypes.c_int32), ("has_labels", ctypes.c_int32),
                ("num_ragged", ctypes.c_int32), ("has_answer", ctypes.c_int32),
                ("draw", ctypes.c_uint64)]


class SeedListInfo(Info):
    _fields_ = [("struct_size", ctypes.c_size_t), ("node_type", ctypes.c_int32),
                ("count", ctypes.c_int64)]


class BlockInfo(Info):
    _fields_ = [("struct_size", ctypes.c_size_t), ("hop", ctypes.c_int32),
                ("edge_type", ctypes.c_int32), ("source_type", ctypes.c_int32),
                ("target_type", ctypes.c_int32), ("first_target", ctypes.c_int64),
                ("num_targets", ctypes.c_int64), ("num_sources", ctypes.c_int64),
                ("num_edges", ctypes.c_int64)]


class ColumnInfo(Info):
    _fields_ = [("struct_size", ctypes.c_size_t), ("node_type", ctypes.c_int32),
                ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("name", ctypes.c_char_p)]


class EdgeColumnInfo(Info):
    _fields_ = [("struct_size", ctypes.c_size_t), ("hop", ctypes.c_int32),
                ("edge_type", ctypes.c_int32), ("name", ctypes.c_char_p)]


class RaggedInfo(Info):
    _fields_ = [("struct_size", ctypes.c_size_t), ("node_type", ctypes.c_int32),
                ("num_columns", ctypes.c_int64), ("name", ctypes.c_char_p)]


class ChangeInfo(Info):
    _fields_ = [("struct_size", ctypes.c_size_t), ("shard", ctypes.c_int32),
                ("num_parts", ctypes.c_int32), ("version", ctypes.c_int64),
                ("term", ctypes.c_int64), ("unix_micros", ctypes.c_int64),
                ("session", ctypes.c_void_p), ("num_session_bytes", ctypes.c_int64)]


class ChangePart(Info):
    _fields_ = [("struct_size", ctypes.c_size_t), ("kind", ctypes.c_int32),
                ("type", ctypes.c_int32), ("count", ctypes.c_int64), ("column", ctypes.c_char_p)]


class Seeds(Info):
    _fields_ = [("struct_size", ctypes.c_size_t), ("kind", ctypes.c_int32),
                ("count", ctypes.c_int64), ("values", ctypes.c_void_p),
                ("edge_type", ctypes.c_char_p), ("targets", ctypes.c_void_p),
                ("times", ctypes.POINTER(ctypes.c_int64))]


class NegativeWeights(Info):
    _fields_ = [("struct_size", ctypes.c_size_t), ("targets", ctypes.POINTER(ctypes.c_double)),
                ("num_targets", ctypes.c_int64), ("sources", ctypes.POINTER(ctypes.c_double)),
                ("num_sources", ctypes.c_int64)]


class SeedNodes(ctypes.Structure):
    _fields_ = [("node_type", ctypes.c_char_p), ("ids", ctypes.POINTER(ctypes.c_int64)),
                ("num_ids", ctypes.c_int64), ("times", ctypes.POINTER(ctypes.c_int64))]


class Input(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("ids", ctypes.POINTER(ctypes.c_int64)),
                ("num_ids", ctypes.c_int64)]


_HANDLE = ctypes.c_void_p
_OUT = ctypes.POINTER(ctypes.c_void_p)  # of a handle, a text or a tensor
_TEXT = ctypes.c_char_p
_INT32 = ctypes.c_int32
_INT64 = ctypes.c_int64
_UINT64 = ctypes.c_uint64
_IDS = ctypes.POINTER(ctypes.c_int64)

# What each call returns and takes.
_CALLS = {
    "vicinity_version": (_TEXT, []),
    "vicinity_abi_version": (_INT32, []),
    "vicinity_last_error": (_TEXT, []),
    "vicinity_string_free": (None, [ctypes.c_void_p]),
    "vicinity_cancellation_create": (_INT32, [_OUT]),
    "vicinity_cancellation_release": (None, [_HANDLE]),
    "vicinity_cancellation_enter": (_INT32, [_HANDLE]),
    "vicinity_cancellation_cancel": (_INT32, [_HANDLE]),
    "vicinity_options_describe": (_INT32, [_OUT]),
    "vicinity_graph_open": (_INT32, [_TEXT, _OUT]),
    "vicinity_graph_close": (None, [_HANDLE]),
    "vicinity_graph_describe": (_INT32, [_HANDLE, _OUT]),
    "vicinity_graph_versions": (_INT32, [_HANDLE, _OUT]),
    "vicinity_graph_at": (_INT32, [_HANDLE, _IDS, _INT64, _OUT]),
    "vicinity_graph_nodes": (_INT32, [_HANDLE, _TEXT, _TEXT, _OUT]),
    "vicinity_graph_resolve": (_INT32, [_HANDLE, _TEXT, _IDS, _INT64, _OUT]),
    "vicinity_graph_user_ids": (_INT32, [_HANDLE, _TEXT, _IDS, _INT64, _OUT]),
    "vicinity_graph_resolve_names": (_INT32, [_HANDLE, _TEXT, _TEXT, _IDS, _INT64, _OUT]),
    "vicinity_graph_user_names": (_INT32, [_HANDLE, _TEXT, _IDS, _INT64, _OUT, _OUT]),
    "vicinity_graph_degrees": (_INT32, [_HANDLE, _TEXT, _IDS, _INT64, _OUT]),
    "vicinity_graph_owner_of": (_INT32, [_HANDLE, _TEXT, _IDS, _INT64, _OUT]),
    "vicinity_graph_is_local": (_INT32, [_HANDLE, _TEXT, _IDS, _INT64, _OUT]),
    "vicinity_graph_ranked": (_INT32, [_HANDLE, _TEXT, ctypes.POINTER(ctypes.c_int32), _INT64, _TEXT,
                                       _INT64, _OUT, _OUT]),
    "vicinity_graph_edge_ids": (_INT32, [_HANDLE, _TEXT, _IDS, _IDS, _INT64, _OUT]),
    "vicinity_graph_walk": (_INT32, [_HANDLE, _TEXT, _IDS, _INT64, _INT64, _TEXT, _OUT, _OUT]),
    "vicinity_graph_ppr": (_INT32, [_HANDLE, _TEXT, _IDS, _INT64, _INT64, _TEXT, _TEXT, _OUT, _OUT,
                                    _OUT]),
    "vicinity_graph_top_visited": (_INT32, [_HANDLE, _TEXT, _IDS, _INT64, _INT64, _INT64, _INT64,
                                            _TEXT, _OUT, _OUT]),
    "vicinity_graph_sample": (_INT32, [_HANDLE, ctypes.POINTER(SeedNodes), _INT32, _TEXT, _OUT]),
    "vicinity_graph_stats": (_INT32, [_HANDLE, _OUT]),
    "vicinity_graph_metrics": (_INT32, [_HANDLE, _OUT]),
    "vicinity_graph_metrics_text": (_INT32, [_HANDLE, _OUT]),
    "vicinity_graph_metrics_address": (_INT32, [_HANDLE, _OUT]),
    "vicinity_graph_fetch": (_INT32, [_HANDLE, _TEXT, _TEXT, _IDS, _INT64, _OUT]),
    "vicinity_graph_fetch_ragged": (_INT32, [_HANDLE, _TEXT, _TEXT, _IDS, _INT64, _OUT, _OUT, _OUT]),
    "vicinity_query_prepare": (_INT32, [_HANDLE, _TEXT, _OUT]),
    "vicinity_query_release": (None, [_HANDLE]),
    "vicinity_query_describe": (_INT32, [_HANDLE, _OUT]),
    "vicinity_query_explain": (_INT32, [_HANDLE, _TEXT, _OUT]),
    "vicinity_query_run": (_INT32, [_HANDLE, ctypes.POINTER(Input), _INT32, _UINT64, _UINT64,
                                    _UINT64, _OUT]),
    "vicinity_answer_release": (None, [_HANDLE]),
    "vicinity_answer_tensor": (_INT32, [_HANDLE, _INT32, _INT32, _INT32, _OUT]),
    "vicinity_writer_create": (_INT32, [_HANDLE, _TEXT, _OUT]),
    "vicinity_writer_release": (None, [_HANDLE]),
    "vicinity_writer_write": (_INT32, [_HANDLE, _HANDLE, _OUT]),
    "vicinity_changes_create": (_INT32, [_OUT]),
    "vicinity_changes_release": (None, [_HANDLE]),
    "vicinity_changes_add_nodes": (_INT32, [_HANDLE, _TEXT, _IDS, _INT64]),
    "vicinity_changes_add_named_nodes": (_INT32, [_HANDLE, _TEXT, _TEXT, _IDS, _INT64]),
    "vicinity_changes_add_edges": (_INT32, [_HANDLE, _TEXT, _IDS, _IDS, _INT64]),
    "vicinity_changes_update_nodes": (_INT32, [_HANDLE, _TEXT, _IDS, _INT64]),
    "vicinity_changes_update_edges": (_INT32, [_HANDLE, _TEXT, _IDS, _IDS, _INT64]),
    "vicinity_changes_remove_edges": (_INT32, [_HANDLE, _TEXT, _IDS, _IDS, _INT64]),
    "vicinity_changes_remove_nodes": (_INT32, [_HANDLE, _TEXT, _IDS, _INT64]),
    "vicinity_changes_column": (_INT32, [_HANDLE, _TEXT, _TEXT, ctypes.c_void_p, _INT64]),
    "vicinity_changes_ragged": (_INT32, [_HANDLE, _TEXT, _TEXT, _IDS, ctypes.c_void_p, _INT64,
                                         ctypes.c_void_p, _INT64]),
    "vicinity_written_release": (None, [_HANDLE]),
    "vicinity_written_num_applied": (_INT64, [_HANDLE]),
    "vicinity_written_refused": (_INT32, [_HANDLE, _OUT]),
    "vicinity_written_tensor": (_INT32, [_HANDLE, _INT32, _INT32, _OUT]),
    "vicinity_graph_shard_states": (_INT32, [_HANDLE, _OUT]),
    "vicinity_graph_changes": (_INT32, [_HANDLE, _INT32, _INT64, _INT64, _INT64, _OUT]),
    "vicinity_graph_changes_of": (_INT32, [_HANDLE, _INT32, _TEXT, _INT64, _OUT]),
    "vicinity_graph_acknowledge": (_INT32, [_HANDLE, _INT32, _TEXT, _INT64, _INT64]),
    "vicinity_graph_cursors": (_INT32, [_HANDLE, _OUT]),
    "vicinity_graph_drop_cursor": (_INT32, [_HANDLE, _TEXT]),
    "vicinity_change_log_release": (None, [_HANDLE]),
    "vicinity_change_log_size": (_INT64, [_HANDLE]),
    "vicinity_change_log_change": (_INT32, [_HANDLE, _INT64, ctypes.POINTER(ChangeInfo)]),
    "vicinity_change_log_part": (_INT32, [_HANDLE, _INT64, _INT32, ctypes.POINTER(ChangePart)]),
    "vicinity_change_log_tensor": (_INT32, [_HANDLE, _INT64, _INT32, _INT32, _OUT]),
    "vicinity_loader_create": (_INT32, [_HANDLE, _TEXT, _OUT]),
    "vicinity_loader_create_with_seeds": (_INT32,
                                          [_HANDLE, _TEXT, ctypes.POINTER(Seeds), _OUT]),
    "vicinity_loader_create_with_weights": (_INT32, [_HANDLE, _TEXT, ctypes.POINTER(Seeds),
                                                     ctypes.POINTER(NegativeWeights), _OUT]),
    "vicinity_loader_create_for_query": (_INT32, [_HANDLE, _TEXT, _TEXT, ctypes.POINTER(Seeds),
                                                  _OUT]),
    "vicinity_loader_describe_query": (_INT32, [_HANDLE, _OUT]),
    "vicinity_loader_release": (None, [_HANDLE]),
    "vicinity_loader_num_seeds": (_INT64, [_HANDLE]),
    "vicinity_loader_steps_per_epoch": (_INT64, [_HANDLE]),
    "vicinity_loader_start_epoch": (_INT32, [_HANDLE, _INT64, _INT64, _INT64]),
    "vicinity_loader_resume_epoch": (_INT32, [_HANDLE, _INT64, _INT64]),
    "vicinity_loader_next": (_INT32, [_HANDLE, _INT64, _OUT]),
    "vicinity_loader_stats": (_INT32, [_HANDLE, _OUT]),
    "vicinity_batch_release": (None, [_HANDLE]),
    "vicinity_batch_answer": (_INT32, [_HANDLE, _OUT]),
    "vicinity_batch_info": (_INT32, [_HANDLE, ctypes.POINTER(BatchInfo)]),
    "vicinity_batch_seed_list": (_INT32, [_HANDLE, _INT32, ctypes.POINTER(SeedListInfo)]),
    "vicinity_batch_block": (_INT32, [_HANDLE, _INT32, ctypes.POINTER(BlockInfo)]),
    "vicinity_batch_column": (_INT32, [_HANDLE, _INT32, ctypes.POINTER(ColumnInfo)]),
    "vicinity_batch_edge_column": (_INT32, [_HANDLE, _INT32, ctypes.POINTER(EdgeColumnInfo)]),
    "vicinity_batch_ragged": (_INT32, [_HANDLE, _INT32, ctypes.POINTER(RaggedInfo)]),
    "vicinity_batch_tensor": (_INT32, [_HANDLE, _INT32, _INT32, _INT64, _OUT]),
    "vicinity_tensor_share": (_INT32, [ctypes.c_void_p, _OUT]),
    "vicinity_tensor_free": (None, [ctypes.c_void_p]),
}


def _path():
    """VICINITY_LIBRARY, or libvicinity.so beside the package or where deploy/install.sh puts it."""
    named = os.environ.get("VICINITY_LIBRARY")
    if named:
        return named
    package = pathlib.Path(__file__).resolve().parent
    for folder in (package, package.parent, package.parent.parent):
        for name in ("libvicinity.so.1", "libvicinity.so"):
            if (folder / name).is_file():
                return str(folder / name)
    return "libvicinity.so.1"


def _load(path):
    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"{error}; VICINITY_LIBRARY names another libvicinity.so") from error
    try:
        for name, (result, arguments) in _CALLS.items():
            function = getattr(library, name)
            function.restype = result
            function.argtypes = arguments
    except AttributeError as error:
        raise ImportError(f"{path} is no libvicinity.so, or older than this package: {error}; "
                          "VICINITY_LIBRARY names another") from error
    version = library.vicinity_abi_version()
    if version != ABI_VERSION:
        raise ImportError(f"{path} has ABI version {version}; this package is for {ABI_VERSION}")
    return library


def _raise(code, text):
    raise BY_CODE.get(code, VicinityError)(text)


PATH = _path()
lib = _load(PATH)
VERSION = lib.vicinity_version().decode()
_waiting.make_interruptible(lib, _raise)


def cancellation():
    """A new one."""
    return _waiting.Cancellation(lib)


def check(code):
    """Raises what the code stands for, where the call has not done so."""
    if code != OK:
        _raise(code, (lib.vicinity_last_error() or b"").decode("utf-8", "replace"))


class Handle:
    """A handle of the library's, released with the last reference. It is passed to calls itself:
    so a call that is under way has a reference, and closing an object never pulls the handle from
    under another thread."""

    __slots__ = ("_as_parameter_", "_process", "_release", "waits")

    def __init__(self, pointer, release, waits=True):
        self._as_parameter_ = pointer  # what ctypes passes on
        self.waits = waits  # calls of it do, for servers
        self._process = os.getpid()
        self._release = release

    def here(self, what):
        """Itself; FailedPrecondition in a process that was forked from the one that has it."""
        if os.getpid() == self._process:
            return self
        raise FailedPrecondition(
            f"process {os.getpid()} was forked from process {self._process}, which has the {what} and "
            "its threads and connections: open the graph in the worker, and nowhere before it is "
            "forked, or let workers be spawned, who open it again: "
            "DataLoader(..., multiprocessing_context=\"spawn\")")

    @property
    def address(self):
        return self._as_parameter_

    def __del__(self):
        self._release(self._as_parameter_)


def call_for_pointer(function, *arguments):
    out = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(out)))
    return out.value


def call_for_text(function, *arguments) -> str:
    text = call_for_pointer(function, *arguments)
    try:
        return ctypes.string_at(text).decode()
    finally:
        lib.vicinity_string_free(text)


def call_for_json(function, *arguments):
    return json.loads(call_for_text(function, *arguments))
