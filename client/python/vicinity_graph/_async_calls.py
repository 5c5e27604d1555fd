"""Calls that nobody waits for: a few threads of a graph's own make them, and futures have the answers."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref
from concurrent.futures import Future, InvalidStateError
from typing import Any, Callable, Dict, List, Set

from ._library import cancellation
from .errors import Cancelled, FailedPrecondition, ResourceExhausted


class AsyncCall(Future):
    """A call, in line or being made. Any thread may cancel() it."""

    def __init__(self) -> None:
        super().__init__()
        self.given_up = cancellation()
        self._is_made = False  # right now
        self._told = threading.Lock()  # taken by whoever tells those that wait for several futures

    def cancel(self) -> bool:
        """Gives it up, wherever it is: result() raises CancelledError. What servers do for it ends
        soon. False for a call that is over."""
        if not super().cancel():
            return False
        if self._told.acquire(blocking=False):  # pylint: disable=consider-using-with
            self.set_running_or_notify_cancel()
            self.given_up.cancel()
        return True

    def running(self) -> bool:
        """Whether a thread makes it."""
        return self._is_made and not self.done()

    def make(self, work: Callable[[], Any]) -> None:
        """In this thread. Until it is over the future stays pending, so that it can be cancelled."""
        if self.cancelled():
            return
        self._is_made = True
        try:
            with self.given_up.of_thread():
                answer = work()
        except BaseException as error:  # pylint: disable=broad-except
            self.fail(error)
            del self, work  # else they and the error's traceback keep each other
            return
        with contextlib.suppress(InvalidStateError):  # it was cancelled
            self.set_result(answer)

    def fail(self, error: BaseException) -> None:
        """Unless it was cancelled."""
        with contextlib.suppress(InvalidStateError):
            self.set_exception(error)


class AsyncCalls:
    """At most `num_threads` calls are made at a time, in the order in which they began. Others stand
    in line, and with those being made they are at most `max_in_flight`.

    Threads:  any. What was added to a future by add_done_callback runs in one of the threads, or in that
              which cancels it.
    Lifetime: a call keeps what it is of. close() before the last reference goes, or stop().
    """

    def __init__(self, num_threads: int, max_in_flight: int):
        self._num_threads = num_threads
        self._max_in_flight = max_in_flight
        self._process = os.getpid()
        # Of all below. Its lock may be taken twice by a thread: the garbage collector may find a graph
        # to stop() anywhere.
        self._changed = threading.Condition()
        self._line: Dict[AsyncCall, Callable[[], Any]] = {}  # in the order of their beginning
        self._made: Set[AsyncCall] = set()
        self._num_in_flight = 0
        self._num_idle = 0
        self._closed = False
        self._threads: List[threading.Thread] = []
        _ALL.add(self)

    def begin(self, work: Callable[[], Any]) -> Future:
        """The future of what `work` gives or raises. ResourceExhausted at max_in_flight, and where no
        thread can be had; FailedPrecondition when closed."""
        future = AsyncCall()
        with self._changed:
            if self._closed:
                raise FailedPrecondition("the graph is closed")
            if self._num_in_flight >= self._max_in_flight:
                raise ResourceExhausted(
                    f"{self._num_in_flight} asynchronous calls are in flight, as many as "
                    "max_async_calls allows: begin others when some of them are over")
            if self._num_idle <= len(self._line):
                self._start_thread()
            self._num_in_flight += 1
            self._line[future] = work
            self._changed.notify()
        future.add_done_callback(self._leave)  # before those of whoever gets it
        return future

    def _start_thread(self) -> None:
        if len(self._threads) >= self._num_threads:
            return
        thread = threading.Thread(target=self._work, name="vicinity async", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:
            if not self._threads:
                raise ResourceExhausted(f"no thread for asynchronous calls: {error}") from error
            return
        self._threads.append(thread)

    def _leave(self, future: Future) -> None:
        with self._changed:
            self._num_in_flight -= 1
            self._line.pop(future, None)  # one that was cancelled there

    def _work(self) -> None:
        while True:
            with self._changed:
                self._num_idle += 1
                while not self._line and not self._closed:
                    self._changed.wait()
                self._num_idle -= 1
                if not self._line:
                    return
                future = next(iter(self._line))
                work = self._line.pop(future)
                self._made.add(future)
            try:
                future.make(work)
            finally:
                with self._changed:
                    self._made.discard(future)
            del future, work  # the graph may go with them

    def stop(self) -> None:
        """Refuses calls from now on; those in line raise Cancelled. Waits for nothing."""
        with self._changed:
            self._closed = True
            line, self._line = self._line, {}
            self._changed.notify_all()
        for future in line:
            future.fail(Cancelled("the graph was closed before the call was made"))

    def cancel(self) -> None:
        """All calls, in line and being made; refuses others from now on."""
        self.stop()
        with self._changed:
            made = list(self._made)
        for future in made:
            future.cancel()

    def close(self) -> None:
        """stop(), and waits for the calls that are being made, which end within their timeouts."""
        self.stop()
        for thread in list(self._threads):
            if thread is not threading.current_thread():  # what a future told has closed the graph
                thread.join()


_ALL: weakref.WeakSet = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """At the interpreter's end no thread may be in a call, and nobody waits for answers. A forked child
    has none of the threads."""
    for calls in list(_ALL):
        if calls._process == os.getpid():  # pylint: disable=protected-access
            calls.cancel()
            calls.close()
