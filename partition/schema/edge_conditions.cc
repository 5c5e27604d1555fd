#include "partition/schema/edge_conditions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "partition/schema/condition_text.h"
#include "proto/common/status.h"

namespace vicinity {

absl::StatusOr<std::vector<std::shared_ptr<const RowCondition>>> ResolveByEdgeType(
    const Schema& schema, absl::string_view where) {
  std::vector<std::shared_ptr<const RowCondition>> by_type(schema.edge_types.size());
  if (where.empty()) return by_type;
  VICINITY_ASSIGN_OR_RETURN(const Condition condition, ParseCondition(where));
  const std::vector<std::string> columns = ColumnsOf(condition);
  for (size_t e = 0; e < by_type.size(); ++e) {
    const EdgeTypeSpec& type = schema.edge_types[e];
    const bool has_all = std::all_of(columns.begin(), columns.end(), [&](const std::string& name) {
      return type.FindColumn(name) >= 0;
    });
    if (!has_all) continue;
    absl::StatusOr<RowCondition> resolved = ResolveCondition(condition, type.columns);
    if (!resolved.ok()) return At(schema.EdgeTypeName(static_cast<int>(e)), resolved.status());
    by_type[e] = std::make_shared<const RowCondition>(*std::move(resolved));
  }
  return by_type;
}

}  // namespace vicinity
