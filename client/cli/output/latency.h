// How long servers take for calls, from the histograms that they count.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "proto/service.pb.h"

namespace vicinity::cli {

// Seconds that half, nine of ten and 99 of a hundred calls took at most, as exact as the
// histogram's bounds: between two of them by a straight line, and its last bound for all beyond.
struct Latency {
  uint64_t calls = 0;  // 0: the others say nothing
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
};

// Of the calls that ended between two looks at a server with all that it counts. `method`: one of
// proto/service.proto; empty: all for data, without those that wait for something to happen
// (Changes, Barrier, Replicate) and those that ask how it is. `before` may be of another process,
// or without numbers: then all that `after` counts is new.
Latency LatencyBetween(const proto::StatusReply& before, const proto::StatusReply& after,
                       const std::string& method = "");

// Of all calls since the server's start.
Latency LatencyOf(const proto::StatusReply& status, const std::string& method = "");

// "1.2 ms"; "-" where there were no calls.
std::string LatencyText(const Latency& latency, double seconds);

// {"calls", "p50", "p90", "p99"}, in seconds; null for those of no calls.
nlohmann::ordered_json LatencyJson(const Latency& latency);

}  // namespace vicinity::cli
