// Before something that cannot be taken back: is it meant?
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"

namespace vicinity::cli {

// Puts the question to a person; null where there is nobody to ask.
using Asker = std::function<bool(const std::string& question)>;

// What to do where nobody can be asked, in scripts and tests: not without `--yes`, or go on.
enum class IfNobody { kRefuse, kGoOn };

// OK with `yes` (the flag --yes), or if the person says so. Cancelled if not; InvalidArgument,
// which names the flag, if nobody can be asked and that is to be refused.
absl::Status Confirmed(bool yes, const Asker& ask, IfNobody if_nobody, const std::string& question);

}  // namespace vicinity::cli
