/* Vicinity for other languages: graphs, loaders, batches, writers and changes behind plain C calls.
 *
 *   VicinityGraph* graph;
 *   VicinityLoader* loader;
 *   VicinityBatch* batch;
 *   if (vicinity_graph_open("{\"cluster_file\": \"cluster.textproto\"}", &graph) ||
 *       vicinity_loader_create(graph, "{\"fanouts\": [15, 10, 5]}", &loader) ||
 *       vicinity_loader_start_epoch(loader, 0, 0, -1)) {
 *     fprintf(stderr, "%s\n", vicinity_last_error());
 *     return 1;
 *   }
 *   while (vicinity_loader_next(loader, -1, &batch) == VICINITY_OK && batch != NULL) {
 *     train_on(batch);
 *     vicinity_batch_release(batch);
 *   }
 *
 * Errors:   calls return a VicinityCode. What else they give, they give through their last
 *           argument, and only with VICINITY_OK. They throw nothing, and neither a null pointer nor
 *           a wrong value ends the process; a handle that was released does.
 * Threads:  any, at once, but where a call says otherwise.
 * Lifetime: each handle is released once, in any order: a loader keeps what it needs of its graph,
 *           and batches and tensors outlive their loaders. Releasing a loader, and the last of a
 *           graph and its loaders, stops stages and closes connections, within the call timeout.
 * Forks:    a process that forks after vicinity_graph_open gets VICINITY_FAILED_PRECONDITION for
 *           its graphs and loaders in the child, where it may still release everything.
 * Memory:   texts that a call gives are the caller's, who frees them by vicinity_string_free.
 * Versions: options and descriptions are JSON objects, structures begin with their size, and
 *           functions are added, not changed, within one VICINITY_ABI_VERSION.
 */
#ifndef VICINITY_C_API_VICINITY_H_
#define VICINITY_C_API_VICINITY_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VICINITY_ABI_VERSION 2

/* Of dlpack/dlpack.h (https://dmlc.github.io/dlpack), which the user of a tensor includes. */
struct DLManagedTensor;

typedef struct VicinityGraph VicinityGraph;
typedef struct VicinityLoader VicinityLoader;
typedef struct VicinityBatch VicinityBatch;
typedef struct VicinityQuery VicinityQuery;
typedef struct VicinityAnswer VicinityAnswer;
typedef struct VicinityWriter VicinityWriter;
typedef struct VicinityChanges VicinityChanges;
typedef struct VicinityWritten VicinityWritten;
typedef struct VicinityChangeLog VicinityChangeLog;

/* Values of errors are those of gRPC; client/types/result.h says what each means. */
typedef enum VicinityCode {
  VICINITY_NOT_READY = -1, /* no error: not within the time given, ask again */
  VICINITY_OK = 0,
  VICINITY_CANCELLED = 1,
  VICINITY_UNKNOWN = 2,
  VICINITY_INVALID_ARGUMENT = 3,
  VICINITY_DEADLINE_EXCEEDED = 4,
  VICINITY_NOT_FOUND = 5,
  VICINITY_ALREADY_EXISTS = 6,
  VICINITY_PERMISSION_DENIED = 7,
  VICINITY_RESOURCE_EXHAUSTED = 8,
  VICINITY_FAILED_PRECONDITION = 9,
  VICINITY_ABORTED = 10,
  VICINITY_OUT_OF_RANGE = 11,
  VICINITY_INTERNAL = 13,
  VICINITY_UNAVAILABLE = 14,
  VICINITY_DATA_LOSS = 15,
  VICINITY_UNAUTHENTICATED = 16
} VicinityCode;

/* The library's own version, "0.1.0". */
const char* vicinity_version(void);

/* VICINITY_ABI_VERSION of the library, to compare with that of the header. */
int32_t vicinity_abi_version(void);

/* What was wrong in the last call of this thread that returned an error: for people. Valid until
 * the thread's next call; "" before the first error. */
const char* vicinity_last_error(void);

/* "NOT_FOUND", ...; "UNKNOWN" for what is no code. */
const char* vicinity_code_name(int32_t code);

void vicinity_string_free(char* text); /* null is fine */

/* ---- Calls that are given up ----
 *
 * A call that waits for servers is ended from another thread, for an interrupt or because nobody
 * wants its answer any more. One thread calls vicinity_cancellation_enter(given_up), then, say,
 * vicinity_graph_fetch, which is VICINITY_CANCELLED soon after another thread has called
 * vicinity_cancellation_cancel(given_up). */

typedef struct VicinityCancellation VicinityCancellation;

int32_t vicinity_cancellation_create(VicinityCancellation** cancellation);
/* Calls that belong to it may be under way; null is fine. */
void vicinity_cancellation_release(VicinityCancellation* cancellation);

/* From now on what this thread opens and asks, and waits for, belongs to `cancellation`; null: to
 * none. What is mapped on this machine is read to its end, and so are calls of a batch; a loader's
 * batches are waited for with a limit, by vicinity_loader_next. */
int32_t vicinity_cancellation_enter(const VicinityCancellation* cancellation);

/* Ends all that belongs to it with VICINITY_CANCELLED: what is under way, soon, and what begins
 * from now on, at once. Any thread. */
int32_t vicinity_cancellation_cancel(const VicinityCancellation* cancellation);

/* ---- Options ---- */

/* What vicinity_graph_open, _loader_create, _graph_sample, _graph_walk, _graph_top_visited,
 * _graph_ppr and _writer_create can be told, docs/options.md as JSON: {"graph": [...], "loader":
 * [...], "sample": [...], "walk": [...], "visits": [...], "ppr": [...], "writer": [...]}, each a
 * list of {"name", "type": for people, "default", "doc"}, where they apply with "least": a number,
 * "words": those there are to choose from, and "options": of an object, in a list like this. */
int32_t vicinity_options_describe(char** json);

/* ---- Graphs: client/graph.h ---- */

/* {"cluster_file": PATH} or {"directory": PATH}, and any other of the options of graphs in
 * docs/options.md, as {"call_timeout_ms": 2000, "credentials": {"token_file": PATH}}. A name that
 * is none of these is VICINITY_INVALID_ARGUMENT, as is a value of another type. */
int32_t vicinity_graph_open(const char* options_json, VicinityGraph** graph);
void vicinity_graph_close(VicinityGraph* graph); /* null is fine */

/* {"name", "fingerprint": hexadecimal text, "num_shards", "live": whether it is written,
 *  "node_types": [{"name", "num_nodes", "id_kind": of the user's ids, "dense" (0 to num_nodes - 1),
 *                  "int64" or "string", "columns": [{"name", "dtype", "shape"}],
 *                  "ragged_columns": [{"name", "dtype", "num_columns": 0 of lists}],
 *                  "label_column", "num_classes", "split_column", "target_column"}],
 *  "edge_types": [{"name": "source:relation:target", "source_type", "target_type": positions in
 *                  node_types, "reverse_type": the position here of the type that has these edges
 *                  the other way round, -1: none, "weight_column", "time_order": the column of
 *                  times in whose order lists are, or "", "columns": where one is a copy of a
 * column of the source type, also with "of_source", the name of that}]} */
int32_t vicinity_graph_describe(const VicinityGraph* graph, char** json);

/* Of a live graph the version of each shard and the term that it was written in, int64
 * [num_shards, 2]: as Graph::Versions. */
int32_t vicinity_graph_versions(const VicinityGraph* graph, struct DLManagedTensor** versions);

/* The same graph as it was at these versions, one a shard: as Graph::At. `versions` is as
 * vicinity_graph_versions gives it, [num_versions, 2]; a term of -1 is any. */
int32_t vicinity_graph_at(const VicinityGraph* graph, const int64_t* versions, int64_t num_versions,
                          VicinityGraph** at);

/* The global ids of a split's nodes, int64 [n]: as Graph::NodesOf. `split` is "train",
 * "validation", "test", or "" for all nodes. */
int32_t vicinity_graph_nodes(const VicinityGraph* graph, const char* node_type, const char* split,
                             struct DLManagedTensor** ids);

/* The global ids of the user's integer ids, int64 [n], -1 for those the graph lacks; and back.
 * VICINITY_INVALID_ARGUMENT for a type whose ids are names. */
int32_t vicinity_graph_resolve(const VicinityGraph* graph, const char* node_type,
                               const int64_t* user_ids, int64_t num_ids,
                               struct DLManagedTensor** ids);
int32_t vicinity_graph_user_ids(const VicinityGraph* graph, const char* node_type,
                                const int64_t* ids, int64_t num_ids,
                                struct DLManagedTensor** user_ids);

/* The same where the user's ids are names: they stand in a text one behind the other, each up to
 * ends[i] from where the one before ended, bytes as they were imported. Back, both are tensors:
 * `text` uint8 [ends[n - 1]], `ends` int64 [n]. VICINITY_INVALID_ARGUMENT for a type whose ids are
 * integers, and for ends that fall. */
int32_t vicinity_graph_resolve_names(const VicinityGraph* graph, const char* node_type,
                                     const char* text, const int64_t* ends, int64_t num_names,
                                     struct DLManagedTensor** ids);
int32_t vicinity_graph_user_names(const VicinityGraph* graph, const char* node_type,
                                  const int64_t* ids, int64_t num_ids,
                                  struct DLManagedTensor** text, struct DLManagedTensor** ends);

/* How many edges of a type lead to each of these nodes of its target type, int64 [num_ids]. As
 * Graph::Degrees. */
int32_t vicinity_graph_degrees(const VicinityGraph* graph, const char* edge_type,
                               const int64_t* ids, int64_t num_ids,
                               struct DLManagedTensor** degrees);

/* Which edge of a type leads from sources[i] to targets[i], int64 [num_pairs]: its position in the
 * import's input, -1 where none does. As Graph::EdgeIds. */
int32_t vicinity_graph_edge_ids(const VicinityGraph* graph, const char* edge_type,
                                const int64_t* sources, const int64_t* targets, int64_t num_pairs,
                                struct DLManagedTensor** edge_ids);

/* Which shard owns each of these nodes, int32 [num_ids]; and whether it is mapped on this machine,
 * uint8 [num_ids], 1 or 0. As Graph::OwnersOf and Graph::AreLocal: no server is asked. */
int32_t vicinity_graph_owner_of(const VicinityGraph* graph, const char* node_type,
                                const int64_t* ids, int64_t num_ids,
                                struct DLManagedTensor** shards);
int32_t vicinity_graph_is_local(const VicinityGraph* graph, const char* node_type,
                                const int64_t* ids, int64_t num_ids,
                                struct DLManagedTensor** local);

/* The first `count` (0: all) nodes of a type in the ranking `name` that is stored for `home`,
 * rising shard numbers: their global ids, int64 [n], likeliest first, and how likely a batch needs
 * each of them, float32 [n]. As Graph::Ranked. */
int32_t vicinity_graph_ranked(const VicinityGraph* graph, const char* name, const int32_t* home,
                              int64_t num_home, const char* node_type, int64_t count,
                              struct DLManagedTensor** nodes,
                              struct DLManagedTensor** probabilities);

/* Rows of a column for global ids, in their order: [num_ids, *row shape]. As Graph::Fetch. */
int32_t vicinity_graph_fetch(const VicinityGraph* graph, const char* node_type, const char* column,
                             const int64_t* ids, int64_t num_ids, struct DLManagedTensor** rows);

/* ... of a ragged column. `row_ends`, int64 [num_ids], counts values: those of row i end before
 * row_ends[i], and begin where those of the row before end. `values` are [num values]; `indices`,
 * int32 [num values], are their columns in the sparse matrix, or null where rows are lists. */
int32_t vicinity_graph_fetch_ragged(const VicinityGraph* graph, const char* node_type,
                                    const char* column, const int64_t* ids, int64_t num_ids,
                                    struct DLManagedTensor** row_ends,
                                    struct DLManagedTensor** indices,
                                    struct DLManagedTensor** values);

/* Some of the nodes that a sample begins with. It does not grow: arrays of it are passed. */
typedef struct VicinitySeedNodes {
  const char* node_type;
  const int64_t* ids; /* global; repeats allowed */
  int64_t num_ids;
  const int64_t* times; /* of each, with the option "time_column"; else null */
} VicinitySeedNodes;

/* One sample around seeds, a list of them or several, as sources and targets of links are: a batch
 * without labels. `options_json` has
 * "fanouts", and any other of the options of samples in docs/options.md: {"fanouts": [15, 10],
 * "columns": [{"node_type": "paper", "column": "features"}], "run_seed": 3, "epoch": 1, "step": 5}.
 * The same seeds and options give the same sample. As Graph::Sample, then Graph::Fetch and
 * Graph::FetchEdges for each of the columns, one after the other: loaders are faster. */
int32_t vicinity_graph_sample(const VicinityGraph* graph, const VicinitySeedNodes* seeds,
                              int32_t num_lists, const char* options_json, VicinityBatch** batch);

/* A random walk of `length` steps from each of `starts`, global ids of the type where the metapath
 * begins. `metapath` names the edge types that steps follow in turn, with commas between them:
 * "user:buys:item,item:bought_by:user"; "" is the graph's only one. A step goes from a node that an
 * edge leads to, to the one where it comes from. `nodes` becomes global ids [num_starts, length +
 * 1], -1 behind a walk's end; `edge_ids`, if not null, the edges that were taken, [num_starts,
 * length]. `options_json` has any of the options of walks in docs/options.md. As Graph::Walk. */
int32_t vicinity_graph_walk(const VicinityGraph* graph, const char* metapath, const int64_t* starts,
                            int64_t num_starts, int64_t length, const char* options_json,
                            struct DLManagedTensor** nodes, struct DLManagedTensor** edge_ids);

/* The nodes that `num_walks` walks from each of `starts` visit most, as PinSAGE takes a node's
 * neighbours: `nodes` and `counts` become int64 [num_starts, top], the most visited first, -1 and 0
 * behind them. Walks and `metapath` as for vicinity_graph_walk; `options_json` has any of the
 * options of most visited nodes in docs/options.md. As Graph::MostVisited. */
int32_t vicinity_graph_top_visited(const VicinityGraph* graph, const char* metapath,
                                   const int64_t* starts, int64_t num_starts, int64_t length,
                                   int64_t num_walks, int64_t top, const char* options_json,
                                   struct DLManagedTensor** nodes, struct DLManagedTensor** counts);

/* Of each of `seeds`, global ids of a type, the nodes of the highest personalised PageRank: `nodes`
 * becomes int64 and `scores` float64, both [num_seeds, top], the highest first, -1 and 0 behind
 * them; `residuals`, if not null, float64 [num_seeds]: what is missing of the scores of all nodes
 * together. `edge_types` names those that are followed, with commas between them; "" is all.
 * `options_json` has any of the options of personalised PageRank in docs/options.md. As
 * Graph::PersonalizedPageRank. */
int32_t vicinity_graph_ppr(const VicinityGraph* graph, const char* seed_type, const int64_t* seeds,
                           int64_t num_seeds, int64_t top, const char* edge_types,
                           const char* options_json, struct DLManagedTensor** nodes,
                           struct DLManagedTensor** scores, struct DLManagedTensor** residuals);

/* ---- Queries: client/prepared_query.h ---- */

/* A query that is ready to run; client/query/query_text.h tells how they are written:
 * "src = nodes(paper, $seeds)\nnear = neighbors(src, cites, 10, columns=[features])".
 * VICINITY_INVALID_ARGUMENT saying at which line and character something else was expected, or, as
 * VICINITY_NOT_FOUND, which step does not fit the graph, and why. It keeps what it needs of the
 * graph. */
int32_t vicinity_query_prepare(const VicinityGraph* graph, const char* text, VicinityQuery** query);
void vicinity_query_release(VicinityQuery* query); /* its answers stay; null is fine */

/* {"text": as it would be written, "inputs": [{"name", "node_type"}],
 *  "steps": [{"name", "kind", "node_type": of its nodes, "from": "" if from none, "columns",
 *             "edge_columns", "edge_ids", "among": steps that it is a subgraph of}]} */
int32_t vicinity_query_describe(const VicinityQuery* query, char** json);

/* What is expected of a run with inputs of these sizes, {"seeds": 1024}: [{"name", "does", "lists",
 * "nodes", "shard_calls", "bytes"}], as PreparedQuery::Explain. */
int32_t vicinity_query_explain(const VicinityQuery* query, const char* sizes_json, char** json);

/* Nodes for an input of a query. It does not grow: arrays of it are passed. */
typedef struct VicinityInput {
  const char* name;
  const int64_t* ids; /* global; repeats allowed */
  int64_t num_ids;
} VicinityInput;

/* The same inputs and the same three numbers give the same answer. As PreparedQuery::Run. */
int32_t vicinity_query_run(const VicinityQuery* query, const VicinityInput* inputs,
                           int32_t num_inputs, uint64_t run_seed, uint64_t epoch, uint64_t batch,
                           VicinityAnswer** answer);
void vicinity_answer_release(VicinityAnswer* answer); /* its tensors stay; null is fine */

/* What a step of an answer has tensors of. */
typedef enum VicinityStepPart {
  VICINITY_STEP_OFFSETS = 0, /* nodes[offsets[i]] .. nodes[offsets[i + 1] - 1] are those of the i-th
                                node of the step it goes on from; int64 [lists + 1] */
  VICINITY_STEP_NODES = 1,   /* global ids; int64 [n] */
  VICINITY_STEP_EDGE_IDS = 2,    /* with "edge_ids"; int64 [n] */
  VICINITY_STEP_WEIGHTS = 3,     /* of a layer; float64 [n] */
  VICINITY_STEP_COLUMN = 4,      /* index: of "columns"; rows of the nodes, [n, *row shape] */
  VICINITY_STEP_EDGE_COLUMN = 5, /* index: of "edge_columns"; likewise of the edges */
  VICINITY_STEP_WALKS = 6,       /* of a walk: where each came by, its start first; global ids, -1
                                    behind its end; int64 [lists, length + 1] */
  VICINITY_STEP_WALK_EDGES = 7,  /* with "edge_ids": of each step; int64 [lists, length] */
  VICINITY_STEP_COUNTS = 8,      /* of the most visited: visits of each node; int64 [n] */
  VICINITY_STEP_SCORES = 9,      /* of personalised PageRank; float64 [n] */
  VICINITY_STEP_RESIDUALS = 10,  /* likewise, of each list; float64 [lists] */
  VICINITY_STEP_TARGETS = 11,    /* of a subgraph: nodes that its edges may lead to; int64 [t] */
  VICINITY_STEP_EDGE_INDEX = 12 /* likewise: where each edge comes from, among the step's nodes, and
                                   where it leads, among its targets; int64 [2, edges] */
} VicinityStepPart;

/* A tensor of the answer's step of this number, without a copy. Lifetime: as
 * vicinity_batch_tensor's. VICINITY_INVALID_ARGUMENT for no such step, part or index,
 * VICINITY_NOT_FOUND for one that the query does not ask for. */
int32_t vicinity_answer_tensor(const VicinityAnswer* answer, int32_t step, int32_t part,
                               int32_t index, struct DLManagedTensor** tensor);

/* What the graph and its loaders have moved so far: {"calls", "sampled_edges_local", ...}, the
 * fields of TrafficStats (client/types/graph_values.h); "bulk_tcp_calls" and "bulk_unix_calls" tell
 * whether servers' bulk channels are used (docs/operations.md). */
int32_t vicinity_graph_stats(const VicinityGraph* graph, char** json);

/* All that is counted for the graph and its loaders, by the conventions of Prometheus:
 * [{"name", "help", "is_counter", "labels": {}, "value"}], as Graph::metrics. */
int32_t vicinity_graph_metrics(const VicinityGraph* graph, char** json);

/* The same as text for Prometheus, as a "metrics" option shows it (docs/metrics.md). */
int32_t vicinity_graph_metrics_text(const VicinityGraph* graph, char** text);

/* Where the option "metrics": {"listen": "127.0.0.1:0"} has led to, "127.0.0.1:41234"; "": nowhere.
 */
int32_t vicinity_graph_metrics_address(const VicinityGraph* graph, char** text);

/* ---- Writers of live graphs: client/writer.h ----
 *
 *   VicinityWriter* writer;
 *   VicinityChanges* changes;
 *   VicinityWritten* written;
 *   if (vicinity_writer_create(graph, "{}", &writer) || vicinity_changes_create(&changes) ||
 *       vicinity_changes_add_edges(changes, "user:buys:item", users, items, n) ||
 *       vicinity_changes_column(changes, "weight", "float32", weights, n * sizeof(float)) ||
 *       vicinity_writer_write(writer, changes, &written)) {
 *     fprintf(stderr, "%s\n", vicinity_last_error());
 *   }
 */

/* `options_json` has any of the options of writers in docs/options.md, or none: "{}". It keeps what
 * it needs of the graph. VICINITY_FAILED_PRECONDITION for a graph that is not live, or stays at
 * versions (vicinity_graph_at). */
int32_t vicinity_writer_create(const VicinityGraph* graph, const char* options_json,
                               VicinityWriter** writer);
/* Not while another thread is in a call of the writer; null is fine. */
void vicinity_writer_release(VicinityWriter* writer);

/* What is to change, in parts, each of one type; as GraphChanges. */
int32_t vicinity_changes_create(VicinityChanges** changes);
void vicinity_changes_release(VicinityChanges* changes); /* null is fine */

/* Each of these adds a part, of as many rows as are given; parts of a kind are counted from 0. What
 * they are given is copied. Whether it fits the graph vicinity_writer_write says.
 * VICINITY_FAILED_PRECONDITION while they are being written. */

/* Nodes that are new, by the user's ids, with all columns of their type: ids, of types whose ids
 * are integers, or names, as vicinity_graph_resolve_names takes them. */
int32_t vicinity_changes_add_nodes(VicinityChanges* changes, const char* node_type,
                                   const int64_t* ids, int64_t num_nodes);
int32_t vicinity_changes_add_named_nodes(VicinityChanges* changes, const char* node_type,
                                         const char* text, const int64_t* ends, int64_t num_nodes);
/* Edges that are new, with all columns of their type. Here and below nodes are global ids. */
int32_t vicinity_changes_add_edges(VicinityChanges* changes, const char* edge_type,
                                   const int64_t* sources, const int64_t* targets,
                                   int64_t num_edges);
/* Nodes and edges whose values in some columns become others. */
int32_t vicinity_changes_update_nodes(VicinityChanges* changes, const char* node_type,
                                      const int64_t* nodes, int64_t num_nodes);
int32_t vicinity_changes_update_edges(VicinityChanges* changes, const char* edge_type,
                                      const int64_t* targets, const int64_t* edge_ids,
                                      int64_t num_edges);
int32_t vicinity_changes_remove_edges(VicinityChanges* changes, const char* edge_type,
                                      const int64_t* targets, const int64_t* edge_ids,
                                      int64_t num_edges);
int32_t vicinity_changes_remove_nodes(VicinityChanges* changes, const char* node_type,
                                      const int64_t* nodes, int64_t num_nodes);

/* Values of a column for the rows of the part that was added last: [rows, *row shape], row-major,
 * of `dtype`, which is the column's own, as vicinity_graph_describe names it. `num_bytes` is that
 * of `values`. VICINITY_INVALID_ARGUMENT where no part was added, or one without columns. */
int32_t vicinity_changes_column(VicinityChanges* changes, const char* name, const char* dtype,
                                const void* values, int64_t num_bytes);
/* ... of a ragged column of nodes, laid out as vicinity_graph_fetch_ragged gives it. `row_ends` has
 * one for each row; `values` and, of sparse columns, `indices`, are as many as the last of them
 * says, `num_bytes` and `num_indices`; of lists `indices` is null. */
int32_t vicinity_changes_ragged(VicinityChanges* changes, const char* name, const char* dtype,
                                const int64_t* row_ends, const int32_t* indices,
                                int64_t num_indices, const void* values, int64_t num_bytes);

/* Sends them to the shards that own them, and returns when all is applied, as durable as the
 * writer's options say, or refused: see `written`. As Writer::Write, also its errors. One that
 * comes after something may have been sent gives `written`, too: what is known of the rows; where
 * there is none, it becomes null. Written again, new edges come twice. Threads: any, of one writer,
 * and of the same changes. */
int32_t vicinity_writer_write(VicinityWriter* writer, const VicinityChanges* changes,
                              VicinityWritten** written);
void vicinity_written_release(VicinityWritten* written); /* its tensors stay; null is fine */

/* Nodes and edges that are applied; of null 0. */
int64_t vicinity_written_num_applied(const VicinityWritten* written);

/* The rows that were refused, in the order they were given: [{"kind": "new_nodes", "part", "row",
 * "code": a VicinityCode, "message"}]. A row that is refused takes no other with it. */
int32_t vicinity_written_refused(const VicinityWritten* written, char** json);

/* In this order each shard takes them. */
typedef enum VicinityChangeKind {
  VICINITY_NEW_NODES = 0,     /* "new_nodes" */
  VICINITY_NEW_EDGES = 1,     /* "new_edges" */
  VICINITY_NODE_VALUES = 2,   /* "node_values": of vicinity_changes_update_nodes */
  VICINITY_EDGE_VALUES = 3,   /* "edge_values" */
  VICINITY_REMOVED_EDGES = 4, /* "removed_edges" */
  VICINITY_REMOVED_NODES = 5  /* "removed_nodes" */
} VicinityChangeKind;

/* What there are tensors of. */
typedef enum VicinityWrittenPart {
  VICINITY_WRITTEN_SHARDS = 0,   /* those that were written, rising; int32 [n] */
  VICINITY_WRITTEN_VERSIONS = 1, /* of each the version that all of it which went there is in; int64
                                    [n] */
  VICINITY_WRITTEN_NODE_IDS = 2, /* index: part of new nodes: their global ids, -1 of those that are
                                    not known to be applied; int64 [rows] */
  VICINITY_WRITTEN_EDGE_IDS = 3, /* index: part of new edges: likewise */
  VICINITY_WRITTEN_UNSURE = 4, /* of a write that failed: rows that may be applied, since no answer
                                  came: kind, part and row of each; int64 [n, 3] */
  VICINITY_WRITTEN_UNSENT = 5  /* likewise: rows that are not applied */
} VicinityWrittenPart;

/* `index` is 0 where the part says nothing of it. Lifetime: as vicinity_batch_tensor's.
 * VICINITY_INVALID_ARGUMENT for no such part or index. */
int32_t vicinity_written_tensor(const VicinityWritten* written, int32_t part, int32_t index,
                                struct DLManagedTensor** tensor);

/* ---- What has been written to a live graph: client/changes.h ----
 *
 *   VicinityChangeLog* log;
 *   VicinityChangeInfo change;
 *   change.struct_size = sizeof(change);
 *   if (vicinity_graph_changes_of(graph, 0, "indexer", 16, &log)) return 1;
 *   for (int64_t i = 0; i < vicinity_change_log_size(log); ++i) {
 *     if (vicinity_change_log_change(log, i, &change)) return 1;
 *     printf("version %lld\n", (long long)change.version);  // work that may be done twice
 *     if (vicinity_graph_acknowledge(graph, 0, "indexer", change.version, change.term)) return 1;
 *   }
 *   vicinity_change_log_release(log);
 *
 * All of them VICINITY_FAILED_PRECONDITION for a graph that is not live. Role `read`. */

/* The shards as they are, with all that was acknowledged before: [{"shard", "version", "term",
 * "num_nodes": [of each node type], "num_edges": [of each edge type]}], those that are gone
 * counted.
 */
int32_t vicinity_graph_shard_states(const VicinityGraph* graph, char** json);

/* What made the versions of a shard behind `after`, in order: `count` of them, from 1 to 65,536, or
 * fewer where it has no more; it does not wait for any. `after_term` is the term of `after`, 0 of
 * version 0: VICINITY_OUT_OF_RANGE if that version was taken back, when the writer was lost; -1:
 * whatever it is. Memory: the batches as they were written, without rows, up to about 1 MiB each.
 */
int32_t vicinity_graph_changes(const VicinityGraph* graph, int32_t shard, int64_t after,
                               int64_t after_term, int64_t count, VicinityChangeLog** log);
/* ... behind what the reader of this name, its cursor, has acknowledged: 1 to 64 bytes, of UTF-8
 * like all names. Every change comes at least once, again if it was not acknowledged. One that is
 * not known begins with the first change. */
int32_t vicinity_graph_changes_of(const VicinityGraph* graph, int32_t shard, const char* cursor,
                                  int64_t count, VicinityChangeLog** log);
/* All up to this version have been dealt with; a lower one than before changes nothing. On the
 * server's disk when it returns. VICINITY_OUT_OF_RANGE: there is no such version;
 * VICINITY_RESOURCE_EXHAUSTED: the shard keeps too many cursors. */
int32_t vicinity_graph_acknowledge(const VicinityGraph* graph, int32_t shard, const char* cursor,
                                   int64_t version, int64_t term);
/* Of all shards: [{"name", "shard", "version", "term", "behind": versions that have come since,
 * "unix_micros": of the acknowledgement, by the server's clock}]. */
int32_t vicinity_graph_cursors(const VicinityGraph* graph, char** json);
/* Forgets it in all shards; fine if there is none. */
int32_t vicinity_graph_drop_cursor(const VicinityGraph* graph, const char* cursor);

void vicinity_change_log_release(VicinityChangeLog* log);       /* its tensors stay; null is fine */
int64_t vicinity_change_log_size(const VicinityChangeLog* log); /* changes; of null 0 */

/* What made one version out of the one before. Set struct_size first. */
typedef struct VicinityChangeInfo {
  size_t struct_size; /* sizeof(VicinityChangeInfo) */
  int32_t shard;
  int32_t num_parts;
  int64_t version;
  int64_t term;        /* of the writer that made it */
  int64_t unix_micros; /* when, by the server's clock */
  const char* session; /* the writer's, any bytes; valid until the log is released */
  int64_t num_session_bytes;
} VicinityChangeInfo;

/* Nodes or edges of one type, changed in one way. */
typedef struct VicinityChangePart {
  size_t struct_size; /* sizeof(VicinityChangePart) */
  int32_t kind;       /* VicinityChangeKind */
  int32_t type;       /* of nodes or edges, as the kind says: its place in the description */
  int64_t count;
  const char* column; /* whose values have changed, else ""; valid until the log is released */
} VicinityChangePart;

/* VICINITY_INVALID_ARGUMENT for no such change or part. */
int32_t vicinity_change_log_change(const VicinityChangeLog* log, int64_t change,
                                   VicinityChangeInfo* info);
int32_t vicinity_change_log_part(const VicinityChangeLog* log, int64_t change, int32_t part,
                                 VicinityChangePart* info);

/* Which, in the order they were written: int64 [count]. */
typedef enum VicinityChangedIds {
  VICINITY_CHANGED_NODES = 0,   /* global ids; of edges where they lead. Of VICINITY_REMOVED_NODES
                                   fewer than count, where nodes are another shard's and this one
                                   lists their keys */
  VICINITY_CHANGED_SOURCES = 1, /* of VICINITY_NEW_EDGES, else none: where they come from */
  VICINITY_CHANGED_EDGE_IDS = 2 /* of edges, else none */
} VicinityChangedIds;

/* Lifetime: as vicinity_batch_tensor's. */
int32_t vicinity_change_log_tensor(const VicinityChangeLog* log, int64_t change, int32_t part,
                                   int32_t ids, struct DLManagedTensor** tensor);

/* ---- Loaders: client/loader.h ---- */

/* {"fanouts": [15, 10, 5]}, hop by hop, or for each hop a list with one number an edge type, and
 * any other of the options of loaders in docs/options.md, as {"batch_size": 512, "cache": "vip",
 * "columns": [{"node_type": "paper", "column": "features"}], "device": {"kind": "host"}}.
 * Waits for servers, which read the seeds and fill the cache. */
int32_t vicinity_loader_create(VicinityGraph* graph, const char* options_json,
                               VicinityLoader** loader);

/* What `values` of VicinitySeeds are: client/types/seed_values.h says what each kind means. */
typedef enum VicinitySeedKind {
  VICINITY_SEEDS_GLOBAL_IDS = 1, /* int64_t[count] */
  VICINITY_SEEDS_USER_IDS = 2,   /* int64_t[count], of a type whose ids are integers */
  VICINITY_SEEDS_USER_NAMES = 3, /* const char*[count], UTF-8, of a type whose ids are strings */
  VICINITY_SEEDS_MASK = 4        /* uint8_t[count], one for every node of the type; 0: no seed */
} VicinitySeedKind;

/* What is a seed in the place of the nodes of "split": nodes of "seed_type" or, with an edge type,
 * links. Of these a batch's seeds are two lists, sources and targets, then those of negatives, and
 * "batch_size" counts links. Set struct_size, and 0 for what is not of use. */
typedef struct VicinitySeeds {
  size_t struct_size; /* sizeof(VicinitySeeds) */
  int32_t kind;       /* a VicinitySeedKind */
  int64_t count;
  /* These are read during the call alone. With an edge type `values` are sources of links, of any
   * kind but a mask, and `targets` are as many like them. */
  const void* values;
  const char* edge_type; /* null: the seeds are nodes */
  const void* targets;
  /* Of each seed, or link, with the option "time_column"; else null. Not of a mask. */
  const int64_t* times;
} VicinitySeeds;

/* As vicinity_loader_create, with seeds that are listed beside the options, for lists are long.
 * VICINITY_NOT_FOUND names user ids that the graph does not have, and where in the list they are;
 * VICINITY_INVALID_ARGUMENT likewise global ids, and says what else is wrong with the list: empty,
 * a mask of another length, ids of another kind. Null seeds: those of "split". */
int32_t vicinity_loader_create_with_seeds(VicinityGraph* graph, const char* options_json,
                                          const VicinitySeeds* seeds, VicinityLoader** loader);

/* Weights that negatives are drawn by, in the place of "weight_column" and "source_weight_column"
 * of "negatives": one for each node of the type, in the order of vicinity_graph_nodes, which for
 * dense ids is that of the ids. Set struct_size, and 0 for what is not of use. */
typedef struct VicinityNegativeWeights {
  size_t struct_size; /* sizeof(VicinityNegativeWeights) */
  /* These are read during the call alone. */
  const double* targets; /* of the links' target type; null: as the options say */
  int64_t num_targets;
  const double* sources; /* of their source type, with "binary"; null: as the options say */
  int64_t num_sources;
} VicinityNegativeWeights;

/* As vicinity_loader_create_with_seeds, with weights, which may be null, too.
 * VICINITY_INVALID_ARGUMENT if they are not as many as the nodes, or all 0, and names the node of
 * one that is negative, infinite or no number. */
int32_t vicinity_loader_create_with_weights(VicinityGraph* graph, const char* options_json,
                                            const VicinitySeeds* seeds,
                                            const VicinityNegativeWeights* weights,
                                            VicinityLoader** loader);

/* A loader of a query's answers: the query, written as for vicinity_query_prepare, has one input,
 * which takes the seeds of a batch, or for links two, of which the first takes their sources.
 * Options as for vicinity_loader_create, without "fanouts" and what else is of minibatches alone
 * (client/query_loader.h); `seeds` as for vicinity_loader_create_with_seeds, or null. All calls of
 * loaders take it. Its batches have an answer (vicinity_batch_answer), numbers, VICINITY_LABELS,
 * VICINITY_INPUT_POSITIONS and VICINITY_QUERY_SEEDS, and nothing else. As QueryLoader::Create. */
int32_t vicinity_loader_create_for_query(VicinityGraph* graph, const char* query_text,
                                         const char* options_json, const VicinitySeeds* seeds,
                                         VicinityLoader** loader);

/* The query of such a loader, as vicinity_query_describe; VICINITY_NOT_FOUND of another loader. */
int32_t vicinity_loader_describe_query(const VicinityLoader* loader, char** json);

/* Its batches stay; null is fine. Not while another thread is in a call of the loader. */
void vicinity_loader_release(VicinityLoader* loader);

int64_t vicinity_loader_num_seeds(const VicinityLoader* loader);       /* of null: 0 */
int64_t vicinity_loader_steps_per_epoch(const VicinityLoader* loader); /* of null: 0 */

/* The steps [first_step, end_step) of an epoch; -1 is the epoch's end. What is left of the epoch
 * before is dropped.
 * Threads: while another thread is in it or in vicinity_loader_next of the same loader,
 *          VICINITY_FAILED_PRECONDITION. */
int32_t vicinity_loader_start_epoch(VicinityLoader* loader, int64_t epoch, int64_t first_step,
                                    int64_t end_step);

/* Goes on with an epoch after `batches_done` of its batches, VicinityBatchInfo's of the last step
 * that all trainers made: as Loader::ResumeEpoch, also on other numbers of trainers. Threads: as
 * vicinity_loader_start_epoch. */
int32_t vicinity_loader_resume_epoch(VicinityLoader* loader, int64_t epoch, int64_t batches_done);

/* The next batch; null at the epoch's end. VICINITY_NOT_READY after wait_ms, which changes nothing:
 * asking again goes on. With -1 it waits as long as Loader::Next does, for batch_timeout_ms; so
 * long it waits in all, too, when it is asked again and again.
 * An error ends the epoch, as that of Loader::Next. Threads: as vicinity_loader_start_epoch. */
int32_t vicinity_loader_next(VicinityLoader* loader, int64_t wait_ms, VicinityBatch** batch);

/* {"stages": [{"stage", "num_threads", "batches", "busy_seconds", "starved_seconds",
 *              "blocked_seconds", "rows"}], "wall_seconds", "nodes", "rows_local", "rows_cached",
 *  "rows_remote", "bytes_remote", "cache_rows", "cache_bytes", "ranked_by", "device_bytes"}, as
 *  LoaderStats. */
int32_t vicinity_loader_stats(const VicinityLoader* loader, char** json);

/* ---- Batches ---- */

/* Set struct_size before the call; a field that the library does not know stays as it is. */
typedef struct VicinityBatchInfo {
  size_t struct_size; /* sizeof(VicinityBatchInfo) */
  int64_t epoch;
  int64_t step;
  int64_t batches_done;   /* of the epoch, by all trainers, after this step: for resume_epoch */
  int32_t num_seed_lists; /* of nodes 1, of links 2, with triplets 3, binary negatives 4 */
  int32_t num_node_types;
  int32_t num_hops;
  int32_t num_blocks;
  int32_t num_columns;
  int32_t num_edge_columns;
  int32_t has_labels;
  int32_t num_ragged;
  int32_t has_answer; /* of a query's loader */
  uint64_t draw; /* likewise: vicinity_query_run gives the same answer for VICINITY_QUERY_SEEDS,
                    the loader's run_seed, this epoch, and this for `batch` */
} VicinityBatchInfo;

/* Some of a batch's seeds. */
typedef struct VicinitySeedListInfo {
  size_t struct_size; /* sizeof(VicinitySeedListInfo) */
  int32_t node_type;  /* position in node_types */
  int64_t count;
} VicinitySeedListInfo;

/* One hop along one edge type: target i is node first_target + i of the target type's list, and
 * sources are positions in the source type's list, all below num_sources. Of a graph with one node
 * and one edge type, sampled with "expansion": "all_nodes", block h is what layer num_hops - 1 - h
 * of a message-flow graph reads: num_sources rows in, num_targets rows out, and those are the first
 * rows of what came in. With "subgraph": "induced" there is one hop, whose targets and sources are
 * all nodes. */
typedef struct VicinityBlockInfo {
  size_t struct_size; /* sizeof(VicinityBlockInfo) */
  int32_t hop;        /* 0 is next to the seeds */
  int32_t edge_type;
  int32_t source_type;
  int32_t target_type;
  int64_t first_target;
  int64_t num_targets;
  int64_t num_sources; /* nodes of the source type that are known after this hop */
  int64_t num_edges;
} VicinityBlockInfo;

/* Rows of one column, for all nodes of its type. */
typedef struct VicinityColumnInfo {
  size_t struct_size; /* sizeof(VicinityColumnInfo) */
  int32_t node_type;
  int32_t device_type; /* a DLDeviceType: 1 host memory, 2 CUDA */
  int32_t device_id;
  const char* name; /* valid until the batch is released */
} VicinityColumnInfo;

/* Rows of one edge column, for the edges of one block. */
typedef struct VicinityEdgeColumnInfo {
  size_t struct_size; /* sizeof(VicinityEdgeColumnInfo) */
  int32_t hop;
  int32_t edge_type;
  const char* name; /* valid until the batch is released */
} VicinityEdgeColumnInfo;

/* Rows of one ragged column, for all nodes of its type. */
typedef struct VicinityRaggedInfo {
  size_t struct_size; /* sizeof(VicinityRaggedInfo) */
  int32_t node_type;
  int64_t num_columns; /* of the sparse matrix that it is; 0: rows are lists */
  const char* name;    /* valid until the batch is released */
} VicinityRaggedInfo;

void vicinity_batch_release(VicinityBatch* batch); /* its tensors stay; null is fine */
/* Of a batch of a query's loader; it may be released before the answer. VICINITY_NOT_FOUND for a
 * minibatch. */
int32_t vicinity_batch_answer(const VicinityBatch* batch, VicinityAnswer** answer);
int32_t vicinity_batch_info(const VicinityBatch* batch, VicinityBatchInfo* info);
/* Of links list 0 are the sources, list 1 the targets; then those of negatives, of triplets their
 * targets, of binary ones their sources and their targets. */
int32_t vicinity_batch_seed_list(const VicinityBatch* batch, int32_t list,
                                 VicinitySeedListInfo* info);
/* Blocks come hop by hop, the seeds' first. */
int32_t vicinity_batch_block(const VicinityBatch* batch, int32_t block, VicinityBlockInfo* info);
int32_t vicinity_batch_column(const VicinityBatch* batch, int32_t column, VicinityColumnInfo* info);
int32_t vicinity_batch_edge_column(const VicinityBatch* batch, int32_t edge_column,
                                   VicinityEdgeColumnInfo* info);
int32_t vicinity_batch_ragged(const VicinityBatch* batch, int32_t ragged, VicinityRaggedInfo* info);

/* What a batch has tensors of, and what `index` counts. */
typedef enum VicinityPart {
  VICINITY_NODES = 0,         /* node type: global ids of its nodes, seeds first; int64 [n] */
  VICINITY_HOP_ENDS = 1,      /* node type: how many nodes were known after each hop, [0] being the
                                 seeds; int64 [num_hops + 1] */
  VICINITY_TREES = 2,         /* node type: with "disjoint", of each node the seed whose tree it is
                                 in, counted through all lists of seeds; int32 [n] */
  VICINITY_SEEDS = 3,         /* list: of each seed its position among the nodes of the list's type;
                                 int32 [count] */
  VICINITY_LABELS = 4,        /* 0: of each seed, -1: none; int64 [batch size] */
  VICINITY_COLUMN = 5,        /* position in "columns", ragged ones left
                                 out: rows of the type's nodes */
  VICINITY_EDGE_COLUMN = 6,   /* edge column: rows of the block's edges */
  VICINITY_BLOCK_OFFSETS = 7, /* block: sources[offsets[i]] .. sources[offsets[i + 1] - 1] are the
                                 neighbours of target i; int64 [num_targets + 1] */
  VICINITY_BLOCK_SOURCES = 8, /* block: int32 [num_edges] */
  VICINITY_BLOCK_TARGETS = 9, /* block: of each edge its i; int32 [num_edges], made by the call */
  VICINITY_BLOCK_EDGE_IDS = 10, /* block: with "edge_ids"; int64 [num_edges] */
  VICINITY_USER_IDS = 11,       /* node type: with "user_ids", the user's ids of its nodes, of types
                                   whose ids are integers; int64 [n] */
  VICINITY_INPUT_POSITIONS = 12, /* 0: of each seed or link, which of the loader's it is, in the
                                   order of the list given (of a mask, among those chosen) or, of a
                                   split, of vicinity_graph_nodes; int64 [batch size]. Not with
                                   "seed_policy": "home" */
  VICINITY_EDGE_INDEX = 13, /* edge type: all its blocks, hop by hop, as pairs of a source and a
                               target, positions among the nodes of their types; int64 [2, num
                               edges], made by the call */
  VICINITY_EDGE_IDS = 14,   /* edge type: likewise their ids, with "edge_ids"; int64 [num edges],
                               made by the call */
  /* position among the ragged columns of "columns": as vicinity_graph_fetch_ragged's, of the type's
   * nodes. Lists have no indices: VICINITY_NOT_FOUND */
  VICINITY_RAGGED_ROW_ENDS = 15,
  VICINITY_RAGGED_INDICES = 16,
  VICINITY_RAGGED_VALUES = 17,
  /* an input, in the order in which they first stand in the query: of a query's loader, the seeds
   * that it took; global ids, int64 [batch size] */
  VICINITY_QUERY_SEEDS = 18
} VicinityPart;

/* A tensor of the batch, without a copy unless the part says so: asked for twice, both are the same
 * memory. Row-major. `bool` columns are uint8, which every consumer of DLPack takes.
 *
 * A column in device memory ("placement": "device") is handed over once: asked for again, it is
 * VICINITY_FAILED_PRECONDITION. `stream` is as in __dlpack__(stream=...), 1 the legacy default
 * stream, 2 the thread's own, -1 none, else a cudaStream_t: what that stream gets after the call
 * finds the rows there, and their memory is used again behind what the stream got until the
 * tensor's deleter ran; the host does not wait. Other tensors are full, and ignore it.
 *
 * Lifetime: until its deleter is called, by its consumer or vicinity_tensor_free, on any thread.
 * VICINITY_INVALID_ARGUMENT for no such part or index, VICINITY_NOT_FOUND for one that the loader
 * was not asked for. */
int32_t vicinity_batch_tensor(const VicinityBatch* batch, int32_t part, int32_t index,
                              int64_t stream, struct DLManagedTensor** tensor);

/* Another tensor of the same memory, which lives until both are gone. Of tensors in host memory
 * that this library gave; for others VICINITY_INVALID_ARGUMENT. */
int32_t vicinity_tensor_share(const struct DLManagedTensor* tensor, struct DLManagedTensor** other);

/* Calls the deleter: for a tensor that no consumer took. Null is fine. */
void vicinity_tensor_free(struct DLManagedTensor* tensor);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* VICINITY_C_API_VICINITY_H_ */
