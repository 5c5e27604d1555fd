// Spans as OpenTelemetry's collectors take them: OTLP's ExportTraceServiceRequest in JSON. Ids are
// hex digits there, and numbers of 64 bits are strings.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "proto/telemetry/trace/span.h"

namespace vicinity {

// Of the process, alike for all its spans: {"service.name", "vicinityd"}, ...
using TraceResource = std::vector<std::pair<std::string, std::string>>;

// One line. Bytes that are no UTF-8 become U+FFFD.
std::string OtlpJson(const TraceResource& resource, absl::Span<const Spans> operations);

}  // namespace vicinity
