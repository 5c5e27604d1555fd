#include "partition/overlay/write_sessions.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

TEST_CASE("the next batch is new, the last ones are known, all else is refused",
          "[write_sessions]") {
  WriteSessions sessions;
  CHECK(sessions.Find("a", 0).status().code() == absl::StatusCode::kInvalidArgument);
  for (uint64_t i = 1; i <= 100; ++i) {
    CHECK(*sessions.Find("a", i) == std::nullopt);
    sessions.Add("a", i, 2 * i);
    CHECK(*sessions.Find("a", i) == 2 * i);
  }
  CHECK(sessions.Find("a", 102).status().code() == absl::StatusCode::kOutOfRange);
  const uint64_t oldest = 100 - WriteSessions::kMostOnTheWay + 1;
  CHECK(*sessions.Find("a", oldest) == 2 * oldest);
  CHECK(sessions.Find("a", oldest - 1).status().code() == absl::StatusCode::kOutOfRange);
  CHECK(*sessions.Find("b", 1) == std::nullopt);
  CHECK(sessions.Knows("a"));
  CHECK_FALSE(sessions.Knows("b"));
}

TEST_CASE("of too many sessions the one that has been silent for longest is forgotten",
          "[write_sessions]") {
  WriteSessions sessions;
  uint64_t version = 0;
  for (size_t i = 0; i < WriteSessions::kMostSessions; ++i) {
    sessions.Add(absl::StrCat(i), 1, ++version);
  }
  sessions.Add("0", 2, ++version);
  sessions.Add("one more", 1, ++version);
  CHECK(sessions.size() == WriteSessions::kMostSessions);
  CHECK(*sessions.Find("0", 1) == 1);
  CHECK(*sessions.Find("2", 1) == 3);
  CHECK(*sessions.Find("1", 1) == std::nullopt);  // begins anew
}

}  // namespace
}  // namespace vicinity
