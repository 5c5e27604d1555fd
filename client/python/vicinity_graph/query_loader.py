"""Answers of a query for a training loop: one for each batch of seeds, several made ahead."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Sequence, Union

from . import _given, _library
from . import options as _options
from . import seeds as _seeds
from ._batch_loader import BatchLoader
from ._library import Handle, call_for_json, call_for_pointer, check, lib
from .option_types import LoaderOptions
from .query import Query, QueryAnswer
from .seeds import Seeds
from .tensors import Tensor, of_call

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .graph import Graph

# The library refuses these: the query says what is drawn and what comes.
_OF_MINIBATCHES = {
    "fanouts", "replace", "disjoint", "weighted_by", "expansion", "subgraph", "time_column",
    "temporal_strategy", "time_window", "time_follows", "where", "draws", "layer_dependency",
    "batch_dependency", "exclude", "reverse_edge_type", "negatives", "columns", "edge_columns",
    "edge_ids", "user_ids", "ragged_cache_bytes", "placement", "device"}


class QueryBatch(QueryAnswer):
    """The answer for one batch of seeds: its steps by their names, and where it stands in the epoch.

        batch["near"].column("features"), batch.labels

    Lifetime: it and its tensors outlive loader and graph. Threads: any number at once.
    """

    def __init__(self, pointer: int, steps: Sequence[Mapping[str, Any]], inputs: Sequence[str]):
        self._input_names = inputs
        self.handle = Handle(pointer, lib.vicinity_batch_release)
        info = _library.BatchInfo()
        check(lib.vicinity_batch_info(self.handle, ctypes.byref(info)))
        self.epoch = info.epoch
        self.step = info.step
        #: Of the epoch, by all trainers together, once each has trained on its batch of this step.
        self.batches_done = info.batches_done
        self.has_labels = bool(info.has_labels)
        #: PreparedQuery.run gives the same answer for `inputs`, the loader's run_seed, `epoch`, and
        #: this for its `batch`.
        self.draw = info.draw
        super().__init__(Handle(call_for_pointer(lib.vicinity_batch_answer, self.handle),
                                lib.vicinity_answer_release), steps)

    @property
    def inputs(self) -> Dict[str, Tensor]:
        """The batch's seeds by the names of the query's inputs: global ids, int64 [batch size] each."""
        return {name: self._part(_library.QUERY_SEEDS, number)
                for number, name in enumerate(self._input_names)}

    @property
    def seeds(self) -> Tensor:
        """Those of the first input, which of links takes the sources: int64 [batch size]"""
        return self._part(_library.QUERY_SEEDS)

    @property
    def labels(self) -> Tensor:
        """Of each seed, -1: none. int64 [batch size]. NotFound where their type has none, and of
        links."""
        return self._part(_library.LABELS)

    @property
    def input_positions(self) -> Tensor:
        """Of each seed or link, which of the loader's it is, as Batch.input_positions: int64 [batch size]"""
        return self._part(_library.INPUT_POSITIONS)

    def _part(self, part: int, index: int = 0) -> Tensor:
        return of_call(lib.vicinity_batch_tensor, self.handle, part, index, -1)

    def __repr__(self) -> str:
        return f"<QueryBatch of epoch {self.epoch}, step {self.step}: {super().__repr__()}>"


@_options.documents([each for each in _options.LOADER if each["name"] not in _OF_MINIBATCHES],
                    LoaderOptions, {"seeds": (Seeds, "train")}, graph="Graph", query=Query)
class QueryLoader(BatchLoader[QueryBatch]):
    """Answers of a query: seeds are dealt to batches as a Loader deals them, and the query, whose
    input takes them, is run for each.

        loader = graph.query_loader('''
            src = nodes(paper, $seeds)
            near = neighbors(src, cites, 10, where="year >= 2010", columns=[features])
        ''', batch_size=1024)
        for batch in loader:          # an epoch; the next `for` is the next epoch
            train(batch["near"].column("features"), batch["near"].offsets, batch.labels)

    Batches are made ahead, and a node's row comes once for all steps and batches that need it while it
    is held: PreparedQuery.run fetches it each time. Which rows are worth holding, `vicinity rank
    --query` says.

    seeds are those of a Loader. Nodes go to the query's one input, whatever its name. Of links,
    ("user:buys:item", pairs), the sources go to the input that stands first in the query, the targets
    to the other. Nodes that another query finds: GlobalIds(graph.prepare(text).run()["some"].nodes).

    Passes, workers, states (state_dict, load_state_dict), order, threads, lifetime and errors are those
    of a Loader. What the query says is no option here: InvalidArgument names it.
    """

    def __init__(self, graph: Graph, query: Union[str, Query], *, seeds: Seeds = _seeds.OF_SPLIT,
                 **options: Unpack[LoaderOptions]):
        self._query = str(query)
        self._steps: List[Dict[str, Any]] = []
        self._inputs: List[str] = []
        super().__init__(graph, dict(options, seeds=seeds))

    def _open(self, share: Dict[str, int], *, seeds: Seeds, **options: Any) -> Handle:
        given = _given.columns({**options, **share})
        listed = _seeds.take(self._graph, seeds, given)
        pointer = call_for_pointer(lib.vicinity_loader_create_for_query, self._graph.handle,
                                   self._query.encode(), _given.options_text(given),
                                   None if listed is None else ctypes.byref(listed))
        handle = Handle(pointer, lib.vicinity_loader_release)
        described = call_for_json(lib.vicinity_loader_describe_query, handle)
        self._query = described["text"]
        self._steps = described["steps"]
        self._inputs = list(dict.fromkeys(each["name"] for each in described["inputs"]))
        return handle

    def __reduce__(self) -> tuple:
        return _make, (self._graph, self._query, self._options), self._loaded()

    def __repr__(self) -> str:
        if self._open_handle is None:
            return "<QueryLoader, closed>"
        steps = ", ".join(each["name"] for each in self._steps)
        return (f"<QueryLoader of {self._graph.description['name']!r}: {steps}; {self.num_seeds} seeds "
                f"in {len(self)} batches, next epoch {self.next_epoch}>")

    def _drawing(self) -> Dict[str, Any]:
        return {"query": self._query}

    def _batch_of(self, pointer: int) -> QueryBatch:
        return QueryBatch(pointer, self._steps, self._inputs)


def _make(graph: Graph, query: str, options: LoaderOptions) -> QueryLoader:
    return QueryLoader(graph, query, **options)
