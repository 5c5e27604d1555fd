// Traces as timelines: a line for each span, with a bar from its start to its end.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "client/cli/commands/trace/trace_tree.h"

namespace vicinity::cli {

// For a terminal of a hundred columns, one trace after the other.
void PrintTimelines(absl::Span<const TraceTree> trees, std::ostream& out);

// A whole file, which needs nothing from elsewhere. Same traces, same bytes.
std::string SvgTimelines(absl::Span<const TraceTree> trees);

}  // namespace vicinity::cli
