// What a trainer is told on its command line.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "client/types/graph_values.h"
#include "client/types/loader_values.h"

namespace vicinity {

enum class ModelKind : uint8_t {
  kSage,    // GraphSAGE
  kLinear,  // the seeds' features alone
  kNone,    // no model: batches are made and dropped, which measures the data path alone
};

struct TrainOptions {
  // Where the graph is: one of the two.
  std::string cluster_file;
  std::string directory;
  std::vector<int32_t> local_shards;  // read from this machine's files instead of by RPC
  WirePrecision wire_precision = WirePrecision::kStored;  // of float32 features from servers

  // Who trains.
  int trainer = 0;
  int num_trainers = 1;
  std::string rendezvous;               // host:port or file:PATH, where trainers meet
  std::string interface = "127.0.0.1";  // of the gradients' traffic
  double group_timeout_seconds = 120;
  int threads = 0;  // for the model; 0: the trainer's share of the cores but one

  // On what.
  std::string node_type;  // of the seeds; empty: the only one with labels and a split
  std::string features;   // column; empty: the only candidate
  SeedPolicy seeds = SeedPolicy::kGlobal;
  std::vector<std::vector<int32_t>> homes;  // by trainer: its home shards; empty: as DealHomes says
  std::vector<int64_t> fanouts = {15, 10, 5};
  std::string weighted_by;  // the weight column to draw by, in training and evaluation; empty: none
  int64_t batch_size = 1024;  // seeds of one trainer's step
  int64_t accumulate = 1;     // batches whose gradients make one step: one trainer with N makes the
                              // steps of N trainers, of the same batches
  uint64_t seed = 0;          // of weights, dropout, shuffling and draws
  CachePolicy cache = CachePolicy::kAuto;
  int64_t cache_rows = 0;  // one of the two, as in LoaderOptions
  int64_t cache_bytes = int64_t{1} << 30;
  std::string ranking = "default";
  int64_t fetch_ahead = 10;
  int64_t sample_ahead = 512;

  // What.
  ModelKind model = ModelKind::kSage;
  int64_t hidden = 256;
  double dropout = 0.5;
  double learning_rate = 0.003;
  double weight_decay = 0;
  int64_t epochs = 10;

  // And how well. Evaluation draws `eval_fanouts` (empty: as for training), after every
  // `eval_every` epochs and after the last; 0: after the last alone.
  int64_t eval_every = 1;
  std::vector<int64_t> eval_fanouts;
  std::string report;  // a file for JSON lines; empty: none

  int num_layers() const { return static_cast<int>(fanouts.size()); }
};

// Fills `options`. The exit status if the process should end here: 0 after --help, printed on
// `out`; 2 after a mistake, told on `err`. Checks what needs no graph: ranges, and which options go
// together.
std::optional<int> ParseTrainOptions(int argc, const char* const* argv, TrainOptions* options,
                                     std::ostream& out, std::ostream& err);

}  // namespace vicinity
