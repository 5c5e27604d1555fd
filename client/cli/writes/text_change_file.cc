#include "client/cli/writes/text_change_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "proto/common/status.h"

namespace vicinity::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kNoSeparator = '\x01';  // JSON has no such character

std::string TextOf(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  std::string text;
  if (value.is_array()) {
    for (const Json& each : value) absl::StrAppend(&text, text.empty() ? "" : " ", TextOf(each));
  } else if (value.is_object()) {
    for (const auto& [key, each] : value.items()) {
      absl::StrAppend(&text, text.empty() ? "" : " ", key, ":", TextOf(each));
    }
  } else {
    text = value.dump();
  }
  return text;
}

bool Counts(const std::string& key) { return !absl::StartsWith(key, "_"); }

// Null where it is no object.
Json ObjectOf(absl::string_view line) {
  Json object = Json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
  return object.is_object() ? object : Json();
}

}  // namespace

absl::StatusOr<std::unique_ptr<TextChangeFile>> TextChangeFile::Open(const std::string& path,
                                                                     Format format) {
  TextReader::Options options;
  options.separator = format == Format::kCsv ? ',' : format == Format::kTsv ? '\t' : kNoSeparator;
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<TextReader> reader,
                            TextReader::Open(path == "-" ? "/dev/stdin" : path, options));
  std::unique_ptr<TextChangeFile> file(new TextChangeFile(path, std::move(reader), format));
  VICINITY_RETURN_IF_ERROR(At(path, file->ReadNames()));
  file->Forget();
  return file;
}

absl::Status TextChangeFile::ReadNames() {
  VICINITY_ASSIGN_OR_RETURN(const Line line, reader_->Next());
  if (line == Line::kEnd) return absl::InvalidArgumentError("has no line with names of its fields");
  if (line == Line::kBad) return absl::InvalidArgumentError(reader_->problem());
  if (format_ == Format::kJsonLines) {
    const Json object = ObjectOf(reader_->fields()[0]);
    for (const auto& [key, value] : object.items()) {
      if (Counts(key)) names_.push_back(key);
    }
    if (names_.empty()) return absl::InvalidArgumentError("the first line is no JSON object");
    has_row_ = true;
    return absl::OkStatus();
  }
  for (const absl::string_view name : reader_->fields()) names_.emplace_back(name);
  std::set<std::string> distinct;
  for (const std::string& name : names_) {
    if (distinct.insert(name).second) continue;
    return absl::InvalidArgumentError(absl::StrCat("names the field \"", name, "\" twice"));
  }
  return absl::OkStatus();
}

absl::StatusOr<ChangeFile::Found> TextChangeFile::Next() {
  Line line = Line::kRow;
  if (!std::exchange(has_row_, false)) {
    VICINITY_ASSIGN_OR_RETURN(line, reader_->Next());
  }
  if (line == Line::kEnd) return Found::kEnd;
  if (line == Line::kBad) problem_ = reader_->problem();
  if (line == Line::kBad) return Found::kBad;
  if (format_ == Format::kJsonLines) return ParseObject() ? Found::kRow : Found::kBad;
  row_.set_fields(reader_->fields());
  return Found::kRow;
}

const FileRow& TextChangeFile::Kept(int64_t i) {
  std::vector<absl::string_view> fields(names_.size());
  for (size_t f = 0; f < fields.size(); ++f) fields[f] = kept_.field(i, static_cast<int64_t>(f));
  kept_row_.set_fields(fields);
  return kept_row_;
}

bool TextChangeFile::ParseObject() {
  const Json object = ObjectOf(reader_->fields()[0]);
  if (object.is_null()) {
    problem_ = "is no JSON object";
    return false;
  }
  texts_.clear();
  for (const std::string& name : names_) {
    const auto found = object.find(name);
    if (found == object.end()) {
      problem_ = absl::StrCat("has no \"", name, "\", which the first line has");
      return false;
    }
    texts_.push_back(TextOf(*found));
  }
  for (const auto& [key, value] : object.items()) {
    if (!Counts(key) || std::find(names_.begin(), names_.end(), key) != names_.end()) continue;
    problem_ = absl::StrCat("has \"", key, "\", which the first line has not");
    return false;
  }
  row_.set_fields(std::vector<absl::string_view>(texts_.begin(), texts_.end()));
  return true;
}

}  // namespace vicinity::cli
