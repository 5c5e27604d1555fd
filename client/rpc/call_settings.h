// What a call to a server needs beside its request.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "client/shards/call_context.h"
#include "proto/telemetry/latency_histogram.h"

namespace vicinity {

// Which of the connections to a server a call may take. What comes over one connection comes in
// turn: on a link that is full of rows the answers to sampling would wait for all that was sent
// before.
enum class CallLane {
  kAny,    // each in turn
  kShort,  // the first
  kLong,   // the others in turn, where there are others
};

struct CallSettings {
  std::string where;  // who is asked for what: "shard 2 at 127.0.0.1:7502 (server c): FetchRows"
  // Both of the program's lifetime.
  const char* service = "vicinity.proto.Graph";
  const char* method = "";  // "FetchRows"
  std::chrono::milliseconds timeout{0};
  bool wait_for_ready = false;  // keep trying to connect until the timeout
  CallLane lane = CallLane::kAny;
  bool may_be_bulk = false;  // it may go over the bulk channel
  CallContext context = nullptr;
  LatencyHistogram* time = nullptr;  // learns how long it took, and outlives it; null: none
  // Called before `done` if the deadline passed here and nothing had come of the answer, not even
  // that the server found it too late: the connection may be out of step.
  std::function<void()> on_silence;
  // Called before `done` if the server does not know who calls, by what the connection was opened
  // with: the call is Unavailable then, and may be asked again otherwise.
  std::function<void()> on_unknown;
  // Called before `done` if the server said that it is about to stop.
  std::function<void()> on_stopping;
};

}  // namespace vicinity
