"""What loaders have in common: passes over epochs, states, the steps of workers."""

from __future__ import annotations

import ctypes
from typing import (TYPE_CHECKING, Any, Dict, Generic, Iterator, List, Optional, Protocol, Tuple,
                    TypeVar)

from . import _workers
from . import options as _options
from ._library import NOT_READY, OK, Handle, call_for_json, check, lib
from .errors import DeadlineExceeded, FailedPrecondition

if TYPE_CHECKING:
    from typing_extensions import Self

    from .graph import Graph


class _Placed(Protocol):
    """What a batch says of where it is."""
    epoch: int
    batches_done: int


AnyBatch = TypeVar("AnyBatch", bound=_Placed)

# Between two of these, Python handles signals: an interrupt gets through a wait.
_SLICE_MS = 100


class _Pass(Iterator[AnyBatch]):
    """One pass over an epoch. It begins with its first batch; from then on the loader is its own,
    until it ends or another begins."""

    def __init__(self, loader: BatchLoader[AnyBatch], epoch: Optional[int], first_step: int = 0,
                 end_step: int = -1):
        self._loader = loader
        self._epoch = epoch  # None: the next one when it begins
        self._steps = (first_step, end_step)
        self._begun = False
        self._ended = False

    def __next__(self) -> AnyBatch:
        if self._ended:
            raise StopIteration
        batch = self._loader._next_of(self)  # pylint: disable=protected-access
        if batch is None:
            self._ended = True
            raise StopIteration
        return batch

    def begin(self, next_epoch: int) -> None:
        """Once: has the loader start the epoch."""
        if self._begun:
            raise FailedPrecondition(
                f"this pass over epoch {self._epoch} is over, since another pass of the loader, or "
                "start_epoch, began after it: a loader has one pass at a time, so for two at once "
                "make two loaders")
        if self._epoch is None:
            self._epoch = next_epoch
            self._loader._go_on()  # pylint: disable=protected-access
        else:
            self._loader.start_epoch(self._epoch, *self._steps)
        self._begun = True


class BatchLoader(Generic[AnyBatch]):
    """A loader of the library, which makes batches of some kind. The kinds say what they are drawn
    by, and how a loader is opened."""

    def __init__(self, graph: Graph, options: Dict[str, Any]):
        self._graph = graph
        self._options = options
        self._share = _workers.share(options)
        self._open_handle: Optional[Handle] = self._open(self._share, **self._options)
        # Behind the batch that was taken last: its epoch, and how many batches of that all trainers
        # are through with.
        self._position = (0, 0)
        self._begun = False      # that epoch, here
        self._has_taken = False  # a batch since then
        self._to_the_end = True  # are its steps
        self._through = False    # with the last of them, and that was the epoch's
        self._pass: Optional[_Pass[AnyBatch]] = None

    def _open(self, share: Dict[str, int], **options: Any) -> Handle:
        """With these options, and those that are this worker's share."""
        raise NotImplementedError

    def _batch_of(self, pointer: int) -> AnyBatch:
        raise NotImplementedError

    def _drawing(self) -> Dict[str, Any]:
        """What is drawn for the seeds."""
        raise NotImplementedError

    def _loaded(self) -> Tuple[int, int]:
        """For pickle: a state that was loaded, and waits for a pass."""
        return (0, 0) if self._begun else self._position

    def __setstate__(self, loaded: Tuple[int, int]) -> None:
        self._position = loaded

    @property
    def handle(self) -> Handle:
        """Of the library's; FailedPrecondition if the loader is closed, or was made before a fork."""
        return self._opened().here("loader")

    def _opened(self) -> Handle:
        if self._open_handle is None:
            raise FailedPrecondition("the loader is closed")
        return self._open_handle

    @property
    def num_seeds(self) -> int:
        """Of this trainer, in an epoch."""
        return lib.vicinity_loader_num_seeds(self._opened())

    def __len__(self) -> int:
        """Batches an epoch, the same for every trainer: those of all its workers together."""
        return lib.vicinity_loader_steps_per_epoch(self._opened())

    def start_epoch(self, epoch: int, first_step: int = 0, end_step: int = -1) -> None:
        """Has the steps [first_step, end_step) made ahead, for next(); -1 is the epoch's end. Drops
        what is left of another epoch, and ends the pass that took it."""
        self._take_share()
        check(lib.vicinity_loader_start_epoch(self.handle, epoch, first_step, end_step))
        self._begin((epoch, first_step * self._options.get("num_trainers", 1)))
        self._to_the_end = end_step in (-1, len(self))

    def _take_share(self) -> None:
        """Of the steps, where this is one of several workers. A loader that comes to one by pickle is
        made before the worker is told its number, so that a pass has to look."""
        share = _workers.share(self._options)
        if share == self._share:
            return
        self._opened()
        self._open_handle = self._open(share, **self._options)
        self._share = share

    def _begin(self, position: Tuple[int, int]) -> None:
        self._pass = None
        self._position = position
        self._begun = True
        self._to_the_end = True
        self._has_taken = self._through = False

    def _go_on(self) -> None:
        """With the epoch behind the last one, or the rest of the one that was loaded."""
        if self._begun:
            self.start_epoch(self.next_epoch)
            return
        self._take_share()
        check(lib.vicinity_loader_resume_epoch(self.handle, *self._position))
        self._begin(self._position)

    @property
    def next_epoch(self) -> int:
        """The epoch that the next pass over the loader is."""
        return self._position[0] + 1 if self._begun else self._position[0]

    def state_dict(self) -> Dict[str, Any]:
        """Where training is, behind the batch that was taken last: plain values, some hundred bytes,
        whatever the graph's size. Behind a pass that came to the end of its epoch it is where the next
        epoch begins. Every trainer has the same when all have made the same steps.

        One of several workers of a DataLoader makes its own steps ahead of training, and does not know
        which batches were taken from the others: there this is the worker's own state, which only the
        same one of as many workers loads, as torchdata's StatefulDataLoader has them do. A state for
        all of them is state_behind() the batch that was trained last."""
        share = _workers.share(self._options)
        epoch, batches_done = self._position
        if self._through:
            epoch, batches_done = epoch + 1, 0
        elif share and self._has_taken:
            # Whoever goes on counts his steps from here, and skips those of the workers before him.
            steps = share["step_stride"] - 1 - share["step_offset"]
            batches_done += steps * self._options.get("num_trainers", 1)
        return {**self.state_at(epoch, batches_done), **_worker_of(share)}

    def state_behind(self, batch: AnyBatch) -> Dict[str, Any]:
        """The state_dict() behind a batch of this loader. In a worker of a DataLoader, too: whoever
        takes the batches in the DataLoader's order has trained all that the state says, and every
        worker loads the same state, also if they are more or fewer then."""
        return self.state_at(batch.epoch, batch.batches_done)

    def state_at(self, epoch: int, batches_done: int) -> Dict[str, Any]:
        """The state_dict() behind so many batches of an epoch, those of all trainers."""
        return {**self._identity(), "epoch": epoch, "batches_done": batches_done}

    def load_state_dict(self, state: Dict[str, Any]) -> None:
        """Has the next pass go on where another loader stopped, in constant time: with the batches
        that it would have given, each of them once, also on another number of trainers. What is left
        of its epoch comes first; if that was all, and its pass had not ended, the pass is empty, as its
        own would have been.

        ValueError names what makes the batches others: another graph, seeds, batch size, run_seed; and
        refuses what one of several workers says of itself anywhere else. With seed_policy="home"
        trainers are as many as before."""
        here = _worker_of(_workers.share(self._options))
        if "worker" in state and state["worker"] != here.get("worker"):
            raise ValueError(
                f"the state is worker {state['worker'][0]}'s of {state['worker'][1]} and says nothing of "
                "the others' batches: it is for the same one of as many workers. For any number there "
                "is loader.state_behind(batch)")
        for name, value in self._identity().items():
            if state.get(name) != value:
                raise ValueError(f"the state is of a loader with {name} {state.get(name)!r}; this one "
                                 f"has {value!r}: its batches are others")
        self._begin((int(state["epoch"]), int(state["batches_done"])))
        self._begun = False

    def _identity(self) -> Dict[str, Any]:
        """What must be the same for batches to be."""
        identity = {**self._values_of(["batch_size", "shuffle", "drop_last", "run_seed", "seed_policy"]),
                    **self._drawing()}
        if identity["seed_policy"] == "home":
            identity.update(self._values_of(["num_trainers"]))
        else:
            identity["num_seeds"] = self.num_seeds
        return {"version": 1, "graph": self._graph.description["fingerprint"], **identity}

    def _values_of(self, names: List[str]) -> Dict[str, Any]:
        """Options of these names, as they are by themselves where they were not given."""
        defaults = {each["name"]: each["default"] for each in _options.LOADER}
        return {name: self._options.get(name, defaults[name]) for name in names}

    def next(self, timeout: Optional[float] = None) -> Optional[AnyBatch]:
        """The next batch after start_epoch, None at the epoch's end. DeadlineExceeded if there is
        none after `timeout` seconds; asking again goes on. FailedPrecondition while a `for` has the
        loader, whose batch this would be."""
        if self._pass is not None:
            raise FailedPrecondition("a pass over an epoch has the loader: take the batches from "
                                     "it, or call start_epoch before next")
        return self._take(timeout)

    def _take(self, timeout: Optional[float] = None) -> Optional[AnyBatch]:
        handle = self.handle
        pointer = ctypes.c_void_p()
        left_ms = None if timeout is None else max(0, int(timeout * 1000))
        while True:
            wait_ms = _SLICE_MS if left_ms is None else min(_SLICE_MS, left_ms)
            code = lib.vicinity_loader_next(handle, wait_ms, ctypes.byref(pointer))
            if code == OK:
                return self._taken(pointer.value)
            if code != NOT_READY:
                check(code)
            if left_ms is not None:
                left_ms -= wait_ms
                if left_ms <= 0:
                    raise DeadlineExceeded(f"no batch within {timeout} s")

    def _taken(self, pointer: Optional[int]) -> Optional[AnyBatch]:
        if pointer is None:
            self._through = self._to_the_end
            return None
        batch = self._batch_of(pointer)
        self._position = (batch.epoch, batch.batches_done)
        self._has_taken = True
        return batch

    def _next_of(self, one_pass: _Pass[AnyBatch]) -> Optional[AnyBatch]:
        if self._pass is not one_pass:
            one_pass.begin(self.next_epoch)
            self._pass = one_pass
        batch = self._take()
        if batch is None:
            self._pass = None
        return batch

    def epoch(self, epoch: int, first_step: int = 0, end_step: int = -1) -> Iterator[AnyBatch]:
        """A pass over the steps [first_step, end_step) of an epoch; -1 is its end. The same numbers
        give the same batches, so training goes on where it stopped."""
        return _Pass(self, epoch, first_step, end_step)

    def __iter__(self) -> Iterator[AnyBatch]:
        """A pass over the epoch that is next when the pass begins."""
        return _Pass(self, None)

    def stats(self) -> Dict[str, Any]:
        """Where the time went, in seconds, and where rows came from: the fields are in the comment
        of vicinity_loader_stats."""
        return call_for_json(lib.vicinity_loader_stats, self.handle)

    def close(self) -> None:
        """Stops the stages. Batches and tensors stay."""
        self._open_handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _worker_of(share: Dict[str, int]) -> Dict[str, Any]:
    """For a state: which of several workers it is of."""
    return {"worker": [share["step_offset"], share["step_stride"]]} if share else {}
