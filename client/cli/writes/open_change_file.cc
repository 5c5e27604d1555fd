#include "client/cli/writes/open_change_file.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "client/cli/writes/array_change_file.h"
#include "client/cli/writes/text_change_file.h"

namespace vicinity::cli {

std::optional<ChangeFormat> ChangeFormatOf(const std::string& path) {
  absl::string_view name = path;
  if (absl::EndsWith(name, ".npz")) return ChangeFormat::kNpz;
  if (absl::EndsWith(name, ".npy")) return ChangeFormat::kNpy;
  absl::ConsumeSuffix(&name, ".gz");
  if (absl::EndsWith(name, ".csv")) return ChangeFormat::kCsv;
  if (absl::EndsWith(name, ".tsv")) return ChangeFormat::kTsv;
  if (absl::EndsWith(name, ".jsonl") || absl::EndsWith(name, ".ndjson")) {
    return ChangeFormat::kJsonLines;
  }
  return std::nullopt;
}

absl::StatusOr<std::unique_ptr<ChangeFile>> OpenChangeFile(
    const std::string& path, ChangeFormat format, const std::vector<std::string>& npy_names) {
  const bool is_text = format != ChangeFormat::kNpz && format != ChangeFormat::kNpy;
  if (!is_text && path == "-") {
    return absl::InvalidArgumentError(
        "arrays cannot be read from standard input, only from a file: save them to one, or pipe "
        "lines of text");
  }
  switch (format) {
    case ChangeFormat::kCsv:
      return TextChangeFile::Open(path, TextChangeFile::Format::kCsv);
    case ChangeFormat::kTsv:
      return TextChangeFile::Open(path, TextChangeFile::Format::kTsv);
    case ChangeFormat::kJsonLines:
      return TextChangeFile::Open(path, TextChangeFile::Format::kJsonLines);
    case ChangeFormat::kNpz:
      return ArrayChangeFile::OpenNpz(path);
    case ChangeFormat::kNpy:
      break;
  }
  return ArrayChangeFile::OpenNpy(path, npy_names);
}

}  // namespace vicinity::cli
