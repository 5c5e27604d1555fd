#include "partition/ingest/formats/npy_reader.h"

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

// NumPy itself stops at 64 dimensions; nobody's columns come near.
constexpr size_t kMaxDimensions = 32;

// What a value of the header's dictionary can be: 'text', True or False, (1, 2, 3), or a list,
// which describes records and is passed on as text.
struct HeaderFields {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;
};

// Reads the literal of a Python dictionary with NumPy's three keys, in any order. Each method
// takes what it names off the front of the text and returns false, or nothing, if it is not there.
class HeaderParser {
 public:
  explicit HeaderParser(absl::string_view text) : text_(text) {}

  // Nothing if it is no such dictionary.
  std::optional<HeaderFields> Parse() {
    HeaderFields fields;
    if (!Take('{')) return std::nullopt;
    while (!Take('}')) {
      const std::optional<std::string> key = TakeString();
      if (!key || !Take(':') || !TakeField(*key, &fields)) return std::nullopt;
      if (!Take(',') && !Peek('}')) return std::nullopt;
    }
    SkipBlanks();
    if (!text_.empty()) return std::nullopt;
    return fields;
  }

 private:
  bool TakeField(const std::string& key, HeaderFields* fields) {
    if (key == "descr" && !fields->descr) {
      // A list of records: no type of ours, but the message should show it.
      fields->descr = Peek('[') ? TakeList() : TakeString();
      return fields->descr.has_value();
    }
    if (key == "fortran_order" && !fields->fortran_order) {
      fields->fortran_order = TakeBool();
      return fields->fortran_order.has_value();
    }
    if (key == "shape" && !fields->shape) {
      fields->shape = TakeShape();
      return fields->shape.has_value();
    }
    return false;  // unknown or doubled
  }

  void SkipBlanks() {
    const size_t begin = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(begin == absl::string_view::npos ? text_.size() : begin);
  }
  bool Peek(char c) {
    SkipBlanks();
    return !text_.empty() && text_[0] == c;
  }
  bool Take(char c) {
    if (!Peek(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  std::optional<std::string> TakeString() {
    const char quote = Peek('"') ? '"' : '\'';
    if (!Take(quote)) return std::nullopt;
    const size_t end = text_.find(quote);
    if (end == absl::string_view::npos) return std::nullopt;
    std::string value(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return value;
  }
  std::optional<std::string> TakeList() {
    const size_t end = text_.rfind(']');
    if (end == absl::string_view::npos) return std::nullopt;
    std::string value(text_.substr(0, end + 1));
    text_.remove_prefix(end + 1);
    return value;
  }
  std::optional<bool> TakeBool() {
    SkipBlanks();
    if (absl::ConsumePrefix(&text_, "True")) return true;
    if (absl::ConsumePrefix(&text_, "False")) return false;
    return std::nullopt;
  }
  std::optional<std::vector<int64_t>> TakeShape() {
    std::vector<int64_t> shape;
    if (!Take('(')) return std::nullopt;
    while (!Take(')')) {
      SkipBlanks();
      int64_t extent = -1;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), extent);
      if (error != std::errc() || extent < 0 || shape.size() == kMaxDimensions) {
        return std::nullopt;
      }
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      absl::ConsumePrefix(&text_, "L");  // Python 2 wrote long integers so
      shape.push_back(extent);
      if (!Take(',') && !Peek(')')) return std::nullopt;
    }
    return shape;
  }

  absl::string_view text_;
};

std::optional<ValueType> NumberType(absl::string_view code) {
  static constexpr std::pair<absl::string_view, ValueType> kTypes[] = {
      {"b1", ValueType::kBool},    {"i1", ValueType::kInt8},    {"u1", ValueType::kUint8},
      {"i2", ValueType::kInt16},   {"u2", ValueType::kUint16},  {"i4", ValueType::kInt32},
      {"u4", ValueType::kUint32},  {"i8", ValueType::kInt64},   {"u8", ValueType::kUint64},
      {"f2", ValueType::kFloat16}, {"f4", ValueType::kFloat32}, {"f8", ValueType::kFloat64}};
  for (const auto& [name, type] : kTypes) {
    if (name == code) return type;
  }
  return std::nullopt;
}

absl::StatusOr<ValueType> TypeOf(absl::string_view descr) {
  if (descr.size() >= 2) {
    const char order = descr[0];
    const std::optional<ValueType> type = NumberType(descr.substr(1));
    if (type && order == '>' && ValueBytes(*type) > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("big-endian values ('", descr,
                       "'): numpy.save(FILE, numpy.load(FILE).astype('<", descr.substr(1), "'))"));
    }
    const bool one_byte = type && ValueBytes(*type) == 1;
    if (type && (order == '<' || order == '=' || one_byte)) return *type;
    if (descr.substr(1, 1) == "O") {
      return absl::InvalidArgumentError(
          "holds Python objects ('|O'), not numbers: save it with a number type");
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("values of type ", descr.substr(0, 80),
                   " are not supported: it must be a number or truth value of 1 to 8 bytes"));
}

struct Parts {
  absl::string_view header;
  std::string_view data;
};

absl::StatusOr<Parts> SplitHeader(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic || bytes.size() < kMagic.size() + 4) {
    return absl::InvalidArgumentError("not an .npy file");
  }
  const auto byte = [bytes](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const int version = byte(6);
  if (version < 1 || version > 3) {
    return absl::InvalidArgumentError(
        absl::StrCat(".npy header version ", version, ".", int{byte(7)}, " is not known"));
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t begin = kMagic.size() + 2 + length_bytes;
  if (bytes.size() < begin) return absl::InvalidArgumentError("ends inside its header");
  size_t length = 0;
  for (size_t i = begin; i-- > begin - length_bytes;) length = length << 8 | byte(i);
  if (length > bytes.size() - begin) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the header should have ", length, " bytes, and ", bytes.size() - begin, " bytes follow"));
  }
  return Parts{{bytes.data() + begin, length}, bytes.substr(begin + length)};
}

// How many bytes the values take; nothing if that overflows.
std::optional<uint64_t> SizeOf(ValueType type, const std::vector<int64_t>& shape) {
  if (absl::c_linear_search(shape, 0)) return 0;
  uint64_t size = static_cast<uint64_t>(ValueBytes(type));
  for (const int64_t extent : shape) {
    if (size > uint64_t{std::numeric_limits<int64_t>::max()} / static_cast<uint64_t>(extent)) {
      return std::nullopt;
    }
    size *= static_cast<uint64_t>(extent);
  }
  return size;
}

absl::Status CheckSize(const NpyView& view, uint64_t data_bytes) {
  const std::optional<uint64_t> size = SizeOf(view.type, view.shape);
  if (size == data_bytes) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "shape (", absl::StrJoin(view.shape, ", "), ") of ", ValueTypeName(view.type), " asks for ",
      size ? absl::StrCat(*size) : "more than 2^63", " bytes, and there are ", data_bytes));
}

// Of a file of `size` bytes, of which at least the header is there.
absl::StatusOr<NpyView> Parse(std::string_view bytes, uint64_t size) {
  VICINITY_ASSIGN_OR_RETURN(const Parts parts, SplitHeader(bytes));
  const std::optional<HeaderFields> fields = HeaderParser(parts.header).Parse();
  if (!fields || !fields->descr || !fields->fortran_order || !fields->shape) {
    return absl::InvalidArgumentError("the .npy header is not one that NumPy writes");
  }
  NpyView view;
  VICINITY_ASSIGN_OR_RETURN(view.type, TypeOf(*fields->descr));
  if (*fields->fortran_order) {
    return absl::InvalidArgumentError(
        "the array is in Fortran order: numpy.save(FILE, "
        "numpy.ascontiguousarray(numpy.load(FILE)))");
  }
  view.shape = *fields->shape;
  view.data = parts.data;
  VICINITY_RETURN_IF_ERROR(CheckSize(view, size - (bytes.size() - parts.data.size())));
  return view;
}

}  // namespace

int64_t NpyView::num_values() const { return static_cast<int64_t>(data.size()) / ValueBytes(type); }

absl::StatusOr<NpyView> ParseNpy(std::string_view bytes, absl::string_view name) {
  absl::StatusOr<NpyView> view = Parse(bytes, bytes.size());
  if (!view.ok()) return At(name, view.status());
  return view;
}

absl::StatusOr<NpyView> ParseNpyStart(std::string_view start, uint64_t size,
                                      absl::string_view name) {
  absl::StatusOr<NpyView> view = Parse(start, size);
  if (!view.ok()) return At(name, view.status());
  view->data = {};
  return view;
}

absl::StatusOr<NpyFile> NpyFile::Open(const std::string& path) {
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<MappedFile> file, MappedFile::Open(path));
  VICINITY_ASSIGN_OR_RETURN(NpyView view, ParseNpy(file->bytes(), path));
  return NpyFile(std::move(file), std::move(view));
}

NpyFile::NpyFile(std::unique_ptr<MappedFile> file, NpyView view)
    : file_(std::move(file)), view_(std::move(view)) {}

}  // namespace vicinity
