"""From what people have to what `vicinity import` reads.

    from vicinity_graph import convert

    convert.from_pyg(dataset[0], "arrays")            # torch_geometric.data.Data or HeteroData
    convert.from_dgl(graph, "arrays")                 # a DGLGraph
    convert.from_dgl_chunked("metadata.json", "arrays")
    convert.from_graphbolt("dataset", "arrays")       # the folder with metadata.yaml
    convert.from_ogb("ogbn_arxiv", "arrays")          # the folder with raw/; or mag240m_kddcup2021
    convert.from_tables("arrays", nodes={"user": users}, edges={("user", "buys", "item"): "buys/"})
    convert.write("arrays", nodes, edges)             # arrays of one's own

    $ vicinity import --description arrays/graph.textproto --output graph

Each makes the new folder with a description, graph.textproto, whose path it returns, and beside it
the arrays that are not files yet. Files that the tool reads as they are stay where they are: the
description has their paths, so they must still be there when it is imported.

Nothing is cast, and nothing is left out but what `skip` names: what fits no node and no edge, or no
column, is an error that names it. Needs NumPy; PyTorch, PyYAML, pandas and pyarrow only where
something is theirs.
"""

from .dgl import from_dgl
from .dgl_chunked import from_dgl_chunked
from .graphbolt import from_graphbolt
from .ogb import from_ogb
from .pyg import from_pyg
from .ragged_rows import RaggedRows
from .tables import EdgeTable, NodeTable, from_tables
from .writer import Edges, File, Nodes, write

__all__ = ["Edges", "EdgeTable", "File", "Nodes", "NodeTable", "RaggedRows", "from_dgl", "from_dgl_chunked",
           "from_graphbolt", "from_ogb", "from_pyg", "from_tables", "write"]
