#include "client/loading/ranked_draws.h"

#include <catch2/catch.hpp>

#include "partition/schema/sampling_spec.h"

namespace vicinity {
namespace {

TEST_CASE("specs that draw alike are not apart, whatever their edges", "[loading]") {
  SamplingSpec a, b;
  CHECK(DrawsApart(a, b).empty());
  b.fanouts = {{3}, {2}};
  CHECK(DrawsApart(a, b).empty());  // a does not say
  a.fanouts = {{3, 3}, {2, 2}};     // of two edge types
  b.subgraph = Subgraph::kInduced;  // of the same nodes
  CHECK(DrawsApart(a, b).empty());
  for (SamplingSpec* const spec : {&a, &b}) {
    spec->where = "year >= 2010";
    spec->disjoint = true;
    spec->time_column = "year";
  }
  CHECK(DrawsApart(a, b).empty());
}

TEST_CASE("every rule by which they draw otherwise is told", "[loading]") {
  SamplingSpec drawn;
  const auto apart = [&] { return DrawsApart(SamplingSpec(), drawn); };
  SECTION("fanouts") {
    SamplingSpec ranked;
    ranked.fanouts = {{15}, {10}, {-1}};
    drawn.fanouts = {{15, 15}, {10, 0}};
    drawn.replace = true;
    CHECK(DrawsApart(ranked, drawn) ==
          "fanouts [15,10,-1], here [15,[10,0]]; replace no, here yes");
  }
  SECTION("replace") {
    drawn.replace = true;
    CHECK(apart() == "replace no, here yes");
  }
  SECTION("expansion") {
    drawn.expansion = Expansion::kNewNodes;
    CHECK(apart() == "expansion all, here new");
  }
  SECTION("weights") {
    drawn.weighted_by = "weight";
    CHECK(apart() == "weighted_by \"\", here \"weight\"");
  }
  SECTION("conditions and times") {
    drawn.where = "year >= 2010";
    drawn.disjoint = true;
    drawn.time_column = "year";
    CHECK(apart() ==
          "where \"\", here \"year >= 2010\"; disjoint no, here yes; time_column \"\", here "
          "\"year\"");
  }
  SECTION("which times") {
    drawn.temporal_strategy = TemporalStrategy::kLast;
    drawn.time_window = 3;
    drawn.time_follows = TimeFollows::kPath;
    CHECK(apart() ==
          "temporal_strategy uniform, here last; time_window -1, here 3; "
          "time_follows seed, here path");
  }
  SECTION("LABOR") {
    drawn.draws = Draws::kLabor;
    drawn.layer_dependency = true;
    drawn.batch_dependency = 4;
    CHECK(apart() ==
          "draws independent, here labor; layer_dependency no, here yes; "
          "batch_dependency 1, here 4");
  }
}

}  // namespace
}  // namespace vicinity
