#include "partition/ingest/import_ragged.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "partition/dataset/schema_proto.h"
#include "partition/ingest/formats/value_cast.h"
#include "partition/ingest/import_column.h"
#include "partition/schema/ragged_row.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int64_t kChunk = 1 << 16;  // values, offsets or fields read at a time

absl::StatusOr<std::unique_ptr<ArraySource>> OpenPart(const char* part,
                                                      const proto::ArrayFile& file,
                                                      const ArraySource::Options& options) {
  absl::StatusOr<std::unique_ptr<ArraySource>> source = ArraySource::Open(file, options);
  if (!source.ok()) return At(part, source.status());
  if ((*source)->values_per_row() == 1) return source;
  return absl::InvalidArgumentError(absl::StrCat(part, ": ", (*source)->name(), " has ",
                                                 (*source)->values_per_row(),
                                                 " values a row, expected 1"));
}

absl::Status OpenText(const proto::RaggedSource& column, const ArraySource::Options& options,
                      ImportRagged* opened) {
  if (column.has_offsets() || column.has_values() || column.has_indices() ||
      column.cast() != proto::DTYPE_UNSPECIFIED) {
    return absl::InvalidArgumentError("has `text`, and so no other array and no cast");
  }
  VICINITY_ASSIGN_OR_RETURN(opened->text_lengths, OpenPart("text", column.text(), options));
  VICINITY_ASSIGN_OR_RETURN(opened->text, OpenPart("text", column.text(), options));
  if (!opened->text->is_text()) {
    return absl::InvalidArgumentError(
        absl::StrCat("text: ", opened->text->name(), " is no text file"));
  }
  opened->spec.dtype = DType::kUint8;
  return absl::OkStatus();
}

absl::Status OpenArrays(const proto::RaggedSource& column, const ArraySource::Options& options,
                        ImportRagged* opened) {
  if (!column.has_offsets() || !column.has_values()) {
    return absl::InvalidArgumentError("has neither `text` nor both of `offsets` and `values`");
  }
  if (column.has_indices() != (column.num_columns() > 0) || column.num_columns() < 0) {
    return absl::InvalidArgumentError(absl::StrCat("num_columns is ", column.num_columns(),
                                                   column.has_indices() ? ", " : ", no ",
                                                   "`indices`: a sparse matrix has both"));
  }
  VICINITY_ASSIGN_OR_RETURN(opened->offsets, OpenPart("offsets", column.offsets(), options));
  VICINITY_ASSIGN_OR_RETURN(opened->values, OpenPart("values", column.values(), options));
  if (column.has_indices()) {
    VICINITY_ASSIGN_OR_RETURN(opened->indices, OpenPart("indices", column.indices(), options));
    opened->spec.num_columns = column.num_columns();
  }
  VICINITY_ASSIGN_OR_RETURN(opened->spec.dtype, StoredType(*opened->values, column.cast()));
  return absl::OkStatus();
}

// All integers of a source.
absl::StatusOr<std::vector<int64_t>> ReadAll(ArraySource* source) {
  std::vector<int64_t> all;
  std::vector<int64_t> chunk;
  absl::StatusOr<int64_t> read = 1;
  while (*read > 0) {
    read = source->ReadInts(kChunk, &chunk);
    if (!read.ok()) return read.status();
    all.insert(all.end(), chunk.begin(), chunk.begin() + *read);
  }
  return all;
}

// Writes one column, whose rows' offsets, in values, are known.
class RaggedWriter {
 public:
  RaggedWriter(ImportRagged* column, std::vector<int64_t> offsets, const RaggedPlace& place,
               DatasetWriter* writer)
      : column_(*column),
        spec_(column->spec),
        offsets_(std::move(offsets)),
        place_(place),
        writer_(*writer) {}

  absl::Status Write(Progress* progress) {
    VICINITY_RETURN_IF_ERROR(CheckOffsets());
    VICINITY_ASSIGN_OR_RETURN(const OutputArray begins,
                              writer_.RaggedOffsets(place_.shard, place_.type, place_.index));
    for (size_t i = 0; i < offsets_.size(); ++i) {
      begins.as<uint64_t>()[i] = static_cast<uint64_t>(offsets_[i] * spec_.item_bytes());
    }
    VICINITY_ASSIGN_OR_RETURN(const OutputArray bytes,
                              writer_.RaggedBytes(place_.shard, place_.type, place_.index,
                                                  offsets_.back() * spec_.item_bytes()));
    out_ = bytes.data;
    if (column_.text != nullptr) return WriteText(progress);
    VICINITY_RETURN_IF_ERROR(WriteValues(progress));
    if (column_.indices == nullptr) return absl::OkStatus();
    VICINITY_RETURN_IF_ERROR(WriteIndices());
    return SortRows();
  }

 private:
  const ArraySource& offsets_source() const {
    return column_.text != nullptr ? *column_.text : *column_.offsets;
  }
  int64_t num_values() const { return offsets_.back(); }
  int64_t count(int64_t row) const { return offsets_[row + 1] - offsets_[row]; }
  char* row(int64_t row) const { return out_ + offsets_[row] * spec_.item_bytes(); }

  absl::Status Refuse(const ArraySource& source, const std::string& what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("column '", spec_.name, "': ", source.name(), ": ", what));
  }

  absl::Status CheckOffsets() const {
    const ArraySource& source = offsets_source();
    if (static_cast<int64_t>(offsets_.size()) != place_.num_nodes + 1) {
      return Refuse(source, absl::StrCat("has ", offsets_.size() - 1, " rows, and there are ",
                                         place_.num_nodes, " nodes"));
    }
    if (offsets_.front() != 0) {
      return Refuse(source, absl::StrCat("begins with ", offsets_.front(), ", expected 0"));
    }
    for (int64_t i = 0; i < place_.num_nodes; ++i) {
      if (count(i) >= 0 && count(i) <= kMaxRowBytes / spec_.item_bytes()) continue;
      return Refuse(source, absl::StrCat("row ", i, " would have ", count(i), " values of ",
                                         spec_.item_bytes(), " bytes, expected 0 to ",
                                         kMaxRowBytes / spec_.item_bytes()));
    }
    return absl::OkStatus();
  }

  // Of `source`, which has one row a value, as many as there are.
  absl::Status CheckCount(ArraySource* source, int64_t read) const {
    return At(absl::StrCat("column '", spec_.name, "'"),
              CheckReadRows(source, "the last offset", read, num_values()));
  }

  // Calls place(row, i, k) for the values from `done` on: the i-th of its row is the k-th of the
  // chunk.
  template <typename Place>
  void ForEach(int64_t done, int64_t taken, const Place& place) {
    for (int64_t k = 0; k < taken; ++k) {
      while (offsets_[at_ + 1] <= done + k) ++at_;
      place(at_, done + k - offsets_[at_], k);
    }
  }

  absl::Status WriteValues(Progress* progress) {
    const int64_t value_bytes = DTypeBytes(spec_.dtype);
    std::vector<char> chunk(spec_.is_sparse() ? kChunk * value_bytes : 0);
    progress->Begin(absl::StrCat("writing ", spec_.name), num_values(), "values");
    at_ = 0;
    int64_t done = 0;
    absl::StatusOr<int64_t> read = 1;
    while (*read > 0 && done < num_values()) {
      char* const to = spec_.is_sparse() ? chunk.data() : out_ + done * value_bytes;
      read = column_.values->ReadValues(spec_.dtype, std::min(kChunk, num_values() - done), to);
      if (!read.ok()) return At(absl::StrCat("column '", spec_.name, "'"), read.status());
      if (spec_.is_sparse()) {
        ForEach(done, *read, [&](int64_t at, int64_t i, int64_t k) {
          char* const values = row(at) + count(at) * sizeof(int32_t);
          std::memcpy(values + i * value_bytes, &chunk[k * value_bytes], value_bytes);
        });
      }
      done += *read;
      progress->Update(done);
    }
    progress->End();
    return CheckCount(column_.values.get(), done);
  }

  absl::Status WriteIndices() {
    std::vector<int64_t> chunk;
    at_ = 0;
    int64_t done = 0;
    absl::StatusOr<int64_t> read = 1;
    while (*read > 0 && done < num_values()) {
      read = column_.indices->ReadInts(std::min(kChunk, num_values() - done), &chunk);
      if (!read.ok()) return At(absl::StrCat("column '", spec_.name, "'"), read.status());
      for (int64_t k = 0; k < *read; ++k) {
        if (chunk[k] >= 0 && chunk[k] < spec_.num_columns) continue;
        return Refuse(*column_.indices, absl::StrCat("row ", done + k, ": index ", chunk[k], " of ",
                                                     spec_.num_columns, " columns"));
      }
      ForEach(done, *read, [&](int64_t at, int64_t i, int64_t k) {
        const auto index = static_cast<int32_t>(chunk[k]);
        std::memcpy(row(at) + i * sizeof(index), &index, sizeof(index));
      });
      done += *read;
    }
    return CheckCount(column_.indices.get(), done);
  }

  // SciPy need not keep a row's indices in order.
  absl::Status SortRows() const {
    for (int64_t at = 0; at < place_.num_nodes; ++at) {
      const std::string_view bytes(row(at), count(at) * spec_.item_bytes());
      if (RaggedRowFault(spec_, bytes).empty()) continue;
      SortRow(at);
      const std::string fault = RaggedRowFault(spec_, bytes);
      if (!fault.empty()) return Refuse(*column_.indices, absl::StrCat("node ", at, " ", fault));
    }
    return absl::OkStatus();
  }

  void SortRow(int64_t at) const {
    const int64_t value_bytes = DTypeBytes(spec_.dtype);
    const std::string before(row(at), count(at) * spec_.item_bytes());
    std::vector<int32_t> indices(count(at));
    std::memcpy(indices.data(), before.data(), indices.size() * sizeof(int32_t));
    std::vector<int64_t> order(count(at));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int64_t a, int64_t b) { return indices[a] < indices[b]; });
    char* const values = row(at) + count(at) * sizeof(int32_t);
    const char* const values_before = before.data() + count(at) * sizeof(int32_t);
    for (int64_t i = 0; i < count(at); ++i) {
      std::memcpy(row(at) + i * sizeof(int32_t), &indices[order[i]], sizeof(int32_t));
      std::memcpy(values + i * value_bytes, values_before + order[i] * value_bytes, value_bytes);
    }
  }

  absl::Status WriteText(Progress* progress) {
    progress->Begin(absl::StrCat("writing ", spec_.name), place_.num_nodes, "rows");
    FieldTable fields;
    int64_t done = 0;
    absl::StatusOr<int64_t> read = 1;
    while (*read > 0 && done < place_.num_nodes) {
      read = column_.text->ReadFields(std::min(kChunk, place_.num_nodes - done), &fields);
      if (!read.ok()) return At(absl::StrCat("column '", spec_.name, "'"), read.status());
      for (int64_t i = 0; i < *read; ++i) {
        const absl::string_view field = fields.field(i, 0);
        if (static_cast<int64_t>(field.size()) != count(done + i)) {
          return Refuse(*column_.text, "has changed while it was read");
        }
        std::copy(field.begin(), field.end(), row(done + i));
      }
      done += *read;
      progress->Update(done);
    }
    progress->End();
    if (done == place_.num_nodes) return absl::OkStatus();
    return Refuse(*column_.text, "has changed while it was read");
  }

  ImportRagged& column_;
  const RaggedSpec spec_;
  const std::vector<int64_t> offsets_;  // in values
  const RaggedPlace place_;
  DatasetWriter& writer_;
  char* out_ = nullptr;
  int64_t at_ = 0;  // the row of the value that was placed last
};

// Offsets as the lengths of a text's fields make them.
absl::StatusOr<std::vector<int64_t>> TextOffsets(ArraySource* text) {
  std::vector<int64_t> offsets = {0};
  FieldTable fields;
  absl::StatusOr<int64_t> read = 1;
  while (*read > 0) {
    read = text->ReadFields(kChunk, &fields);
    if (!read.ok()) return read.status();
    for (int64_t i = 0; i < *read; ++i) {
      offsets.push_back(offsets.back() + static_cast<int64_t>(fields.field(i, 0).size()));
    }
  }
  return offsets;
}

}  // namespace

absl::StatusOr<ImportRagged> OpenRagged(const proto::RaggedSource& column,
                                        const ArraySource::Options& options) {
  ImportRagged opened;
  opened.spec.name = column.name();
  const absl::Status status =
      column.has_text() ? OpenText(column, options, &opened) : OpenArrays(column, options, &opened);
  if (!status.ok()) return At(absl::StrCat("column '", column.name(), "'"), status);
  return opened;
}

absl::Status WriteRagged(ImportRagged* column, const RaggedPlace& place, DatasetWriter* writer,
                         Progress* progress) {
  absl::StatusOr<std::vector<int64_t>> offsets = column->text != nullptr
                                                     ? TextOffsets(column->text_lengths.get())
                                                     : ReadAll(column->offsets.get());
  if (!offsets.ok()) return At(absl::StrCat("column '", column->spec.name, "'"), offsets.status());
  if (offsets->empty()) offsets->push_back(0);
  return RaggedWriter(column, *std::move(offsets), place, writer).Write(progress);
}

}  // namespace vicinity
