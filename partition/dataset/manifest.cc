#include "partition/dataset/manifest.h"

#include <google/protobuf/text_format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "proto/cluster/text_proto.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

using google::protobuf::TextFormat;

constexpr int64_t kMaxManifestBytes = int64_t{1} << 30;

std::string ChecksumLine(std::string_view text) {
  return absl::StrFormat("# xxh3: %016x\n", Checksum(text));
}

// Of a directory without a manifest.
absl::Status NoDatasetError(const std::string& directory) {
  std::error_code error;
  if (!std::filesystem::exists(directory, error)) {
    return absl::NotFoundError(absl::StrCat(directory, ": there is no such folder"));
  }
  return absl::NotFoundError(
      absl::StrCat(directory,
                   ": is no dataset, it has no manifest.textproto (`vicinity import`, `generate` "
                   "and `partition` make datasets)"));
}

// The text without its last line, which must be its checksum.
absl::StatusOr<std::string_view> CheckedText(const std::string& path, std::string_view bytes) {
  constexpr size_t kLineBytes = 25;  // "# xxh3: ", 16 digits, end of line
  if (bytes.size() < kLineBytes) {
    return absl::DataLossError(
        absl::StrCat(path, ": ", bytes.size(), " bytes are no manifest: it was cut off"));
  }
  const std::string_view text = bytes.substr(0, bytes.size() - kLineBytes);
  const std::string_view found = bytes.substr(text.size());
  const std::string expected = ChecksumLine(text);
  if (found != expected) {
    return absl::DataLossError(
        absl::StrCat(path, ": was changed or cut off: its last line is \"",
                     std::string(found.substr(0, found.size() - 1)), "\", the rest makes \"",
                     absl::string_view(expected).substr(0, expected.size() - 1), "\""));
  }
  return text;
}

absl::Status CheckPath(const std::string& path) {
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == "." || part == "..") {
      return absl::DataLossError(absl::StrCat("path \"", path, "\" may lead out of the dataset"));
    }
  }
  if (path.find('\0') != std::string::npos) {
    return absl::DataLossError(absl::StrCat("path \"", path, "\" holds a zero byte"));
  }
  return absl::OkStatus();
}

absl::Status CheckPaths(const proto::Manifest& manifest) {
  for (const proto::ShardEntry& shard : manifest.shards()) {
    for (const proto::FileEntry& file : shard.files()) {
      VICINITY_RETURN_IF_ERROR(CheckPath(file.path()));
    }
  }
  for (const proto::Ranking& ranking : manifest.rankings()) {
    for (const proto::FileEntry& file : ranking.files()) {
      VICINITY_RETURN_IF_ERROR(CheckPath(file.path()));
    }
  }
  for (const proto::Index& index : manifest.indexes()) {
    for (const proto::FileEntry& file : index.files()) {
      VICINITY_RETURN_IF_ERROR(CheckPath(file.path()));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckIndexFiles(const proto::Manifest& manifest) {
  for (const proto::Index& index : manifest.indexes()) {
    if (index.files_size() == manifest.shards_size()) continue;
    return absl::DataLossError(absl::StrCat("an index lists ", index.files_size(), " files of ",
                                            manifest.shards_size(), " shards"));
  }
  return absl::OkStatus();
}

// A newer manifest may hold fields that this build does not know; its version says so better than a
// complaint about the first of them.
absl::Status CheckVersion(const std::string& path, const std::string& text) {
  proto::Manifest manifest;
  if (!ParseTextProto(path, text, &manifest, UnknownFields::kSkip).ok()) {
    return absl::OkStatus();  // said later, in full
  }
  if (manifest.format_version() > kFormatVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": format version ", manifest.format_version(),
                     " is newer than this build's ", kFormatVersion));
  }
  return absl::OkStatus();
}

absl::StatusOr<proto::Manifest> ParseManifest(const std::string& path, const std::string& text) {
  VICINITY_RETURN_IF_ERROR(CheckVersion(path, text));
  proto::Manifest manifest;
  if (const absl::Status status = ParseTextProto(path, text, &manifest); !status.ok()) {
    return absl::DataLossError(status.message());
  }
  if (manifest.format_version() == 0) {
    return absl::DataLossError(absl::StrCat(path, ": no format_version"));
  }
  if (const absl::Status status = CheckPaths(manifest); !status.ok()) return At(path, status);
  if (const absl::Status status = CheckIndexFiles(manifest); !status.ok()) return At(path, status);
  if (const uint64_t found = Fingerprint(manifest); found != manifest.fingerprint()) {
    return absl::DataLossError(absl::StrCat(path, ": the content's fingerprint is ",
                                            absl::Hex(found), ", stored is ",
                                            absl::Hex(manifest.fingerprint())));
  }
  return manifest;
}

// Feeds values in a form that tells "ab","c" from "a","bc" and does not depend on how protobuf
// encodes.
class Feeder {
 public:
  void Number(uint64_t value) {
    checksum_.Append({reinterpret_cast<const char*>(&value), sizeof(value)});
  }
  void Text(const std::string& text) {
    Number(text.size());
    checksum_.Append(text);
  }
  template <typename Repeated>
  void Numbers(const Repeated& values) {
    Number(values.size());
    for (const auto value : values) Number(static_cast<uint64_t>(value));
  }
  void Columns(const google::protobuf::RepeatedPtrField<proto::Column>& columns) {
    Number(columns.size());
    for (const proto::Column& column : columns) {
      Text(column.name());
      Number(column.dtype());
      Numbers(column.shape());
    }
  }
  void Schema(const proto::Schema& schema);
  uint64_t value() const { return checksum_.value(); }

 private:
  RunningChecksum checksum_;
};

void Feeder::Schema(const proto::Schema& schema) {
  Number(schema.node_types_size());
  for (const proto::NodeType& type : schema.node_types()) {
    Text(type.name());
    Number(type.id_kind());
    Number(type.key_salt());
    Columns(type.columns());
    Text(type.label_column());
    Number(static_cast<uint64_t>(type.num_classes()));
    Text(type.split_column());
  }
  Number(schema.edge_types_size());
  for (const proto::EdgeType& type : schema.edge_types()) {
    Text(type.source());
    Text(type.relation());
    Text(type.target());
    Columns(type.columns());
  }
}

}  // namespace

uint64_t Fingerprint(const proto::Manifest& manifest) {
  Feeder feeder;
  feeder.Schema(manifest.schema());
  feeder.Number(manifest.book().node_types_size());
  for (const proto::Book::Ranges& type : manifest.book().node_types()) {
    feeder.Numbers(type.begins());
  }
  feeder.Number(manifest.shards_size());
  for (const proto::ShardEntry& shard : manifest.shards()) {
    feeder.Number(shard.files_size());
    for (const proto::FileEntry& file : shard.files()) {
      feeder.Text(file.path());
      feeder.Number(file.size());
      feeder.Number(file.checksum());
    }
  }
  return feeder.value();
}

std::string ManifestPath(const std::string& directory) {
  return absl::StrCat(directory, "/manifest.textproto");
}

std::vector<const proto::FileEntry*> FilesOfShard(const proto::Manifest& manifest, ShardId shard) {
  std::vector<const proto::FileEntry*> files;
  for (const proto::FileEntry& file : manifest.shards(shard.value).files()) files.push_back(&file);
  for (const proto::Index& index : manifest.indexes()) files.push_back(&index.files(shard.value));
  return files;
}

absl::StatusOr<proto::Manifest> ReadManifest(const std::string& directory) {
  const std::string path = ManifestPath(directory);
  const absl::StatusOr<std::string> bytes = ReadFile(path, kMaxManifestBytes);
  if (absl::IsNotFound(bytes.status())) return NoDatasetError(directory);
  if (!bytes.ok()) return bytes.status();
  VICINITY_ASSIGN_OR_RETURN(const std::string_view text, CheckedText(path, *bytes));
  return ParseManifest(path, std::string(text));
}

absl::Status WriteManifest(const std::string& directory, proto::Manifest manifest) {
  const std::string path = ManifestPath(directory);
  if (const absl::Status status = CheckPaths(manifest); !status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", status.message()));
  }
  if (manifest.format_version() == 0) manifest.set_format_version(kFormatVersion);
  manifest.set_fingerprint(Fingerprint(manifest));
  std::string text;
  if (!TextFormat::PrintToString(manifest, &text)) {
    return absl::InternalError(absl::StrCat(path, ": protobuf could not print the manifest"));
  }
  return WriteFileAtomically(path, text + ChecksumLine(text));
}

}  // namespace vicinity
