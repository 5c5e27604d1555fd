#include "partition/dataset/manifest.h"

#include <google/protobuf/text_format.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <fstream>
#include <string>

#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::TempDir;

proto::Manifest Example() {
  proto::Manifest manifest;
  REQUIRE(google::protobuf::TextFormat::ParseFromString(R"(
      name: "small"
      schema {
        node_types { name: "a" id_kind: DENSE columns { name: "x" dtype: INT8 shape: [2, 3] } }
        edge_types { source: "a" relation: "r" target: "a" }
      }
      book { num_shards: 1 node_types { begins: [0, 3] } }
      shards { files { path: "shard-00000/nodes.a.keys" size: 88 checksum: 17 } }
      audit { node_types { count: 3 ids: 99 } }
      rankings { name: "default" files { path: "shard-00000/ranking.default.0.a" } })",
                                                        &manifest));
  return manifest;
}

// A manifest with this text and the right last line.
void WriteText(const std::string& directory, const std::string& text) {
  char line[32];
  std::snprintf(line, sizeof(line), "# xxh3: %016llx\n",
                static_cast<unsigned long long>(Checksum(text)));
  VICINITY_REQUIRE_OK(WriteFileAtomically(ManifestPath(directory), text + line));
}

std::string TextOf(const std::string& directory) {
  VICINITY_ASSERT_OK_AND_ASSIGN(std::string text, ReadFile(ManifestPath(directory)));
  return text.substr(0, text.size() - 25);
}

TEST_CASE("a manifest reads back with its version and fingerprint", "[partition]") {
  TempDir dir;
  VICINITY_REQUIRE_OK(WriteManifest(dir.path(), Example()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const proto::Manifest manifest, ReadManifest(dir.path()));
  CHECK(manifest.format_version() == kFormatVersion);
  CHECK(manifest.fingerprint() == Fingerprint(Example()));
  proto::Manifest expected = Example();
  expected.set_format_version(kFormatVersion);
  expected.set_fingerprint(manifest.fingerprint());
  CHECK(manifest.DebugString() == expected.DebugString());
}

TEST_CASE("a folder without a manifest is no dataset", "[partition]") {
  TempDir dir;
  const absl::Status empty = ReadManifest(dir.path()).status();
  VICINITY_CHECK_CODE(empty, absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(empty.message()), Catch::StartsWith(dir.path() + ": is no dataset"));
  const absl::Status none = ReadManifest(dir.File("none")).status();
  VICINITY_CHECK_CODE(none, absl::StatusCode::kNotFound);
  CHECK_THAT(std::string(none.message()), Catch::EndsWith("none: there is no such folder"));
}

TEST_CASE("a flip or a cut anywhere in a manifest is noticed", "[partition]") {
  TempDir dir;
  const std::string path = ManifestPath(dir.path());
  VICINITY_REQUIRE_OK(WriteManifest(dir.path(), Example()));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::string whole, ReadFile(path));
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] ^= 4;
    std::ofstream(path, std::ios::trunc) << (i % 2 == 0 ? flipped : whole.substr(0, i));
    const absl::Status status = ReadManifest(dir.path()).status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kDataLoss);
    CHECK_THAT(std::string(status.message()), Catch::Contains(path));
  }
}

TEST_CASE("a newer manifest is refused as newer, whatever else it holds", "[partition]") {
  TempDir dir;
  WriteText(dir.path(), "format_version: 3\nnew_field { deep: 'x' }\n");
  const absl::Status status = ReadManifest(dir.path()).status();
  VICINITY_CHECK_CODE(status, absl::StatusCode::kFailedPrecondition);
  CHECK_THAT(std::string(status.message()), Catch::Contains(ManifestPath(dir.path())));
}

TEST_CASE("text that is no manifest is refused with its line", "[partition]") {
  TempDir dir;
  VICINITY_REQUIRE_OK(WriteManifest(dir.path(), Example()));
  const std::string text = TextOf(dir.path());
  const std::string bad =
      GENERATE(std::string("new_field: 1\n"), std::string("shards {\n"), std::string("name: 5\n"));
  WriteText(dir.path(), text + bad);
  VICINITY_CHECK_CODE(ReadManifest(dir.path()), absl::StatusCode::kDataLoss);
  WriteText(dir.path(), "name: 'no version'\n");
  VICINITY_CHECK_CODE(ReadManifest(dir.path()), absl::StatusCode::kDataLoss);
}

TEST_CASE("content that the fingerprint does not fit is refused", "[partition]") {
  TempDir dir;
  VICINITY_REQUIRE_OK(WriteManifest(dir.path(), Example()));
  std::string text = TextOf(dir.path());
  text.replace(text.find("size: 88"), 8, "size: 89");
  WriteText(dir.path(), text);
  VICINITY_CHECK_CODE(ReadManifest(dir.path()), absl::StatusCode::kDataLoss);
}

TEST_CASE("paths that leave the dataset are neither written nor read", "[partition]") {
  TempDir dir;
  const std::string path =
      GENERATE(std::string("/etc/passwd"), std::string("../x"), std::string("a/../../x"),
               std::string("a//b"), std::string("a/."), std::string(""), std::string("a/.."),
               std::string("a\0b", 3));
  for (const bool ranking : {false, true}) {
    proto::Manifest manifest = Example();
    (ranking ? manifest.mutable_rankings(0)->mutable_files(0)
             : manifest.mutable_shards(0)->mutable_files(0))
        ->set_path(path);
    VICINITY_CHECK_CODE(WriteManifest(dir.path(), manifest), absl::StatusCode::kInvalidArgument);
    manifest.set_format_version(kFormatVersion);
    manifest.set_fingerprint(Fingerprint(manifest));
    std::string text;
    REQUIRE(google::protobuf::TextFormat::PrintToString(manifest, &text));
    WriteText(dir.path(), text);
    VICINITY_CHECK_CODE(ReadManifest(dir.path()), absl::StatusCode::kDataLoss);
  }
}

TEST_CASE("datasets that differ have other fingerprints; notes about them do not count",
          "[partition]") {
  const uint64_t before = Fingerprint(Example());
  proto::Manifest changed = Example();
  changed.set_name("other");
  changed.set_provenance("made by hand");
  changed.clear_rankings();
  changed.clear_audit();
  CHECK(Fingerprint(changed) == before);

  changed = Example();
  changed.mutable_shards(0)->mutable_files(0)->set_checksum(18);
  CHECK(Fingerprint(changed) != before);
  changed = Example();
  changed.mutable_book()->mutable_node_types(0)->set_begins(1, 4);
  CHECK(Fingerprint(changed) != before);
  changed = Example();
  changed.mutable_schema()->mutable_node_types(0)->set_key_salt(1);
  CHECK(Fingerprint(changed) != before);
  changed = Example();
  changed.mutable_schema()->mutable_edge_types(0)->set_relation("s");
  CHECK(Fingerprint(changed) != before);
  changed = Example();
  changed.mutable_schema()->mutable_node_types(0)->mutable_columns(0)->set_shape(0, 3);
  CHECK(Fingerprint(changed) != before);
}

}  // namespace
}  // namespace vicinity
