#include "tests/contract/row_pool_contract.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "cache/pool/row_pool.h"
#include "proto/common/random.h"
#include "tests/testing/status_checks.h"

namespace vicinity::testing {
namespace {

// Long enough for any machine; nobody waits for it unless something is wrong.
constexpr std::chrono::seconds kLong(60);
constexpr std::chrono::nanoseconds kNoWait(0);

std::vector<int64_t> IdsOf(absl::Span<const int64_t> ids, absl::Span<const int32_t> indexes) {
  std::vector<int64_t> chosen;
  for (const int32_t i : indexes) chosen.push_back(ids[i]);
  return chosen;
}

std::vector<int64_t> InOrder(size_t n) {
  std::vector<int64_t> positions(n);
  std::iota(positions.begin(), positions.end(), int64_t{0});
  return positions;
}

absl::Status DeliverAll(RowPool* pool, absl::Span<const int64_t> ids, const PoolBatch& batch) {
  return pool->Deliver(batch, 0, TrueRows(IdsOf(ids, batch.missing), pool->row_bytes()));
}

// The assembled rows, or why there are none.
absl::StatusOr<std::string> Assembled(RowPool* pool, const PoolBatch& batch,
                                      std::chrono::nanoseconds timeout) {
  std::string out(batch.slots.size() * pool->row_bytes(), '\0');
  const absl::Status status =
      pool->Assemble(batch, InOrder(batch.slots.size()), timeout, out.data());
  if (!status.ok()) return status;
  return out;
}

PoolBatch MustAdmit(RowPool* pool, const std::vector<int64_t>& ids) {
  VICINITY_ASSERT_OK_AND_ASSIGN(PoolBatch batch, pool->Admit(ids));
  REQUIRE(batch.slots.size() == ids.size());
  return batch;
}

void CheckRows(RowPool* pool, const std::vector<int64_t>& ids, const PoolBatch& batch) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string rows, Assembled(pool, batch, kNoWait));
  REQUIRE(rows == TrueRows(ids, pool->row_bytes()));
}

}  // namespace

std::string TrueRow(int64_t node, int64_t row_bytes) {
  // The first bytes count the nodes, so that even one-byte rows differ among few nodes.
  NodeDraws draws(0x726f77, static_cast<uint64_t>(node));
  std::string row(row_bytes, '\0');
  for (int64_t i = 0; i < row_bytes; ++i) {
    row[i] = static_cast<char>(i < 4 ? (node + 1) >> (8 * i) : draws.Below(256));
  }
  return row;
}

std::string TrueRows(absl::Span<const int64_t> nodes, int64_t row_bytes) {
  std::string rows;
  for (const int64_t node : nodes) rows += TrueRow(node, row_bytes);
  return rows;
}

void CheckLifeOfABatch(const PoolKind& kind) {
  const int64_t row_bytes = GENERATE(1, 3, 64, 1000);
  const int64_t capacity = GENERATE(0, 1, 10, 40);
  const std::unique_ptr<RowPool> pool = kind.make({row_bytes, capacity, 40});
  REQUIRE(pool->row_bytes() == row_bytes);
  REQUIRE(pool->stats().capacity_rows == capacity);
  std::vector<int64_t> ids = {39, 0, 12, 1, 25, 13, 2, 38};
  const PoolBatch batch = MustAdmit(pool.get(), ids);
  CHECK(batch.awaited.empty());
  REQUIRE(std::is_sorted(batch.missing.begin(), batch.missing.end()));

  // The last rows first, then the others one by one.
  const std::vector<int64_t> missing = IdsOf(ids, batch.missing);
  const int64_t half = static_cast<int64_t>(missing.size()) / 2;
  VICINITY_REQUIRE_OK(
      pool->Deliver(batch, half, TrueRows(absl::MakeConstSpan(missing).subspan(half), row_bytes)));
  for (int64_t i = 0; i < half; ++i) {
    VICINITY_CHECK_CODE(Assembled(pool.get(), batch, kNoWait), absl::StatusCode::kDeadlineExceeded);
    VICINITY_REQUIRE_OK(pool->Deliver(batch, i, TrueRow(missing[i], row_bytes)));
  }
  CheckRows(pool.get(), ids, batch);

  // Into rows of a tensor that has others too.
  const std::vector<int64_t> positions = {9, 0, 7, 3, 5, 2, 8, 4};
  std::string out(10 * row_bytes, 'x');
  VICINITY_REQUIRE_OK(pool->Assemble(batch, positions, kNoWait, out.data()));
  for (size_t i = 0; i < ids.size(); ++i) {
    CHECK(out.substr(positions[i] * row_bytes, row_bytes) == TrueRow(ids[i], row_bytes));
  }
  CHECK(out.substr(1 * row_bytes, row_bytes) == std::string(row_bytes, 'x'));
  CHECK(out.substr(6 * row_bytes, row_bytes) == std::string(row_bytes, 'x'));
  pool->Release(batch);

  const PoolBatch nothing = MustAdmit(pool.get(), {});
  VICINITY_CHECK_OK(Assembled(pool.get(), nothing, kNoWait));
  pool->Release(nothing);
  const PoolStats stats = pool->stats();
  CHECK(stats.lookups == 8);
  CHECK(stats.fetched == static_cast<int64_t>(missing.size()));
  CHECK(stats.hits == stats.lookups - stats.fetched);
}

void CheckSharing(const PoolKind& kind) {
  const std::unique_ptr<RowPool> pool = kind.make({16, GENERATE(0, 1, 3), 40});
  const std::vector<int64_t> first_ids = {30, 31, 32};
  const std::vector<int64_t> second_ids = {33, 31, 30, 31};
  const PoolBatch first = MustAdmit(pool.get(), first_ids);
  const PoolBatch second = MustAdmit(pool.get(), second_ids);
  REQUIRE(first.missing.size() == 3);
  CHECK(IdsOf(second_ids, second.missing) == std::vector<int64_t>{33});
  CHECK(IdsOf(second_ids, second.awaited) == std::vector<int64_t>{31, 30, 31});
  CHECK(pool->stats().fetched == 4);
  VICINITY_REQUIRE_OK(DeliverAll(pool.get(), second_ids, second));
  VICINITY_CHECK_CODE(Assembled(pool.get(), second, kNoWait), absl::StatusCode::kDeadlineExceeded);
  VICINITY_CHECK_CODE(Assembled(pool.get(), second, std::chrono::milliseconds(1)),
                      absl::StatusCode::kDeadlineExceeded);

  absl::StatusOr<std::string> waited = absl::UnknownError("not yet");
  std::thread waiter([&] { waited = Assembled(pool.get(), second, kLong); });
  const absl::Status delivered = DeliverAll(pool.get(), first_ids, first);
  waiter.join();
  VICINITY_CHECK_OK(delivered);
  VICINITY_REQUIRE_OK(waited);
  CHECK(*waited == TrueRows(second_ids, 16));

  // The first batch is over; what the second needs of it stays.
  pool->Release(first);
  CheckRows(pool.get(), second_ids, second);
  const std::vector<int64_t> third_ids = {31, 30};
  const PoolBatch third = MustAdmit(pool.get(), third_ids);
  CHECK(third.missing.empty());
  CHECK(third.awaited.empty());
  pool->Release(second);
  CheckRows(pool.get(), third_ids, third);
  pool->Release(third);

  // A node named twice is fetched once, by the batch itself.
  const std::vector<int64_t> twice = {35, 36, 35};
  const PoolBatch repeated = MustAdmit(pool.get(), twice);
  CHECK(IdsOf(twice, repeated.missing) == std::vector<int64_t>{35, 36});
  CHECK(repeated.awaited.empty());
  VICINITY_REQUIRE_OK(DeliverAll(pool.get(), twice, repeated));
  CheckRows(pool.get(), twice, repeated);
  pool->Release(repeated);
}

void CheckAbandoning(const PoolKind& kind) {
  const std::unique_ptr<RowPool> pool = kind.make({16, 0, 40});
  const std::vector<int64_t> ids = {30, 31, 32};
  const PoolBatch failing = MustAdmit(pool.get(), ids);
  const PoolBatch waiting = MustAdmit(pool.get(), {32});
  const PoolBatch lucky = MustAdmit(pool.get(), {30});
  VICINITY_REQUIRE_OK(pool->Deliver(failing, 0, TrueRow(30, 16)));

  absl::StatusOr<std::string> waited = absl::UnknownError("not yet");
  std::thread waiter([&] { waited = Assembled(pool.get(), waiting, kLong); });
  const bool by_release = GENERATE(false, true);
  by_release ? pool->Release(failing) : pool->Abandon(failing);
  waiter.join();
  VICINITY_CHECK_CODE(waited, absl::StatusCode::kUnavailable);
  if (!by_release) {
    VICINITY_CHECK_CODE(Assembled(pool.get(), failing, kNoWait), absl::StatusCode::kUnavailable);
    VICINITY_CHECK_CODE(pool->Deliver(failing, 1, TrueRow(31, 16)),
                        absl::StatusCode::kInvalidArgument);
  }
  CheckRows(pool.get(), {30}, lucky);  // came before the failure

  const std::vector<int64_t> again_ids = {32, 31};
  const PoolBatch again = MustAdmit(pool.get(), again_ids);
  CHECK(again.missing == std::vector<int32_t>{0, 1});
  VICINITY_REQUIRE_OK(DeliverAll(pool.get(), again_ids, again));
  CheckRows(pool.get(), again_ids, again);
  VICINITY_CHECK_CODE(Assembled(pool.get(), waiting, kNoWait), absl::StatusCode::kUnavailable);
  if (!by_release) pool->Release(failing);
  pool->Release(waiting);
  pool->Release(lucky);
  CheckRows(pool.get(), again_ids, again);
  pool->Release(again);
}

void CheckRefusals(const PoolKind& kind) {
  const std::unique_ptr<RowPool> pool = kind.make({16, 0, 40});
  VICINITY_CHECK_CODE(pool->Admit({5, -1}), absl::StatusCode::kInvalidArgument);
  CHECK(pool->stats().lookups == 0);

  const std::vector<int64_t> ids = {30, 31, 32};
  const PoolBatch batch = MustAdmit(pool.get(), ids);
  const std::string rows = TrueRows(ids, 16);
  const auto refused = [&](int64_t first, absl::Span<const char> bytes) {
    VICINITY_CHECK_CODE(pool->Deliver(batch, first, bytes), absl::StatusCode::kInvalidArgument);
  };
  refused(0, absl::MakeConstSpan(rows).subspan(0, 15));
  refused(-1, absl::MakeConstSpan(rows).subspan(0, 16));
  refused(1, rows);
  refused(4, {});
  refused(INT64_MAX, absl::MakeConstSpan(rows).subspan(0, 16));
  VICINITY_CHECK_OK(pool->Deliver(batch, 1, TrueRow(31, 16)));
  refused(1, TrueRow(31, 16));
  refused(0, rows);  // the middle one is there
  VICINITY_CHECK_OK(pool->Deliver(batch, 0, TrueRow(30, 16)));
  VICINITY_CHECK_OK(pool->Deliver(batch, 2, TrueRow(32, 16)));
  char out[48];
  VICINITY_CHECK_CODE(pool->Assemble(batch, InOrder(2), kNoWait, out),
                      absl::StatusCode::kInvalidArgument);
  CheckRows(pool.get(), ids, batch);
  pool->Release(batch);
}

namespace {

// The naive model: who needs what, and how far it has come.
class Model {
 public:
  Model(const PoolKind& kind, const PoolShape& shape, uint64_t seed)
      : shape_(shape), pool_(kind.make(shape)), draws_(seed, 0) {}

  void Step() {
    const uint64_t dice = draws_.Below(12);
    if (dice == 10) return Announce();
    if (dice == 11) return draws_.Below(8) == 0 ? Forget() : Announce();
    if (batches_.empty() || (dice < 3 && batches_.size() < 12)) return Admit();
    const size_t i = draws_.Below(batches_.size());
    if (dice < 7) return Deliver(batches_[i].get());
    if (dice < 9) return Assemble(*batches_[i]);
    if (draws_.Below(4) == 0) return Abandon(batches_[i].get());
    Release(i);
  }

  void Finish() {
    while (!batches_.empty()) Release(batches_.size() - 1);
    const PoolStats stats = pool_->stats();
    CHECK(stats.lookups == lookups_);
    CHECK(stats.fetched == fetched_);
    CHECK(stats.hits == lookups_ - fetched_);
  }

 private:
  enum class State { kFetching, kThere, kGivenUp };
  // A node's row, from the first batch in flight that needs it to the last.
  struct Row {
    State state = State::kThere;
  };
  struct Batch {
    std::vector<int64_t> ids;
    PoolBatch pool;
    std::vector<std::shared_ptr<Row>> rows;  // of each id
  };

  // The row in flight of a node, unless it was given up.
  std::shared_ptr<Row> Current(int64_t id) {
    std::shared_ptr<Row> row = current_[id].lock();
    return row != nullptr && row->state == State::kGivenUp ? nullptr : row;
  }

  std::vector<int64_t> RandomIds() {
    const uint64_t most = draws_.Below(3) == 0 ? 2 * shape_.num_nodes : 6;
    std::vector<int64_t> ids(draws_.Below(most));
    for (int64_t& id : ids) id = static_cast<int64_t>(draws_.Below(shape_.num_nodes));
    return ids;
  }

  void Announce() {
    announced_.push_back(RandomIds());
    VICINITY_REQUIRE_OK(pool_->Announce(announced_.back()));
  }
  void Forget() {
    announced_.clear();
    pool_->Forget();
  }

  void Admit() {
    auto batch = std::make_unique<Batch>();
    if (announced_.empty()) {
      batch->ids = RandomIds();
    } else {
      batch->ids = announced_.front();
      announced_.pop_front();
    }
    batch->pool = MustAdmit(pool_.get(), batch->ids);
    std::vector<int32_t> awaited;
    std::vector<std::shared_ptr<Row>> own;
    for (size_t i = 0; i < batch->ids.size(); ++i) {
      const int64_t id = batch->ids[i];
      const bool missing = std::binary_search(batch->pool.missing.begin(),
                                              batch->pool.missing.end(), static_cast<int32_t>(i));
      std::shared_ptr<Row> row = Current(id);
      if (row != nullptr) {
        REQUIRE(!missing);  // there, or on its way
        const bool mine = std::find(own.begin(), own.end(), row) != own.end();
        if (row->state == State::kFetching && !mine) awaited.push_back(static_cast<int32_t>(i));
      } else {
        row = std::make_shared<Row>();
        row->state = missing ? State::kFetching : State::kThere;
        if (missing) own.push_back(row);
        current_[id] = row;
      }
      batch->rows.push_back(std::move(row));
    }
    REQUIRE(batch->pool.awaited == awaited);
    lookups_ += static_cast<int64_t>(batch->ids.size());
    fetched_ += static_cast<int64_t>(batch->pool.missing.size());
    batches_.push_back(std::move(batch));
    CheckSlots();
  }

  // One row a slot, and for rows that were not given up one slot a row.
  void CheckSlots() {
    std::map<int32_t, const Row*> by_slot;
    std::map<const Row*, int32_t> by_row;
    for (const auto& batch : batches_) {
      for (size_t i = 0; i < batch->ids.size(); ++i) {
        const Row* row = batch->rows[i].get();
        const int32_t slot = batch->pool.slots[i];
        REQUIRE(by_slot.emplace(slot, row).first->second == row);
        REQUIRE(by_row.emplace(row, slot).first->second == slot);
      }
    }
  }

  void Deliver(Batch* batch) {
    // A stretch of rows that have not come yet.
    const std::vector<int32_t>& missing = batch->pool.missing;
    std::vector<int64_t> open;
    for (size_t i = 0; i < missing.size(); ++i) {
      if (batch->rows[missing[i]]->state == State::kFetching) {
        open.push_back(static_cast<int64_t>(i));
      }
    }
    if (open.empty()) return;
    const int64_t first = open[draws_.Below(open.size())];
    int64_t end = first;
    while (end < static_cast<int64_t>(missing.size()) && end - first < 4 &&
           batch->rows[missing[end]]->state == State::kFetching) {
      ++end;
    }
    std::vector<int64_t> ids;
    for (int64_t i = first; i < end; ++i) {
      ids.push_back(batch->ids[missing[i]]);
      batch->rows[missing[i]]->state = State::kThere;
    }
    VICINITY_REQUIRE_OK(pool_->Deliver(batch->pool, first, TrueRows(ids, shape_.row_bytes)));
  }

  void Assemble(const Batch& batch) {
    bool fetching = false, given_up = false;
    for (const auto& row : batch.rows) {
      fetching = fetching || row->state == State::kFetching;
      given_up = given_up || row->state == State::kGivenUp;
    }
    const absl::StatusOr<std::string> rows = Assembled(pool_.get(), batch.pool, kNoWait);
    if (given_up) {
      REQUIRE(rows.status().code() == absl::StatusCode::kUnavailable);
    } else if (fetching) {
      REQUIRE(rows.status().code() == absl::StatusCode::kDeadlineExceeded);
    } else {
      VICINITY_REQUIRE_OK(rows);
      REQUIRE(*rows == TrueRows(batch.ids, shape_.row_bytes));
    }
  }

  void GiveUp(Batch* batch) {
    for (const int32_t i : batch->pool.missing) {
      if (batch->rows[i]->state == State::kFetching) batch->rows[i]->state = State::kGivenUp;
    }
  }
  void Abandon(Batch* batch) {
    GiveUp(batch);
    pool_->Abandon(batch->pool);
  }
  void Release(size_t i) {
    GiveUp(batches_[i].get());
    pool_->Release(batches_[i]->pool);
    batches_.erase(batches_.begin() + static_cast<int64_t>(i));
  }

  const PoolShape shape_;
  const std::unique_ptr<RowPool> pool_;
  NodeDraws draws_;
  std::vector<std::unique_ptr<Batch>> batches_;  // in flight
  std::deque<std::vector<int64_t>> announced_;
  std::map<int64_t, std::weak_ptr<Row>> current_;
  int64_t lookups_ = 0;
  int64_t fetched_ = 0;
};

// One thread's batches; empty, or what went wrong.
std::string RunTrainer(RowPool* pool, const PoolShape& shape, int num_batches, uint64_t seed) {
  NodeDraws draws(seed, 1);
  for (int i = 0; i < num_batches; ++i) {
    std::vector<int64_t> ids(draws.Below(20));
    for (int64_t& id : ids) id = static_cast<int64_t>(draws.Below(shape.num_nodes));
    const absl::StatusOr<PoolBatch> batch = pool->Admit(ids);
    if (!batch.ok()) return batch.status().ToString();
    const bool give_up = draws.Below(10) == 0 && !batch->missing.empty();
    const std::string rows = TrueRows(IdsOf(ids, batch->missing), shape.row_bytes);
    absl::Status delivered = absl::OkStatus();
    // Another thread brings the rows, as fetching threads do.
    std::thread fetcher([&] {
      if (give_up) {
        pool->Abandon(*batch);
      } else {
        delivered = pool->Deliver(*batch, 0, rows);
      }
    });
    const absl::StatusOr<std::string> assembled = Assembled(pool, *batch, kLong);
    fetcher.join();
    if (!delivered.ok()) return delivered.ToString();
    if (give_up && !absl::IsUnavailable(assembled.status())) return "rows without a fetch";
    // Unavailable is right, too, where another thread gave up.
    if (!assembled.ok() && !absl::IsUnavailable(assembled.status())) {
      return assembled.status().ToString();
    }
    if (assembled.ok() && *assembled != TrueRows(ids, shape.row_bytes)) return "wrong rows";
    pool->Release(*batch);
  }
  return "";
}

}  // namespace

void CheckAgainstModel(const PoolKind& kind, const PoolShape& shape, int num_operations,
                       uint64_t seed) {
  CAPTURE(shape.row_bytes, shape.capacity, shape.num_nodes, seed);
  Model model(kind, shape, seed);
  for (int i = 0; i < num_operations; ++i) model.Step();
  model.Finish();
}

void CheckManyShapes(const PoolKind& kind, int num_cases) {
  for (int seed = 0; seed < num_cases; ++seed) {
    NodeDraws draws(seed, 2);
    PoolShape shape;
    shape.row_bytes = 1 + static_cast<int64_t>(draws.Below(20));
    shape.num_nodes = 1 + static_cast<int64_t>(draws.Below(24));
    const std::array<int64_t, 4> capacities = {0, 1, shape.num_nodes,
                                               static_cast<int64_t>(draws.Below(30))};
    shape.capacity = std::min(capacities[draws.Below(4)], shape.num_nodes);
    CheckAgainstModel(kind, shape, 30, seed);
  }
}

void CheckThreads(const PoolKind& kind, const PoolShape& shape, int num_threads,
                  int batches_per_thread) {
  const std::unique_ptr<RowPool> pool = kind.make(shape);
  std::vector<std::string> problems(num_threads);
  std::vector<std::thread> threads;
  for (int i = 0; i < num_threads; ++i) {
    threads.emplace_back(
        [&, i] { problems[i] = RunTrainer(pool.get(), shape, batches_per_thread, 100 + i); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& problem : problems) CHECK(problem == "");
  const PoolStats stats = pool->stats();
  CHECK(stats.lookups == stats.hits + stats.fetched);
}

}  // namespace vicinity::testing
