#include "partition/schema/reverse_type.h"

#include <cstddef>

namespace vicinity {
namespace {

constexpr std::string_view kPrefix = "rev_";

int FindType(const Schema& schema, int32_t source, std::string_view relation, int32_t target) {
  for (size_t i = 0; i < schema.edge_types.size(); ++i) {
    const EdgeTypeSpec& type = schema.edge_types[i];
    if (type.source_type == source && type.relation == relation && type.target_type == target) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace

std::string ReverseRelation(std::string_view relation) {
  return std::string(kPrefix).append(relation);
}

int FindReverse(const Schema& schema, int edge_type) {
  const EdgeTypeSpec& type = schema.edge_types[edge_type];
  const std::string made = ReverseRelation(type.relation);
  const int reverse = FindType(schema, type.target_type, made, type.source_type);
  const std::string_view relation = type.relation;
  if (reverse >= 0 || relation.substr(0, kPrefix.size()) != kPrefix) return reverse;
  return FindType(schema, type.target_type, relation.substr(kPrefix.size()), type.source_type);
}

}  // namespace vicinity
