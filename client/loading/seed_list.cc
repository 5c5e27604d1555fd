#include "client/loading/seed_list.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "client/shards/lookups.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr size_t kNamedInErrors = 10;

// The entries that are not there, each with its position: for an error.
struct Missing {
  int64_t count = 0;
  std::vector<std::string> named;

  template <typename Id>
  void Add(const Id& id, size_t position) {
    if (++count > static_cast<int64_t>(kNamedInErrors)) return;
    named.push_back(absl::StrCat(id, " (position ", position, ")"));
  }

  std::string Text(const std::string& type, size_t num_listed) const {
    return absl::StrCat(count, " of ", num_listed, " seeds ",
                        count == 1 ? "is no node" : "are no nodes", " of type ", type, ": ",
                        absl::StrJoin(named, ", "),
                        count > static_cast<int64_t>(kNamedInErrors) ? ", ..." : "");
  }
};

template <typename Id>
absl::StatusOr<std::vector<int64_t>> AllFound(const std::string& type, const std::vector<Id>& ids,
                                              absl::StatusOr<std::vector<int64_t>> nodes) {
  VICINITY_RETURN_IF_ERROR(nodes.status());
  Missing missing;
  for (size_t i = 0; i < ids.size(); ++i) {
    if ((*nodes)[i] < 0) missing.Add(ids[i], i);
  }
  if (missing.count == 0) return nodes;
  return absl::NotFoundError(missing.Text(type, ids.size()));
}

// What std::visit calls.
struct ToNodes {
  using Nodes = absl::StatusOr<std::vector<int64_t>>;

  const ShardRouter& router;
  const absl::Span<const NodeTypeId> types;
  const NodeTypeId type = types.front();

  const NodeTypeSpec& spec() const { return router.schema().node_types[type.value]; }

  Nodes operator()(const std::monostate&) const {
    return absl::InvalidArgumentError("no seeds are listed");
  }

  Nodes operator()(const GlobalIds& list) const {
    Missing missing;
    for (size_t i = 0; i < list.ids.size(); ++i) {
      if (!router.book().Contains(type, GlobalNode{list.ids[i]})) missing.Add(list.ids[i], i);
    }
    if (missing.count == 0) return list.ids;
    return absl::InvalidArgumentError(absl::StrCat(missing.Text(spec().name, list.ids.size()),
                                                   "; its global ids are 0 to ",
                                                   router.book().num_nodes(type) - 1));
  }

  Nodes operator()(const UserIds& list) const {
    return AllFound(spec().name, list.ids, ResolveIntegers(router, type, list.ids));
  }

  Nodes operator()(const UserNames& list) const {
    return AllFound(spec().name, list.ids, ResolveNames(router, type, list.ids));
  }

  Nodes operator()(const NodeMask& mask) const {
    const int64_t num_nodes = router.book().num_nodes(type);
    if (static_cast<int64_t>(mask.chosen.size()) != num_nodes) {
      return absl::InvalidArgumentError(absl::StrCat("the mask of seeds has ", mask.chosen.size(),
                                                     " entries, node type ", spec().name, " has ",
                                                     num_nodes, " nodes"));
    }
    std::vector<int64_t> positions;
    for (int64_t i = 0; i < num_nodes; ++i) {
      if (mask.chosen[i] != 0) positions.push_back(i);
    }
    // Of dense ids the position is the id: only the chosen ones are looked up.
    if (spec().id_kind == IdKind::kDense) return ResolveIntegers(router, type, positions);
    VICINITY_ASSIGN_OR_RETURN(const std::vector<int64_t> all,
                              NodesOfSplit(router, type, Split::kNone, {}));
    for (int64_t& position : positions) position = all[position];
    return positions;
  }

  Nodes operator()(const LinkList& links) const {
    absl::StatusOr<std::vector<int64_t>> sources =
        std::visit(ToNodes{router, types.first(1)}, links.sources);
    if (!sources.ok()) return At("sources of links", sources.status());
    absl::StatusOr<std::vector<int64_t>> targets =
        std::visit(ToNodes{router, types.last(1)}, links.targets);
    if (!targets.ok()) return At("targets of links", targets.status());
    if (sources->size() != targets->size()) {
      return absl::InvalidArgumentError(absl::StrCat("links have ", sources->size(),
                                                     " sources and ", targets->size(), " targets"));
    }
    std::vector<int64_t> ends;
    ends.reserve(2 * sources->size());
    for (size_t i = 0; i < sources->size(); ++i) {
      ends.push_back((*sources)[i]);
      ends.push_back((*targets)[i]);
    }
    return ends;
  }
};

std::string EdgeTypeNames(const Schema& schema) {
  std::string names;
  for (int type = 0; type < static_cast<int>(schema.edge_types.size()); ++type) {
    absl::StrAppend(&names, " ", schema.EdgeTypeName(type));
  }
  return names;
}

}  // namespace

absl::StatusOr<EdgeTypeId> FindLinkType(const Schema& schema, const LinkList& links) {
  const int type = schema.FindEdgeType(links.edge_type);
  if (type >= 0) return EdgeTypeId{type};
  return absl::NotFoundError(absl::StrCat("no edge type ", links.edge_type,
                                          " for links; there are:", EdgeTypeNames(schema)));
}

absl::StatusOr<std::vector<NodeTypeId>> TypesOfLinks(const Schema& schema, const LinkList& links) {
  VICINITY_ASSIGN_OR_RETURN(const EdgeTypeId type, FindLinkType(schema, links));
  const EdgeTypeSpec& spec = schema.edge_types[type.value];
  return std::vector<NodeTypeId>{{spec.source_type}, {spec.target_type}};
}

absl::StatusOr<std::vector<int64_t>> ListedNodes(const ShardRouter& router,
                                                 absl::Span<const NodeTypeId> types,
                                                 const SeedList& list) {
  VICINITY_ASSIGN_OR_RETURN(std::vector<int64_t> nodes, std::visit(ToNodes{router, types}, list));
  if (!nodes.empty()) return nodes;
  const std::string& name = router.schema().node_types[types.front().value].name;
  if (std::holds_alternative<NodeMask>(list)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the mask of seeds has none of the nodes of type ", name));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the list of seeds, of node type ", name, ", is empty"));
}

}  // namespace vicinity
