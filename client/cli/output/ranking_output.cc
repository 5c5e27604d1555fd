#include "client/cli/output/ranking_output.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/manifest.pb.h"

namespace vicinity::cli {
namespace {

// "train"; "links node:link:node with 2 negatives each".
std::string SeedsText(const proto::Ranking& ranking) {
  if (ranking.seed_links().empty()) return ranking.seeds();
  return absl::StrCat(
      "links ", ranking.seed_links(),
      ranking.negatives_per_link() == 0
          ? ""
          : absl::StrCat(" with ", ranking.negatives_per_link(), " negatives each"));
}

// ", where year >= 2010, edges not later than their seed (time; seeds: joined), disjoint trees".
std::string EdgesText(const proto::Ranking& ranking) {
  std::string text;
  if (!ranking.where().empty()) absl::StrAppend(&text, ", where ", ranking.where());
  if (!ranking.time_column().empty()) {
    absl::StrAppend(&text, ranking.latest_edges() ? ", the latest edges" : ", edges",
                    " not later than their ", ranking.time_follows_path() ? "path" : "seed", " (",
                    ranking.time_column(), "; seeds: ", ranking.seed_time_column(), ")");
    if (ranking.time_window() >= 0) {
      absl::StrAppend(&text, ", within ", ranking.time_window(), " before the seed");
    }
  }
  if (ranking.disjoint()) absl::StrAppend(&text, ", disjoint trees");
  return text;
}

// ", labor draws, alike in all hops, alike in 4 batches".
std::string DrawsText(const proto::Ranking& ranking) {
  if (!ranking.labor()) return "";
  return absl::StrCat(", labor draws", ranking.layer_dependency() ? ", alike in all hops" : "",
                      ranking.batch_dependency() > 1
                          ? absl::StrCat(", alike in ", ranking.batch_dependency(), " batches")
                          : "");
}

// A ranking for a query's answers has no fanouts (client/planning/home_plan.h).
std::string FanoutsText(const proto::Ranking& ranking) {
  if (ranking.fanouts().empty()) return "";
  return absl::StrCat(", fanouts ", absl::StrJoin(ranking.fanouts(), ","));
}

// ", corrected by 32 sampled batches".
std::string SourceText(const proto::Ranking& ranking) {
  if (ranking.sampled_batches() == 0) return ", by the VIP formula alone";
  return absl::StrCat(ranking.fanouts().empty() ? ", counted in " : ", corrected by ",
                      ranking.sampled_batches(), " sampled batches");
}

}  // namespace

std::string RankingText(const proto::Ranking& ranking) {
  return absl::StrCat(
      "Ranking \"", ranking.name(), "\": seeds ", SeedsText(ranking), ", batch ",
      ranking.batch_size(), FanoutsText(ranking), ranking.replace() ? ", with replacement" : "",
      ranking.weighted_by().empty() ? "" : absl::StrCat(", weighted by ", ranking.weighted_by()),
      EdgesText(ranking), DrawsText(ranking), ranking.new_nodes_only() ? ", new nodes only" : "",
      ", ", ranking.homes_size(), ranking.homes_size() == 1 ? " home" : " homes",
      SourceText(ranking));
}

nlohmann::ordered_json RankingJson(const proto::Ranking& ranking) {
  nlohmann::ordered_json json;
  json["name"] = ranking.name();
  json["seeds"] = ranking.seeds();
  if (!ranking.seed_links().empty()) {
    json["seed_links"] = ranking.seed_links();
    json["negatives_per_link"] = ranking.negatives_per_link();
    json["negative_type"] = ranking.negative_type();
  }
  json["batch_size"] = ranking.batch_size();
  json["fanouts"] = std::vector<int64_t>(ranking.fanouts().begin(), ranking.fanouts().end());
  json["replace"] = ranking.replace();
  if (!ranking.weighted_by().empty()) json["weighted_by"] = ranking.weighted_by();
  json["new_nodes_only"] = ranking.new_nodes_only();
  if (!ranking.where().empty()) json["where"] = ranking.where();
  if (!ranking.time_column().empty()) {
    json["time_column"] = ranking.time_column();
    json["seed_time_column"] = ranking.seed_time_column();
    json["time_window"] = ranking.time_window();
    json["time_follows"] = ranking.time_follows_path() ? "path" : "seed";
    json["temporal_strategy"] = ranking.latest_edges() ? "last" : "uniform";
  }
  if (ranking.disjoint()) json["disjoint"] = true;
  if (ranking.labor()) {
    json["draws"] = "labor";
    json["layer_dependency"] = ranking.layer_dependency();
    json["batch_dependency"] = ranking.batch_dependency();
  }
  json["sampled_batches"] = ranking.sampled_batches();
  json["homes"] = nlohmann::ordered_json::array();
  for (const proto::Ranking::Home& home : ranking.homes()) {
    json["homes"].push_back(std::vector<int32_t>(home.shards().begin(), home.shards().end()));
  }
  return json;
}

}  // namespace vicinity::cli
