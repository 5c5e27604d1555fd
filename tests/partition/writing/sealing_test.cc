#include "partition/writing/sealing.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/schema_proto.h"
#include "partition/dataset/shard_files.h"
#include "partition/schema/schema.h"
#include "partition/writing/directory_builder.h"
#include "partition/writing/output_files.h"
#include "proto/common/file.h"
#include "proto/manifest.pb.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::TempDir;

// Two nodes of a dense type, one in each of two shards, ready to be sealed.
class Written {
 public:
  Written() : book_(*Book::Create({{0, 1, 2}})), files_(dir_.path()) {
    schema_.node_types = {{"node", IdKind::kDense, 0, {}, "", 0, ""}};
    manifest_.set_name("by hand");
    *manifest_.mutable_schema() = SchemaToProto(schema_);
    *manifest_.mutable_book() = book_.ToProto();
    for (int32_t s = 0; s < 2; ++s) {
      std::filesystem::create_directory(dir_.File(ShardFolder({s})));
      VICINITY_ASSERT_OK_AND_ASSIGN(const OutputArray keys,
                                    files_.Add(KeysPath(schema_, {s}, {0}), FileKind::kKeys, 1, 8));
      keys.as<uint64_t>()[0] = static_cast<uint64_t>(s);
    }
    VICINITY_REQUIRE_OK(BuildDirectories(schema_, book_, &files_));
  }

  absl::Status Seal() { return SealFiles(schema_, 2, dir_.path(), &files_, &manifest_); }
  std::string KeysFile(int32_t shard) const { return dir_.File(KeysPath(schema_, {shard}, {0})); }
  const std::string& path() const { return dir_.path(); }
  proto::Manifest* manifest() { return &manifest_; }

 private:
  const TempDir dir_;
  Schema schema_;
  const Book book_;
  OutputFiles files_;
  proto::Manifest manifest_;
};

TEST_CASE("sealed files are listed shard by shard and read as a dataset", "[partition]") {
  Written written;
  VICINITY_REQUIRE_OK(written.Seal());
  REQUIRE(written.manifest()->shards_size() == 2);
  CHECK(written.manifest()->shards(1).files_size() == 3);
  VICINITY_REQUIRE_OK(AuditWritten(written.path(), written.manifest()));
  CHECK(written.manifest()->audit().node_types(0).count() == 2);
  VICINITY_REQUIRE_OK(WriteManifest(written.path(), *written.manifest()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(written.path()));
  CHECK(dataset->whole());
}

TEST_CASE("what readers could not open is found before it is published", "[partition]") {
  Written written;
  VICINITY_REQUIRE_OK(written.Seal());
  VICINITY_ASSERT_OK_AND_ASSIGN(std::string bytes, ReadFile(written.KeysFile(1)));
  bytes.resize(bytes.size() - 8);
  VICINITY_REQUIRE_OK(WriteFileAtomically(written.KeysFile(1), bytes));
  VICINITY_CHECK_CODE(AuditWritten(written.path(), written.manifest()),
                      absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace vicinity
