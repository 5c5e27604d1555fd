// One shard of a graph in memory that is changed by the same batches as a live one: what its
// readers must see.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "partition/dataset/shard_reader.h"
#include "partition/overlay/live_base.h"
#include "proto/live.pb.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::testing {

struct ModelNodes {
  std::vector<uint64_t> keys;
  std::vector<std::vector<std::string>> columns;  // by column and row
  std::vector<std::vector<std::string>> ragged;
  std::vector<std::string> names;         // STRING ids only
  std::map<uint64_t, int64_t> directory;  // keys that this shard lists: global ids
};

struct ModelEdge {
  int64_t source;  // a global id
  int64_t edge_id;
  int64_t position;
};

struct ModelEdges {
  std::vector<std::vector<ModelEdge>> lists;      // by the target's row
  std::vector<std::vector<std::string>> columns;  // by column and position
  int64_t num_positions = 0;                      // also of edges that are gone
};

class LiveModel {
 public:
  // Of the shard that `base` names, whose files are the graph's, placed so.
  LiveModel(const MemoryGraph& graph, const Placement& placement, const LiveBase& base);

  void Apply(const LiveBase& base, const proto::WriteBatch& batch);

  const ModelNodes& nodes(int32_t type) const { return nodes_[type]; }
  const ModelEdges& edges(int32_t type) const { return edges_[type]; }
  // What a reader of the shard sees otherwise first, or "".
  std::string Difference(const LiveBase& base, const ShardReader& reader) const;

 private:
  void Add(const LiveBase& base, const proto::NewNodes& part);
  void Add(const LiveBase& base, const proto::NewEdges& part);
  void Change(const LiveBase& base, const proto::EdgeRows& part);
  void Remove(const LiveBase& base, const proto::EdgeNames& part);
  std::string NodeDifference(const LiveBase& base, const ShardReader& reader, int32_t type) const;
  std::string EdgeDifference(const LiveBase& base, const ShardReader& reader, int32_t type) const;

  std::vector<ModelNodes> nodes_;
  std::vector<ModelEdges> edges_;
  std::vector<int64_t> nodes_in_files_;
  std::vector<int64_t> edges_in_files_;
};

}  // namespace vicinity::testing
