// Files of rows to write by their formats.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/writes/change_file.h"

namespace vicinity::cli {

enum class ChangeFormat : uint8_t { kCsv, kTsv, kJsonLines, kNpz, kNpy };

// By a file's name: .csv, .tsv, .jsonl and .ndjson, also with .gz; .npz and .npy.
std::optional<ChangeFormat> ChangeFormatOf(const std::string& path);

// `npy_names`: of the fields of an array alone. "-" is standard input, of text alone, else
// InvalidArgument. What TextChangeFile and ArrayChangeFile say.
absl::StatusOr<std::unique_ptr<ChangeFile>> OpenChangeFile(
    const std::string& path, ChangeFormat format, const std::vector<std::string>& npy_names);

}  // namespace vicinity::cli
