// Spans put together again: what belongs to one trace, each part below its whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "client/cli/commands/trace/otlp_reader.h"

namespace vicinity::cli {

struct TraceLine {
  ShownSpan span;
  int depth = 0;  // below a span that nobody has: 0
};

struct TraceTree {
  std::string id;
  std::vector<TraceLine> lines;  // parts behind their whole, by their start
  int64_t start = 0;             // of the first
  int64_t end = 0;               // of the last
  // By which traces are ordered: how long a trainer waited for the batch, where that is known, else
  // how long the longest span took.
  int64_t slowness = 0;
};

// Each span once, the slowest trace first; what has the same id twice is what comes first.
std::vector<TraceTree> TreesOf(std::vector<ShownSpan> spans);

// As a name and what is worth saying beside it: "attempt s1", "FetchRows, UNAVAILABLE".
std::string LabelOf(const ShownSpan& span);

}  // namespace vicinity::cli
