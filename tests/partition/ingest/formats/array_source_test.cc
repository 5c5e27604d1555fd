#include "partition/ingest/formats/array_source.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/ingest/formats/value_cast.h"
#include "proto/import.pb.h"
#include "proto/schema.pb.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::Bytes;
using testing::NpyBytes;
using testing::Values;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// The same 3 x 2 array in every format, in a folder of its own.
class SameArray {
 public:
  SameArray() {
    const std::string npy = NpyBytes("<i4", "(3, 2)", Bytes<int32_t>({1, 2, 3, 4, 5, -6}));
    testing::WriteInput(dir_.File("a.npy"), npy);
    testing::WriteZip(dir_.File("a.npz"), {{"a.npy", npy}}, true);
    testing::WriteInput(dir_.File("a.csv"), "1,2\n3,4\n5,-6\n");
    testing::WriteInput(dir_.File("a.tsv"), "1\t2\n3\t4\n5\t-6\n");
    testing::WriteGzip(dir_.File("a.txt.gz"), "# two numbers\n1 2\n3  4\n5 -6");
    testing::WriteInput(dir_.File("turned.npy"),
                        NpyBytes("<i4", "(2, 3)", Bytes<int32_t>({1, 3, 5, 2, 4, -6})));
  }
  const testing::TempDir& dir() const { return dir_; }

  absl::StatusOr<std::unique_ptr<ArraySource>> Open(const proto::ArrayFile& file,
                                                    bool transposed = false) const {
    ArraySource::Options options;
    options.base_directory = dir_.path();
    options.spool_directory = dir_.path();
    options.transposed = transposed;
    return ArraySource::Open(file, options);
  }
  absl::StatusOr<std::unique_ptr<ArraySource>> Open(const std::string& path) const {
    proto::ArrayFile file;
    file.set_path(path);
    if (path == "a.npz") file.set_member("a");
    if (path == "turned.npy") return Open(file, true);
    return Open(file);
  }

 private:
  const testing::TempDir dir_;
};

TEST_CASE("every format gives the same rows, in chunks of any size", "[array_source]") {
  const SameArray arrays;
  const std::string path = GENERATE("a.npy", "a.npz", "a.csv", "a.tsv", "a.txt.gz", "turned.npy");
  const int64_t chunk = GENERATE(1, 2, 100);
  INFO(path);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto ints, arrays.Open(path));
  CHECK(ints->row_shape() == std::vector<int64_t>{2});
  CHECK(ints->LooksInteger());
  CHECK(ints->HasRows());
  std::vector<int64_t> all;
  std::vector<int64_t> values;
  for (int64_t rows = 1; rows > 0;) {
    VICINITY_ASSERT_OK_AND_ASSIGN(rows, ints->ReadInts(chunk, &values));
    CHECK(static_cast<int64_t>(values.size()) == 2 * rows);
    all.insert(all.end(), values.begin(), values.end());
  }
  CHECK(all == std::vector<int64_t>{1, 2, 3, 4, 5, -6});

  VICINITY_ASSERT_OK_AND_ASSIGN(const auto floats, arrays.Open(path));
  std::string bytes(3 * 2 * 4, '\0');
  for (int64_t done = 0, rows = 1; rows > 0; done += rows) {
    VICINITY_ASSERT_OK_AND_ASSIGN(
        rows, floats->ReadValues(DType::kFloat32, chunk, bytes.data() + done * 8));
  }
  CHECK(Values<float>(bytes) == std::vector<float>{1, 2, 3, 4, 5, -6});
}

TEST_CASE("text gives its fields; numbers refuse to", "[array_source]") {
  const SameArray arrays;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto text, arrays.Open("a.csv"));
  FieldTable fields;
  VICINITY_ASSERT_OK_AND_ASSIGN(const int64_t rows, text->ReadFields(10, &fields));
  REQUIRE(rows == 3);
  CHECK(fields.field(0, 0) == "1");
  CHECK(fields.field(2, 1) == "-6");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto numbers, arrays.Open("a.npy"));
  VICINITY_CHECK_CODE(numbers->ReadFields(10, &fields), kInvalid);
}

TEST_CASE("text that is not UTF-8 is refused with line, bytes and a way to convert it",
          "[array_source]") {
  const SameArray arrays;
  testing::WriteInput(arrays.dir().File("latin1.csv"), "caf\xE9,1\ngr\xC3\xBCn,2\n\xFF,3\n");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto text, arrays.Open("latin1.csv"));
  FieldTable fields;
  const auto read = text->ReadFields(10, &fields);
  VICINITY_CHECK_CODE(read, kInvalid);
  CHECK_THAT(std::string(read.status().message()),
             Catch::Contains("latin1.csv") && Catch::Contains("2 problems") &&
                 Catch::Contains("line 1: field 0: 'caf\\xe9'") && Catch::Contains("'\\xff'") &&
                 Catch::Contains("iconv"));
  // Numbers are told with their bytes, too.
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto numbers, arrays.Open("latin1.csv"));
  std::vector<int64_t> values;
  CHECK_THAT(std::string(numbers->ReadInts(10, &values).status().message()),
             Catch::Contains("'caf\\xe9' is not an integer"));
}

TEST_CASE("places are lines of text and rows of arrays", "[array_source]") {
  const SameArray arrays;
  std::vector<int64_t> values;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto text, arrays.Open("a.txt.gz"));
  VICINITY_REQUIRE_OK(text->ReadInts(1, &values));
  VICINITY_REQUIRE_OK(text->ReadInts(2, &values));
  CHECK_THAT(text->Place(1), Catch::EndsWith("a.txt.gz:4"));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto numbers, arrays.Open("a.npz"));
  VICINITY_REQUIRE_OK(numbers->ReadInts(1, &values));
  VICINITY_REQUIRE_OK(numbers->ReadInts(2, &values));
  CHECK_THAT(numbers->Place(1), Catch::EndsWith("a.npz:a: row 2"));
}

TEST_CASE("one bad line is told with its field, and of many ten are listed and all counted",
          "[array_source]") {
  const SameArray arrays;
  testing::WriteInput(arrays.dir().File("one.csv"), "1,2\n3,x\n5,6\n");
  std::vector<int64_t> values;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto one, arrays.Open("one.csv"));
  const auto read = one->ReadInts(10, &values);
  VICINITY_CHECK_CODE(read, kInvalid);
  CHECK_THAT(std::string(read.status().message()),
             Catch::Contains("one.csv") && Catch::Contains("line 2") &&
                 Catch::Contains("field 1") && Catch::Contains("'x'"));

  std::string text;
  for (int i = 0; i < 50; ++i) text += i % 2 == 0 ? "1,2\n" : "1\n";
  testing::WriteInput(arrays.dir().File("many.csv"), text);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto many, arrays.Open("many.csv"));
  const auto all = many->ReadInts(5, &values);  // the rest is checked too
  VICINITY_CHECK_CODE(all, kInvalid);
  CHECK_THAT(std::string(all.status().message()), Catch::Contains("25 problems") &&
                                                      Catch::Contains("line 20:") &&
                                                      !Catch::Contains("line 22:"));
}

TEST_CASE("values that do not fit their type are told with value and place", "[array_source]") {
  const SameArray arrays;
  testing::WriteInput(arrays.dir().File("big.npy"),
                      NpyBytes("<i8", "(4,)", Bytes<int64_t>({1, 300, 3, -200})));
  testing::WriteInput(arrays.dir().File("big.csv"), "1\n300\n3\n-200\n");
  const std::string path = GENERATE("big.npy", "big.csv");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto source, arrays.Open(path));
  std::string out(8, '\0');
  const auto read = source->ReadValues(DType::kInt8, 4, out.data());
  VICINITY_CHECK_CODE(read, kInvalid);
  CHECK_THAT(std::string(read.status().message()),
             Catch::Contains("2 problems") && Catch::Contains("300") && Catch::Contains("-200") &&
                 Catch::Contains("int8"));
}

TEST_CASE("stored bits are taken for a type of the same width", "[array_source]") {
  const SameArray arrays;
  testing::WriteInput(arrays.dir().File("b.npy"),
                      NpyBytes("<u2", "(2,)", Bytes<uint16_t>({0x3F80, 0xC060})));
  proto::ArrayFile file;
  file.set_path("b.npy");
  file.set_read_as(proto::BFLOAT16);
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto source, arrays.Open(file));
  CHECK(source->type() == ValueType::kBfloat16);
  std::string out(8, '\0');
  VICINITY_REQUIRE_OK(source->ReadValues(DType::kFloat32, 2, out.data()));
  CHECK(Values<float>(out) == std::vector<float>{1, -3.5});
  file.set_read_as(proto::FLOAT32);
  VICINITY_CHECK_CODE(arrays.Open(file), kInvalid);
}

TEST_CASE("rows that need no cast are shown where they lie", "[array_source]") {
  const SameArray arrays;
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto source, arrays.Open("a.npy"));
  REQUIRE(source->Direct(DType::kInt32).value().has_value());
  CHECK(Values<int32_t>(*source->Direct(DType::kInt32).value()) ==
        std::vector<int32_t>{1, 2, 3, 4, 5, -6});
  CHECK_FALSE(source->Direct(DType::kInt64).value().has_value());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto turned, arrays.Open("turned.npy"));
  CHECK_FALSE(turned->Direct(DType::kInt32).value().has_value());
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto text, arrays.Open("a.csv"));
  CHECK_FALSE(text->Direct(DType::kFloat32).value().has_value());
}

TEST_CASE("an array in an archive is not decompressed before its rows are asked for",
          "[array_source]") {
  const SameArray arrays;
  // 4 MiB of zeros, whose end no longer decompresses: so it shows who has tried.
  const std::string path = arrays.dir().File("zeros.npz");
  testing::WriteZip(
      path, {{"a.npy", NpyBytes("<i4", "(1048576,)", std::string(size_t{4} << 20, '\0'))}}, true);
  std::string bytes = testing::ReadInput(path);
  const size_t directory = bytes.find(std::string("PK\1\2", 4));
  REQUIRE(directory != std::string::npos);
  for (size_t i = directory - 40; i < directory - 20; ++i) bytes[i] = '\x55';
  testing::WriteInput(path, bytes);

  proto::ArrayFile file;
  file.set_path(path);
  file.set_member("a");
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto source, arrays.Open(file));
  CHECK(source->num_rows() == 1048576);
  std::vector<int64_t> values;
  VICINITY_CHECK_CODE(source->ReadInts(1, &values), absl::StatusCode::kDataLoss);
}

TEST_CASE("descriptions that do not fit the file are refused", "[array_source]") {
  const SameArray arrays;
  const auto refused = [&arrays](proto::ArrayFile file, bool transposed = false) {
    VICINITY_CHECK_CODE(arrays.Open(file, transposed), kInvalid);
  };
  proto::ArrayFile file;
  refused(file);  // no path
  file.set_path("a.parquet");
  refused(file);
  file.set_path("a.npz");
  refused(file);  // no member
  file.set_path("a.npy");
  file.set_member("a");
  refused(file);
  file.Clear();
  file.set_path("a.npy");
  file.add_columns(0);
  refused(file);
  file.Clear();
  file.set_path("a.csv");
  refused(file, true);
  testing::WriteInput(arrays.dir().File("scalar.npy"), NpyBytes("<i4", "()", Bytes<int32_t>({1})));
  file.set_path("scalar.npy");
  refused(file);
  // No rows, and rows of any width.
  testing::WriteInput(arrays.dir().File("wide.npy"),
                      NpyBytes("<i4", "(0, 4611686018427387904, 4611686018427387904)", ""));
  file.set_path("wide.npy");
  refused(file);
  file.set_path("missing.npy");
  VICINITY_CHECK_CODE(arrays.Open(file), absl::StatusCode::kNotFound);
}

TEST_CASE("what is not read is refused with the command that converts it", "[array_source]") {
  const SameArray arrays;
  const auto refusal = [&arrays](const std::string& path, const std::string& member = "") {
    proto::ArrayFile file;
    file.set_path(path);
    file.set_member(member);
    const auto source = arrays.Open(file);
    REQUIRE_FALSE(source.ok());
    return std::string(source.status().message());
  };
  CHECK_THAT(refusal("x.parquet"), Catch::Contains("pandas.read_parquet"));
  CHECK_THAT(refusal("x.csv.bz2"), Catch::Contains("bzip2 -dk"));
  CHECK_THAT(refusal("x.doc"), !Catch::Contains("convert"));
  CHECK_THAT(refusal("a.npz"), Catch::Contains("it has: a") && !Catch::Contains("SciPy"));
  const std::string one = NpyBytes("<i4", "(1,)", Bytes<int32_t>({1}));
  testing::WriteZip(arrays.dir().File("s.npz"),
                    {{"indices.npy", one},
                     {"indptr.npy", one},
                     {"format.npy", one},
                     {"shape.npy", one},
                     {"data.npy", one}},
                    true);
  CHECK_THAT(refusal("s.npz"), Catch::Contains("indptr") && Catch::Contains("scipy.sparse"));
  CHECK_THAT(refusal("s.npz", "edges"), Catch::Contains("scipy.sparse"));
  testing::WriteInput(arrays.dir().File("be.npy"), NpyBytes(">i4", "(1,)", std::string(4, '\1')));
  CHECK_THAT(refusal("be.npy"), Catch::Contains("astype('<i4')"));
}

TEST_CASE("ids from 2^63 up are refused with a way to keep them", "[array_source]") {
  const SameArray arrays;
  testing::WriteInput(arrays.dir().File("ids.npy"),
                      NpyBytes("<u8", "(2,)", Bytes<uint64_t>({7, uint64_t{1} << 63})));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto source, arrays.Open("ids.npy"));
  std::vector<int64_t> values;
  const auto read = source->ReadInts(10, &values);
  VICINITY_CHECK_CODE(read, kInvalid);
  CHECK_THAT(std::string(read.status().message()), Catch::Contains("row 1: 9223372036854775808") &&
                                                       Catch::Contains("numpy.savetxt") &&
                                                       Catch::Contains("STRING"));
}

TEST_CASE("absolute paths stand for themselves", "[array_source]") {
  const SameArray arrays;
  VICINITY_CHECK_OK(arrays.Open(arrays.dir().File("a.csv")));
}

TEST_CASE("files without rows are ordinary", "[array_source]") {
  const SameArray arrays;
  testing::WriteInput(arrays.dir().File("none.csv"), "# nothing\n");
  testing::WriteInput(arrays.dir().File("none.npy"), NpyBytes("<f4", "(0, 5)", ""));
  for (const std::string path : {"none.csv", "none.npy"}) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto source, arrays.Open(path));
    CHECK_FALSE(source->HasRows());
    std::string out(64, '\0');
    VICINITY_ASSERT_OK_AND_ASSIGN(const int64_t rows,
                                  source->ReadValues(DType::kFloat32, 1, out.data()));
    CHECK(rows == 0);
  }
}

TEST_CASE("chunks are of a useful size, and never empty", "[array_source]") {
  CHECK(ChunkRows(0) == 1 << 16);
  CHECK(ChunkRows(512) == 8192);
  CHECK(ChunkRows(int64_t{1} << 40) == 1);
}

}  // namespace
}  // namespace vicinity
