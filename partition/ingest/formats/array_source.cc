#include "partition/ingest/formats/array_source.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <system_error>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "partition/ingest/formats/conversion_hint.h"
#include "partition/ingest/formats/npy_reader.h"
#include "partition/ingest/formats/npz_reader.h"
#include "partition/ingest/formats/problem_list.h"
#include "partition/ingest/formats/text_reader.h"
#include "partition/ingest/formats/text_value.h"
#include "proto/common/status.h"
#include "proto/common/utf8.h"

namespace vicinity {
namespace {

constexpr int64_t kChunkBytes = int64_t{4} << 20;
// An array without rows can claim rows of any size.
constexpr int64_t kMaxRowValues = int64_t{1} << 28;

absl::string_view DTypeText(DType type) { return ValueTypeName(ToValueType(type)); }

// Rows of an .npy array, from its own file or out of an archive.
class NumberSource : public ArraySource {
 public:
  using Owner = std::variant<NpyFile, NpzMember>;

  // `transposed` arrays have two dimensions, others at least one.
  NumberSource(std::string name, Owner owner, ValueType type, bool transposed)
      : ArraySource(std::move(name), RowShape(ViewOf(owner), transposed)),
        owner_(std::move(owner)),
        view_(ViewOf(owner_)),
        type_(type),
        transposed_(transposed),
        num_rows_(view_.shape[transposed ? 1 : 0]),
        value_bytes_(ValueBytes(type)),
        row_bytes_(values_per_row() * value_bytes_) {}

  static const NpyView& ViewOf(const Owner& owner) {
    return std::visit([](const auto& held) -> const NpyView& { return held.view(); }, owner);
  }

  bool is_text() const override { return false; }
  ValueType type() const override { return type_; }
  int64_t num_rows() const override { return num_rows_; }
  bool HasRows() const override { return num_rows_ > 0; }
  bool LooksInteger() const override { return !IsFloatingPoint(type_); }

  absl::StatusOr<int64_t> ReadInts(int64_t max_rows, std::vector<int64_t>* values) override {
    VICINITY_RETURN_IF_ERROR(Load());
    const int64_t rows = std::min(max_rows, num_rows_ - next_);
    values->resize(static_cast<size_t>(rows * values_per_row()));
    return ReadValues(DType::kInt64, rows, reinterpret_cast<char*>(values->data()));
  }

  absl::StatusOr<int64_t> ReadFields(int64_t, FieldTable*) override {
    return absl::InvalidArgumentError(absl::StrCat(
        name(), ": holds numbers, and strings are wanted: use a text file (.csv, .tsv, .txt)"));
  }

  absl::StatusOr<int64_t> ReadValues(DType type, int64_t max_rows, char* out) override {
    VICINITY_RETURN_IF_ERROR(Load());
    chunk_ = next_;
    const int64_t rows = std::min(max_rows, num_rows_ - next_);
    const int64_t count = rows * values_per_row();
    if (CastValues(type_, Rows(next_, rows), count, type, out) != count) return Misfits(type);
    next_ += rows;
    return rows;
  }

  std::string Place(int64_t i) const override { return absl::StrCat(name(), ": row ", chunk_ + i); }

  absl::StatusOr<std::optional<std::string_view>> Direct(DType type) override {
    // Truth values may need tidying.
    if (transposed_ || type_ != ToValueType(type) || type == DType::kBool) return std::nullopt;
    VICINITY_RETURN_IF_ERROR(Load());
    return view_.data;
  }

 private:
  absl::Status Load() {
    NpzMember* const member = std::get_if<NpzMember>(&owner_);
    return member == nullptr ? absl::OkStatus() : member->Load();
  }

  static std::vector<int64_t> RowShape(const NpyView& view, bool transposed) {
    if (transposed) return {view.shape[0]};
    return std::vector<int64_t>(view.shape.begin() + 1, view.shape.end());
  }

  // The values of some rows, one after the other.
  const char* Rows(int64_t begin, int64_t rows) {
    if (!transposed_) return view_.data.data() + begin * row_bytes_;
    gathered_.resize(static_cast<size_t>(rows * row_bytes_));
    char* out = gathered_.data();
    for (int64_t row = begin; row < begin + rows; ++row) {
      for (int64_t i = 0; i < values_per_row(); ++i, out += value_bytes_) {
        std::memcpy(out, view_.data.data() + (i * num_rows_ + row) * value_bytes_,
                    static_cast<size_t>(value_bytes_));
      }
    }
    return gathered_.data();
  }

  // All values from next_ on that do not fit `type`.
  absl::Status Misfits(DType type) {
    ProblemList problems;
    std::vector<char> scratch(static_cast<size_t>(values_per_row() * DTypeBytes(type)));
    for (int64_t row = next_; row < num_rows_; ++row) {
      const char* const values = Rows(row, 1);
      const int64_t fit = CastValues(type_, values, values_per_row(), type, scratch.data());
      if (fit == values_per_row()) continue;
      problems.Add([&] {
        return absl::StrCat("row ", row, ": ", ValueText(type_, values + fit * value_bytes_),
                            " does not fit ", DTypeText(type));
      });
    }
    const bool ids = type_ == ValueType::kUint64 && type == DType::kInt64;
    return problems.ToStatus(
        ids ? absl::StrCat(name(),
                           " (ids beyond int64: numpy.savetxt('ids.txt', ids, fmt='%d'), and "
                           "id_kind: STRING)")
            : name());
  }

  Owner owner_;
  const NpyView& view_;
  const ValueType type_;
  const bool transposed_;
  const int64_t num_rows_;
  const int64_t value_bytes_;
  const int64_t row_bytes_;
  int64_t chunk_ = 0;  // the first row of the last chunk
  int64_t next_ = 0;
  std::string gathered_;
};

// Rows of a text file.
class TextSource : public ArraySource {
 public:
  TextSource(std::unique_ptr<TextReader> reader, std::vector<int32_t> columns,
             TextReader::Line first)
      : ArraySource(reader->path(), RowShape(*reader, columns, first)),
        reader_(std::move(reader)),
        columns_(std::move(columns)),
        pending_(first) {}

  bool is_text() const override { return true; }
  ValueType type() const override { return ValueType::kFloat32; }
  int64_t num_rows() const override { return kUnknown; }
  bool HasRows() const override { return pending_ != TextReader::Line::kEnd; }
  bool LooksInteger() const override {
    int64_t ignored;
    return pending_ == TextReader::Line::kRow && ParseInteger(reader_->fields()[0], &ignored);
  }

  absl::StatusOr<int64_t> ReadInts(int64_t max_rows, std::vector<int64_t>* values) override {
    values->clear();
    return ReadRows(max_rows, [this, values](int64_t, const Fields& fields, std::string* problem) {
      const size_t before = values->size();
      values->resize(before + fields.size());
      for (size_t i = 0; i < fields.size(); ++i) {
        if (!ParseInteger(fields[i], &(*values)[before + i])) {
          *problem =
              Misfit(i, fields[i], "is not an integer (ids of other kinds: `id_kind: STRING`)");
          values->resize(before);
          return false;
        }
      }
      return true;
    });
  }

  absl::StatusOr<int64_t> ReadFields(int64_t max_rows, FieldTable* table) override {
    table->Clear(static_cast<size_t>(values_per_row()));
    return ReadRows(max_rows, [this, table](int64_t, const Fields& fields, std::string* problem) {
      for (size_t i = 0; i < fields.size(); ++i) {
        if (IsUtf8(fields[i])) continue;
        *problem =
            Misfit(i, fields[i], "is not UTF-8 (`iconv -f LATIN1 -t UTF-8` converts Latin-1)");
        return false;
      }
      table->AddRow(fields);
      return true;
    });
  }

  absl::StatusOr<ValueType> FindType() const override {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(reader_->path(), ignored)) {
      return absl::InvalidArgumentError(absl::StrCat(
          name(),
          ": is no regular file, and finding a type takes a reading of its own: say what "
          "to cast it to"));
    }
    VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<TextReader> again,
                              TextReader::Open(reader_->path(), reader_->options()));
    TextTypeFinder finder;
    for (;;) {
      VICINITY_ASSIGN_OR_RETURN(const TextReader::Line line, again->Next());
      if (line == TextReader::Line::kEnd) return finder.Type(name());
      if (line == TextReader::Line::kBad) continue;  // who reads the rows tells of it
      for (size_t i = 0; i < again->fields().size(); ++i) {
        const absl::string_view field = again->fields()[i];
        finder.Add(ParseTextValue(field), [&] {
          return absl::StrCat("line ", again->line_number(), ": ", Named(i, field));
        });
      }
    }
  }

  absl::StatusOr<int64_t> ReadValues(DType type, int64_t max_rows, char* out) override {
    const int64_t row_bytes = values_per_row() * DTypeBytes(type);
    return ReadRows(max_rows, [&](int64_t row, const Fields& fields, std::string* problem) {
      char* const place = out + row * row_bytes;
      return IsFloatingPoint(ToValueType(type))
                 ? Convert(fields, ToReal, ValueType::kFloat64, "is not a number", type, &doubles_,
                           place, problem)
                 : Convert(fields, ToInteger, ValueType::kInt64, "is not an integer", type,
                           &integers_, place, problem);
    });
  }

  std::string Place(int64_t i) const override {
    return absl::StrCat(name(), ":", lines_[static_cast<size_t>(i)]);
  }

  absl::StatusOr<std::optional<std::string_view>> Direct(DType) override { return std::nullopt; }

 private:
  using Fields = std::vector<absl::string_view>;

  static std::vector<int64_t> RowShape(const TextReader& reader,
                                       const std::vector<int32_t>& columns,
                                       TextReader::Line first) {
    size_t fields = columns.size();
    if (fields == 0) fields = first == TextReader::Line::kRow ? reader.fields().size() : 1;
    if (fields == 1) return {};
    return {static_cast<int64_t>(fields)};
  }

  // Calls take(number in the chunk, fields, problem) for every row; false: it has a problem. From
  // the first problem on the rest of the file is checked, with one row's place to write to.
  template <typename Take>
  absl::StatusOr<int64_t> ReadRows(int64_t max_rows, Take take) {
    assert(max_rows > 0);
    ProblemList problems;
    lines_.clear();
    while (problems.count() > 0 || static_cast<int64_t>(lines_.size()) < max_rows) {
      VICINITY_ASSIGN_OR_RETURN(const TextReader::Line line, NextLine());
      if (line == TextReader::Line::kEnd) break;
      std::string problem;
      const bool good = line == TextReader::Line::kRow;
      const int64_t row = problems.count() > 0 ? 0 : static_cast<int64_t>(lines_.size());
      if (good && take(row, reader_->fields(), &problem)) {
        if (problems.count() == 0) lines_.push_back(reader_->line_number());
        continue;
      }
      problems.Add([&] {
        return absl::StrCat("line ", reader_->line_number(), ": ",
                            good ? problem : reader_->problem());
      });
    }
    VICINITY_RETURN_IF_ERROR(problems.ToStatus(name()));
    return static_cast<int64_t>(lines_.size());
  }

  absl::StatusOr<TextReader::Line> NextLine() {
    if (!pending_) return reader_->Next();
    const TextReader::Line line = *pending_;
    pending_.reset();
    return line;
  }

  static bool ToReal(const TextValue& value, double* real) {
    using Kind = TextValue::Kind;
    *real = value.kind == Kind::kMissing ? std::numeric_limits<double>::quiet_NaN()
            : value.kind == Kind::kTruth || value.kind == Kind::kTime
                ? static_cast<double>(value.integer)
                : value.real;
    return value.kind != Kind::kOther && value.kind != Kind::kFractionalTime;
  }

  // "3.0" is an integer, too: programs write so what once stood beside a missing value.
  static bool ToInteger(const TextValue& value, int64_t* integer) {
    using Kind = TextValue::Kind;
    *integer = value.integer;
    if (value.kind != Kind::kReal) {
      return value.kind == Kind::kInteger || value.kind == Kind::kTruth ||
             value.kind == Kind::kTime;
    }
    return CastValues(ValueType::kFloat64, reinterpret_cast<const char*>(&value.real), 1,
                      DType::kInt64, reinterpret_cast<char*>(integer)) == 1;
  }

  template <typename Number>
  bool Convert(const Fields& fields, bool (*convert)(const TextValue&, Number*),
               ValueType converted, absl::string_view fault, DType type,
               std::vector<Number>* numbers, char* out, std::string* problem) {
    numbers->resize(fields.size());
    for (size_t i = 0; i < fields.size(); ++i) {
      const TextValue value = ParseTextValue(fields[i]);
      if (convert(value, &(*numbers)[i])) continue;
      *problem = Misfit(i, fields[i], FaultOf(value, fault));
      return false;
    }
    const int64_t count = static_cast<int64_t>(fields.size());
    const int64_t fit =
        CastValues(converted, reinterpret_cast<const char*>(numbers->data()), count, type, out);
    if (fit == count) return true;
    const size_t i = static_cast<size_t>(fit);
    *problem = Misfit(i, fields[i], absl::StrCat("does not fit ", DTypeText(type)));
    return false;
  }

  static absl::string_view FaultOf(const TextValue& value, absl::string_view usual) {
    if (value.kind == TextValue::Kind::kMissing) {
      return "is a missing value, which only floating-point columns have (NaN)";
    }
    if (value.kind == TextValue::Kind::kFractionalTime) return "is no whole second";
    return usual;
  }

  std::string Misfit(size_t i, absl::string_view field, absl::string_view fault) const {
    return absl::StrCat(Named(i, field), " ", fault);
  }

  std::string Named(size_t i, absl::string_view field) const {
    const int64_t number = columns_.empty() ? static_cast<int64_t>(i) : columns_[i];
    return absl::StrCat("field ", number, ": '", EscapedText(field.substr(0, 40)), "'");
  }

  const std::unique_ptr<TextReader> reader_;
  const std::vector<int32_t> columns_;
  std::optional<TextReader::Line> pending_;  // what is read already, and not yet taken
  std::vector<int64_t> lines_;               // of the last chunk's rows
  std::vector<double> doubles_;
  std::vector<int64_t> integers_;
};

// The separator of a text file by its name; nothing: no text.
std::optional<char> SeparatorOf(absl::string_view path) {
  absl::ConsumeSuffix(&path, ".gz");
  if (absl::EndsWith(path, ".csv")) return ',';
  if (absl::EndsWith(path, ".tsv")) return '\t';
  if (absl::EndsWith(path, ".txt")) return ' ';
  return std::nullopt;
}

absl::StatusOr<std::unique_ptr<ArraySource>> OpenText(const std::string& path, char separator,
                                                      const proto::ArrayFile& file,
                                                      bool transposed) {
  if (transposed || !file.member().empty() || file.read_as() != proto::DTYPE_UNSPECIFIED) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": text has no `member`, `read_as` or `transposed`"));
  }
  TextReader::Options options;
  options.separator = separator;
  options.header = file.header();
  options.columns.assign(file.columns().begin(), file.columns().end());
  const std::vector<int32_t> columns = options.columns;
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<TextReader> reader,
                            TextReader::Open(path, std::move(options)));
  VICINITY_ASSIGN_OR_RETURN(const TextReader::Line first, reader->Next());
  return std::make_unique<TextSource>(std::move(reader), columns, first);
}

absl::StatusOr<ValueType> TypeToRead(const NpyView& view, proto::DType read_as) {
  if (read_as == proto::DTYPE_UNSPECIFIED) return view.type;
  if (!proto::DType_IsValid(read_as)) {
    return absl::InvalidArgumentError(
        absl::StrCat("read_as: unknown type ", static_cast<int>(read_as)));
  }
  const ValueType type = ToValueType(static_cast<DType>(read_as));
  if (ValueBytes(type) == ValueBytes(view.type)) return type;
  return absl::InvalidArgumentError(absl::StrCat("cannot take ", ValueTypeName(view.type),
                                                 " values for ", ValueTypeName(type),
                                                 ": their widths differ"));
}

absl::Status CheckShape(const std::vector<int64_t>& shape, bool transposed) {
  if (transposed ? shape.size() != 2 : shape.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("has shape (", absl::StrJoin(shape, ", "), ")",
                     transposed ? ", and two dimensions are wanted" : ": one value, and no rows"));
  }
  int64_t values = 1;
  for (size_t i = 1; !transposed && i < shape.size(); ++i) {
    // Neither factor is above the limit by more than one, so the product fits.
    values *= std::min(shape[i], kMaxRowValues + 1);
    if (values > kMaxRowValues) {
      return absl::InvalidArgumentError(absl::StrCat("has shape (", absl::StrJoin(shape, ", "),
                                                     "): rows of more than ", kMaxRowValues,
                                                     " values"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ArraySource>> OpenNumbers(std::string name,
                                                         NumberSource::Owner owner,
                                                         const proto::ArrayFile& file,
                                                         bool transposed) {
  if (!file.columns().empty() || file.header()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": only text has `columns` and `header`"));
  }
  const NpyView& view = NumberSource::ViewOf(owner);
  const absl::StatusOr<ValueType> type = TypeToRead(view, file.read_as());
  if (!type.ok()) return At(name, type.status());
  VICINITY_RETURN_IF_ERROR(At(name, CheckShape(view.shape, transposed)));
  return std::make_unique<NumberSource>(std::move(name), std::move(owner), *type, transposed);
}

}  // namespace

void FieldTable::Clear(size_t fields_per_row) {
  assert(fields_per_row > 0);
  fields_per_row_ = fields_per_row;
  bytes_.clear();
  ends_.clear();
}

void FieldTable::AddRow(const std::vector<absl::string_view>& fields) {
  assert(fields.size() == fields_per_row_);
  for (const absl::string_view field : fields) {
    bytes_.append(field.data(), field.size());
    ends_.push_back(bytes_.size());
  }
}

absl::string_view FieldTable::field(int64_t row, int64_t i) const {
  const size_t index = static_cast<size_t>(row) * fields_per_row_ + static_cast<size_t>(i);
  const size_t begin = index == 0 ? 0 : ends_[index - 1];
  return absl::string_view(bytes_).substr(begin, ends_[index] - begin);
}

int64_t ArraySource::values_per_row() const {
  int64_t values = 1;
  for (const int64_t extent : row_shape_) values *= extent;
  return values;
}

int64_t ChunkRows(int64_t row_bytes) {
  return std::clamp<int64_t>(kChunkBytes / std::max<int64_t>(row_bytes, 1), 1, 1 << 16);
}

absl::StatusOr<std::unique_ptr<ArraySource>> ArraySource::Open(const proto::ArrayFile& file,
                                                               const Options& options) {
  if (file.path().empty()) return absl::InvalidArgumentError("an array without a path");
  const bool absolute = file.path()[0] == '/' || options.base_directory.empty();
  const std::string path =
      absolute ? file.path() : absl::StrCat(options.base_directory, "/", file.path());
  if (const std::optional<char> separator = SeparatorOf(path)) {
    return OpenText(path, *separator, file, options.transposed);
  }
  if (absl::EndsWith(path, ".npz")) {
    NpzFile::Options npz_options;
    npz_options.spool_directory = options.spool_directory;
    VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<NpzFile> archive,
                              NpzFile::Open(path, npz_options));
    if (file.member().empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": which `member` of the archive? ", archive->Contents()));
    }
    VICINITY_ASSIGN_OR_RETURN(NpzMember member, archive->Find(file.member()));
    return OpenNumbers(absl::StrCat(path, ":", file.member()), std::move(member), file,
                       options.transposed);
  }
  if (absl::EndsWith(path, ".npy")) {
    if (!file.member().empty()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": only .npz archives have members"));
    }
    VICINITY_ASSIGN_OR_RETURN(NpyFile array, NpyFile::Open(path));
    return OpenNumbers(path, std::move(array), file, options.transposed);
  }
  const std::string conversion = ConversionOf(path);
  return absl::InvalidArgumentError(absl::StrCat(
      path, ": unknown kind of file; known: .npy, .npz, and .csv, .tsv, .txt with or without .gz",
      conversion.empty() ? "" : "; convert it: ", conversion));
}

}  // namespace vicinity
