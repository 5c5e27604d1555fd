#include "sampler/excluded_edges.h"

#include <catch2/catch.hpp>
#include <vector>

namespace vicinity {
namespace {

TEST_CASE("excluded edges are told by target, of their own type alone", "[excluded_edges]") {
  ExcludedEdges edges;
  CHECK(edges.empty());
  CHECK(edges.Of({0}, {1, 2, 3}).empty());
  edges.Add({2}, 10, 7);
  edges.Add({2}, 11, 7);
  edges.Add({2}, 12, 5);
  CHECK(!edges.empty());
  using Edges = std::vector<ExcludedEdge>;
  CHECK(edges.Of({2}, {5, 6, 7, 7}) == Edges{{0, 12}, {2, 10}, {2, 11}, {3, 10}, {3, 11}});
  CHECK(edges.Of({2}, {6}).empty());
  CHECK(edges.Of({1}, {5, 7}).empty());
  CHECK(edges.Of({3}, {5, 7}).empty());
}

}  // namespace
}  // namespace vicinity
