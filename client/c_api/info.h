// Structures of vicinity.h that a call fills, and that begin with their size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "client/types/result.h"

namespace vicinity::c_api {

// Fills what caller and library both know of: their structures may be of different versions.
// kInvalidArgument for a size that is none, and the error of `from`.
template <typename Info>
Error Fill(const Result<Info>& from, Info* info) {
  if (info->struct_size < sizeof(size_t)) {
    return Error(ErrorCode::kInvalidArgument, "struct_size is " +
                                                  std::to_string(info->struct_size) +
                                                  ": set it to the size of "
                                                  "the structure");
  }
  if (!from.ok()) return from.error();
  const size_t known = std::min(info->struct_size, sizeof(Info));
  memcpy(reinterpret_cast<char*>(info) + sizeof(size_t),
         reinterpret_cast<const char*>(&*from) + sizeof(size_t), known - sizeof(size_t));
  return Error();
}

}  // namespace vicinity::c_api
