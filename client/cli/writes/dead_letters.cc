#include "client/cli/writes/dead_letters.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace vicinity::cli {

absl::Status DeadLetters::CheckIsNew() const {
  std::error_code error;
  if (!wanted() || !std::filesystem::exists(path_, error)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("--dead-letter ", path_, " is there already: it is not overwritten"));
}

void DeadLetters::Add(nlohmann::ordered_json row, int64_t number, const std::string& reason) {
  if (!file_.is_open() && !file_.fail()) file_.open(path_, std::ios::binary);
  row["_line"] = number;
  row["_reason"] = reason;
  file_ << row.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

absl::Status DeadLetters::Finish() {
  if (file_.is_open()) file_.close();
  if (!file_.fail()) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(path_, ": cannot be written: rows that were refused are not all in it"));
}

}  // namespace vicinity::cli
