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
  // Where the graph is and how batches are made: those of the options that have a flag in
  // client/options/options_table.cc, under it. What the task says (task.h) goes on top.
  GraphOptions graph;
  LoaderOptions loader;

  // Who trains, beside loader.trainer and num_trainers.
  std::string rendezvous;               // host:port or file:PATH, where trainers meet
  std::string interface = "127.0.0.1";  // of the gradients' traffic
  double group_timeout_seconds = 120;
  int threads = 0;  // for the model; 0: the trainer's share of the cores but one

  // On what.
  std::string node_type;  // of the seeds; empty: the only one with labels and a split
  std::string seed_list;  // a file of the user's ids, the seeds of training; empty: the split train
  std::string features;   // column; empty: the only candidate
  std::vector<int64_t> fanouts = {15, 10, 5};
  int64_t accumulate = 1;  // batches whose gradients make one step: one trainer with N makes the
                           // steps of N trainers, of the same batches
  uint64_t seed = 0;       // of weights, dropout, shuffling and draws

  // What.
  ModelKind model = ModelKind::kSage;
  double step_ms = 0;  // how long kNone holds a batch, as a model would
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
