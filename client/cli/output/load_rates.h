// What a server does a second, from two looks at its counters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/service.pb.h"

namespace vicinity::cli {

struct MethodRates {
  std::string method;
  double calls = 0;  // each of these a second
  double failed = 0;
  double bytes = 0;
};

struct LoadRates {
  double seconds = 0;   // between the looks, by the server's clock; for a new process, its age
  MethodRates all;      // its name is empty
  double rejected = 0;  // calls and connections that limits turned away, each a second
  std::vector<MethodRates> methods;  // in the order of proto/service.proto
};

// Calls and connections that limits have turned away since the process started.
uint64_t RejectedOf(const proto::StatusReply& reply);

// `before` may be of a process that has ended since: then everything that `after` counts is new.
// Rates are 0 when no time has passed.
LoadRates RatesBetween(const proto::StatusReply& before, const proto::StatusReply& after);

}  // namespace vicinity::cli
