"""What PyG sees of a graph: its types as PyG names them, ids, and columns as attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import torch
from torch import Tensor

from ..graph import Graph
from ..seeds import GlobalIds

EdgeType = Tuple[str, str, str]

#: Attributes to bring: names for all types, or by type.
Attributes = Union[None, Sequence[str], Mapping[Any, Sequence[str]]]

MASKS = {"train_mask": 1, "val_mask": 2, "test_mask": 3}  # codes of split columns
SPLITS = {"train_mask": "train", "val_mask": "validation", "test_mask": "test"}


@dataclass(frozen=True)
class Attribute:
    """An attribute of PyG's, and the column that it comes from."""

    name: str
    column: str
    split_code: int = 0  # of masks
    is_label: bool = False
    is_bool: bool = False
    num_columns: int = 0  # of a sparse matrix, whose rows are torch.sparse_csr

    def value(self, rows: Tensor) -> Tensor:
        """Of the column's rows."""
        if self.split_code:
            return rows == self.split_code
        if self.is_label:
            return rows.to(torch.int64)
        return rows.view(torch.bool) if self.is_bool else rows


def _node_attributes(described: Mapping[str, Any]) -> List[Attribute]:
    names = {column["name"] for column in described["columns"] + described["ragged_columns"]}
    label = described["label_column"]
    target = described["target_column"]
    renamed = {_features_of(described): "x", label or target: "y"}
    attributes = []
    for column in described["columns"]:
        name = column["name"]
        if name == described["split_column"]:
            attributes += [Attribute(mask, name, split_code=code) for mask, code in MASKS.items()]
            continue
        wanted = renamed.get(name, name)
        attributes.append(Attribute(name if wanted in names else wanted, name,
                                    is_label=name == label, is_bool=column["dtype"] == "bool"))
    for column in described["ragged_columns"]:
        name = column["name"]
        if column["num_columns"] == 0:
            continue  # lists: PyG has no attributes like them
        wanted = renamed.get(name, name)
        attributes.append(Attribute(name if wanted in names else wanted, name,
                                    num_columns=column["num_columns"]))
    return attributes


def _features_of(described: Mapping[str, Any]) -> Optional[str]:
    """The column `features`, or the only one that is no label, target or split."""
    others = [column["name"] for column in described["columns"] if column["name"] not in
              {described[role + "_column"] for role in ("label", "target", "split")}]
    others += [column["name"] for column in described["ragged_columns"] if column["num_columns"]]
    if "features" in others:
        return "features"
    return others[0] if len(others) == 1 else None


def _edge_attributes(described: Mapping[str, Any]) -> List[Attribute]:
    """Copies of node columns are for draws: PyG has their values as attributes of nodes."""
    return [Attribute(column["name"], column["name"], is_bool=column["dtype"] == "bool")
            for column in described["columns"] if "of_source" not in column]


def _chosen(attributes: List[Attribute], wanted: Attributes, group: Any) -> List[Attribute]:
    if wanted is None:
        return attributes
    names = wanted.get(group, ()) if isinstance(wanted, Mapping) else wanted
    known = {attribute.name for attribute in attributes}
    if isinstance(wanted, Mapping) and not known.issuperset(names):
        raise KeyError(f"{group!r} has no attributes {sorted(set(names) - known)}; it has: "
                       f"{sorted(known)}")
    return [attribute for attribute in attributes if attribute.name in names]


class Schema:
    """Of one graph. Names of node types are Vicinity's; edge types are tuples of three, in the order
    of graph.edge_types. In a homogeneous graph PyG's name of the only type is None."""

    def __init__(self, graph: Graph, attrs: Attributes = None, edge_attrs: Attributes = None,
                 heterogeneous: Optional[bool] = None):
        node_types = graph.description["node_types"]
        edge_types = graph.description["edge_types"]
        single = len(node_types) == 1 and len(edge_types) == 1
        if heterogeneous is False and not single:
            raise ValueError(f"the graph has {len(node_types)} node types and {len(edge_types)} edge "
                             "types: it is heterogeneous")
        self.graph = graph
        self.homogeneous = single if heterogeneous is None else not heterogeneous
        self.node_types: List[str] = [each["name"] for each in node_types]
        self.edge_types: List[EdgeType] = [tuple(each["name"].split(":")) for each in edge_types]
        #: Of edge types the one that has the same edges the other way round, where there is one.
        self.reverse_types: Dict[EdgeType, EdgeType] = {
            name: self.edge_types[each["reverse_type"]]
            for name, each in zip(self.edge_types, edge_types) if each["reverse_type"] >= 0}
        self.num_nodes: Dict[str, int] = {each["name"]: each["num_nodes"] for each in node_types}
        self.described = {each["name"]: each for each in node_types}
        self.all_attributes = {each["name"]: _node_attributes(each) for each in node_types}
        #: Those that batches bring.
        self.attributes: Dict[str, List[Attribute]] = {
            name: _chosen(all_of_type, attrs, name)
            for name, all_of_type in self.all_attributes.items()}
        self.edge_attributes: Dict[EdgeType, List[Attribute]] = {
            name: _chosen(_edge_attributes(each), edge_attrs, name)
            for name, each in zip(self.edge_types, edge_types)}
        self._check_names(attrs, self.all_attributes)
        self._check_names(edge_attrs, {name: _edge_attributes(each)
                                       for name, each in zip(self.edge_types, edge_types)})

    @staticmethod
    def _check_names(wanted: Attributes, attributes: Mapping[Any, List[Attribute]]) -> None:
        if wanted is None:
            return
        if isinstance(wanted, Mapping):
            unknown = set(wanted) - set(attributes)
            if unknown:
                raise KeyError(f"no types {sorted(unknown, key=str)}; there are: {list(attributes)}")
            return
        known = {each.name for of_type in attributes.values() for each in of_type}
        if not known.issuperset(wanted):
            raise KeyError(f"no type has attributes {sorted(set(wanted) - known)}; there are: "
                           f"{sorted(known)}")

    def node_type(self, group: Optional[str]) -> str:
        """Vicinity's name of a node type of PyG's, where None is the only one."""
        if group is None and len(self.node_types) == 1:
            return self.node_types[0]
        if group not in self.num_nodes:
            raise KeyError(f"there is no node type {group!r}; there are: {self.node_types}")
        return group

    def edge_type(self, group: Any) -> EdgeType:
        """Of PyG's, or of parts of it that name just one: a relation, or source and target."""
        if group is None and len(self.edge_types) == 1:
            return self.edge_types[0]
        parts = (group,) if isinstance(group, str) else tuple(group)
        matching = [each for each in self.edge_types
                    if parts in (each, each[1:2], (each[0], each[2]))]
        if len(matching) == 1:
            return matching[0]
        raise KeyError(f"{group!r} is {len(matching)} edge types; there are: {self.edge_types}")

    def edge_name(self, edge_type: EdgeType) -> str:
        """As the library names it."""
        return ":".join(edge_type)

    def attribute(self, group: Optional[str], name: str) -> Attribute:
        """Of a node type, whether batches bring it or not."""
        for attribute in self.all_attributes[self.node_type(group)]:
            if attribute.name == name:
                return attribute
        raise KeyError(f"node type {self.node_type(group)!r} has no attribute {name!r}; it has: "
                       f"{[each.name for each in self.all_attributes[self.node_type(group)]]}")

    def times(self, node_type: str, column: str, ids: Tensor) -> Tensor:
        """Of PyG's ids of nodes, the values of a column of one int64: int64 [n]."""
        if ids.numel() == 0:
            return torch.zeros(0, dtype=torch.int64)
        rows = self.graph.fetch(node_type, column, self.to_global(node_type, ids).numpy())
        return rows.torch().view(-1)

    def has_column(self, node_type: str, column: str) -> bool:
        """Whether nodes of the type have it, whatever PyG calls it."""
        return any(each["name"] == column for each in self.described[node_type]["columns"])

    # --- Ids. ---

    def has_names(self, node_type: str) -> bool:
        """Whether the user's ids are strings, so that PyG's are global ids."""
        return self.described[node_type]["id_kind"] == "string"

    def to_global(self, node_type: str, ids: Tensor) -> Tensor:
        """Global ids of PyG's; IndexError naming the first that does not exist."""
        ids = ids.to("cpu", torch.int64).contiguous()
        if self.has_names(node_type) or ids.numel() == 0:
            return ids
        found = self.graph.resolve(node_type, ids.numpy()).torch()
        if bool((found < 0).any()):
            unknown = ids[found < 0]
            raise IndexError(f"{unknown.numel()} ids are no nodes of type {node_type!r}, as "
                             f"{unknown[0].item()}")
        return found

    def to_pyg(self, node_type: str, global_ids: Tensor) -> Tensor:
        """The other way."""
        if self.has_names(node_type) or global_ids.numel() == 0:
            return global_ids
        return self.graph.user_ids(node_type, global_ids.numpy()).torch()

    def seeds(self, node_type: str, ids: Tensor) -> Any:
        """PyG's ids as a loader takes them."""
        ids = ids.to("cpu", torch.int64).contiguous()
        return GlobalIds(ids) if self.has_names(node_type) else ids

    def everybody(self, node_type: str) -> Tensor:
        """PyG's ids of all nodes, in the order in which masks and whole attributes have them."""
        if self.has_names(node_type):
            return torch.arange(self.num_nodes[node_type])
        return self.to_pyg(node_type, self.graph.nodes(node_type).torch())

    def mask(self, node_type: str, split: str) -> Tensor:
        """Which nodes are in a split: bool [num_nodes]. Entry i is of the node whose id is i, and of
        types whose ids are integers that are not dense of graph.nodes(node_type)[i]."""
        chosen = self.graph.nodes(node_type, split).torch()
        if self.described[node_type]["id_kind"] == "int64":
            order = torch.empty(self.num_nodes[node_type], dtype=torch.int64)
            everybody = self.graph.nodes(node_type).torch()
            order[everybody] = torch.arange(everybody.numel())
            chosen = order[chosen]
        else:
            chosen = self.to_pyg(node_type, chosen)
        mask = torch.zeros(self.num_nodes[node_type], dtype=torch.bool)
        mask[chosen] = True
        return mask

    def by_node(self, node_type: str, values: Tensor, what: str) -> Tensor:
        """One value for each node, entry i as that of a mask, in the order of graph.nodes(node_type).
        ValueError if there are more or fewer; `what` is for the error."""
        if list(values.shape) != [self.num_nodes[node_type]]:
            raise ValueError(f"{what} are {list(values.shape)}, node type {node_type!r} has "
                             f"{self.num_nodes[node_type]} nodes")
        if not self.has_names(node_type):
            return values
        return values.cpu()[self.graph.nodes(node_type).torch()]

    def of_mask(self, node_type: str, mask: Tensor) -> Tensor:
        """PyG's ids of what a mask chooses."""
        if mask.numel() != self.num_nodes[node_type]:
            raise ValueError(f"the mask has {mask.numel()} entries, node type {node_type!r} has "
                             f"{self.num_nodes[node_type]} nodes")
        chosen = mask.cpu().nonzero().view(-1)
        if self.described[node_type]["id_kind"] != "int64":
            return chosen
        return self.to_pyg(node_type, self.graph.nodes(node_type).torch()[chosen])
