// The parsers that a program fuzzes. There are two lists, so two programs: targets.cc has those of
// files and of the network, option_targets.cc those of what a process is told by its own user,
// which need all of the client and the tool, and take as long to build as all else.
#pragma once

#include "absl/types/span.h"
#include "tests/fuzz/fuzz_target.h"

namespace vicinity::fuzz {

absl::Span<const NamedTarget> AllTargets();

}  // namespace vicinity::fuzz
