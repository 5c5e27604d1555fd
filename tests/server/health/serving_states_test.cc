#include "server/health/serving_states.h"

#include <catch2/catch.hpp>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

class Listener final : public ServingStates::Watcher {
 public:
  void OnState(std::optional<bool> is_serving) override { heard.push_back(is_serving); }
  void OnEnd() override { ++ends; }

  std::vector<std::optional<bool>> heard;
  int ends = 0;
};

TEST_CASE("who watches hears how it is, and what changes", "[serving_states]") {
  ServingStates states;
  states.Set("", true);
  Listener all;
  Listener other;
  VICINITY_CHECK_OK(states.Watch("", "a", &all));
  VICINITY_CHECK_OK(states.Watch("other", "a", &other));
  states.Set("", false);
  states.Set("other", true);
  states.Unwatch(&all);
  states.Unwatch(&all);
  states.Set("", true);
  CHECK(all.heard == std::vector<std::optional<bool>>{true, false});
  CHECK(other.heard == std::vector<std::optional<bool>>{std::nullopt, true});
  CHECK(states.Of("") == true);
  CHECK_FALSE(states.Of("nobody").has_value());
  CHECK(states.num_watchers() == 1);
}

TEST_CASE("watchers are bounded, in all and of each client", "[serving_states]") {
  ServingStates states;
  std::deque<Listener> listeners;
  int64_t taken = 0;
  for (int client = 0; client < 20; ++client) {
    for (int64_t i = 0; i <= ServingStates::kMaxWatchersOfClient; ++i) {
      listeners.emplace_back();
      const absl::Status status =
          states.Watch("", absl::StrCat("client ", client), &listeners.back());
      if (!status.ok()) {
        VICINITY_CHECK_CODE(status, absl::StatusCode::kResourceExhausted);
        CHECK(listeners.back().heard.empty());
      }
      taken += status.ok() ? 1 : 0;
      if (i == ServingStates::kMaxWatchersOfClient) CHECK_FALSE(status.ok());
    }
  }
  CHECK(taken == ServingStates::kMaxWatchers);
  states.Unwatch(&listeners.front());
  Listener next;
  VICINITY_CHECK_OK(states.Watch("", "client 0", &next));
}

TEST_CASE("an end is told once, and nobody watches after it", "[serving_states]") {
  ServingStates states;
  Listener listener;
  VICINITY_CHECK_OK(states.Watch("", "a", &listener));
  states.End();
  states.End();
  CHECK(listener.ends == 1);
  VICINITY_CHECK_CODE(states.Watch("", "a", &listener), absl::StatusCode::kUnavailable);
  CHECK(states.num_watchers() == 0);
}

}  // namespace
}  // namespace vicinity
