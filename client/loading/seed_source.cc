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
  int64_t nodes_per_seed() const override { return 1; }
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
  ListedSeeds(const ShardRouter& router, NodeTypeId type, int64_t nodes_per_seed,
              std::vector<int64_t> nodes)
      : router_(router), type_(type), nodes_per_seed_(nodes_per_seed), nodes_(std::move(nodes)) {}

  NodeTypeId type() const override { return type_; }
  int64_t nodes_per_seed() const override { return nodes_per_seed_; }
  absl::StatusOr<std::vector<int64_t>> Seeds(absl::Span<const int32_t> shards) const override {
    if (shards.empty()) return nodes_;
    std::vector<int64_t> owned;
    for (auto seed = nodes_.begin(); seed != nodes_.end(); seed += nodes_per_seed_) {
      const GlobalNode last{*(seed + nodes_per_seed_ - 1)};
      const int32_t owner = router_.book().OwnerOf(type_, last).value;
      if (std::find(shards.begin(), shards.end(), owner) == shards.end()) continue;
      owned.insert(owned.end(), seed, seed + nodes_per_seed_);
    }
    return owned;
  }

 private:
  const ShardRouter& router_;
  const NodeTypeId type_;
  const int64_t nodes_per_seed_;
  const std::vector<int64_t> nodes_;
};

// Of links the type of their ends, which the options may say as well.
absl::StatusOr<NodeTypeId> SeedTypeOf(const Schema& schema, const LoaderOptions& options) {
  const auto* const links = std::get_if<LinkList>(&options.seeds);
  if (links == nullptr) return FindSeedType(schema, options.seed_type);
  VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type, TypeOfLinks(schema, *links));
  const std::string& name = schema.node_types[type.value].name;
  if (options.seed_type.empty() || options.seed_type == name) return type;
  return absl::InvalidArgumentError(absl::StrCat("the ends of links of ", links->edge_type,
                                                 " are of node type ", name, ", seed_type is ",
                                                 options.seed_type));
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
  VICINITY_ASSIGN_OR_RETURN(const NodeTypeId type, SeedTypeOf(router.schema(), options));
  if (std::holds_alternative<std::monostate>(options.seeds)) {
    return std::make_unique<SplitSeeds>(router, type, options.split);
  }
  VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> nodes, ListedNodes(router, type, options.seeds));
  const int64_t nodes_per_seed = std::holds_alternative<LinkList>(options.seeds) ? 2 : 1;
  return std::make_unique<ListedSeeds>(router, type, nodes_per_seed, std::move(nodes));
}

}  // namespace vicinity
