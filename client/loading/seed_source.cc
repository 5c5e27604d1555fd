#include "client/loading/seed_source.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/loading/seed_list.h"
#include "client/shards/lookups.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

std::string TypeNames(const Schema& schema) {
  std::string names;
  for (const NodeTypeSpec& type : schema.node_types) absl::StrAppend(&names, " ", type.name);
  return names;
}

class SplitSeeds final : public SeedSource {
 public:
  SplitSeeds(const ShardRouter& router, NodeTypeId type, Split split)
      : router_(router), type_(type), split_(split) {}

  NodeTypeId type() const override { return type_; }
  absl::StatusOr<std::vector<int64_t>> Seeds(absl::Span<const int32_t> shards) const override {
    return NodesOfSplit(router_, type_, split_, shards);
  }

 private:
  const ShardRouter& router_;
  const NodeTypeId type_;
  const Split split_;
};

class ListedSeeds final : public SeedSource {
 public:
  ListedSeeds(const ShardRouter& router, NodeTypeId type, std::vector<int64_t> nodes)
      : router_(router), type_(type), nodes_(std::move(nodes)) {}

  NodeTypeId type() const override { return type_; }
  absl::StatusOr<std::vector<int64_t>> Seeds(absl::Span<const int32_t> shards) const override {
    if (shards.empty()) return nodes_;
    std::vector<int64_t> owned;
    for (const int64_t node : nodes_) {
      const int32_t owner = router_.book().OwnerOf(type_, GlobalNode{node}).value;
      if (std::find(shards.begin(), shards.end(), owner) != shards.end()) owned.push_back(node);
    }
    return owned;
  }

 private:
  const ShardRouter& router_;
  const NodeTypeId type_;
  const std::vector<int64_t> nodes_;
};

}  // namespace

absl::StatusOr<NodeTypeId> FindNodeType(const Schema& schema, const std::string& name) {
  const int type = schema.FindNodeType(name);
  if (type >= 0) return NodeTypeId{type};
  return absl::NotFoundError(
      absl::StrCat("no node type ", name, "; there are:", TypeNames(schema)));
}

absl::StatusOr<NodeTypeId> FindSeedType(const Schema& schema, const std::string& name) {
  if (!name.empty()) return FindNodeType(schema, name);
  std::vector<int32_t> possible;
  for (size_t type = 0; type < schema.node_types.size(); ++type) {
    if (!schema.node_types[type].split_column.empty()) {
      possible.push_back(static_cast<int32_t>(type));
    }
  }
  if (possible.empty() && schema.node_types.size() == 1) possible.push_back(0);
  if (possible.size() == 1) return NodeTypeId{possible.front()};
  return absl::InvalidArgumentError(
      absl::StrCat("which node type the seeds are of must be said: ", possible.size(),
                   " types have splits, of:", TypeNames(schema)));
}

absl::StatusOr<std::unique_ptr<SeedSource>> MakeSeedSource(const ShardRouter& router,
                                                           const LoaderOptions& options) {
  VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type,
                            FindSeedType(router.schema(), options.seed_type));
  if (std::holds_alternative<std::monostate>(options.seeds)) {
    return std::make_unique<SplitSeeds>(router, type, options.split);
  }
  VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> nodes, ListedNodes(router, type, options.seeds));
  return std::make_unique<ListedSeeds>(router, type, std::move(nodes));
}

}  // namespace vicinity
