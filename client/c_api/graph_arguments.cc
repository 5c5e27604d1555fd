#include "client/c_api/graph_arguments.h"

#include <sstream>
#include <string>

namespace vicinity::c_api {
namespace {

Error NoSuch(const std::string& kind, const char* name, const std::vector<std::string>& known) {
  std::string names;
  for (const std::string& each : known) names += ' ' + each;
  return Error(ErrorCode::kNotFound,
               "there is no " + kind + " \"" + name + "\"; there are:" + names);
}

}  // namespace

Result<int32_t> FindNodeType(const Schema& schema, const char* name) {
  std::vector<std::string> known;
  for (const NodeTypeSpec& type : schema.node_types) {
    if (type.name == name) return static_cast<int32_t>(known.size());
    known.push_back(type.name);
  }
  return NoSuch("node type", name, known);
}

Result<int32_t> FindEdgeType(const Schema& schema, const char* name) {
  std::vector<std::string> known;
  for (size_t i = 0; i < schema.edge_types.size(); ++i) {
    known.push_back(schema.EdgeTypeName(static_cast<int>(i)));
    if (known.back() == name) return static_cast<int32_t>(i);
  }
  return NoSuch("edge type", name, known);
}

Result<std::vector<int32_t>> FindMetapath(const Schema& schema, const char* names) {
  if (names[0] == '\0') {
    if (schema.edge_types.size() == 1) return std::vector<int32_t>{0};
    return Error(ErrorCode::kInvalidArgument, "no metapath, and the graph has " +
                                                  std::to_string(schema.edge_types.size()) +
                                                  " edge types: name those that steps follow");
  }
  std::vector<int32_t> types;
  std::stringstream rest(names);
  for (std::string name; std::getline(rest, name, ',');) {
    const Result<int32_t> type = FindEdgeType(schema, name.c_str());
    if (!type.ok()) return type.error();
    types.push_back(*type);
  }
  return types;
}

Result<std::vector<int64_t>> CopyIds(const int64_t* ids, int64_t num_ids) {
  if (num_ids < 0) {
    return Error(ErrorCode::kInvalidArgument, std::to_string(num_ids) + " ids");
  }
  if (ids == nullptr && num_ids > 0) return Error(ErrorCode::kInvalidArgument, "ids is null");
  return std::vector<int64_t>(ids, ids + num_ids);
}

Result<std::vector<std::string>> CopyNames(const char* text, const std::vector<int64_t>& ends) {
  std::vector<std::string> names;
  int64_t begin = 0;
  for (const int64_t end : ends) {
    if (end < begin) {
      return Error(ErrorCode::kInvalidArgument, "a name ends at " + std::to_string(end) +
                                                    ", before its begin at " +
                                                    std::to_string(begin));
    }
    names.emplace_back(text + begin, end - begin);
    begin = end;
  }
  return names;
}

}  // namespace vicinity::c_api
