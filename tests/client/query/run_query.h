// Queries of small graphs, with answers that do not depend on the cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/query/query.h"
#include "client/query/query_runner.h"
#include "proto/common/ids.h"
#include "sampler/minibatch_sampler.h"
#include "tests/client/routed_graph.h"

namespace vicinity::testing {

// Ends the test case if the text is no query of the graph.
std::unique_ptr<QueryRunner> Make(const RoutedGraph& graph, const std::string& text);

// Positions in the user's order, by which no cut shows, as global ids, and back; -1 stays.
std::vector<int64_t> ToGlobal(const RoutedGraph& graph, NodeTypeId type,
                              const std::vector<int64_t>& positions);
std::vector<int64_t> ToPositions(const RoutedGraph& graph, NodeTypeId type,
                                 const std::vector<int64_t>& nodes);

MinibatchDraw Draw(uint64_t batch);

// An answer with positions in the place of all global ids; every input has `seeds`, positions. Ends
// the test case if the query fails.
QueryAnswer Run(const RoutedGraph& graph, const QueryRunner& runner,
                const std::vector<int64_t>& seeds, uint64_t batch = 0);
QueryAnswer Run(const RoutedGraph& graph, const std::string& text,
                const std::vector<int64_t>& seeds, uint64_t batch = 0);

// Puts positions in the place of all global ids.
void ToPositions(const RoutedGraph& graph, const QueryRunner& runner, QueryAnswer* answer);

// All of an answer, to the last byte.
std::string Describe(const QueryAnswer& answer);

std::vector<int64_t> ListOf(const StepAnswer& step, size_t i);

}  // namespace vicinity::testing
