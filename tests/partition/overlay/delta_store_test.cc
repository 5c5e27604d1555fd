#include "partition/overlay/delta_store.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/overlay/store_number.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr ShardPart kPart = {ShardPart::kNodeRows, 1, 2};

class StoreTest {
 public:
  StoreTest() { Open(); }

  absl::Status TryOpen(const std::string& identity = "shard 0") {
    store_.reset();
    auto store = DeltaStore::Open(folder_.File("store"), identity, DeltaStoreOptions());
    if (store.ok()) store_ = *std::move(store);
    return store.status();
  }
  void Open() { VICINITY_REQUIRE_OK(TryOpen()); }
  void Write(uint64_t version, bool durable) {
    DeltaStore::Commit commit(*store_);
    VICINITY_REQUIRE_OK(commit.PutRow({kPart, version * 10, version}, RowOf(version)));
    VICINITY_REQUIRE_OK(commit.PutChange(version, absl::StrCat("change ", version)));
    VICINITY_REQUIRE_OK(store_->Write(commit, durable));
  }
  static std::string RowOf(uint64_t version) { return absl::StrCat("row of version ", version); }
  std::vector<std::string> Log() const {
    std::vector<std::string> log;
    VICINITY_CHECK_OK(store_->Replay([&](uint64_t version, std::string_view change) {
      CHECK(version == log.size() + 1);
      log.emplace_back(change);
      return absl::OkStatus();
    }));
    return log;
  }

  testing::TempDir folder_;
  std::unique_ptr<DeltaStore> store_;
};

TEST_CASE_METHOD(StoreTest, "what was written is there after opening again, in order",
                 "[delta_store]") {
  for (uint64_t version = 1; version <= 300; ++version) Write(version, version % 50 == 0);
  Open();
  CHECK(store_->last_version() == 300);
  const std::vector<std::string> log = Log();
  REQUIRE(log.size() == 300);
  CHECK(log[255] == "change 256");
  CHECK(*store_->ReadChange(17) == "change 17");
  CHECK(store_->ReadChange(301).status().code() == absl::StatusCode::kNotFound);
  std::vector<std::string> rows(4);
  const RowPlace places[] = {{kPart, 30, 3}, {kPart, 2560, 256}, {kPart, 30, 3}, {kPart, 10, 1}};
  VICINITY_CHECK_OK(
      store_->ReadRows(places, [&](size_t i, std::string_view row) { rows[i] = row; }));
  CHECK(rows == std::vector<std::string>{RowOf(3), RowOf(256), RowOf(3), RowOf(1)});
  const RowPlace none[] = {{kPart, 30, 4}};
  CHECK(store_->ReadRows(none, [](size_t, std::string_view) {}).code() ==
        absl::StatusCode::kDataLoss);
}

TEST_CASE_METHOD(StoreTest, "a store tells its memory and its files", "[delta_store]") {
  const int64_t empty = store_->number(StoreNumber::kBufferBytes);
  for (uint64_t version = 1; version <= 1000; ++version) Write(version, false);
  CHECK(store_->number(StoreNumber::kBufferBytes) > empty);
  // Opening it again sorts what is in the log into files.
  Open();
  CHECK(store_->number(StoreNumber::kFileBytes) > 1000 * 20);
  CHECK(store_->number(StoreNumber::kReaderBytes) > 0);
  CHECK(Log().size() == 1000);
  CHECK(store_->number(StoreNumber::kCacheBytes) >= 0);
  for (const StoreNumber none :
       {StoreNumber::kWriteStopped, StoreNumber::kWriteRate, StoreNumber::kErrors}) {
    CHECK(store_->number(none) == 0);
  }
}

TEST_CASE_METHOD(StoreTest, "a store is of one shard, and of one process at a time",
                 "[delta_store]") {
  const absl::Status taken =
      DeltaStore::Open(folder_.File("store"), "shard 0", DeltaStoreOptions()).status();
  CHECK(taken.code() == absl::StatusCode::kFailedPrecondition);
  const absl::Status other = TryOpen("shard 1");
  CHECK(other.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(std::string(other.message()).find("shard 0, and not of shard 1") != std::string::npos);
}

// RocksDB's own recovery opens such a log without a word.
TEST_CASE_METHOD(StoreTest, "a log that has lost its end is refused, by name of both versions",
                 "[delta_store]") {
  for (uint64_t version = 1; version <= 20; ++version) Write(version, true);
  store_.reset();
  for (const auto& entry : std::filesystem::directory_iterator(folder_.File("store/db"))) {
    if (entry.path().extension() != ".log" || entry.file_size() == 0) continue;
    std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
  }
  const absl::Status status = TryOpen();
  CHECK(status.code() == absl::StatusCode::kDataLoss);
  CHECK(std::string(status.message()).find("20") != std::string::npos);
}

TEST_CASE_METHOD(StoreTest, "a damaged byte in the log is refused", "[delta_store]") {
  for (uint64_t version = 1; version <= 20; ++version) Write(version, true);
  store_.reset();
  for (const auto& entry : std::filesystem::directory_iterator(folder_.File("store/db"))) {
    if (entry.path().extension() != ".log" || entry.file_size() == 0) continue;
    testing::FlipBit(entry.path().string(), static_cast<int64_t>(entry.file_size() / 2));
  }
  CHECK(TryOpen().code() == absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vicinity
