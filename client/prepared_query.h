// A query that is ready to run, any number of times.
//
//   auto query = vicinity::Query::Parse(
//       "src = nodes(paper, $seeds)\n"
//       "near = neighbors(src, cites, 10, columns=[features])\n");
//   if (!query.ok()) return query.error();
//   auto prepared = vicinity::PreparedQuery::Make(graph, *query);
//   if (!prepared.ok()) return prepared.error();
//   auto answer = (*prepared)->Run({{"seeds", {3, 1, 4}}}, vicinity::DrawId{});
//   if (!answer.ok()) return answer.error();
//   std::cout << answer->Find("near")->nodes.size() << " neighbors\n";
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "client/graph.h"
#include "client/query/query.h"
#include "client/types/result.h"

namespace vicinity {

class QueryRunner;

// Threads:  every method may be called from any number of threads at once.
// Lifetime: `graph` must outlive it.
// Errors:   name the step, and what there is.
class PreparedQuery {
 public:
  // Finds what the query names, and reads what nodes are drawn from (8 to 16 bytes a node of the
  // type, and columns that draws go by, or a condition on all nodes names). kInvalidArgument or
  // kNotFound for a query that does not fit the graph.
  static Result<std::unique_ptr<PreparedQuery>> Make(const Graph* graph, const Query& query);
  ~PreparedQuery();

  // The same inputs and draw give the same answer, whatever the shards and servers. Steps run one
  // after the other; each asks a shard once, and once more for the columns of a condition on nodes
  // and for an order (walks, PageRank and subgraphs go in rounds: Explain tells how many); columns
  // of all steps' nodes come at the end. kInvalidArgument for inputs that are not the query's, ids
  // out of range, or more walks than a call may have; kResourceExhausted for a step of more than
  // kMostStepNodes nodes, or edges; else as Graph::Sample and Graph::Fetch.
  Result<QueryAnswer> Run(const QueryInputs& inputs, const DrawId& draw = {}) const;

  // What a run is expected to cost with inputs of these sizes, step by step: nothing is drawn.
  Result<std::vector<StepCost>> Explain(const InputSizes& sizes) const;

  const Query& query() const { return query_; }
  std::vector<int32_t> node_types() const;  // of the nodes of each step

 private:
  PreparedQuery(const Graph* graph, Query query, std::unique_ptr<QueryRunner> runner);

  const Graph* graph_;
  const Query query_;
  const std::unique_ptr<QueryRunner> runner_;
};

}  // namespace vicinity
