// One column of an import: opened, described, and written row by row.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "partition/ingest/formats/array_source.h"
#include "partition/schema/schema.h"
#include "proto/common/progress.h"
#include "proto/import.pb.h"

namespace vicinity {

struct ImportColumn {
  ColumnSpec spec;
  std::unique_ptr<ArraySource> source;  // null: a copy of a node column, spec.of_source
};

// The type to store a source's values as: `cast`, or that found. InvalidArgument for one that
// columns cannot have.
absl::StatusOr<DType> StoredType(const ArraySource& source, proto::DType cast);

// What ArraySource::Open says; InvalidArgument: no array, `of_source`, an unknown type to cast to,
// a type as found that columns cannot have.
absl::StatusOr<ImportColumn> OpenColumn(const proto::ColumnSource& column,
                                        const ArraySource::Options& options);

// InvalidArgument, with both numbers, if the array is known to have another number of rows. `owner`
// says whose rows: "node type paper".
absl::Status CheckNumRows(const ArraySource& source, absl::string_view owner, int64_t num_rows);

// Writes all rows of the column to `out`, which has room for `num_rows`. InvalidArgument: values
// that do not fit, or another number of rows.
absl::Status WriteRows(ImportColumn* column, absl::string_view owner, int64_t num_rows, char* out,
                       Progress* progress);

// As CheckNumRows, for a source that has been read up to row `read`: reads on to its end, or to the
// millionth row too many.
absl::Status CheckReadRows(ArraySource* source, absl::string_view owner, int64_t read,
                           int64_t num_rows);

}  // namespace vicinity
