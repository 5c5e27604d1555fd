#include "client/options/options_table.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace vicinity {
namespace {

std::vector<Option> OptionsOf(CredentialOptions* o) {
  return {
      {"ca", FilePath{&o->ca},
       "PEM file of whom to believe that a server is who it says, which means TLS; empty: "
       "VICINITY_TLS_CA, or what the cluster file says"},
      {"certificate", FilePath{&o->certificate},
       "PEM file of our own certificate, which may hold its private key; empty: "
       "VICINITY_TLS_CERTIFICATE"},
      {"key", FilePath{&o->key},
       "PEM file of the private key where it has one of its own; empty: VICINITY_TLS_KEY"},
      {"token_file", FilePath{&o->token_file},
       "File of a token that is shown to servers; empty: VICINITY_TOKEN_FILE, or the token itself "
       "in VICINITY_TOKEN"},
      {"allow_plaintext", &o->allow_plaintext, "Dial addresses beyond loopback without TLS"},
  };
}

std::vector<Option> OptionsOf(MetricsOptions* o) {
  return {
      {"file", FilePath{&o->file},
       "File for Prometheus' node_exporter, *.prom, and for `vicinity why`: written anew every "
       "interval_ms and when a loader ends, by rename; empty: none"},
      {"interval_ms", &o->interval, "How often the file is written", Least{1}},
      {"listen", &o->listen,
       "host:port where http://host:port/metrics shows the same; port 0: one that is free; empty: "
       "nowhere"},
      {"open", &o->open, "Listen beyond loopback, where anybody may read it, without TLS"},
      {"trainer", &o->trainer,
       "Value of a label trainer of every series, which tells trainers apart: few values over all "
       "runs, as 0 and 1; empty: no label"},
  };
}

std::vector<Option> OptionsOf(DeviceOptions* o) {
  return {
      {"kind", Choice(&o->kind), "A GPU, or its twin in host memory, which tests use"},
      {"ordinal", &o->ordinal, "Which of the devices of its kind"},
      {"home_bytes", Bytes{&o->home_bytes},
       "How much of the mapped shards' rows lies on the device, the likeliest first", Least{0}},
      {"pin_home", &o->pin_home,
       "Read the rest of them over the device's link, from a pinned copy in host memory"},
      {"batches", &o->batches,
       "Tensors for each column: a trainer that keeps those of earlier batches needs more",
       Least{1}},
      {"staging_bytes", Bytes{&o->staging_bytes}, "Pinned memory that rows travel through",
       Least{1}},
  };
}

std::vector<Option> OptionsOf(NegativeOptions* o) {
  return {
      {"mode", Choice(&o->mode),
       "binary: pairs of their own; triplet: further targets for the source of every link"},
      {"amount", &o->amount, "How many a link, above 0; of triplets a whole number"},
      {"exact", &o->exact, "No negative is an edge of the graph"},
      {"degree_power", &o->degree_power,
       "A target's chance goes by its in-degree to this power; 0: all alike"},
      {"weight_column", &o->weight_column,
       "Without degree_power: a target's chance goes by this column of numbers, 0 or more"},
      {"source_weight_column", &o->source_weight_column,
       "Of binary: a source's chance goes by this column; empty: all alike"},
      {"same", &o->same,
       "Of triplet: shares of a link's negatives that have the value of its own target in a "
       "column, "
       "topic=0.5, language=0.25"},
      {"shared", &o->shared,
       "Of triplet: all links of a batch have the same negatives, but those that are their edges"},
      {"in_batch", &o->in_batch,
       "Of triplet: negatives are targets of the batch's links, no further nodes"},
  };
}

std::vector<Option> OptionsOf(WalkSpec* o) {
  return {
      {"weighted_by", &o->weighted_by,
       "Steps along edge types with this weight column are drawn by it, others uniformly; edges of "
       "weight 0 are never taken"},
      {"restart_prob", &o->restart_prob, "Chance with which a walk ends, before each of its steps"},
      {"p", &o->p,
       "node2vec: one over it is the factor of edges back to where a walk came from. 1/64 to 64; "
       "other than 1 for walks of one edge type between nodes of one type"},
      {"q", &o->q,
       "node2vec: one over it is the factor of edges to nodes that no step from there leads to"},
  };
}

std::vector<Option> OptionsOf(DrawId* o) {
  return {
      {"run_seed", &o->run_seed,
       "Of draws, with the two that follow: the same numbers, the same sample"},
      {"epoch", &o->epoch, "Of draws"},
      {"step", &o->batch, "Of draws"},
  };
}

void Append(std::vector<Option> more, std::vector<Option>* options) {
  std::move(more.begin(), more.end(), std::back_inserter(*options));
}

std::vector<Option> SamplingOptions(SamplingSpec* o) {
  return {
      {"fanouts", Fanouts{&o->fanouts},
       "Neighbours to draw, hop by hop from the seeds: -1 all, 0 none along this edge type; "
       "needed; [] with an induced subgraph: of the seeds alone"},
      {"replace", &o->replace, "Draw with replacement"},
      {"disjoint", &o->disjoint, "Give every seed a tree of its own"},
      {"weighted_by", &o->weighted_by,
       "Weight column to draw by, of the edge types that have it; empty: draw uniformly",
       Flag{"--weighted-by"}},
      {"time_column", &o->time_column,
       "Edge column of int64: a seed's tree has only edges that are not later than the seed's "
       "time; "
       "needs disjoint, and times of seeds; empty: at any time"},
      {"temporal_strategy", Choice(&o->temporal_strategy),
       "With time_column: such edges by chance, or the latest of them"},
      {"time_window", &o->time_window,
       "With time_column: only edges from so long before the seed's time on, in the column's unit; "
       "-1: however early",
       Least{-1}},
      {"time_follows", Choice(&o->time_follows),
       "With time_column: edges are not later than the seed's time at every hop, or, path, than "
       "the "
       "edge that led to their target, so that times never rise on the way from a seed"},
      {"where", &o->where,
       "Condition on edge columns: year >= 2010 and not kind in (3, 4); edge types that have all "
       "of them are sampled as if they had only edges that meet it; empty: all",
       Flag{"--where"}},
      {"draws", Choice(&o->draws),
       "Each target draws for itself; or, labor, all of a hop choose the same sources where they "
       "can, "
       "so that batches have fewer nodes: the same chances for each target, not with replace",
       Flag{"--draws"}},
      {"layer_dependency", &o->layer_dependency,
       "With draws labor: all hops of a batch choose alike", Flag{"--layer-dependency"}},
      {"batch_dependency", &o->batch_dependency,
       "With draws labor: so many batches in a row, of all trainers, choose alike",
       Flag{"--batch-dependency"}, Least{1}},
      {"expansion", Choice(&o->expansion),
       "Which nodes a hop expands: all met so far, or those that the previous hop met first"},
      {"subgraph", Choice(&o->subgraph),
       "Which edges there are: those that were drawn; or, induced, all between the nodes met, in "
       "one "
       "hop"},
  };
}

std::vector<Option> SeedOptions(LoaderOptions* o) {
  return {
      {"seed_type", &o->seed_type, "Node type of the seeds; empty: the only one that has a split"},
      {"split", Choice(&o->split), "Which of its nodes are seeds; \"\": all"},
      {"batch_size", &o->batch_size, "Seeds of a batch", Flag{"--batch-size"}, Least{1}},
      {"shuffle", &o->shuffle, "Another order in every epoch"},
      {"drop_last", &o->drop_last,
       "Leave out of each epoch what is not a full batch for every trainer", Flag{"--drop-last"}},
      {"seed_policy", Choice(&o->seed_policy),
       "Seeds of a trainer: global, dealt from all, or home, those of its home shards",
       Flag{"--seed-policy"}},
      {"trainer", &o->trainer, "Number of this trainer, from 0", Flag{"--trainer"}, Least{0}},
      {"num_trainers", &o->num_trainers, "How many trainers there are", Flag{"--trainers"},
       Least{1}},
      {"homes", &o->homes,
       "Home shards of each trainer; empty: shard s is near trainer s % num_trainers",
       Flag{"--homes"}},
      {"step_offset", &o->step_offset,
       "Of a trainer's steps make only this one, from 0, and every step_stride-th behind it",
       Least{0}},
      {"step_stride", &o->step_stride,
       "How many workers share a trainer's steps; each has its step_offset", Least{1}},
      {"run_seed", &o->run_seed, "Of shuffling and draws: the same number, the same batches"},
  };
}

// Of loaders and of samples.
template <typename Options>
std::vector<Option> ColumnOptions(Options* o) {
  return {
      {"columns", &o->columns, "Columns to bring for every node of a batch"},
      {"edge_ids", &o->edge_ids, "Bring the ids of sampled edges"},
      {"edge_columns", &o->edge_columns, "Columns to bring for every sampled edge"},
  };
}

std::vector<Option> CacheOptions(LoaderOptions* o) {
  return {
      {"cache", Choice(&o->cache),
       "Remote rows to keep: none; vip, the likeliest by a stored ranking; or auto, those that "
       "batches sampled ahead need soonest, then the likeliest",
       Flag{"--cache"}},
      {"cache_rows", &o->cache_rows,
       "How many rows it holds, those of batches in flight included; 0: cache_bytes counts",
       Flag{"--cache-rows"}, Least{0}},
      {"cache_bytes", Bytes{&o->cache_bytes},
       "How much it holds, rows of batches in flight included", Flag{"--cache-bytes"}, Least{0}},
      {"ragged_cache_bytes", Bytes{&o->ragged_cache_bytes},
       "How much is kept of rows of ragged columns, those used last; with cache none, nothing",
       Least{0}},
      {"ranking", &o->ranking, "With a cache: which stored ranking", Flag{"--ranking"}},
  };
}

std::vector<Option> AheadOptions(LoaderOptions* o) {
  return {
      {"fetch_ahead", &o->fetch_ahead, "Batches whose rows are fetched before they are trained on",
       Flag{"--fetch-ahead"}, Least{0}},
      {"window_bytes", Bytes{&o->window_bytes}, "What these hold at most", Least{0}},
      {"sample_ahead", &o->sample_ahead,
       "With cache auto: batches more that are sampled before that", Flag{"--sample-ahead"},
       Least{0}},
      {"expected_rows", &o->expected_rows,
       "Remote rows that a batch is expected to fetch, as `vicinity plan` tells: shown in the "
       "metrics beside what it does; 0: not known"},
      {"sample_threads", &o->sample_threads, "Threads that sample", Least{1}},
      {"fetch_threads", &o->fetch_threads,
       "Threads that fetch, each the rows of one batch: several keep a link full", Least{1}},
      {"batch_timeout_ms", &o->batch_timeout, "How long the next batch is waited for", Least{1}},
  };
}

}  // namespace

Option::Option(std::string its_name, OptionField its_field, std::string its_doc, Flag its_flag,
               Least its_least)
    : name(std::move(its_name)),
      field(std::move(its_field)),
      doc(std::move(its_doc)),
      flag(std::move(its_flag.name)),
      least(its_least.value) {}

Option::Option(std::string its_name, OptionField its_field, std::string its_doc, Least its_least)
    : Option(std::move(its_name), std::move(its_field), std::move(its_doc), Flag(), its_least) {}

size_t Choice::Get() const {
  return std::find(values_.begin(), values_.end(), *value_) - values_.begin();
}

std::vector<Option> OptionsOf(GraphOptions* o) {
  return {
      {"cluster_file", FilePath{&o->cluster_file}, "Cluster file: the graph is behind its servers",
       Flag{"--cluster"}},
      {"directory", FilePath{&o->directory}, "Dataset directory on this machine: no servers",
       Flag{"--graph"}},
      {"local_shards", &o->local_shards,
       "With cluster_file: shards to read from this machine's files instead of by RPC",
       Flag{"--local-shards"}},
      {"connect_timeout_ms", &o->connect_timeout, "To every server, its first answer included",
       Least{1}},
      {"call_timeout_ms", &o->call_timeout, "Of one RPC", Least{1}},
      {"call_budget_ms", &o->call_budget,
       "Of one call to a shard with all its retries, on whichever replicas; at least "
       "call_timeout_ms",
       Least{1}},
      {"hedge", &o->hedge, "Ask a second replica when the first takes long"},
      {"channels_per_server", &o->channels_per_server,
       "Connections to each server, and half of those of its bulk channel; of several the first is "
       "left to short answers, which then never wait behind long ones",
       Least{1}},
      {"async_threads", &o->async_threads,
       "Of asynchronous calls, which C++ and Python have: how many are made at a time", Least{1}},
      {"max_async_calls", &o->max_async_calls,
       "Of asynchronous calls: how many are in flight, those in line included; one more is refused",
       Least{1}},
      {"client_name", &o->client_name, "For the servers' logs; empty: host and process id"},
      {"trace_share", &o->trace_share,
       "Of the batches of loaders, the share that is traced through all servers, from 0 to 1",
       Flag{"--trace-share"}},
      {"trace_endpoint", &o->trace_endpoint,
       "Where traces are sent (OTLP over HTTP), as http://localhost:4318; empty: what "
       "OTEL_EXPORTER_OTLP_ENDPOINT says, or nowhere",
       Flag{"--trace-endpoint"}},
      {"trace_file", FilePath{&o->trace_file}, "File that traces are appended to, as OTLP's JSON",
       Flag{"--trace-file"}},
      {"wire_precision", Choice(&o->wire_precision),
       "What float32 columns are on their way from servers; they come out as float32 again",
       Flag{"--wire-precision"}},
      {"transport", Choice(&o->transport),
       "How rows and neighbours come from servers: by their bulk channel where they have one, by "
       "gRPC, or by the bulk channel alone",
       Flag{"--transport"}},
      {"credentials", OptionGroup{OptionsOf(&o->credentials)},
       "Whom to believe, and what to show to servers"},
      {"metrics", OptionGroup{OptionsOf(&o->metrics)},
       "Where what the graph and its loaders count is shown, for Prometheus and `vicinity why`"},
  };
}

std::vector<Option> OptionsOf(LoaderOptions* o) {
  std::vector<Option> options = SamplingOptions(&o->sampling);
  Append(SeedOptions(o), &options);
  options.push_back(
      {"exclude", Choice(&o->exclude),
       "Of links: none; self, no neighbourhood has an edge that joins a link of the batch; or "
       "reverse, nor one that leads back"});
  options.push_back(
      {"reverse_edge_type", &o->reverse_edge_type,
       "With exclude reverse: the type of edges that lead back; empty: of links within "
       "one node type their own, of others the only one there is"});
  options.push_back({"negatives", OptionGroup{OptionsOf(&o->negatives)},
                     "Of links: pairs of nodes that no edge joins, beside those of a batch"});
  options.push_back(
      {"labels", &o->labels, "Bring the seeds' labels where their type has a label column"});
  options.push_back({"user_ids", &o->user_ids,
                     "Bring the user's ids of all nodes, of types whose ids are integers"});
  Append(ColumnOptions(o), &options);
  Append(CacheOptions(o), &options);
  Append(AheadOptions(o), &options);
  Append(
      {{"placement", Choice(&o->placement), "Where the rows of columns are when a batch is there"},
       {"device", OptionGroup{OptionsOf(&o->device)}, "With placement device: which, and how"}},
      &options);
  return options;
}

std::vector<Option> OptionsOf(SampleOptions* o) {
  std::vector<Option> options = SamplingOptions(&o->sampling);
  for (Option& option : options) option.flag.clear();  // those of loaders
  Append(OptionsOf(&o->draw), &options);
  Append(ColumnOptions(o), &options);
  return options;
}

std::vector<Option> OptionsOf(WalkOptions* o) {
  std::vector<Option> options = OptionsOf(&o->walk);
  Append(OptionsOf(&o->draw), &options);
  return options;
}

std::vector<Option> OptionsOf(VisitOptions* o) {
  std::vector<Option> options = {
      {"node_type", &o->node_type, "Nodes of this type count; empty: of the type of the starts"},
      {"exclude_start", &o->visits.exclude_start,
       "Leave out a start among its own nodes; else walks that come back to it count"},
  };
  Append(OptionsOf(&o->visits.walk), &options);
  Append(OptionsOf(&o->draw), &options);
  return options;
}

std::vector<Option> OptionsOf(PprOptions* o) {
  std::vector<Option> options = {
      {"node_type", &o->node_type, "Nodes of this type come back; empty: of the type of the seeds"},
      {"weighted_by", &o->ppr.weighted_by,
       "Edges of types with this weight column count as their weights, others as 1; those of "
       "weight "
       "0 are never taken"},
      {"alpha", &o->ppr.alpha,
       "Chance with which a walker stops, before each step; above 0, below 1"},
      {"eps", &o->ppr.eps,
       "A node's residual is pushed on when it is at least this times its in-degree; above 0, at "
       "most 1, and times alpha at least 1e-7"},
      {"max_neighbors", &o->ppr.max_neighbors,
       "Of a longer list of an edge type so many edges are drawn, once and for all; -1: lists are "
       "whole"},
  };
  Append(OptionsOf(&o->draw), &options);
  return options;
}

std::vector<Option> OptionsOf(WriterOptions* o) {
  return {
      {"durability", Choice(&o->durability),
       "What a write survives once it has returned: sync, a power cut of the servers; buffered, "
       "the end of their processes; replicated, the loss of fewer than half of a shard's servers"},
      {"give_up_after_ms", &o->give_up_after,
       "How long a batch of changes is sent again and again until a server answers it", Least{0}},
  };
}

}  // namespace vicinity
