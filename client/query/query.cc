#include "client/query/query.h"

#include <utility>

#include "client/query/query_text.h"
#include "client/types/error.h"

namespace vicinity {
namespace {

QueryStep& Add(StepKind kind, std::string name, std::string from, std::string type, int64_t count,
               std::deque<QueryStep>* steps) {
  QueryStep& step = steps->emplace_back();
  step.name = std::move(name);
  step.kind = kind;
  step.from = std::move(from);
  step.type = std::move(type);
  step.count = count;
  return step;
}

}  // namespace

QueryStep& Query::Nodes(std::string name, std::string node_type) {
  return Add(StepKind::kNodes, std::move(name), {}, std::move(node_type), kAllNeighbors, &steps);
}

QueryStep& Query::Neighbors(std::string name, std::string from, std::string edge_type,
                            int64_t count) {
  return Add(StepKind::kNeighbors, std::move(name), std::move(from), std::move(edge_type), count,
             &steps);
}

QueryStep& Query::Negatives(std::string name, std::string from, std::string edge_type,
                            int64_t count) {
  return Add(StepKind::kNegatives, std::move(name), std::move(from), std::move(edge_type), count,
             &steps);
}

QueryStep& Query::Layer(std::string name, std::string from, std::string edge_type, int64_t count) {
  return Add(StepKind::kLayer, std::move(name), std::move(from), std::move(edge_type), count,
             &steps);
}

QueryStep& Query::Walk(std::string name, std::string from, std::vector<std::string> metapath,
                       int64_t length) {
  QueryStep& step =
      Add(StepKind::kWalk, std::move(name), std::move(from), {}, kAllNeighbors, &steps);
  step.metapath = std::move(metapath);
  step.length = length;
  return step;
}

QueryStep& Query::Visited(std::string name, std::string from, std::vector<std::string> metapath,
                          int64_t top) {
  QueryStep& step =
      Add(StepKind::kVisited, std::move(name), std::move(from), {}, kAllNeighbors, &steps);
  step.metapath = std::move(metapath);
  step.top = top;
  return step;
}

QueryStep& Query::Ppr(std::string name, std::string from, std::vector<std::string> edge_types,
                      int64_t top) {
  QueryStep& step =
      Add(StepKind::kPpr, std::move(name), std::move(from), {}, kAllNeighbors, &steps);
  step.edge_types = std::move(edge_types);
  step.top = top;
  return step;
}

QueryStep& Query::Induced(std::string name, std::vector<std::string> among, std::string edge_type) {
  QueryStep& step =
      Add(StepKind::kInduced, std::move(name), {}, std::move(edge_type), kAllNeighbors, &steps);
  step.among = std::move(among);
  return step;
}

Result<Query> Query::Parse(const std::string& text) { return ToResult(ParseQuery(text)); }

std::string Query::Text() const { return QueryText(*this); }

const StepAnswer* QueryAnswer::Find(const std::string& name) const {
  for (const StepAnswer& step : steps) {
    if (step.name == name) return &step;
  }
  return nullptr;
}

}  // namespace vicinity
