#include "cache/pool/look_ahead_planner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

using Ids = std::vector<int64_t>;

std::unique_ptr<LookAheadPlanner> MakePlanner(int64_t capacity, const Ids& ranked,
                                              bool use_likelihood = true,
                                              uint32_t first_position = 1) {
  auto planner = LookAheadPlanner::Create({capacity, use_likelihood, first_position}, ranked);
  REQUIRE(planner.ok());
  return *std::move(planner);
}

RowPlan Admit(LookAheadPlanner* planner, const Ids& ids) {
  RowPlan plan;
  VICINITY_REQUIRE_OK(planner->Admit(ids, &plan));
  return plan;
}

// What the planner promises, by exhaustive search through everything it knows: which ids of a batch
// are missing. Ties are broken as documented; rows are told apart by id and have no slots.
class NaivePlanner {
 public:
  NaivePlanner(int64_t capacity, const Ids& ranked, bool use_likelihood)
      : capacity_(capacity), use_likelihood_(use_likelihood), ranked_(ranked) {
    const int64_t num_seeds = std::min<int64_t>(capacity, ranked.size());
    for (int64_t i = num_seeds - 1; i >= 0; --i) held_[ranked[i]] = {0, ++clock_};
  }

  void Announce(const Ids& ids) { announced_.push_back(ids); }

  void Forget() {
    // In the order of the announced mentions, as the rows are then the last that went cold.
    std::vector<Ids> dropped(announced_.begin(), announced_.end());
    announced_.clear();
    std::map<int64_t, bool> seen;
    for (const Ids& ids : dropped) {
      for (const int64_t id : ids) {
        if (!std::exchange(seen[id], true) && IsResting(id)) held_[id].rested = ++clock_;
      }
    }
  }

  std::vector<int32_t> Admit(const Ids& ids) {
    if (announced_.empty()) Announce(ids);
    announced_.pop_front();
    std::vector<int32_t> missing;
    Ids fetched;
    for (size_t i = 0; i < ids.size(); ++i) {
      const bool is_new = std::find(fetched.begin(), fetched.end(), ids[i]) != fetched.end();
      if (held_.count(ids[i]) == 0 && !is_new) {
        missing.push_back(static_cast<int32_t>(i));
        fetched.push_back(ids[i]);
      } else if (!is_new) {
        ++held_[ids[i]].pins;
      }
    }
    Evict(num_held() + static_cast<int64_t>(fetched.size()) - capacity_);
    for (const int64_t id : ids) {
      if (std::find(fetched.begin(), fetched.end(), id) != fetched.end()) ++held_[id].pins;
    }
    return missing;
  }

  void Unpin(const Ids& ids, const std::vector<bool>& disowned) {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!disowned[i] && --held_[ids[i]].pins == 0) held_[ids[i]].rested = ++clock_;
    }
  }
  void Shrink() { Evict(num_held() - capacity_); }

  int64_t num_rows() const { return static_cast<int64_t>(held_.size()); }
  void set_num_orphans(int64_t num) { num_orphans_ = num; }
  // The pins of a disowned row stay with its old slot.
  void Disown(int64_t id) { held_.erase(id); }

 private:
  struct Row {
    int pins = 0;
    int64_t rested = 0;  // when it was last unpinned or its announced uses were forgotten
  };
  int64_t num_held() const { return num_rows() + num_orphans_; }
  bool IsResting(int64_t id) const { return held_.count(id) > 0 && held_.at(id).pins == 0; }

  // Batch and place in it; none is {-1, -1}.
  std::pair<int64_t, int64_t> NextUse(int64_t id) const {
    for (size_t b = 0; b < announced_.size(); ++b) {
      const auto found = std::find(announced_[b].begin(), announced_[b].end(), id);
      if (found != announced_[b].end()) return {b, found - announced_[b].begin()};
    }
    return {-1, -1};
  }

  int64_t Unlikelihood(int64_t id) const {
    const auto found = std::find(ranked_.begin(), ranked_.end(), id);
    return use_likelihood_ ? found - ranked_.begin() : 0;
  }

  // Larger: goes first.
  std::tuple<int64_t, int64_t, int64_t> Badness(int64_t id) const {
    const auto [batch, place] = NextUse(id);
    if (batch >= 0) return {batch, place, 0};
    return {std::numeric_limits<int64_t>::max(), Unlikelihood(id), -held_.at(id).rested};
  }

  void Evict(int64_t num_rows) {
    for (; num_rows > 0; --num_rows) {
      int64_t worst = -1;
      for (const auto& [id, row] : held_) {
        if (row.pins == 0 && (worst < 0 || Badness(id) > Badness(worst))) worst = id;
      }
      if (worst < 0) return;
      held_.erase(worst);
    }
  }

  const int64_t capacity_;
  const bool use_likelihood_;
  const Ids ranked_;
  std::map<int64_t, Row> held_;
  int64_t num_orphans_ = 0;
  std::deque<Ids> announced_;
  int64_t clock_ = 0;
};

// Runs one random sequence of calls on the planner and on the naive one, with a memory of rows that
// hold nothing but their node's id.
class ModelRun {
 public:
  explicit ModelRun(uint64_t seed) : random_(seed) {
    num_nodes_ = 1 + Below(30);
    capacity_ = Below(4) == 0 ? Below(2) * num_nodes_ : Below(num_nodes_ + 3);
    Ids nodes(num_nodes_);
    for (int64_t i = 0; i < num_nodes_; ++i) nodes[i] = i * 1000003;
    std::shuffle(nodes.begin(), nodes.end(), random_);
    nodes_ = nodes;
    nodes.resize(Below(num_nodes_ + 1));
    const bool use_likelihood = Below(4) > 0;
    // Half of the runs pass the end of the positions, 2^32, or half of it.
    const uint32_t first_position = (Below(4) << 30) - Below(500);
    planner_ = MakePlanner(capacity_, nodes, use_likelihood, first_position);
    naive_ = std::make_unique<NaivePlanner>(capacity_, nodes, use_likelihood);
    for (int64_t i = 0; i < std::min<int64_t>(capacity_, nodes.size()); ++i) Write(i, nodes[i]);
  }

  void Run(int num_steps) {
    for (int step = 0; step < num_steps; ++step) {
      const int64_t choice = Below(12);
      if (choice < 4) Announce();
      if (choice >= 4 && choice < 7) Admit();
      if (choice >= 7 && choice < 10 && !in_flight_.empty()) Release(Below(in_flight_.size()));
      if (choice == 10 && !in_flight_.empty()) Disown(Below(in_flight_.size()));
      if (choice == 11 && Below(4) == 0) Forget();
    }
    for (size_t i = in_flight_.size(); i-- > 0;) Release(i);
    REQUIRE(in_flight_.empty());
    REQUIRE(planner_->held_rows() <= capacity_);
  }

 private:
  struct Batch {
    Ids ids;
    RowPlan plan;
    std::vector<bool> disowned;
    bool gave_up = false;
    bool ended = false;
  };

  int64_t Below(int64_t bound) { return static_cast<int64_t>(random_() % bound); }

  Ids RandomBatch() {
    Ids ids(Below(2) == 0 ? Below(4) : Below(num_nodes_ + 2));
    for (int64_t& id : ids) id = nodes_[Below(num_nodes_)];
    return ids;
  }

  void Write(int64_t slot, int64_t id) {
    if (slot >= static_cast<int64_t>(content_.size())) {
      content_.resize(slot + 1, -1);
      pins_.resize(slot + 1, 0);
    }
    REQUIRE(pins_[slot] == 0);  // no slot is reused while it is pinned
    content_[slot] = id;
  }

  void Announce() {
    announced_.push_back(RandomBatch());
    VICINITY_REQUIRE_OK(planner_->Announce(announced_.back()));
    naive_->Announce(announced_.back());
  }

  void Forget() {
    planner_->Forget();
    naive_->Forget();
    announced_.clear();
  }

  void Admit() {
    Batch batch;
    if (announced_.empty()) {
      batch.ids = RandomBatch();
    } else {
      batch.ids = announced_.front();
      announced_.pop_front();
    }
    batch.plan = vicinity::Admit(planner_.get(), batch.ids);
    batch.disowned.resize(batch.ids.size());
    REQUIRE(batch.plan.missing == naive_->Admit(batch.ids));
    for (const int32_t i : batch.plan.missing) Write(batch.plan.slots[i], batch.ids[i]);
    REQUIRE(batch.plan.slots.size() == batch.ids.size());
    for (size_t i = 0; i < batch.ids.size(); ++i) {
      REQUIRE(content_.at(batch.plan.slots[i]) == batch.ids[i]);  // the right node's row
      ++pins_[batch.plan.slots[i]];
    }
    in_flight_.push_back(std::move(batch));
    CheckSize();
  }

  void Release(int64_t which) {
    if (std::exchange(in_flight_[which].ended, true)) return;
    for (const int32_t slot : in_flight_[which].plan.slots) --pins_[slot];
    planner_->Release(in_flight_[which].plan.ticket);
    // Rows are unpinned in the order of admission.
    while (!in_flight_.empty() && in_flight_.front().ended) {
      const Batch batch = std::move(in_flight_.front());
      in_flight_.pop_front();
      for (const int32_t slot : batch.plan.slots) {
        const auto orphan = orphans_.find(slot);
        if (orphan != orphans_.end() && --orphan->second == 0) orphans_.erase(orphan);
      }
      naive_->set_num_orphans(orphans_.size());
      naive_->Unpin(batch.ids, batch.disowned);
    }
    naive_->Shrink();
    CheckSize();
  }

  // The missing rows of a batch do not come.
  void Disown(int64_t which) {
    Batch& batch = in_flight_[which];
    if (batch.ended || std::exchange(batch.gave_up, true)) return;
    for (const int32_t i : batch.plan.missing) {
      const int32_t slot = batch.plan.slots[i];
      naive_->Disown(batch.ids[i]);
      for (Batch& other : in_flight_) {
        for (size_t j = 0; j < other.ids.size(); ++j) {
          if (other.plan.slots[j] != slot) continue;
          other.disowned[j] = true;
          ++orphans_[slot];
        }
      }
    }
    naive_->set_num_orphans(orphans_.size());
    planner_->Disown(batch.plan.ticket, batch.plan.missing);
    CheckSize();
  }

  void CheckSize() {
    REQUIRE(planner_->held_rows() == naive_->num_rows() + static_cast<int64_t>(orphans_.size()));
  }

  std::mt19937_64 random_;
  int64_t num_nodes_ = 0;
  int64_t capacity_ = 0;
  Ids nodes_;
  std::unique_ptr<LookAheadPlanner> planner_;
  std::unique_ptr<NaivePlanner> naive_;
  Ids content_;
  std::vector<int> pins_;
  std::map<int32_t, int> orphans_;  // slots of disowned rows, and their mentions in flight
  std::deque<Ids> announced_;
  std::deque<Batch> in_flight_;
};

TEST_CASE("random calls are answered as by a search through all that is known", "[planner]") {
  for (uint64_t seed = 0; seed < 12000; ++seed) {
    CAPTURE(seed);
    ModelRun(seed).Run(40);
  }
}

TEST_CASE("long random runs are answered as by a search through all that is known", "[planner]") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    ModelRun(1000000 + seed).Run(3000);
  }
}

TEST_CASE("the likeliest rows are there from the start, in slots by rank", "[planner]") {
  const auto planner = MakePlanner(3, {50, 40, 30, 20});
  CHECK(planner->held_rows() == 3);
  const RowPlan plan = Admit(planner.get(), {30, 50, 20, 40});
  CHECK(plan.missing == std::vector<int32_t>{2});
  CHECK(plan.slots == std::vector<int32_t>{2, 0, 3, 1});  // all pinned: one row over the capacity
  CHECK(planner->most_held_rows() == 4);
  planner->Release(plan.ticket);
  CHECK(planner->held_rows() == 3);
  CHECK(Admit(planner.get(), {50, 40, 30}).missing.empty());  // 20 has the least claim
}

TEST_CASE("without a ranking the longest unused row goes first", "[planner]") {
  const auto planner = MakePlanner(2, {7, 8}, false);
  planner->Release(Admit(planner.get(), {7}).ticket);
  planner->Release(Admit(planner.get(), {9}).ticket);
  CHECK(Admit(planner.get(), {7, 9, 8}).missing == std::vector<int32_t>{2});
}

TEST_CASE("a row that is needed sooner stays, whatever its rank", "[planner]") {
  const auto planner = MakePlanner(2, {1, 2, 3});
  const Ids first = {3};
  for (const Ids& batch : {first, Ids{4}, Ids{3}, Ids{2}}) {
    VICINITY_REQUIRE_OK(planner->Announce(batch));
  }
  planner->Release(Admit(planner.get(), first).ticket);  // instead of 1, which nobody asks for
  planner->Release(Admit(planner.get(), {4}).ticket);    // instead of 2, which is needed after 3
  CHECK(Admit(planner.get(), {3}).missing.empty());
}

TEST_CASE("a batch larger than the pool passes through", "[planner]") {
  const int64_t capacity = GENERATE(0, 1, 5);
  const auto planner = MakePlanner(capacity, {});
  Ids ids(1000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i) << 33;
  for (int round = 0; round < 3; ++round) {
    const RowPlan plan = Admit(planner.get(), ids);
    CHECK(plan.missing.size() == ids.size() - (round == 0 ? 0 : capacity));
    planner->Release(plan.ticket);
    CHECK(planner->held_rows() == capacity);
  }
  CHECK(planner->num_slots() <= 1000 + capacity);
}

TEST_CASE("a pool for all rows fetches nothing", "[planner]") {
  Ids ids(5000);
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<int64_t>(i);
  const auto planner = MakePlanner(5000, ids);
  const RowPlan all = Admit(planner.get(), ids);
  const RowPlan again = Admit(planner.get(), {17, 17, 4999});
  CHECK(all.missing.empty());
  CHECK(again.missing.empty());
  CHECK(again.slots == std::vector<int32_t>{17, 17, 4999});
  CHECK(planner->most_held_rows() == 5000);
}

TEST_CASE("a planner refuses what it cannot plan, and is as before", "[planner]") {
  const auto create = [](int64_t capacity, const Ids& ranked) {
    return LookAheadPlanner::Create({capacity, true, 1}, ranked).status();
  };
  VICINITY_CHECK_CODE(create(-1, {}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(create(LookAheadPlanner::kMaxRows + 1, {}),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(create(2, {3, -1}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(create(0, {3, 4, 3}), absl::StatusCode::kInvalidArgument);

  const auto planner = MakePlanner(2, {1, 2});
  RowPlan plan;
  VICINITY_CHECK_CODE(planner->Announce({5, -2}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(planner->Admit({-2}, &plan), absl::StatusCode::kInvalidArgument);
  CHECK(planner->num_announced() == 0);
  VICINITY_REQUIRE_OK(planner->Announce({5, 1}));
  VICINITY_CHECK_CODE(planner->Admit({1, 5}, &plan), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(planner->Admit({5}, &plan), absl::StatusCode::kInvalidArgument);
  CHECK(planner->held_rows() == 2);
  CHECK(Admit(planner.get(), {5, 1}).missing == std::vector<int32_t>{0});
}

}  // namespace
}  // namespace vicinity
