"""Minibatches for a training loop: sampled, their rows fetched and laid out, several ahead."""

import ctypes
import json

from . import options as _options
from ._library import NOT_READY, OK, Handle, call_for_json, call_for_pointer, check, lib
from .batch import Batch
from .errors import DeadlineExceeded, FailedPrecondition

# Between two of these, Python handles signals: an interrupt gets through a wait.
_SLICE_MS = 100


@_options.documents(_options.LOADER, "graph", "fanouts")
class Loader:
    """Batches of a graph.

        loader = graph.loader([15, 10, 5], batch_size=1024, columns=[("node", "features")])
        for batch in loader:          # an epoch; the next `for` is the next epoch
            train(batch)

    columns and edge_columns are pairs of a type's name and a column's.

    Threads: batches are taken by one thread; another that tries gets FailedPrecondition. stats from
    any. A batch that is late raises DeadlineExceeded after batch_timeout_ms, naming the stage.
    """

    def __init__(self, graph, fanouts, *, columns=(), edge_columns=(), **options):
        self._graph = graph
        self._arguments = (fanouts, dict(options, columns=columns, edge_columns=edge_columns))
        given = dict(options, fanouts=fanouts)
        given["columns"] = [{"node_type": node_type, "column": column}
                            for node_type, column in columns]
        given["edge_columns"] = [{"edge_type": edge_type, "column": column}
                                 for edge_type, column in edge_columns]
        pointer = call_for_pointer(lib.vicinity_loader_create, graph.handle,
                                   json.dumps(given).encode())
        self._open_handle = Handle(pointer, lib.vicinity_loader_release)
        self._next_epoch = 0

    def __reduce__(self):
        return _make, (self._graph, *self._arguments)

    @property
    def handle(self):
        if self._open_handle is None:
            raise FailedPrecondition("the loader is closed")
        return self._open_handle

    @property
    def num_seeds(self):
        """Of this trainer."""
        return lib.vicinity_loader_num_seeds(self.handle)

    def __len__(self):
        """Batches an epoch, the same for every trainer."""
        return lib.vicinity_loader_steps_per_epoch(self.handle)

    def start_epoch(self, epoch, first_step=0, end_step=-1):
        """Has the steps [first_step, end_step) made ahead; drops what is left of another epoch."""
        check(lib.vicinity_loader_start_epoch(self.handle, epoch, first_step, end_step))
        self._next_epoch = epoch + 1

    def next(self, timeout=None):
        """The next Batch, None at the epoch's end. DeadlineExceeded if there is none after
        `timeout` seconds; asking again goes on."""
        handle = self.handle
        pointer = ctypes.c_void_p()
        left_ms = None if timeout is None else max(0, int(timeout * 1000))
        while True:
            wait_ms = _SLICE_MS if left_ms is None else min(_SLICE_MS, left_ms)
            code = lib.vicinity_loader_next(handle, wait_ms, ctypes.byref(pointer))
            if code == OK:
                return None if pointer.value is None else Batch(pointer.value, self._graph)
            if code != NOT_READY:
                check(code)
            if left_ms is not None:
                left_ms -= wait_ms
                if left_ms <= 0:
                    raise DeadlineExceeded(f"no batch within {timeout} s")

    def epoch(self, epoch, first_step=0, end_step=-1):
        """The batches of an epoch, or of a part of it."""
        self.start_epoch(epoch, first_step, end_step)
        while True:
            batch = self.next()
            if batch is None:
                return
            yield batch

    def __iter__(self):
        return self.epoch(self._next_epoch)

    def stats(self):
        """Where the time went and rows came from: vicinity_loader_stats, as a dict."""
        return call_for_json(lib.vicinity_loader_stats, self.handle)

    def close(self):
        """Stops the stages. Batches and tensors stay."""
        self._open_handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _make(graph, fanouts, options):
    return Loader(graph, fanouts, **options)
