// A row of NumPy arrays, each of which has one field of all rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/writes/change_file.h"
#include "partition/ingest/formats/value_cast.h"

namespace vicinity::cli {

// Where the rows of a field lie.
struct ArrayField {
  std::string name;
  ValueType type = ValueType::kInt64;
  std::vector<int64_t> row_shape;  // empty: one value
  int64_t num_values = 1;          // of a row, one behind the other
  const char* data = nullptr;      // of row 0
  int64_t stride = 0;              // bytes from a row to the next
};

// Values are cast as they are by import (CastValues). NaN in a column of labels is no label. A
// ragged column takes as many values as the array has in a row; sparse ones take none.
//
// Lifetime: the fields must outlive it.
class ArrayRow final : public FileRow {
 public:
  explicit ArrayRow(const std::vector<ArrayField>* fields) : fields_(*fields) {}

  void set_row(int64_t row) { row_ = row; }
  int64_t row() const { return row_; }

  absl::StatusOr<int64_t> Integer(size_t field) const override;
  absl::StatusOr<absl::string_view> Text(size_t field) const override;
  absl::Status AddColumnRow(size_t field, const ColumnSpec& spec, bool is_label,
                            std::string* out) const override;
  absl::Status AddRaggedRow(size_t field, const RaggedSpec& spec, std::string* out) const override;
  int64_t num_bytes() const override;
  nlohmann::ordered_json ToJson() const override;

 private:
  const char* ValuesOf(const ArrayField& field) const { return field.data + row_ * field.stride; }
  absl::Status Cast(const ArrayField& field, DType dtype, std::string* out) const;

  const std::vector<ArrayField>& fields_;
  int64_t row_ = 0;
};

}  // namespace vicinity::cli
