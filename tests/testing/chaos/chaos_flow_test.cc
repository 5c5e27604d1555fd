#include "tests/testing/chaos/chaos_flow.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vicinity::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr size_t kCapacity = 1 << 20;
constexpr SteadyTime kStart{std::chrono::hours(1)};

std::string Numbered(size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 131 >> 3);
  return bytes;
}

// What comes out when nothing holds it up but the flow, with each piece's time.
struct Output {
  std::string bytes;
  std::vector<std::pair<nanoseconds, size_t>> pieces;  // since kStart
};

Output RunOut(ChaosFlow* flow, SteadyTime from = kStart) {
  Output output;
  std::optional<SteadyTime> now = from;
  while (now.has_value()) {
    for (std::string_view ready = flow->Ready(*now); !ready.empty(); ready = flow->Ready(*now)) {
      output.bytes += ready;
      output.pieces.emplace_back(*now - kStart, ready.size());
      flow->Pop(ready.size(), *now);
    }
    now = flow->NextReady(*now);
  }
  return output;
}

ChaosFlow Flow(const Toxics& toxics, uint64_t seed = 1) {
  ChaosFlow flow(kCapacity, seed);
  flow.Set(toxics, kStart);
  return flow;
}

TEST_CASE("without toxics bytes pass at once and unchanged", "[chaos]") {
  ChaosFlow flow = Flow({});
  const std::string bytes = Numbered(100'000);
  flow.Push(bytes, kStart);
  CHECK_FALSE(flow.drained());
  flow.PushEnd();
  const Output output = RunOut(&flow);
  CHECK(output.bytes == bytes);
  CHECK(output.pieces.size() == 1);
  CHECK(flow.drained());
  CHECK(flow.passed() == 100'000);
}

TEST_CASE("latency delays every byte by as much", "[chaos]") {
  Toxics toxics;
  toxics.latency = absl::Milliseconds(30);
  ChaosFlow flow = Flow(toxics);
  flow.Push("first", kStart);
  flow.Push("second", kStart + milliseconds(10));
  CHECK(flow.Ready(kStart + milliseconds(29)).empty());
  const Output output = RunOut(&flow);
  CHECK(output.bytes == "firstsecond");
  const std::vector<std::pair<nanoseconds, size_t>> expected = {{milliseconds(30), 5},
                                                                {milliseconds(40), 6}};
  CHECK(output.pieces == expected);
}

TEST_CASE("jitter varies by seed, stays in its bounds and keeps the order", "[chaos]") {
  Toxics toxics;
  toxics.latency = absl::Milliseconds(10);
  toxics.jitter = absl::Milliseconds(20);
  const auto run = [&](uint64_t seed) {
    ChaosFlow flow = Flow(toxics, seed);
    for (int i = 0; i < 100; ++i) flow.Push(std::to_string(i % 10), kStart + milliseconds(100 * i));
    return RunOut(&flow);
  };
  const Output output = run(1);
  CHECK(output.bytes.substr(0, 12) == "012345678901");
  REQUIRE(output.pieces.size() == 100);
  nanoseconds least = seconds(1);
  nanoseconds most{0};
  for (int i = 0; i < 100; ++i) {
    const nanoseconds delay = output.pieces[i].first - milliseconds(100 * i);
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  CHECK(least >= milliseconds(10));
  CHECK(least < milliseconds(12));
  CHECK(most > milliseconds(28));
  CHECK(most <= milliseconds(30));
  CHECK(run(1).pieces == output.pieces);
  CHECK(run(2).pieces != output.pieces);

  ChaosFlow crowded = Flow(toxics);
  for (int i = 0; i < 100; ++i) crowded.Push(std::to_string(i % 10), kStart);
  CHECK(RunOut(&crowded).bytes == output.bytes);
}

TEST_CASE("a limited bandwidth is kept to and made use of", "[chaos]") {
  Toxics toxics;
  toxics.bytes_per_second = 50'000;
  ChaosFlow flow = Flow(toxics);
  flow.Push(Numbered(100'000), kStart);
  const Output output = RunOut(&flow);
  CHECK(output.bytes == Numbered(100'000));
  size_t passed = 0;
  for (const auto& [at, size] : output.pieces) {
    passed += size;
    // What may catch up is 20 ms' worth, 1000 bytes, and a piece is 500.
    const double allowed = std::chrono::duration<double>(at).count() * 50'000 + 1500;
    REQUIRE(static_cast<double>(passed) <= allowed);
  }
  CHECK(output.pieces.back().first > milliseconds(1900));
  CHECK(output.pieces.back().first < milliseconds(2100));
}

TEST_CASE("bytes are sliced, corrupted and cut where they should be", "[chaos]") {
  const std::string bytes = Numbered(1000);
  Toxics toxics;
  SECTION("sliced") {
    toxics.slice_bytes = 7;
    ChaosFlow flow = Flow(toxics);
    flow.Push(bytes, kStart);
    const Output output = RunOut(&flow);
    CHECK(output.bytes == bytes);
    CHECK(output.pieces.size() == 143);
  }
  SECTION("corrupted: one bit of every hundredth byte, however they come in") {
    toxics.corrupt_every = 100;
    const auto run = [&](size_t step, uint64_t seed) {
      ChaosFlow flow = Flow(toxics, seed);
      for (size_t at = 0; at < bytes.size(); at += step) {
        flow.Push(std::string_view(bytes).substr(at, step), kStart);
      }
      CHECK(flow.corrupted() == 10);
      return RunOut(&flow).bytes;
    };
    const std::string output = run(1000, 1);
    for (size_t i = 0; i < bytes.size(); ++i) {
      const unsigned changed = static_cast<unsigned char>(output[i] ^ bytes[i]);
      REQUIRE(__builtin_popcount(changed) == (i % 100 == 99 ? 1 : 0));
    }
    CHECK(run(33, 1) == output);
    CHECK(run(1, 1) == output);
    CHECK(run(1000, 2) != output);
  }
  SECTION("cut, counted from when it was set") {
    ChaosFlow flow = Flow(toxics);
    flow.Push(bytes.substr(0, 400), kStart);
    CHECK(RunOut(&flow).bytes == bytes.substr(0, 400));
    toxics.cut_after = 123;
    flow.Set(toxics, kStart);
    flow.Push(bytes.substr(400), kStart);
    CHECK_FALSE(flow.cut());
    CHECK(RunOut(&flow).bytes == bytes.substr(400, 123));
    CHECK(flow.cut());
    CHECK_FALSE(flow.drained());
  }
}

TEST_CASE("a stalled stream goes on where it stopped", "[chaos]") {
  Toxics toxics;
  toxics.stall = true;
  ChaosFlow flow = Flow(toxics);
  flow.Push("held", kStart);
  flow.PushEnd();
  CHECK(RunOut(&flow).bytes.empty());
  CHECK_FALSE(flow.drained());
  flow.Set({}, kStart);
  CHECK(RunOut(&flow).bytes == "held");
  CHECK(flow.drained());
}

TEST_CASE("a swallowing stream loses everything from then on, its end too", "[chaos]") {
  Toxics toxics;
  toxics.swallow = true;
  ChaosFlow flow = Flow({});
  flow.Push("before", kStart);
  flow.Set(toxics, kStart);
  CHECK_FALSE(flow.holed());
  flow.Push("gone", kStart);
  CHECK(flow.holed());
  CHECK(flow.Room() == kCapacity - 6);
  flow.Set({}, kStart);
  flow.Push("gone, too", kStart);
  flow.PushEnd();
  CHECK(RunOut(&flow).bytes == "before");
  CHECK_FALSE(flow.drained());
}

TEST_CASE("a flow holds no more than its capacity", "[chaos]") {
  Toxics toxics;
  toxics.stall = true;
  ChaosFlow flow(100, 1);
  flow.Set(toxics, kStart);
  flow.Push(Numbered(60), kStart);
  CHECK(flow.Room() == 40);
  flow.Push(Numbered(40), kStart);
  CHECK(flow.Room() == 0);
  flow.Set({}, kStart);
  flow.Pop(50, kStart);
  CHECK(flow.Room() == 50);
  flow.Drop();
  CHECK(flow.Room() == 100);
  CHECK(flow.drained());
}

TEST_CASE("what waits profits when the delay is lifted", "[chaos]") {
  Toxics toxics;
  toxics.latency = absl::Hours(1);
  ChaosFlow flow = Flow(toxics);
  flow.Push("late", kStart);
  flow.Set({}, kStart + seconds(1));
  flow.Push("r", kStart + seconds(1));
  const Output output = RunOut(&flow, kStart + seconds(1));
  CHECK(output.bytes == "later");
  CHECK(output.pieces.back().first == seconds(1));
}

}  // namespace
}  // namespace vicinity::testing
