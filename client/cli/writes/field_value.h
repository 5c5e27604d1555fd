// Rows of columns out of text, as files of changes have them.
//
// Threads: functions of their arguments alone.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "partition/schema/schema.h"

namespace vicinity::cli {

// One row of a column, added to `out`: a value, or as many as the row has, with blanks between
// them. What text means is what it means to import (docs/cli.md); where it means no value, that is
// NaN in columns of floating-point numbers, and -1, no label, where `is_label`. InvalidArgument
// naming the value: it is none, does not fit the column's type, or there are more or fewer.
absl::Status ParseColumnRow(const ColumnSpec& spec, bool is_label, absl::string_view text,
                            std::string* out);

// One row of a ragged column, as it is stored: of uint8 the bytes of the text itself; else values
// with blanks between them, of sparse columns `index:value`, in any order of indices.
// InvalidArgument as above, and for an index that is there twice or out of range.
absl::Status ParseRaggedRow(const RaggedSpec& spec, absl::string_view text, std::string* out);

}  // namespace vicinity::cli
