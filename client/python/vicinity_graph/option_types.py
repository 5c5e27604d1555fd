"""The types of the options that Graph, Loader, Writer and methods of Graph take as keywords.

Made by `bazel run //client/options:python_options_main` of client/options/options_table.cc; a test
compares them. Defaults and meanings are in their help() and in docs/options.md.
"""

import os
from typing import Literal, Sequence, Tuple, TypedDict, Union

FilePath = Union[str, "os.PathLike[str]"]
Fanouts = Sequence[Union[int, Sequence[int]]]


class Credentials(TypedDict, total=False):
    ca: FilePath
    certificate: FilePath
    key: FilePath
    token_file: FilePath
    allow_plaintext: bool


class Metrics(TypedDict, total=False):
    file: FilePath
    interval_ms: int
    listen: str
    open: bool
    trainer: str


class GraphOptions(TypedDict, total=False):
    cluster_file: FilePath
    directory: FilePath
    local_shards: Sequence[int]
    connect_timeout_ms: int
    call_timeout_ms: int
    call_budget_ms: int
    hedge: bool
    channels_per_server: int
    async_threads: int
    max_async_calls: int
    client_name: str
    trace_share: float
    trace_endpoint: str
    trace_file: FilePath
    wire_precision: Literal["stored", "float16", "bfloat16"]
    transport: Literal["auto", "grpc", "bulk"]
    credentials: Credentials
    metrics: Metrics


class Negatives(TypedDict, total=False):
    mode: Literal["none", "binary", "triplet"]
    amount: float
    exact: bool
    degree_power: float
    weight_column: str
    source_weight_column: str
    same: str
    shared: bool
    in_batch: bool


class Device(TypedDict, total=False):
    kind: Literal["cuda", "host"]
    ordinal: int
    home_bytes: int
    pin_home: bool
    batches: int
    staging_bytes: int


class LoaderOptions(TypedDict, total=False):
    replace: bool
    disjoint: bool
    weighted_by: str
    time_column: str
    temporal_strategy: Literal["uniform", "last"]
    time_window: int
    time_follows: Literal["seed", "path"]
    where: str
    draws: Literal["independent", "labor"]
    layer_dependency: bool
    batch_dependency: int
    expansion: Literal["all_nodes", "new_nodes"]
    subgraph: Literal["directional", "induced"]
    seed_type: str
    split: Literal["train", "validation", "test", ""]
    batch_size: int
    shuffle: bool
    drop_last: bool
    seed_policy: Literal["global", "home"]
    trainer: int
    num_trainers: int
    homes: Sequence[Sequence[int]]
    step_offset: int
    step_stride: int
    run_seed: int
    exclude: Literal["none", "self", "reverse"]
    reverse_edge_type: str
    negatives: Negatives
    labels: bool
    user_ids: bool
    columns: Sequence[Tuple[str, str]]
    edge_ids: bool
    edge_columns: Sequence[Tuple[str, str]]
    cache: Literal["none", "vip", "auto"]
    cache_rows: int
    cache_bytes: int
    ragged_cache_bytes: int
    ranking: str
    fetch_ahead: int
    window_bytes: int
    sample_ahead: int
    expected_rows: float
    sample_threads: int
    fetch_threads: int
    batch_timeout_ms: int
    placement: Literal["host", "device"]
    device: Device


class SampleOptions(TypedDict, total=False):
    replace: bool
    disjoint: bool
    weighted_by: str
    time_column: str
    temporal_strategy: Literal["uniform", "last"]
    time_window: int
    time_follows: Literal["seed", "path"]
    where: str
    draws: Literal["independent", "labor"]
    layer_dependency: bool
    batch_dependency: int
    expansion: Literal["all_nodes", "new_nodes"]
    subgraph: Literal["directional", "induced"]
    run_seed: int
    epoch: int
    step: int
    columns: Sequence[Tuple[str, str]]
    edge_ids: bool
    edge_columns: Sequence[Tuple[str, str]]


class WalkOptions(TypedDict, total=False):
    weighted_by: str
    restart_prob: float
    p: float
    q: float
    run_seed: int
    epoch: int
    step: int


class VisitOptions(TypedDict, total=False):
    node_type: str
    exclude_start: bool
    weighted_by: str
    restart_prob: float
    p: float
    q: float
    run_seed: int
    epoch: int
    step: int


class PprOptions(TypedDict, total=False):
    node_type: str
    weighted_by: str
    alpha: float
    eps: float
    max_neighbors: int
    run_seed: int
    epoch: int
    step: int


class WriterOptions(TypedDict, total=False):
    durability: Literal["sync", "buffered", "replicated"]
    give_up_after_ms: int
