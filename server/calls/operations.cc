#include "server/calls/operations.h"

namespace vicinity {

absl::string_view MethodName(absl::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> CountedMethods(Operations operations) {
  std::vector<std::string> methods;
  for (const Operation& operation : operations) {
    methods.emplace_back(operation.is_counted ? MethodName(operation.path) : "");
  }
  return methods;
}

const Operation* FindOperation(Operations operations, absl::string_view path) {
  for (const Operation& operation : operations) {
    if (path == operation.path) return &operation;
  }
  return nullptr;
}

}  // namespace vicinity
