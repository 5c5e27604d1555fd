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
  SplitSeeds(const ShardRouter& router, std::vector<NodeTypeId> types, Split split)
      : router_(router), types_(std::move(types)), split_(split) {}

  const std::vector<NodeTypeId>& types() const override { return types_; }
  absl::StatusOr<std::vector<int64_t>> Seeds(absl::Span<const int32_t> shards) const override {
    return NodesOfSplit(router_, types_.front(), split_, shards);
  }

 private:
  const ShardRouter& router_;
  const std::vector<NodeTypeId> types_;
  const Split split_;
};

class ListedSeeds final : public SeedSource {
 public:
  ListedSeeds(const ShardRouter& router, std::vector<NodeTypeId> types, std::vector<int64_t> nodes)
      : router_(router), types_(std::move(types)), nodes_(std::move(nodes)) {}

  const std::vector<NodeTypeId>& types() const override { return types_; }
  absl::StatusOr<std::vector<int64_t>> Seeds(absl::Span<const int32_t> shards) const override {
    if (shards.empty()) return nodes_;
    const auto nodes_per_seed = static_cast<int64_t>(types_.size());
    std::vector<int64_t> owned;
    for (auto seed = nodes_.begin(); seed != nodes_.end(); seed += nodes_per_seed) {
      const GlobalNode last{*(seed + nodes_per_seed - 1)};
      const int32_t owner = router_.book().OwnerOf(types_.back(), last).value;
      if (std::find(shards.begin(), shards.end(), owner) == shards.end()) continue;
      owned.insert(owned.end(), seed, seed + nodes_per_seed);
    }
    return owned;
  }

 private:
  const ShardRouter& router_;
  const std::vector<NodeTypeId> types_;
  const std::vector<int64_t> nodes_;
};

// Of links those of their ends, which seed_type may say as well where they are the same.
absl::StatusOr<std::vector<NodeTypeId>> SeedTypesOf(const Schema& schema,
                                                    const LoaderOptions& options) {
  const auto* const links = std::get_if<LinkList>(&options.seeds);
  if (links == nullptr) {
    VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type, FindSeedType(schema, options.seed_type));
    return std::vector<NodeTypeId>{type};
  }
  VICINITY_ASSIGN_OR_RETURN(std::vector<NodeTypeId> types, TypesOfLinks(schema, *links));
  for (const NodeTypeId type : types) {
    const std::string& name = schema.node_types[type.value].name;
    if (options.seed_type.empty() || options.seed_type == name) continue;
    return absl::InvalidArgumentError(absl::StrCat("links of ", links->edge_type,
                                                   " have ends of node type ", name,
                                                   ", seed_type is ", options.seed_type));
  }
  return types;
}

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
  VICINITY_ASSIGN_OR_RETURN(std::vector<NodeTypeId> types, SeedTypesOf(router.schema(), options));
  if (std::holds_alternative<std::monostate>(options.seeds)) {
    return std::make_unique<SplitSeeds>(router, std::move(types), options.split);
  }
  VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> nodes, ListedNodes(router, types, options.seeds));
  return std::make_unique<ListedSeeds>(router, std::move(types), std::move(nodes));
}

}  // namespace vicinity
