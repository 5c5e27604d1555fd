#include "server/calls/operations.h"

namespace vicinity {

const Operation* FindOperation(Operations operations, absl::string_view path) {
  for (const Operation& operation : operations) {
    if (path == operation.path) return &operation;
  }
  return nullptr;
}

}  // namespace vicinity
