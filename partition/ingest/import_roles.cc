#include "partition/ingest/import_roles.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "partition/ingest/formats/problem_list.h"
#include "partition/ingest/formats/value_cast.h"
#include "partition/schema/schema.h"
#include "proto/common/status.h"
#include "proto/common/utf8.h"

namespace vicinity {
namespace {

constexpr int64_t kChunkRows = 1 << 16;
constexpr const char* kSplitNames[] = {"no split", "train", "validation", "test"};

// The next classes as whole numbers; NaN and missing values of text, which some data sets have
// where no class is known, are -1.
absl::StatusOr<int64_t> ReadClasses(ArraySource* source, std::vector<int64_t>* classes) {
  if (!IsFloatingPoint(source->type())) return source->ReadInts(kChunkRows, classes);
  std::vector<double> values(kChunkRows);
  VICINITY_ASSIGN_OR_RETURN(
      const int64_t rows,
      source->ReadValues(DType::kFloat64, kChunkRows, reinterpret_cast<char*>(values.data())));
  classes->resize(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) {
    double value = values[static_cast<size_t>(i)];
    if (std::isnan(value)) value = -1;
    const char* const bytes = reinterpret_cast<const char*>(&value);
    char* const out = reinterpret_cast<char*>(&(*classes)[static_cast<size_t>(i)]);
    if (CastValues(ValueType::kFloat64, bytes, 1, DType::kInt64, out) != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat(source->Place(i), ": ", value,
                       " is no class: it must be whole (real numbers are a "
                       "column that `target_column` names, --targets)"));
    }
  }
  return rows;
}

// The next truth values: of text 0, 1, true or false; of numbers all but 0 is true.
absl::StatusOr<int64_t> ReadTruths(ArraySource* mask, std::vector<int64_t>* truths) {
  if (!mask->is_text()) return mask->ReadInts(kChunkRows, truths);
  std::string bytes(static_cast<size_t>(kChunkRows), '\0');
  VICINITY_ASSIGN_OR_RETURN(const int64_t rows,
                            mask->ReadValues(DType::kBool, kChunkRows, bytes.data()));
  truths->assign(bytes.begin(), bytes.begin() + rows);
  return rows;
}

// Collects splits of one node type.
class SplitReader {
 public:
  SplitReader(const NodeIds& ids, absl::string_view owner) : ids_(ids), owner_(owner) {}

  absl::Status Read(const proto::SplitSource& split, const ArraySource::Options& options,
                    Split value) {
    if (split.has_mask() == split.has_ids()) {
      return absl::InvalidArgumentError("must have either `mask` or `ids`");
    }
    splits_.resize(static_cast<size_t>(ids_.size()));
    VICINITY_ASSIGN_OR_RETURN(
        const std::unique_ptr<ArraySource> source,
        ArraySource::Open(split.has_mask() ? split.mask() : split.ids(), options));
    if (source->values_per_row() != 1) {
      return absl::InvalidArgumentError(absl::StrCat(source->name(), ": has ",
                                                     source->values_per_row(),
                                                     " values a row, and should have one"));
    }
    ProblemList problems;
    VICINITY_RETURN_IF_ERROR(split.has_mask() ? ReadMask(source.get(), value, &problems)
                                              : ReadIds(source.get(), value, &problems));
    return problems.ToStatus(source->name());
  }

  std::vector<uint8_t> Take() { return std::move(splits_); }

 private:
  absl::Status ReadMask(ArraySource* mask, Split value, ProblemList* problems) {
    VICINITY_RETURN_IF_ERROR(CheckNumRows(*mask, owner_, ids_.size()));
    std::vector<int64_t> truths;
    int64_t node = 0;
    for (;;) {
      VICINITY_ASSIGN_OR_RETURN(const int64_t rows, ReadTruths(mask, &truths));
      if (rows == 0) return CheckReadRows(mask, owner_, node, ids_.size());
      for (int64_t i = 0; i < rows; ++i, ++node) {
        if (truths[static_cast<size_t>(i)] == 0 || node >= ids_.size()) continue;
        Assign(node, value, *mask, i, problems);
      }
    }
  }

  absl::Status ReadIds(ArraySource* listed, Split value, ProblemList* problems) {
    // Said before an archive is decompressed: no node is listed twice.
    if (listed->num_rows() > ids_.size()) {
      return absl::InvalidArgumentError(absl::StrCat(listed->name(), ": lists ", listed->num_rows(),
                                                     " ids, and there are ", ids_.size()));
    }
    std::vector<int64_t> values;
    FieldTable fields;
    const bool strings = ids_.kind() == IdKind::kString;
    for (;;) {
      VICINITY_ASSIGN_OR_RETURN(const int64_t rows, strings
                                                        ? listed->ReadFields(kChunkRows, &fields)
                                                        : listed->ReadInts(kChunkRows, &values));
      if (rows == 0) return absl::OkStatus();
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t node =
            strings ? ids_.Find(fields.field(i, 0)) : ids_.FindInt(values[static_cast<size_t>(i)]);
        if (node != NodeIds::kUnknown) {
          Assign(node, value, *listed, i, problems);
          continue;
        }
        problems->Add([&] {
          return absl::StrCat(listed->Place(i), ": no node has the id ",
                              strings ? EscapedText(fields.field(i, 0))
                                      : absl::StrCat(values[static_cast<size_t>(i)]));
        });
      }
    }
  }

  void Assign(int64_t node, Split value, const ArraySource& source, int64_t i,
              ProblemList* problems) {
    uint8_t& split = splits_[static_cast<size_t>(node)];
    if (split == static_cast<uint8_t>(Split::kNone)) {
      split = static_cast<uint8_t>(value);
      return;
    }
    problems->Add([&] {
      return absl::StrCat(source.Place(i), ": node ", ids_.Text(node), " is in ",
                          kSplitNames[split], " already");
    });
  }

  const NodeIds& ids_;
  const absl::string_view owner_;
  std::vector<uint8_t> splits_;
};

}  // namespace

absl::StatusOr<Labels> ReadLabels(ImportColumn* label, absl::string_view owner, int64_t num_nodes,
                                  int32_t num_classes) {
  ArraySource* const source = label->source.get();
  VICINITY_RETURN_IF_ERROR(CheckNumRows(*source, owner, num_nodes));
  const int64_t bound = num_classes > 0 ? num_classes : std::numeric_limits<int32_t>::max();
  Labels labels;
  labels.classes.reserve(static_cast<size_t>(num_nodes));
  ProblemList problems;
  int64_t largest = -1;
  int64_t read = 0;
  std::vector<int64_t> chunk;
  for (int64_t rows = -1; rows != 0; read += rows) {
    VICINITY_ASSIGN_OR_RETURN(rows, ReadClasses(source, &chunk));
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t value = chunk[static_cast<size_t>(i)];
      largest = std::max(largest, value);
      if (value >= -1 && value < bound) continue;
      problems.Add([&] {
        return absl::StrCat(source->Place(i), ": class ", value, " is not in -1 .. ", bound - 1);
      });
    }
    // More rows than nodes are an error soon: they are counted, not kept.
    if (read < num_nodes) labels.classes.insert(labels.classes.end(), chunk.begin(), chunk.end());
  }
  VICINITY_RETURN_IF_ERROR(CheckReadRows(source, owner, read, num_nodes));
  VICINITY_RETURN_IF_ERROR(problems.ToStatus(source->name()));
  labels.num_classes = num_classes > 0 ? num_classes : static_cast<int32_t>(largest + 1);
  return labels;
}

absl::StatusOr<std::vector<uint8_t>> ReadSplits(const proto::NodeSource& source,
                                                const ArraySource::Options& options,
                                                const NodeIds& ids, absl::string_view owner) {
  SplitReader reader(ids, owner);
  if (source.has_train()) {
    VICINITY_RETURN_IF_ERROR(At("train", reader.Read(source.train(), options, Split::kTrain)));
  }
  if (source.has_validation()) {
    VICINITY_RETURN_IF_ERROR(
        At("validation", reader.Read(source.validation(), options, Split::kValidation)));
  }
  if (source.has_test()) {
    VICINITY_RETURN_IF_ERROR(At("test", reader.Read(source.test(), options, Split::kTest)));
  }
  return reader.Take();
}

}  // namespace vicinity
