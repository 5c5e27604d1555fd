// Text of others: is it UTF-8, and how is it shown if it is not.
//
// Threads: functions of their arguments alone.
#pragma once

#include <string>

#include "absl/strings/string_view.h"

namespace vicinity {

// Whether `bytes` are UTF-8 as Unicode defines it: no overlong forms, no surrogates, nothing above
// U+10FFFF.
bool IsUtf8(absl::string_view bytes);

// For messages and output: UTF-8 as it is, anything else with escapes ("caf\xe9"), so that two
// texts that differ look different. Control characters are escaped in both.
std::string EscapedText(absl::string_view bytes);

}  // namespace vicinity
