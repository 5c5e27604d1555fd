#include "tests/testing/graphs/written_history.h"

#include "partition/dataset/book.h"
#include "partition/overlay/live_base.h"
#include "partition/schema/schema.h"
#include "tests/testing/graphs/random_batches.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {

WrittenHistory::WrittenHistory(const MemoryGraph& graph, const Placement& placement,
                               const std::string& data, const std::string& changes, uint64_t seed)
    : live_(graph, placement, data, changes, seed) {
  for (int32_t s = 0; s < num_shards(); ++s) {
    versions_.emplace_back().push_back({live_.model(s), {}});
  }
}

void WrittenHistory::Apply(int32_t shard, const proto::WriteBatch& batch) {
  if (batch.ByteSizeLong() == 0) return;
  VICINITY_REQUIRE_OK(live_.Apply(shard, batch).status());
  versions_[shard].push_back({live_.model(shard), batch});
}

void WrittenHistory::Step() {
  switch (live_.Below(8)) {
    case 0:
    case 1:
      return AddEdgesFromAnywhere();
    case 2:
      return RemoveNode();
    case 3:
      return GoOn();
    case 4:
      return AddAgain();
    default:
      const int32_t shard = AnyShard();
      return Apply(shard, live_.batches(shard).Batch());
  }
}

void WrittenHistory::AddEdgesFromAnywhere() {
  const int32_t shard = AnyShard();
  const std::vector<EdgeTypeSpec>& types = live_.dataset().schema().edge_types;
  const auto type = static_cast<int32_t>(live_.Below(types.size()));
  if (!live_.batches(shard).HasNodes(types[type].target_type)) return;
  proto::WriteBatch batch;
  proto::NewEdges& part = *batch.add_new_edges();
  live_.batches(shard).AddNewEdges(type, 1 + static_cast<int>(live_.Below(4)), &part);
  for (int i = 0; i < part.sources_size(); ++i) {
    const int32_t other = AnyShard();
    const ModelNodes& nodes = live_.model(other).nodes(types[type].source_type);
    if (nodes.keys.empty()) continue;
    // The newest ones rather than any.
    const auto back = static_cast<int64_t>(live_.Below(live_.Below(nodes.keys.size()) + 1));
    part.set_sources(
        i, live_.batches(other).NodeOf(types[type].source_type,
                                       static_cast<int64_t>(nodes.keys.size()) - 1 - back));
  }
  Apply(shard, batch);
}

void WrittenHistory::RemoveNode() {
  const int32_t shard = AnyShard();
  const auto type = static_cast<int32_t>(live_.Below(live_.dataset().schema().node_types.size()));
  if (!live_.batches(shard).HasNodes(type)) return;
  const uint64_t node = live_.batches(shard).Node(type);
  const Book& book = live_.dataset().book();
  const int64_t row = book.RowOf({type}, {static_cast<int64_t>(node)}).value;
  const uint64_t key = live_.model(shard).nodes(type).keys[row];
  const int32_t lists = book.DirectoryShard(key).value;
  if (live_.model(lists).nodes(type).directory.at(key) != static_cast<int64_t>(node)) return;
  proto::WriteBatch of_node;
  of_node.add_gone_nodes()->set_node_type(type);
  of_node.mutable_gone_nodes(0)->add_nodes(node);
  proto::WriteBatch of_key;
  of_key.add_gone_keys()->set_node_type(type);
  of_key.mutable_gone_keys(0)->add_keys(key);
  const bool key_first = live_.Below(2) == 0;
  begun_.emplace_back(key_first ? lists : shard, key_first ? of_key : of_node);
  begun_.emplace_back(key_first ? shard : lists, key_first ? of_node : of_key);
}

void WrittenHistory::GoOn() {
  if (begun_.empty()) return;
  const auto [shard, batch] = begun_.front();
  begun_.pop_front();
  for (const proto::GoneKeys& part : batch.gone_keys()) {
    // Another writer was faster.
    if (live_.model(shard).nodes(part.node_type()).directory.at(part.keys(0)) < 0) return;
  }
  Apply(shard, batch);
}

void WrittenHistory::AddAgain() {
  const int32_t shard = AnyShard();
  const auto type = static_cast<int32_t>(live_.Below(live_.dataset().schema().node_types.size()));
  for (const auto& [key, node] : live_.model(shard).nodes(type).directory) {
    if (node >= 0 || live_.Below(3) > 0) continue;
    proto::WriteBatch batch;
    proto::NewNodes& part = *batch.add_new_nodes();
    live_.batches(shard).AddNewNodes(type, 1, &part);
    part.set_keys(0, key);
    for (int32_t s = 0; s < num_shards() && part.has_names(); ++s) {
      const ModelNodes& nodes = live_.model(s).nodes(type);
      for (size_t row = 0; row < nodes.keys.size(); ++row) {
        if (nodes.keys[row] != key) continue;
        part.mutable_names()->set_rows(nodes.names[row]);
        part.mutable_names()->set_sizes(0, static_cast<uint32_t>(nodes.names[row].size()));
      }
    }
    return Apply(shard, batch);
  }
}

std::vector<uint64_t> WrittenHistory::AnyVersions() {
  std::vector<uint64_t> versions;
  for (int32_t s = 0; s < num_shards(); ++s) versions.push_back(live_.Below(last(s) + 1));
  return versions;
}

bool WrittenHistory::Fits(const std::vector<uint64_t>& versions, int32_t shard) const {
  const Dataset& dataset = live_.dataset();
  for (size_t e = 0; e < dataset.schema().edge_types.size(); ++e) {
    const int32_t source_type = dataset.schema().edge_types[e].source_type;
    const auto type = static_cast<int32_t>(e);
    // Edges that are gone have named their sources, too.
    for (uint64_t v = 1; v <= versions[shard]; ++v) {
      for (const proto::NewEdges& part : at(shard, v).batch.new_edges()) {
        if (part.edge_type() != type) continue;
        for (const uint64_t source : part.sources()) {
          const Book::Place place =
              dataset.book().PlaceOf({source_type}, {static_cast<int64_t>(source)});
          const LiveModel& owner = at(place.shard.value, versions[place.shard.value]).model;
          const auto rows = static_cast<int64_t>(owner.nodes(source_type).keys.size());
          if (place.row.value >= rows) return false;
        }
      }
    }
  }
  return true;
}

std::vector<uint64_t> WrittenHistory::FittingVersions(std::vector<uint64_t> versions) const {
  // A shard that lacks a source of another's edges, with all other shards at their last versions,
  // lacks it in every vector that has those edges.
  for (bool fits = false; !fits;) {
    fits = true;
    for (int32_t shard = 0; shard < num_shards(); ++shard) {
      for (int32_t other = 0; other < num_shards(); ++other) {
        std::vector<uint64_t> others_last;
        for (int32_t s = 0; s < num_shards(); ++s) others_last.push_back(last(s));
        others_last[shard] = versions[shard];
        others_last[other] = versions[other];
        if (Fits(others_last, shard)) continue;
        ++versions[other];
        fits = false;
      }
    }
  }
  return versions;
}

}  // namespace vicinity::testing
