"""Calls that wait for servers. Python handles signals in the main thread alone, and not while it is in
a call of the library: so another thread makes the main thread's calls, and an interrupt ends them."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import queue
import sys
import threading
from typing import Any, Callable, Iterator, List, Optional, Tuple

# What waits, and what releases each handle, tensor or text that it gives.
_WAITING = {
    "vicinity_graph_open": "vicinity_graph_close",
    "vicinity_graph_versions": "vicinity_tensor_free",
    "vicinity_graph_at": "vicinity_graph_close",
    "vicinity_graph_nodes": "vicinity_tensor_free",
    "vicinity_graph_resolve": "vicinity_tensor_free",
    "vicinity_graph_user_ids": "vicinity_tensor_free",
    "vicinity_graph_resolve_names": "vicinity_tensor_free",
    "vicinity_graph_user_names": "vicinity_tensor_free",
    "vicinity_graph_degrees": "vicinity_tensor_free",
    "vicinity_graph_ranked": "vicinity_tensor_free",
    "vicinity_graph_edge_ids": "vicinity_tensor_free",
    "vicinity_graph_walk": "vicinity_tensor_free",
    "vicinity_graph_ppr": "vicinity_tensor_free",
    "vicinity_graph_top_visited": "vicinity_tensor_free",
    "vicinity_graph_fetch": "vicinity_tensor_free",
    "vicinity_graph_fetch_ragged": "vicinity_tensor_free",
    "vicinity_graph_sample": "vicinity_batch_release",
    "vicinity_graph_shard_states": "vicinity_string_free",
    "vicinity_graph_changes": "vicinity_change_log_release",
    "vicinity_graph_changes_of": "vicinity_change_log_release",
    "vicinity_graph_acknowledge": "vicinity_string_free",  # it gives nothing
    "vicinity_graph_cursors": "vicinity_string_free",
    "vicinity_graph_drop_cursor": "vicinity_string_free",  # nor does this
    "vicinity_query_prepare": "vicinity_query_release",
    "vicinity_query_explain": "vicinity_string_free",
    "vicinity_query_run": "vicinity_answer_release",
    "vicinity_writer_write": "vicinity_written_release",
    "vicinity_loader_create_with_weights": "vicinity_loader_release",
    "vicinity_loader_create_for_query": "vicinity_loader_release",
}

# Between two of these, Python handles signals.
_SLICE_S = 0.1

Raise = Callable[[int, str], None]


class Cancellation:
    """Gives up calls of the library from another thread: those that threads make within of_thread().
    They raise Cancelled soon, and those that begin later at once; what is mapped is read to its end.

    Threads: any.
    """

    def __init__(self, library: Any):
        self._library = library
        self._as_parameter_ = ctypes.c_void_p()
        if library.vicinity_cancellation_create(ctypes.byref(self._as_parameter_)) != 0:
            raise MemoryError("no memory for a call of the library")

    @contextlib.contextmanager
    def of_thread(self) -> Iterator[None]:
        """The calls of this thread are its own meanwhile, and then nobody's."""
        self._library.vicinity_cancellation_enter(self)
        try:
            yield
        finally:
            self._library.vicinity_cancellation_enter(None)

    def cancel(self) -> None:
        """Once and for all."""
        self._library.vicinity_cancellation_cancel(self)

    def __del__(self) -> None:
        self._library.vicinity_cancellation_release(self._as_parameter_)


class _Helper:
    """A thread that makes calls for another, one at a time, until one of them is given up."""

    def __init__(self, library: Any):
        self._library = library
        self._cancellation = Cancellation(library)
        self._questions: queue.SimpleQueue = queue.SimpleQueue()
        self._answers: queue.SimpleQueue = queue.SimpleQueue()
        self._mutex = threading.Lock()
        self._given_up = False
        self.thread = threading.Thread(target=self._work, name="vicinity call", daemon=True)
        self.thread.start()

    def call(self, function: Any, arguments: Tuple[Any, ...], release: Any) -> Tuple[int, str]:
        """Its code and what was wrong. Whatever a signal handler raises ends the wait, gives the call
        up and this helper with it."""
        try:
            self._questions.put((function, arguments, release))
            answer = self._wait()
        except BaseException:
            self._give_up(arguments, release)
            raise
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def _wait(self) -> Any:
        # A signal that comes just before a wait begins does not end it: so it is begun again and again.
        while True:
            try:
                return self._answers.get(timeout=_SLICE_S)
            except queue.Empty:
                pass

    def _give_up(self, arguments: Tuple[Any, ...], release: Any) -> None:
        _ENDING.append(self.thread)
        with self._mutex:
            self._given_up = True
            is_over = not self._answers.empty()
        self._cancellation.cancel()
        self.end()
        if is_over:
            _release_given(arguments, release)

    def end(self) -> None:
        """When the call is over that it makes."""
        self._questions.put(None)

    def _work(self) -> None:
        with self._cancellation.of_thread():
            while self._answer(self._questions.get()):
                pass

    def _answer(self, question: Any) -> bool:
        if question is None:
            return False
        function, arguments, release = question
        answer: Any
        try:
            code = function(*arguments)
            text = self._library.vicinity_last_error() or b"" if code != 0 else b""
            answer = code, text.decode("utf-8", "replace")
        except BaseException as error:  # pylint: disable=broad-except
            answer = error
        with self._mutex:
            if not self._given_up:
                self._answers.put(answer)
                return True
        _release_given(arguments, release)
        return False


def _release_given(arguments: Tuple[Any, ...], release: Any) -> None:
    """What a call gave that nobody waits for any more."""
    for each in arguments:
        given = getattr(each, "_obj", None)  # of ctypes.byref
        if isinstance(given, ctypes.c_void_p) and given.value is not None:
            release(given)


_IDLE: List[_Helper] = []
_ENDING: List[threading.Thread] = []  # of calls that were given up


def _forget() -> None:
    """In a forked child, which has none of the threads."""
    _IDLE.clear()
    _ENDING.clear()


os.register_at_fork(after_in_child=_forget)


@atexit.register
def _end_all() -> None:
    """At the interpreter's end no thread may be in a call."""
    while _IDLE:
        helper = _IDLE.pop()
        helper.end()
        _ENDING.append(helper.thread)
    while _ENDING:
        _ENDING.pop().join()


class _Interruptible:
    """A function of the library that waits: in the main thread a signal gets through, whose handler
    may raise."""

    def __init__(self, library: Any, function: Any, release: Any, raise_error: Raise):
        self._library = library
        self._function = function
        self._release = release
        self._raise = raise_error

    def __call__(self, *arguments: Any) -> int:
        waits = getattr(arguments[0], "waits", True)  # of a Handle
        helper = self._helper() if waits else None
        if helper is None:
            return self._function(*arguments)
        code, text = helper.call(self._function, arguments, self._release)
        _IDLE.append(helper)
        if code != 0:
            self._raise(code, text)
        return code

    def _helper(self) -> Optional[_Helper]:
        """None where no signal is handled, or no thread can be had."""
        if threading.current_thread() is not threading.main_thread() or sys.is_finalizing():
            return None
        try:
            return _IDLE.pop() if _IDLE else _Helper(self._library)
        except RuntimeError:
            return None


def make_interruptible(library: Any, raise_error: Raise) -> None:
    """The functions that wait, which then raise by raise_error(code, what was wrong) in the main
    thread."""
    for name, release in _WAITING.items():
        setattr(library, name, _Interruptible(library, getattr(library, name),
                                              getattr(library, release), raise_error))
