#include "client/cli/output/ranking_output.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <vector>

#include "proto/manifest.pb.h"

namespace vicinity::cli {
namespace {

proto::Ranking Mine() {
  proto::Ranking ranking;
  ranking.set_name("mine");
  ranking.set_seeds("train");
  ranking.set_batch_size(7);
  ranking.add_fanouts(5);
  ranking.add_fanouts(-1);
  ranking.set_weighted_by("weight");
  ranking.add_homes()->add_shards(0);
  ranking.add_homes()->add_shards(2);
  return ranking;
}

TEST_CASE("a ranking says in a line what it is of, and how it came about", "[cli]") {
  proto::Ranking ranking = Mine();
  CHECK_THAT(RankingText(ranking),
             Catch::Contains("\"mine\": seeds train, batch 7") && Catch::Contains("fanouts 5,-1") &&
                 Catch::Contains("weighted by weight") && Catch::Contains("2 homes") &&
                 Catch::Contains("by the VIP formula alone"));
  ranking.set_sampled_batches(12);
  CHECK_THAT(RankingText(ranking), Catch::Contains("corrected by 12 sampled batches"));
  ranking.set_seeds("links");
  ranking.set_seed_links("a:b:c");
  ranking.set_negatives_per_link(2);
  CHECK_THAT(RankingText(ranking), Catch::Contains("seeds links a:b:c with 2 negatives each"));
}

TEST_CASE("a ranking says which edges there were to draw, and how", "[cli]") {
  proto::Ranking ranking = Mine();
  ranking.set_where("year >= 2010");
  ranking.set_disjoint(true);
  ranking.set_time_column("year");
  ranking.set_seed_time_column("born");
  ranking.set_time_window(-1);
  CHECK_THAT(RankingText(ranking),
             Catch::Contains(", where year >= 2010, edges not later than their seed (year; seeds: "
                             "born), disjoint trees, 2 homes"));
  nlohmann::ordered_json json = RankingJson(ranking);
  CHECK(json["where"] == "year >= 2010");
  CHECK(json["disjoint"] == true);
  CHECK(json["time_column"] == "year");
  CHECK(json["seed_time_column"] == "born");
  CHECK(json["time_window"] == -1);
  CHECK(json["time_follows"] == "seed");
  CHECK(json["temporal_strategy"] == "uniform");
  CHECK_FALSE(json.contains("draws"));
  ranking.set_latest_edges(true);
  ranking.set_time_window(7);
  ranking.set_time_follows_path(true);
  CHECK_THAT(RankingText(ranking),
             Catch::Contains("the latest edges not later than their path (year; seeds: born), "
                             "within 7 before the seed"));
  json = RankingJson(ranking);
  CHECK(json["temporal_strategy"] == "last");
  CHECK(json["time_follows"] == "path");

  ranking = Mine();
  ranking.set_labor(true);
  ranking.set_batch_dependency(1);
  CHECK_THAT(RankingText(ranking), Catch::Contains(", labor draws, 2 homes"));
  ranking.set_layer_dependency(true);
  ranking.set_batch_dependency(4);
  CHECK_THAT(RankingText(ranking),
             Catch::Contains(", labor draws, alike in all hops, alike in 4 batches, 2 homes"));
  json = RankingJson(ranking);
  CHECK(json["draws"] == "labor");
  CHECK(json["layer_dependency"] == true);
  CHECK(json["batch_dependency"] == 4);
  CHECK_FALSE(json.contains("time_column"));
}

TEST_CASE("a ranking's JSON has raw values", "[cli]") {
  const nlohmann::ordered_json json = RankingJson(Mine());
  CHECK(json["name"] == "mine");
  CHECK(json["fanouts"] == std::vector<int>{5, -1});
  CHECK(json["weighted_by"] == "weight");
  CHECK(json["homes"][1] == std::vector<int>{2});
  CHECK_FALSE(json.contains("seed_links"));
}

TEST_CASE("a ranking for a query's answers has no fanouts, and no formula", "[cli]") {
  proto::Ranking ranking = Mine();
  ranking.clear_fanouts();
  ranking.clear_weighted_by();
  ranking.set_seeds("train as $seeds of: src = nodes(node, $seeds)");
  ranking.set_sampled_batches(12);
  CHECK(RankingText(ranking) ==
        "Ranking \"mine\": seeds train as $seeds of: src = nodes(node, $seeds), batch 7, 2 homes, "
        "counted in 12 sampled batches");
}

}  // namespace
}  // namespace vicinity::cli
