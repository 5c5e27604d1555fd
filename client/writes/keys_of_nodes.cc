#include "client/writes/keys_of_nodes.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/shards/fan_out.h"
#include "client/shards/keyed_nodes.h"
#include "client/shards/shard_requests.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// What one shard is asked about its nodes.
struct ShardPart {
  std::vector<uint64_t> rows;
  std::vector<int64_t> positions;  // of each, among the nodes
};
using ShardParts = std::map<int32_t, ShardPart>;

class KeyFinder {
 public:
  KeyFinder(const ShardRouter& router, const Book& book, NodeCounts* counts, NodeTypeId type,
            absl::Span<const int64_t> nodes, const CallContext& context)
      : router_(router),
        book_(book),
        counts_(*counts),
        type_(type),
        nodes_(nodes),
        context_(context) {
    found_.keys.resize(nodes.size());
    found_.faults.resize(nodes.size());
  }

  absl::StatusOr<KeysOfNodes> Find() {
    VICINITY_RETURN_IF_ERROR(FetchKeys());
    VICINITY_RETURN_IF_ERROR(CheckAreListed());
    return std::move(found_);
  }

 private:
  void SetFault(size_t i, const char* what) {
    const std::string& name = router_.schema().node_types[type_.value].name;
    found_.faults[i] =
        absl::NotFoundError(absl::StrCat("node ", nodes_[i], " of type \"", name, "\" ", what));
    found_.keys[i] = 0;
  }

  absl::Status FetchKeys() {
    // Who asks for a row that is not there gets none of the others.
    VICINITY_ASSIGN_OR_RETURN(const std::vector<char> there,
                              counts_.AreThere(type_, nodes_, context_));
    ShardParts parts;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (!there[i]) {
        SetFault(i, "is not there");
        continue;
      }
      const Book::Place place = book_.PlaceOf(type_, GlobalNode{nodes_[i]});
      ShardPart& part = parts[place.shard.value];
      part.rows.push_back(static_cast<uint64_t>(place.row.value));
      part.positions.push_back(static_cast<int64_t>(i));
    }
    FanOut calls;
    for (const auto& [shard, part] : parts) {
      ShardRows rows;
      rows.type = type_;
      rows.column = kKeyColumn;
      rows.row_bytes = sizeof(uint64_t);
      rows.rows = part.rows;
      rows.positions = part.positions;
      rows.out = reinterpret_cast<char*>(found_.keys.data());
      router_.shard({shard}).Ask(rows, context_, calls.Add());
    }
    return calls.Wait();
  }

  // A node that is gone has its row still, and another may have its key.
  absl::Status CheckAreListed() {
    VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> listed,
                              ResolveKeys(router_, type_, found_.keys, context_));
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (found_.faults[i].ok() && listed[i] != nodes_[i]) SetFault(i, "has been removed already");
    }
    return absl::OkStatus();
  }

  const ShardRouter& router_;
  const Book& book_;
  NodeCounts& counts_;
  const NodeTypeId type_;
  const absl::Span<const int64_t> nodes_;
  const CallContext context_;
  KeysOfNodes found_;
};

}  // namespace

absl::StatusOr<KeysOfNodes> FindKeysOfNodes(const ShardRouter& router, const Book& book,
                                            NodeCounts* counts, NodeTypeId type,
                                            absl::Span<const int64_t> nodes,
                                            const CallContext& context) {
  return KeyFinder(router, book, counts, type, nodes, context).Find();
}

}  // namespace vicinity
