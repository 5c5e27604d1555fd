#include "partition/overlay/delta_store.h"

#include <rocksdb/env.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/overlay/store_number.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/power/full_fs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

constexpr ShardPart kPart = {ShardPart::kNodeRows, 1, 2};

class StoreTest {
 public:
  StoreTest() { Open(); }

  absl::Status TryOpen(const std::string& identity = "shard 0",
                       const DeltaStoreOptions& options = DeltaStoreOptions()) {
    store_.reset();
    auto store = DeltaStore::Open(folder_.File("store"), identity, options);
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
  CHECK(std::string(taken.message()).find(folder_.File("store")) == 0);
  CHECK(std::string(taken.message()).find("another server serves from here") != std::string::npos);
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

class FullStoreTest : public StoreTest {
 public:
  FullStoreTest() {
    options_.env = env_.get();
    options_.on_full = [this] { ++times_full_; };
    VICINITY_REQUIRE_OK(TryOpen("shard 0", options_));
  }
  ~FullStoreTest() { store_.reset(); }

  absl::Status WriteOne(uint64_t version, bool durable) {
    DeltaStore::Commit commit(*store_);
    VICINITY_REQUIRE_OK(commit.PutRow({kPart, version * 10, version}, RowOf(version)));
    VICINITY_REQUIRE_OK(commit.PutChange(version, absl::StrCat("change ", version)));
    return store_->Write(commit, durable);
  }

  const std::shared_ptr<testing::FullFs> fs_ = std::make_shared<testing::FullFs>();
  const std::unique_ptr<rocksdb::Env> env_ = rocksdb::NewCompositeEnv(fs_);
  DeltaStoreOptions options_;
  std::atomic<int> times_full_{0};
};

TEST_CASE_METHOD(FullStoreTest,
                 "a store whose disk got full is read, and written once it was opened again",
                 "[delta_store]") {
  for (const bool durable : {false, true}) {
    CAPTURE(durable);
    const uint64_t last = store_->last_version();
    for (uint64_t version = last + 1; version <= last + 20; ++version) Write(version, durable);
    fs_->SetRoom(10);
    CHECK(WriteOne(last + 21, durable).code() == absl::StatusCode::kResourceExhausted);
    CHECK(store_->is_full());
    CHECK(times_full_ > 0);
    fs_->SetRoom(-1);
    // Room alone does not help: what the disk dropped nobody knows.
    CHECK(WriteOne(last + 21, durable).code() == absl::StatusCode::kResourceExhausted);
    CHECK(*store_->ReadChange(last + 20) == absl::StrCat("change ", last + 20));
    VICINITY_REQUIRE_OK(store_->Reopen());
    CHECK_FALSE(store_->is_full());
    CHECK(store_->last_version() == last + 20);
    VICINITY_REQUIRE_OK(WriteOne(last + 21, durable));
    CHECK(Log().size() == last + 21);
  }
  VICINITY_REQUIRE_OK(TryOpen());
  CHECK(Log().size() == 42);
}

TEST_CASE_METHOD(FullStoreTest, "a store that finds its disk still full can be read",
                 "[delta_store]") {
  for (uint64_t version = 1; version <= 20; ++version) Write(version, version % 2 == 0);
  fs_->SetRoom(0);
  CHECK_FALSE(WriteOne(21, false).ok());
  for (const int64_t room : {0, 100, 2000}) {
    CAPTURE(room);
    fs_->SetRoom(room);
    CHECK(store_->Reopen().code() == absl::StatusCode::kResourceExhausted);
    CHECK(store_->is_full());
    CHECK(*store_->ReadChange(20) == "change 20");
    CHECK(Log().size() == 20);
    std::string row;
    const RowPlace place[] = {{kPart, 200, 20}};
    VICINITY_CHECK_OK(store_->ReadRows(place, [&](size_t, std::string_view read) { row = read; }));
    CHECK(row == RowOf(20));
    CHECK_FALSE(WriteOne(21, true).ok());
    CHECK_FALSE(store_->Sync().ok());
    CHECK_FALSE(store_->SaveWriter("one").ok());
  }
  fs_->SetRoom(-1);
  VICINITY_REQUIRE_OK(store_->Reopen());
  VICINITY_REQUIRE_OK(WriteOne(21, true));
  CHECK(Log().size() == 21);
}

TEST_CASE_METHOD(FullStoreTest, "a commit whose sync met a full disk is there as a whole or not",
                 "[delta_store]") {
  Write(1, true);
  fs_->RefuseSyncs(true);
  CHECK(WriteOne(2, true).code() == absl::StatusCode::kResourceExhausted);
  fs_->RefuseSyncs(false);
  VICINITY_REQUIRE_OK(store_->Reopen());
  const uint64_t last = store_->last_version();
  CHECK((last == 1 || last == 2));
  CHECK(Log().size() == last);
  VICINITY_REQUIRE_OK(WriteOne(last + 1, true));
}

TEST_CASE_METHOD(FullStoreTest, "readers of a store that is opened again wait, and read the same",
                 "[delta_store]") {
  for (uint64_t version = 1; version <= 50; ++version) Write(version, false);
  std::atomic<bool> stop{false};
  std::atomic<int64_t> num_read{0};
  std::atomic<int64_t> num_wrong{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&, reader] {
      for (uint64_t version = 1 + reader; !stop; version = version % 50 + 1) {
        const auto change = store_->ReadChange(version);
        if (!change.ok() || *change != absl::StrCat("change ", version)) ++num_wrong;
        store_->number(StoreNumber::kBufferBytes);
        ++num_read;
      }
    });
  }
  uint64_t last = 50;
  for (int time = 0; time < 5; ++time) {
    fs_->SetRoom(0);
    CHECK_FALSE(WriteOne(last + 1, true).ok());
    CHECK_FALSE(store_->Reopen().ok());
    fs_->SetRoom(-1);
    VICINITY_REQUIRE_OK(store_->Reopen());
    VICINITY_REQUIRE_OK(WriteOne(++last, true));
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(num_wrong == 0);
  CHECK(num_read > 0);
}

TEST_CASE_METHOD(FullStoreTest, "a log that lost its end while its disk was full is refused",
                 "[delta_store]") {
  for (uint64_t version = 1; version <= 20; ++version) Write(version, true);
  fs_->SetRoom(0);
  CHECK_FALSE(WriteOne(21, true).ok());
  CHECK_FALSE(store_->Reopen().ok());  // it can only be read, so that nothing mends itself
  for (const auto& file : std::filesystem::directory_iterator(folder_.File("store/db"))) {
    if (file.path().extension() != ".log") continue;
    std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) / 2);
  }
  fs_->SetRoom(-1);
  CHECK(store_->Reopen().code() == absl::StatusCode::kDataLoss);
  CHECK_FALSE(store_->is_full());
  CHECK(WriteOne(21, true).code() == absl::StatusCode::kDataLoss);
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
