// Spans as OTLP's JSON has them, read back: what servers answer, and what trainers write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace vicinity::cli {

struct ShownSpan {
  std::string trace;  // ids as they are written
  std::string id;
  std::string parent;  // empty: none
  std::string name;
  std::string process;  // "vicinityd a"
  int64_t start = 0;    // nanoseconds since 1970
  int64_t end = 0;
  std::string error;  // empty: it went well
  std::vector<std::pair<std::string, std::string>> attributes;
};

// More are not read: a file may have been written for weeks.
inline constexpr size_t kMaxShownSpans = 2'000'000;

// Adds the spans of one ExportTraceServiceRequest. InvalidArgument if it is none; then some may
// have been added.
absl::Status ReadOtlp(absl::string_view json, std::vector<ShownSpan>* spans);

// The same of a file with a request a line. A last line that is not whole yet is left out.
// NotFound; InvalidArgument naming file and line; ResourceExhausted beyond kMaxShownSpans.
absl::Status ReadOtlpFile(const std::string& path, std::vector<ShownSpan>* spans);

}  // namespace vicinity::cli
