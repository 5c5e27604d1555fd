#include "partition/writing/directory_builder.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "partition/dataset/book.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/shard_files.h"
#include "partition/schema/schema.h"
#include "partition/writing/output_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::TempDir;

// Four nodes of one type in two shards, with keys, in global order.
class TwoShards {
 public:
  explicit TwoShards(const std::vector<uint64_t>& keys)
      : book_(*Book::Create({{0, 3, 4}})), files_(dir_.path()) {
    schema_.node_types = {{"node", IdKind::kInt64, 0, {}, "", 0, ""}};
    for (int32_t s = 0; s < 2; ++s) {
      std::filesystem::create_directory(dir_.File(ShardFolder({s})));
      VICINITY_ASSERT_OK_AND_ASSIGN(
          const OutputArray array,
          files_.Add(KeysPath(schema_, {s}, {0}), FileKind::kKeys, book_.num_nodes({0}, {s}), 8));
      std::copy_n(keys.begin() + book_.First({0}, {s}).value, array.num_rows,
                  array.as<uint64_t>().begin());
    }
  }

  const Book& book() const { return book_; }
  absl::Status Build() { return BuildDirectories(schema_, book_, &files_); }
  OutputArray Keys(int32_t shard) const {
    return files_.at(DirectoryKeysPath(schema_, {shard}, {0}));
  }
  OutputArray Nodes(int32_t shard) const {
    return files_.at(DirectoryNodesPath(schema_, {shard}, {0}));
  }

 private:
  const TempDir dir_;
  Schema schema_;
  const Book book_;
  OutputFiles files_;
};

TEST_CASE("each key is once in the directory of its shard, in order, with its node",
          "[partition]") {
  const std::vector<uint64_t> keys = {900, 7, 31, 1000};
  TwoShards shards(keys);
  VICINITY_REQUIRE_OK(shards.Build());
  int64_t num_entries = 0;
  for (int32_t s = 0; s < 2; ++s) {
    const auto stored = shards.Keys(s).as<uint64_t>();
    CHECK(std::is_sorted(stored.begin(), stored.end()));
    REQUIRE(shards.Nodes(s).num_rows == shards.Keys(s).num_rows);
    REQUIRE(shards.Nodes(s).row_bytes == 4);
    for (size_t i = 0; i < stored.size(); ++i) {
      CHECK(shards.book().DirectoryShard(stored[i]).value == s);
      CHECK(keys[shards.Nodes(s).as<uint32_t>()[i]] == stored[i]);
    }
    num_entries += shards.Keys(s).num_rows;
  }
  CHECK(num_entries == 4);
}

TEST_CASE("two nodes of one key, in whichever shards, are refused by name", "[partition]") {
  TwoShards shards({7, 900, 31, 7});
  const absl::Status status = shards.Build();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
  CHECK(status.message() == "node type node: nodes 0 and 3 have the same key 7");
}

}  // namespace
}  // namespace vicinity
