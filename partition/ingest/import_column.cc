#include "partition/ingest/import_column.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "partition/ingest/formats/value_cast.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// So many rows too many are counted for the message. A packed file can have a thousand times its
// size in them.
constexpr int64_t kMostSurplus = int64_t{1} << 20;

absl::Status WrongRows(const ArraySource& source, absl::string_view owner, int64_t found,
                       int64_t num_rows) {
  const bool counted = !source.is_text() || found - num_rows <= kMostSurplus;
  return absl::InvalidArgumentError(absl::StrCat(source.name(), ": has ",
                                                 counted ? "" : "more than ", found, " rows, and ",
                                                 owner, " has ", num_rows));
}

}  // namespace

absl::StatusOr<DType> StoredType(const ArraySource& source, proto::DType cast) {
  if (cast != proto::DTYPE_UNSPECIFIED) {
    if (proto::DType_IsValid(cast)) return static_cast<DType>(cast);
    return absl::InvalidArgumentError(absl::StrCat("cast: unknown type ", static_cast<int>(cast)));
  }
  VICINITY_ASSIGN_OR_RETURN(const ValueType type, source.FindType());
  if (IsStored(type)) return static_cast<DType>(type);
  return absl::InvalidArgumentError(absl::StrCat(
      source.name(), ": ", ValueTypeName(type), " is no type of a column: say what to cast it to"));
}

absl::StatusOr<ImportColumn> OpenColumn(const proto::ColumnSource& column,
                                        const ArraySource::Options& options) {
  const std::string where = absl::StrCat("column '", column.name(), "'");
  if (!column.of_source().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": of_source ", column.of_source(), ": only edges have sources"));
  }
  if (!column.has_array()) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": has no `array`"));
  }
  ImportColumn opened;
  absl::StatusOr<std::unique_ptr<ArraySource>> source = ArraySource::Open(column.array(), options);
  if (!source.ok()) return At(where, source.status());
  opened.source = *std::move(source);
  const absl::StatusOr<DType> dtype = StoredType(*opened.source, column.cast());
  if (!dtype.ok()) return At(where, dtype.status());
  opened.spec.name = column.name();
  opened.spec.dtype = *dtype;
  opened.spec.shape = opened.source->row_shape();
  return opened;
}

absl::Status CheckNumRows(const ArraySource& source, absl::string_view owner, int64_t num_rows) {
  const int64_t found = source.num_rows();
  if (found == ArraySource::kUnknown || found == num_rows) return absl::OkStatus();
  return WrongRows(source, owner, found, num_rows);
}

absl::Status CheckReadRows(ArraySource* source, absl::string_view owner, int64_t read,
                           int64_t num_rows) {
  int64_t found = read;
  if (source->is_text()) {  // numbers tell how many they are
    FieldTable rest;
    int64_t rows = 1;
    for (; rows > 0 && found - num_rows <= kMostSurplus; found += rows) {
      VICINITY_ASSIGN_OR_RETURN(rows, source->ReadFields(1 << 12, &rest));
    }
  } else {
    found = source->num_rows();
  }
  return found == num_rows ? absl::OkStatus() : WrongRows(*source, owner, found, num_rows);
}

absl::Status WriteRows(ImportColumn* column, absl::string_view owner, int64_t num_rows, char* out,
                       Progress* progress) {
  VICINITY_RETURN_IF_ERROR(CheckNumRows(*column->source, owner, num_rows));
  const std::string phase = absl::StrCat("writing ", owner, ", ", column->spec.name);
  progress->Begin(phase, num_rows, "rows");
  const int64_t row_bytes = column->spec.row_bytes();
  const int64_t chunk = ChunkRows(row_bytes);
  int64_t done = 0;
  absl::StatusOr<int64_t> rows = 1;
  while (*rows > 0 && done < num_rows) {
    rows = column->source->ReadValues(column->spec.dtype, std::min(chunk, num_rows - done),
                                      out + done * row_bytes);
    if (!rows.ok()) break;
    done += *rows;
    progress->Update(done);
  }
  progress->End();
  if (!rows.ok()) return rows.status();
  return CheckReadRows(column->source.get(), owner, done, num_rows);
}

}  // namespace vicinity
