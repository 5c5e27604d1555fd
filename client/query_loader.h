// Answers of a query for a training loop: seeds dealt as a Loader deals them, the query run for
// each batch of them, several ahead, the rows of its nodes from the same cache and look-ahead.
//
//   auto query = vicinity::Query::Parse(
//       "src = nodes(paper, $seeds, columns=[features])\n"
//       "near = neighbors(src, cites, 10, columns=[features])\n");
//   if (!query.ok()) return query.error();
//   vicinity::LoaderOptions options;
//   options.batch_size = 512;
//   auto loader = vicinity::QueryLoader::Create(graph, *query, options);
//   if (!loader.ok()) return loader.error();
//   auto started = (*loader)->StartEpoch(0);
//   while (started.ok()) {
//     auto batch = (*loader)->Next();
//     if (!batch.ok()) return batch.error();
//     if (!*batch) break;   // the epoch is over
//     Train(*(*batch)->answer.Find("near"), (*batch)->labels);
//   }
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "client/graph.h"
#include "client/query/query.h"
#include "client/types/graph_values.h"
#include "client/types/loader_values.h"
#include "client/types/result.h"

namespace vicinity {

class LoaderImpl;

struct QueryBatch {
  int64_t epoch = 0;
  int64_t step = 0;          // in the epoch, of this trainer
  int64_t batches_done = 0;  // as MiniBatch::batches_done
  // PreparedQuery::Run gives the same answer for these inputs and this draw, on the same versions
  // of a live graph.
  QueryInputs inputs;  // the batch's seeds
  DrawId draw;
  QueryAnswer answer;
  std::vector<int64_t> input_positions;  // of each seed or link, as MiniBatch::input_positions
  std::vector<int64_t> labels;           // of each seed, as MiniBatch::labels; links have none
};

// A Loader whose batches are answers. The query says what is drawn, and which columns come of which
// nodes. Its inputs take the seeds of a batch:
//   of nodes   it has one input, whatever its name
//   of links   it has two: that which stands first in the query takes the sources, the other the
//              targets (LoaderOptions::batch_size counts links)
//
// Options are those of a Loader that deal seeds to batches and trainers, and that say what is held
// and how far ahead: LoaderOptions::split, seeds, batch_size, shuffle, drop_last, seed_policy,
// trainer, homes, step_offset and their like, run_seed, labels, cache, cache_rows, cache_bytes,
// ranking (`vicinity rank --query` makes those of a query), fetch_ahead, window_bytes,
// sample_ahead, threads, batch_timeout. Those of minibatches alone are refused unless they are as
// by default: sampling, columns, edge_columns, edge_ids, user_ids, negatives, exclude, device
// placement. seed_type may be left out, or is that of the input.
//
// Runs:     sample_threads at a time, so with servers more than one is worth while.
// Rows:     a node's row of a column comes once for all steps and batches in flight, and not at all
//           while it is held. LoaderStats counts of each step's columns a node once, however often
//           it is among the step's nodes; LoaderStats::nodes are those of all steps.
// Memory:   as LoaderOptions say: of window_bytes a batch takes all of its answer, rows included.
//           Rows of edges, and of conditions and orders, come when a batch is sampled, and are not
//           held for others.
// Threads:  Next, WaitForNext and StartEpoch from one thread; stats from any.
// Order:    batches come in step order, and are the same for any number of threads, shards and
//           servers, however far ahead.
// Live:     as a Loader it stays at the versions of when it was made, what its steps draw from
//           included.
// Lifetime: as Loader's; answers outlive it.
class QueryLoader {
 public:
  // As PreparedQuery::Make and Loader::Create. kInvalidArgument for a query whose inputs are more
  // or fewer than the seeds' lists, or take nodes of other types, and for options as told above,
  // naming them.
  static Result<std::unique_ptr<QueryLoader>> Create(const Graph* graph, const Query& query,
                                                     const LoaderOptions& options);
  ~QueryLoader();

  const Query& query() const;
  std::vector<int32_t> node_types() const;  // of the nodes of each step
  int64_t num_seeds() const;                // of this trainer, or links
  int64_t steps_per_epoch() const;  // the same for every trainer; of all its workers together

  // As Loader's.
  Error StartEpoch(int64_t epoch, int64_t first_step = 0, int64_t end_step = -1);
  Error ResumeEpoch(int64_t epoch, int64_t batches_done);

  // The next batch; null at the epoch's end. An error ends the epoch, naming batch and step of the
  // query; StartEpoch may be called again with the step to go on from. Errors as
  // PreparedQuery::Run's; kDeadlineExceeded, naming the stage that holds the batch, after
  // batch_timeout; kFailedPrecondition before the first StartEpoch.
  Result<std::unique_ptr<QueryBatch>> Next();

  bool WaitForNext(std::chrono::milliseconds limit);  // as Loader's
  LoaderStats stats() const;

 private:
  QueryLoader(Query query, std::unique_ptr<LoaderImpl> impl, uint64_t run_seed);
  const Query query_;
  const std::unique_ptr<LoaderImpl> impl_;
  const uint64_t run_seed_;
};

}  // namespace vicinity
