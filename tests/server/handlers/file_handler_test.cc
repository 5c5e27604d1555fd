#include "server/handlers/file_handler.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/dataset/verified_file.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/ids.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

// Shards 0 and 2 of three.
class FileTest {
 public:
  FileTest() {
    const testing::MemoryGraph graph = testing::TypedGraph(40, 30, 7, 2);
    VICINITY_REQUIRE_OK(WriteGraph(graph, Shuffled(graph, 3, 4), folder_.File("g")));
    Dataset::Options options;
    options.shards = {{0}, {2}};
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("g"), options));
  }

 protected:
  proto::ReadFileRequest Request(const std::string& path, uint64_t offset = 0) const {
    proto::ReadFileRequest request;
    request.set_fingerprint(dataset_->fingerprint());
    request.set_path(path);
    request.set_offset(offset);
    return request;
  }

  const testing::TempDir folder_;
  std::unique_ptr<Dataset> dataset_;
};

TEST_CASE_METHOD(FileTest, "a served file comes as it is, from any byte on", "[file_handler]") {
  for (const proto::FileEntry& file : dataset_->manifest().shards(2).files()) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ReadFileReply reply,
                                  ReadFilePiece(*dataset_, Request(file.path())));
    CHECK(reply.size() == file.size());
    CHECK(Checksum(reply.data()) == file.checksum());
    VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ReadFileReply rest,
                                  ReadFilePiece(*dataset_, Request(file.path(), 60)));
    CHECK(rest.data() == reply.data().substr(60));
  }
}

TEST_CASE_METHOD(FileTest, "the manifest comes as it is on the disk", "[file_handler]") {
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ReadFileReply reply,
                                ReadFilePiece(*dataset_, Request("manifest.textproto")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string text,
                                ReadFile(folder_.File("g/manifest.textproto")));
  CHECK(reply.size() == text.size());
  CHECK(reply.data() == text);
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::ReadFileReply behind,
                                ReadFilePiece(*dataset_, Request("manifest.textproto", 1 << 30)));
  CHECK(behind.data().empty());
}

TEST_CASE_METHOD(FileTest, "nothing but served files can be had", "[file_handler]") {
  for (const char* path : {"../g/manifest.textproto", "/etc/passwd", "",
                           "shard-00001/nodes.user.keys", "shard-00000/../manifest.textproto"}) {
    VICINITY_CHECK_CODE(ReadFilePiece(*dataset_, Request(path)), absl::StatusCode::kNotFound);
  }
  const std::string keys = "shard-00000/nodes.user.keys";
  VICINITY_CHECK_CODE(ReadFilePiece(*dataset_, Request(keys, uint64_t{1} << 40)),
                      absl::StatusCode::kInvalidArgument);
  proto::ReadFileRequest other = Request(keys);
  other.set_fingerprint(1);
  VICINITY_CHECK_CODE(ReadFilePiece(*dataset_, other), absl::StatusCode::kFailedPrecondition);
}

TEST_CASE_METHOD(FileTest, "a damaged shard heals nobody", "[file_handler]") {
  dataset_->shard({0})->files()[0]->Condemn("torn").IgnoreError();
  VICINITY_CHECK_CODE(ReadFilePiece(*dataset_, Request("shard-00000/nodes.user.keys")),
                      absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vicinity
