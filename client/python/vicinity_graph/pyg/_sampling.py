"""What PyG's loaders and samplers are told about sampling, as the library takes it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Tuple

from torch import Tensor

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
    node_times: bool  # the times are of nodes, so a seed may have its own

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
    """KeyError for a weight that no edge type has; ValueError for a time that is none."""
    subgraph = SubgraphType(subgraph_type) if directed else SubgraphType.induced  # as PyG's
    if temporal_strategy not in ("uniform", "last"):
        raise ValueError(f"temporal_strategy is {temporal_strategy!r}: 'uniform' or 'last'")
    fanouts = fanouts_of(schema, num_neighbors)
    time_column, node_times = _times(schema, time_attr, fanouts)
    if temporal_strategy == "last" and (replace or weight_attr is not None):
        raise ValueError("temporal_strategy='last' takes the latest, without replacement and whatever "
                         "their weights")
    return Sampling(fanouts, bool(replace),
                    bool(disjoint) or bool(time_column),  # as PyG's: by time trees are apart
                    subgraph == SubgraphType.bidirectional, subgraph == SubgraphType.induced,
                    _weights(schema, weight_attr),
                    time_column, temporal_strategy if time_column else "uniform", node_times)


def backward(schema: Schema, sampling: Sampling) -> Sampling:
    """What finds, along the lists of reversed edges, the nodes that edges lead to: each edge type's
    fanouts are its reverse's. NotImplementedError by time, as PyG's; ValueError for edge types that are
    to be followed and have no reverse."""
    if sampling.time_column:
        raise NotImplementedError("sample_direction='backward' by time is not there, nor in PyG")
    lacking = [each for each, *of_hops in zip(schema.edge_types, *sampling.fanouts)
               if any(of_hops) and each not in schema.reverse_types]
    if lacking:
        raise ValueError(
            f"sample_direction='backward' follows {lacking} from sources to targets, and the graph does "
            "not have these edges the other way round, as types rev_...: import it with "
            "`vicinity import --add-reverse-apart` (`add_reverse_apart: true` in the description)")
    fanouts = []
    for of_hop in sampling.fanouts:
        by_type = dict(zip(schema.edge_types, of_hop))
        fanouts.append([by_type.get(schema.reverse_types.get(each), 0) for each in schema.edge_types])
    return dataclasses.replace(sampling, fanouts=fanouts)


def own_times(schema: Schema, sampling: Sampling, node_type: str, ids: Tensor,
              given: str) -> Tensor:
    """The times of seeds that were given none, PyG's ids of nodes: as PyG's, those of the nodes.
    ValueError where nodes of the type have none; `given` is what would say them."""
    if not sampling.node_times or not schema.has_column(node_type, sampling.time_column):
        raise ValueError(f"time_attr {sampling.time_column!r} is no attribute of the seeds, nodes of "
                         f"type {node_type!r}, so {given} is needed")
    return schema.times(node_type, sampling.time_column, ids)


def _times(schema: Schema, time_attr: Optional[str],
           fanouts: List[List[int]]) -> Tuple[str, bool]:
    """The column of edges, and whether it has the times of their sources. ValueError as PyG's for
    what is of no type, or of nodes and edges; for times that are none that the library takes; and for
    those of nodes that edges have no copy of."""
    if time_attr is None:
        return "", False
    edges = _columns(schema.graph.description["edge_types"], time_attr)
    nodes = _columns(schema.graph.description["node_types"], time_attr)
    own = [name for name, column in edges.items() if column.get("of_source") != time_attr]
    if own and nodes:
        raise ValueError(f"time_attr {time_attr!r} is an attribute of nodes ({list(nodes)}) and of "
                         f"edges ({own})")
    if not edges and not nodes:
        raise ValueError(f"time_attr {time_attr!r} is an attribute of no node type and of no edge type")
    for name, column in {**nodes, **edges}.items():
        if column["dtype"] != "int64" or column["shape"]:
            raise ValueError(f"time_attr {time_attr!r} of {name} is {column['dtype']} "
                             f"{column['shape']}: times are one int64 a node or an edge")
    followed = [":".join(each) for each, *of_hops in zip(schema.edge_types, *fanouts)
                if any(of_hops)]
    missing = [name for name in followed if name not in edges and name.split(":")[0] in nodes]
    if missing:
        raise ValueError(
            f"time_attr {time_attr!r} is an attribute of nodes ({list(nodes)}), and edges of {missing} "
            "have no copy of their source's, by which they would be drawn. Import them with one: "
            f"`columns {{ of_source: \"{time_attr}\" }}` for each of these `edges` in the description, "
            f"which vicinity_graph.convert writes if it is given copy_to_edges=[{time_attr!r}]")
    return time_attr, bool(nodes)


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
