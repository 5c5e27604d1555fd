// What a loader makes of a batch's seeds before any rows of nodes come: a sampled graph, or the
// answer of a query.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/loading/batch_rows.h"
#include "client/loading/batch_sampler.h"
#include "client/query/query.h"
#include "client/query/query_runner.h"
#include "client/query/step_rows.h"
#include "client/shards/call_context.h"
#include "sampler/minibatch_sampler.h"
#include "sampler/sampled_graph.h"

namespace vicinity {

// One of both.
struct MadeBatch {
  SampledGraph graph;
  std::unique_ptr<QueryAnswer> answer;  // without columns of nodes; null: it is the graph
  QueryInputs inputs;                   // of the answer
  // Of the answer's steps, in their order, that bring columns and have a node twice: the others'
  // are empty.
  std::vector<UniqueNodes> unique;

  // Whose rows columns bring: of a graph by node type, of an answer by step. They last as long as
  // this does, and stays where it is.
  std::vector<NodeList> lists() const;
  // Of all of it, as far as it is filled.
  int64_t num_bytes() const;
  int64_t num_nodes() const;  // of all types, or steps
};

// Threads: one at a time; each thread of the sampling stage has one of its own.
class BatchMaker {
 public:
  virtual ~BatchMaker() = default;

  // Of these seeds. Cancelled soon after the context's Cancel(); other errors name what was asked.
  virtual absl::StatusOr<MadeBatch> Make(absl::Span<const TypedSeeds> seeds,
                                         const MinibatchDraw& draw, const CallContext& context) = 0;
};

class GraphMaker final : public BatchMaker {
 public:
  explicit GraphMaker(std::unique_ptr<BatchSampler> sampler);
  absl::StatusOr<MadeBatch> Make(absl::Span<const TypedSeeds> seeds, const MinibatchDraw& draw,
                                 const CallContext& context) override;

 private:
  const std::unique_ptr<BatchSampler> sampler_;
};

// Gives each list of seeds to the query's input of as many inputs, in their order.
//
// Lifetime: the runner must outlive it.
class AnswerMaker final : public BatchMaker {
 public:
  AnswerMaker(const QueryRunner& runner, std::vector<std::string> inputs);
  absl::StatusOr<MadeBatch> Make(absl::Span<const TypedSeeds> seeds, const MinibatchDraw& draw,
                                 const CallContext& context) override;

 private:
  const QueryRunner& runner_;
  const std::vector<std::string> inputs_;
};

}  // namespace vicinity
