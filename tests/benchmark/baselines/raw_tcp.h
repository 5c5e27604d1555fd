// What the loopback device carries without gRPC: a bare TCP connection.
#pragma once

#include <cstdint>
#include <memory>

#include "tests/benchmark/baselines/other_process.h"

namespace vicinity::benchmark {

// Sends one buffer of `chunk_bytes` for ever to whoever connects.
std::unique_ptr<OtherProcess> StartTcp(int64_t chunk_bytes);

// What it costs to read from it, to a buffer of as many bytes. Exits 1 if it cannot be reached.
TransferCost MeasureTcp(const OtherProcess& server, double seconds, int64_t chunk_bytes);

}  // namespace vicinity::benchmark
