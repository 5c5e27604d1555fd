// A row of fields of text, as CSV, TSV and JSON lines have them. What text means is what it means
// to import (docs/cli.md).
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/cli/writes/change_file.h"

namespace vicinity::cli {

// A field with several values has blanks between them, of sparse columns `index:value`, in any
// order of indices. A ragged column of uint8 has the bytes of the text itself.
//
// Lifetime: the names must outlive it, and whoever sets its fields what they view.
class TextRow final : public FileRow {
 public:
  explicit TextRow(const std::vector<std::string>* names) : names_(*names) {}

  // As many as there are names.
  void set_fields(absl::Span<const absl::string_view> fields) {
    fields_.assign(fields.begin(), fields.end());
  }
  const std::vector<absl::string_view>& fields() const { return fields_; }

  absl::StatusOr<int64_t> Integer(size_t field) const override;
  absl::StatusOr<absl::string_view> Text(size_t field) const override { return fields_[field]; }
  absl::Status AddColumnRow(size_t field, const ColumnSpec& spec, bool is_label,
                            std::string* out) const override;
  absl::Status AddRaggedRow(size_t field, const RaggedSpec& spec, std::string* out) const override;
  int64_t num_bytes() const override;
  nlohmann::ordered_json ToJson() const override;

 private:
  const std::vector<std::string>& names_;
  std::vector<absl::string_view> fields_;
};

}  // namespace vicinity::cli
