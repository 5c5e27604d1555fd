#include "server/generation_record.h"

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

using Json = nlohmann::ordered_json;

std::string PathIn(const std::string& folder, ShardId first) {
  return absl::StrCat(folder, absl::StrFormat("/generation-%05d.json", first.value));
}

// 64 bits are no JSON number.
std::string Text(uint64_t fingerprint) { return absl::StrFormat("%016x", fingerprint); }

std::optional<uint64_t> Fingerprint(const Json& text) {
  uint64_t fingerprint = 0;
  if (!text.is_string() || !absl::SimpleHexAtoi(text.get<std::string>(), &fingerprint)) {
    return std::nullopt;
  }
  return fingerprint;
}

std::optional<GenerationRecord> Parse(const std::string& bytes) {
  const Json json = Json::parse(bytes, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  for (const char* name : {"dataset", "data", "changes"}) {
    if (!json.contains(name) || !json[name].is_string()) return std::nullopt;
  }
  GenerationRecord record;
  const std::optional<uint64_t> own = Fingerprint(json["dataset"]);
  if (!own.has_value() || !json.contains("before") || !json["before"].is_array()) {
    return std::nullopt;
  }
  record.fingerprint = *own;
  record.data = json["data"].get<std::string>();
  record.changes = json["changes"].get<std::string>();
  for (const Json& each : json["before"]) {
    const std::optional<uint64_t> before = Fingerprint(each);
    if (!before.has_value()) return std::nullopt;
    record.before.push_back(*before);
  }
  return record;
}

}  // namespace

absl::StatusOr<std::optional<GenerationRecord>> ReadGenerationRecord(const std::string& folder,
                                                                     ShardId first) {
  const std::string path = PathIn(folder, first);
  std::error_code failed;
  if (!std::filesystem::exists(path, failed)) return std::optional<GenerationRecord>();
  VICINITY_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  std::optional<GenerationRecord> record = Parse(bytes);
  if (record.has_value()) return record;
  return absl::DataLossError(absl::StrCat(
      path,
      ": which dataset is in force does not read; as it is on another server it will do, but "
      "for the folder `data` where that differs"));
}

absl::Status WriteGenerationRecord(const std::string& folder, ShardId first,
                                   const GenerationRecord& record) {
  Json json;
  json["dataset"] = Text(record.fingerprint);
  json["data"] = record.data;
  json["changes"] = record.changes;
  json["before"] = Json::array();
  for (const uint64_t before : record.before) json["before"].push_back(Text(before));
  const std::string text =
      json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
  return WriteFileAtomically(PathIn(folder, first), text);
}

std::string ChangesFolderOf(uint64_t fingerprint) {
  return absl::StrFormat("dataset-%016x", fingerprint);
}

}  // namespace vicinity
