#include "proto/telemetry/trace_context.h"

#include <algorithm>
#include <charconv>
#include <random>

#include "absl/strings/str_format.h"

namespace vicinity {
namespace {

constexpr size_t kLength = 55;
constexpr uint8_t kSampled = 1;

uint64_t NewId() {
  thread_local std::mt19937_64 random = [] {
    std::random_device seed;
    std::seed_seq seeds = {seed(), seed(), seed(), seed()};
    return std::mt19937_64(seeds);
  }();
  return std::max<uint64_t>(random(), 1);
}

bool IsLowerHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// `text` is of hex digits.
uint64_t FromHex(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return value;
}

}  // namespace

TraceContext StartTrace() { return {NewId(), NewId(), NewId(), false}; }

TraceContext StartSpan(const TraceContext& parent) {
  TraceContext part = parent;
  if (parent.is_valid()) part.span = NewId();
  return part;
}

std::string Traceparent(const TraceContext& context) {
  return absl::StrFormat("00-%016x%016x-%016x-%02x", context.trace_high, context.trace_low,
                         context.span, context.sampled ? kSampled : 0);
}

std::optional<TraceContext> ParseTraceparent(std::string_view text) {
  if (text.size() < kLength || text[2] != '-' || text[35] != '-' || text[52] != '-') {
    return std::nullopt;
  }
  const std::string_view version = text.substr(0, 2);
  const std::string_view flags = text.substr(53, 2);
  if (!IsLowerHex(version) || version == "ff" || !IsLowerHex(text.substr(3, 32)) ||
      !IsLowerHex(text.substr(36, 16)) || !IsLowerHex(flags)) {
    return std::nullopt;
  }
  if (text.size() > kLength && (version == "00" || text[kLength] != '-')) return std::nullopt;
  const TraceContext context = {FromHex(text.substr(3, 16)), FromHex(text.substr(19, 16)),
                                FromHex(text.substr(36, 16)), (FromHex(flags) & kSampled) != 0};
  if (!context.is_valid()) return std::nullopt;
  return context;
}

std::string TraceId(const TraceContext& context) {
  return absl::StrFormat("%016x%016x", context.trace_high, context.trace_low);
}

}  // namespace vicinity
