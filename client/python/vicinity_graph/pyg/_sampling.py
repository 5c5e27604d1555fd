"""What PyG's loaders and samplers are told about sampling, as the library takes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional

from torch_geometric.sampler.base import NumNeighbors, SubgraphType

from ._schema import Schema
from .remote_graph import RemoteGraph


@dataclass(frozen=True)
class Sampling:
    """Checked. Expansion is PyG's: a hop expands the nodes that the hop before it met first."""

    fanouts: List[List[int]]  # by hop, then by edge type
    replace: bool
    disjoint: bool
    bidirectional: bool
    induced: bool
    weighted_by: str
    time_column: str
    temporal_strategy: str

    def options(self) -> Dict[str, Any]:
        """Of the library's."""
        return {"replace": self.replace, "disjoint": self.disjoint, "weighted_by": self.weighted_by,
                "time_column": self.time_column, "temporal_strategy": self.temporal_strategy,
                "expansion": "new_nodes", "subgraph": "induced" if self.induced else "directional"}


def schema_of(data: Any) -> Schema:
    """TypeError unless it is a RemoteGraph."""
    if isinstance(data, RemoteGraph):
        return data.schema
    raise TypeError(f"data is a {type(data).__name__}: give what vicinity_graph.pyg.connect() gave; "
                    "for what lies in memory there is torch_geometric.loader")


def fanouts_of(schema: Schema, num_neighbors: Any) -> List[List[int]]:
    """ValueError as PyG's, and for edge types that the graph has not."""
    numbers = num_neighbors if isinstance(num_neighbors, NumNeighbors) \
        else NumNeighbors(num_neighbors)
    if schema.homogeneous and isinstance(numbers.values, (list, tuple)):
        return [[int(fanout)] for fanout in numbers.values]
    if isinstance(numbers.values, dict):
        unknown = [key.to_tuple() for key in numbers.values
                   if key.to_tuple() not in schema.edge_types]
        if unknown:
            raise ValueError(f"num_neighbors names {unknown}, which are no edge types of the graph; "
                             f"there are: {schema.edge_types}")
    by_type = numbers.get_values(schema.edge_types)
    num_hops = len(next(iter(by_type.values())))
    return [[int(by_type[edge_type][hop]) for edge_type in schema.edge_types]
            for hop in range(num_hops)]


def sampling_of(schema: Schema, num_neighbors: Any, *, replace: bool, subgraph_type: Any,
                disjoint: bool, temporal_strategy: str, time_attr: Optional[str],
                weight_attr: Optional[str], directed: bool) -> Sampling:
    """NotImplementedError naming what is not there; KeyError for a weight or a time that no edge type
    has."""
    subgraph = SubgraphType(subgraph_type) if directed else SubgraphType.induced  # as PyG's
    if temporal_strategy not in ("uniform", "last"):
        raise ValueError(f"temporal_strategy is {temporal_strategy!r}: 'uniform' or 'last'")
    time_column = _times(schema, time_attr)
    if temporal_strategy == "last" and (replace or weight_attr is not None):
        raise ValueError("temporal_strategy='last' takes the latest, without replacement and whatever "
                         "their weights")
    return Sampling(fanouts_of(schema, num_neighbors), bool(replace),
                    bool(disjoint) or bool(time_column),  # as PyG's: by time trees are apart
                    subgraph == SubgraphType.bidirectional, subgraph == SubgraphType.induced,
                    _weights(schema, weight_attr),
                    time_column, temporal_strategy if time_column else "uniform")


def _times(schema: Schema, time_attr: Optional[str]) -> str:
    """The column. ValueError as PyG's for what is of no type, or of nodes and edges; and for an edge
    type whose times are none that the library takes."""
    if time_attr is None:
        return ""
    edges = _columns(schema.graph.description["edge_types"], time_attr)
    nodes = _columns(schema.graph.description["node_types"], time_attr)
    if edges and nodes:
        raise ValueError(f"time_attr {time_attr!r} is an attribute of nodes ({list(nodes)}) and of "
                         f"edges ({list(edges)})")
    if nodes:
        raise NotImplementedError(
            f"time_attr {time_attr!r} is an attribute of nodes ({list(nodes)}): sampling goes by times "
            "of edges. Import each edge with the time of its source, as a column of int64")
    if not edges:
        raise ValueError(f"time_attr {time_attr!r} is an attribute of no edge type")
    for name, column in edges.items():
        if column["dtype"] != "int64" or column["shape"]:
            raise ValueError(f"time_attr {time_attr!r} of {name} is {column['dtype']} "
                             f"{column['shape']}: times are one int64 an edge")
    return time_attr


def _columns(types: Any, name: str) -> Dict[str, Any]:
    """Those of this name, by type."""
    return {each["name"]: column for each in types for column in each["columns"]
            if column["name"] == name}


def _weights(schema: Schema, weight_attr: Optional[str]) -> str:
    if weight_attr is None:
        return ""
    weighted = {each["name"]: each["weight_column"]
                for each in schema.graph.description["edge_types"]}
    if weight_attr not in weighted.values():
        raise KeyError(f"weight_attr {weight_attr!r} is the weight column of no edge type; these "
                       f"have one: { {name: column for name, column in weighted.items() if column} }")
    return weight_attr
