#include "client/train/feature_columns.h"

#include <algorithm>
#include <cstddef>

namespace vicinity {
namespace {

// "paper (year, label), author (none)"
std::string ColumnList(const Schema& schema) {
  std::string list;
  for (const NodeTypeSpec& type : schema.node_types) {
    std::string columns;
    for (const ColumnSpec& column : type.columns) {
      columns += (columns.empty() ? "" : ", ") + column.name;
    }
    list +=
        (list.empty() ? "" : ", ") + type.name + " (" + (columns.empty() ? "none" : columns) + ")";
  }
  return list;
}

// Positions of the columns of `type` that may be features.
std::vector<int> Candidates(const NodeTypeSpec& type) {
  std::vector<int> found;
  for (size_t c = 0; c < type.columns.size(); ++c) {
    if (!type.HasRole(type.columns[c].name)) found.push_back(static_cast<int>(c));
  }
  return found;
}

bool HasLabelsAndSplit(const NodeTypeSpec& type) {
  return !type.label_column.empty() && !type.split_column.empty();
}

}  // namespace

Result<std::vector<int>> ChooseFeatureColumns(const Schema& schema, const std::string& column) {
  std::vector<int> chosen;
  for (const NodeTypeSpec& type : schema.node_types) {
    if (!column.empty()) {
      chosen.push_back(type.FindColumn(column));
      continue;
    }
    const std::vector<int> candidates = Candidates(type);
    if (candidates.size() > 1) {
      return Error(ErrorCode::kInvalidArgument,
                   "node type '" + type.name +
                       "' has several columns that may be its features; "
                       "name one. Columns by node type: " +
                       ColumnList(schema));
    }
    chosen.push_back(candidates.empty() ? -1 : candidates.front());
  }
  if (std::all_of(chosen.begin(), chosen.end(), [](int c) { return c < 0; })) {
    const std::string what = column.empty() ? "the graph has no feature column"
                                            : "no node type has a column '" + column + "'";
    return Error(ErrorCode::kNotFound, what + "; columns by node type: " + ColumnList(schema));
  }
  return chosen;
}

Result<int32_t> ChooseSeedType(const Schema& schema, const std::string& name) {
  std::vector<int32_t> able;
  std::string names;
  for (size_t t = 0; t < schema.node_types.size(); ++t) {
    const NodeTypeSpec& type = schema.node_types[t];
    names += (names.empty() ? "" : ", ") + type.name;
    if (HasLabelsAndSplit(type) && (name.empty() || type.name == name)) {
      able.push_back(static_cast<int32_t>(t));
    }
  }
  if (able.size() == 1) return able.front();
  if (able.size() > 1) {
    return Error(ErrorCode::kInvalidArgument,
                 "several node types have labels and a split; name one of: " + names);
  }
  if (name.empty()) {
    return Error(ErrorCode::kNotFound,
                 "nothing to train: no node type has both labels and a split, of: " + names);
  }
  return Error(ErrorCode::kNotFound,
               schema.FindNodeType(name) < 0
                   ? "no node type '" + name + "'; there are: " + names
                   : "nothing to train: node type '" + name + "' lacks labels or a split");
}

}  // namespace vicinity
