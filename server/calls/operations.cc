#include "server/calls/operations.h"

namespace vicinity {

absl::string_view MethodName(absl::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<CountedMethod> CountedMethods(Operations operations) {
  std::vector<CountedMethod> methods;
  for (const Operation& operation : operations) {
    CountedMethod& counted = methods.emplace_back();
    if (!operation.is_counted) continue;
    const absl::string_view path = operation.path;
    counted.method = std::string(MethodName(path));
    counted.service = std::string(path.substr(1, path.rfind('/') - 1));
    counted.has_stream = operation.has_stream;
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
