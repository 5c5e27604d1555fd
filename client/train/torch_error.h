// Turns what libtorch and Gloo throw into Errors: the only place of this folder that catches.
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

#include "client/types/result.h"

namespace vicinity {

// Calls `work`, which returns an Error or nothing. An exception becomes an Error of `code` that
// says `where` and what was thrown, without libtorch's backtrace.
template <typename Work>
Error CatchTorch(ErrorCode code, std::string_view where, const Work& work) {
  try {
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      return Error();
    } else {
      return work();
    }
  } catch (const c10::Error& error) {
    return Error(code, std::string(where) + ": " + error.what_without_backtrace());
  } catch (const std::exception& error) {
    return Error(code, std::string(where) + ": " + error.what());
  }
}

}  // namespace vicinity
