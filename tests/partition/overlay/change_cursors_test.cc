#include "partition/overlay/change_cursors.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/overlay/delta_store.h"
#include "partition/overlay/live_values.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

class CursorsTest {
 public:
  CursorsTest() { Reopen(); }

  // As a process that ended at once and was started again.
  void Reopen() {
    cursors_.reset();
    store_.reset();
    VICINITY_ASSERT_OK_AND_ASSIGN(
        store_, DeltaStore::Open(folder_.File("changes"), "shard 0", DeltaStoreOptions()));
    VICINITY_ASSERT_OK_AND_ASSIGN(cursors_, ChangeCursors::Open(store_.get()));
  }

 protected:
  const testing::TempDir folder_;
  std::unique_ptr<DeltaStore> store_;
  std::unique_ptr<ChangeCursors> cursors_;
};

TEST_CASE_METHOD(CursorsTest, "a cursor is where it was acknowledged, also after a start",
                 "[change_cursors]") {
  CHECK(cursors_->Find("a") == LogPosition{0, 0});
  CHECK(cursors_->Oldest(7) == 7);
  VICINITY_REQUIRE_OK(cursors_->Move("a", {5, 2}));
  VICINITY_REQUIRE_OK(cursors_->Move("b/\xff", {9, 2}));
  VICINITY_REQUIRE_OK(cursors_->Move("a", {3, 1}));  // of an attempt that was overtaken
  const bool reopened = GENERATE(false, true);
  if (reopened) Reopen();
  CHECK(cursors_->Find("a") == LogPosition{5, 2});
  const std::vector<ChangeCursor> list = cursors_->List();
  REQUIRE(list.size() == 2);
  CHECK(list[0].name == "a");
  CHECK(list[0].unix_micros > 0);
  CHECK(list[1].name == "b/\xff");
  CHECK(list[1].at == LogPosition{9, 2});
  CHECK(cursors_->Oldest(20) == 5);
  VICINITY_REQUIRE_OK(cursors_->Drop("a"));
  VICINITY_REQUIRE_OK(cursors_->Drop("nobody"));
  if (reopened) Reopen();
  CHECK(cursors_->Find("a") == LogPosition{0, 0});
  CHECK(cursors_->List().size() == 1);
  VICINITY_REQUIRE_OK(cursors_->Move("a", {3, 1}));  // from anew
  CHECK(cursors_->Find("a") == LogPosition{3, 1});
}

TEST_CASE_METHOD(CursorsTest, "names and numbers of cursors are bounded", "[change_cursors]") {
  VICINITY_CHECK_CODE(cursors_->Move("", {1, 0}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(cursors_->Move(std::string(65, 'x'), {1, 0}),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_OK(cursors_->Move(std::string(64, 'x'), {1, 0}));
  for (size_t i = 1; i < ChangeCursors::kMost; ++i) {
    VICINITY_REQUIRE_OK(cursors_->Move(absl::StrCat("reader ", i), {i, 0}));
  }
  const absl::Status more = cursors_->Move("one more", {1, 0});
  VICINITY_CHECK_CODE(more, absl::StatusCode::kResourceExhausted);
  CHECK_THAT(std::string(more.message()), Catch::Contains("1024") && Catch::Contains("one more"));
  VICINITY_CHECK_OK(cursors_->Move("reader 1", {2, 0}));
  VICINITY_REQUIRE_OK(cursors_->Drop("reader 2"));
  VICINITY_CHECK_OK(cursors_->Move("one more", {1, 0}));
}

TEST_CASE_METHOD(CursorsTest, "readers of one cursor never move it back", "[change_cursors]") {
  std::vector<std::thread> readers;
  std::vector<absl::Status> moved(4);
  for (size_t r = 0; r < moved.size(); ++r) {
    readers.emplace_back([&, r] {
      for (uint64_t version = 1 + r; version <= 200; version += moved.size()) {
        moved[r].Update(cursors_->Move("shared", {version, 0}));
        if (cursors_->Find("shared").version < version) moved[r] = absl::InternalError("back");
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  for (const absl::Status& status : moved) VICINITY_CHECK_OK(status);
  CHECK(cursors_->Find("shared") == LogPosition{200, 0});
}

}  // namespace
}  // namespace vicinity
