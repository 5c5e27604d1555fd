#include "partition/ingest/formats/text_reader.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using Rows = std::vector<std::vector<std::string>>;

struct Read {
  Rows rows;
  std::vector<int64_t> lines;                        // of the rows
  std::vector<std::pair<int64_t, std::string>> bad;  // lines and problems
};

Read ReadAll(const std::string& path, TextReader::Options options) {
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto reader, TextReader::Open(path, options));
  Read read;
  for (;;) {
    VICINITY_ASSERT_OK_AND_ASSIGN(const TextReader::Line line, reader->Next());
    if (line == TextReader::Line::kEnd) return read;
    if (line == TextReader::Line::kBad) {
      read.bad.emplace_back(reader->line_number(), reader->problem());
      continue;
    }
    read.rows.emplace_back(reader->fields().begin(), reader->fields().end());
    read.lines.push_back(reader->line_number());
  }
}

Read ReadText(const std::string& text, TextReader::Options options) {
  const testing::TempDir dir;
  testing::WriteInput(dir.File("x"), text);
  return ReadAll(dir.File("x"), options);
}

TextReader::Options Separated(char separator, std::vector<int32_t> columns = {}) {
  TextReader::Options options;
  options.separator = separator;
  options.columns = std::move(columns);
  return options;
}

TEST_CASE("fields are separated by commas, single tabs, or any run of blanks", "[text]") {
  CHECK(ReadText("a,b,\n,, c\n", Separated(',')).rows == Rows{{"a", "b", ""}, {"", "", " c"}});
  CHECK(ReadText("a b\t\tc\n", Separated('\t')).rows == Rows{{"a b", "", "c"}});
  CHECK(ReadText("  a \t b  \nc d", Separated(' ')).rows == Rows{{"a", "b"}, {"c", "d"}});
}

TEST_CASE("comments, empty lines, a byte order mark and carriage returns are no content",
          "[text]") {
  const Read read =
      ReadText("\xEF\xBB\xBF# comment\r\n1,2\r\n\r\n# 3,4\n5,6\r\n\n   ", Separated(',', {0}));
  CHECK(read.rows == Rows{{"1"}, {"5"}, {"   "}});
  CHECK(read.lines == std::vector<int64_t>{2, 5, 7});
  CHECK(ReadText("1 2\n   \t\n3 4", Separated(' ')).rows == Rows{{"1", "2"}, {"3", "4"}});
}

TEST_CASE("a name that begins with # is no comment: no edge between such names vanishes",
          "[text]") {
  CHECK(ReadText("#a\tb\nc\t#d\n#e\t#f\ng\th\n", Separated('\t')).rows ==
        Rows{{"#a", "b"}, {"c", "#d"}, {"#e", "#f"}, {"g", "h"}});
  CHECK(ReadText("# Nodes: 4 Edges: 2\n#\tfrom\tto\n#\n## part 2\r\n#\r\n#1 2\n", Separated(' '))
            .rows == Rows{{"#1", "2"}});
  TextReader::Options options = Separated(',');
  options.header = true;
  CHECK(ReadText("#id,label\n1,2\n", options).rows == Rows{{"1", "2"}});
}

TEST_CASE("a header is the first line with content", "[text]") {
  TextReader::Options options = Separated(',');
  options.header = true;
  CHECK(ReadText("# about\nid,label\n1,2\n", options).rows == Rows{{"1", "2"}});
  CHECK(ReadText("id,label,more", options).rows.empty());
}

TEST_CASE("columns are chosen in any order", "[text]") {
  CHECK(ReadText("a,b,c\nd,e,f,g\n", Separated(',', {2, 0})).rows == Rows{{"c", "a"}, {"f", "d"}});
}

TEST_CASE("quoted fields hold separators and doubled quotes", "[text]") {
  CHECK(ReadText(R"("a,b",c,"say ""hi""","")", Separated(',')).rows ==
        Rows{{"a,b", "c", "say \"hi\"", ""}});
  CHECK(ReadText("a\"b,c\n", Separated(',')).rows == Rows{{"a\"b", "c"}});
  CHECK(ReadText("\"a\"\tb\n", Separated('\t')).rows == Rows{{"\"a\"", "b"}});
}

TEST_CASE("bad lines are told and reading goes on", "[text]") {
  const Read read = ReadText("1,2\n3\n4,5,6\n\"7,8\n\"9\"x,10\n11,12\n", Separated(','));
  CHECK(read.rows == Rows{{"1", "2"}, {"11", "12"}});
  REQUIRE(read.bad.size() == 4);
  CHECK(read.bad[0].first == 2);
  CHECK(read.bad[1].first == 3);
  CHECK_THAT(read.bad[1].second, Catch::Contains("3 fields"));
  CHECK_THAT(read.bad[2].second, Catch::Contains("quote"));
  CHECK(read.bad[3].first == 5);
  const Read chosen = ReadText("1,2\n3\n", Separated(',', {1}));
  CHECK(chosen.rows == Rows{{"2"}});
  REQUIRE(chosen.bad.size() == 1);
}

TEST_CASE("gzip and plain text read alike; a damaged gzip is data loss", "[text]") {
  const testing::TempDir dir;
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i) + "," + std::to_string(i * 7) + "\n";
  testing::WriteInput(dir.File("plain"), text);
  testing::WriteGzip(dir.File("packed"), text);
  const Read plain = ReadAll(dir.File("plain"), Separated(','));
  CHECK(plain.rows.size() == 100000);
  CHECK(plain.rows[99999] == std::vector<std::string>{"99999", "699993"});
  CHECK((ReadAll(dir.File("packed"), Separated(',')).rows == plain.rows));

  const std::string packed = testing::ReadInput(dir.File("packed"));
  std::string flipped = packed;
  flipped[packed.size() / 2] = static_cast<char>(flipped[packed.size() / 2] ^ 0x55);
  for (const std::string& bad :
       {packed.substr(0, packed.size() / 2), flipped, packed.substr(0, packed.size() - 3)}) {
    testing::WriteInput(dir.File("bad"), bad);
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto reader,
                                  TextReader::Open(dir.File("bad"), Separated(',')));
    absl::StatusOr<TextReader::Line> line = reader->Next();
    while (line.ok() && *line != TextReader::Line::kEnd) line = reader->Next();
    VICINITY_CHECK_CODE(line, absl::StatusCode::kDataLoss);
  }
}

TEST_CASE("a line without end is refused before it fills the memory", "[text]") {
  const testing::TempDir dir;
  testing::WriteGzip(dir.File("x"), "a\n" + std::string(40 << 20, 'b'));
  VICINITY_ASSERT_OK_AND_ASSIGN(const auto reader, TextReader::Open(dir.File("x"), Separated(',')));
  VICINITY_CHECK_OK(reader->Next());
  const auto line = reader->Next();
  VICINITY_CHECK_CODE(line, absl::StatusCode::kInvalidArgument);
  CHECK_THAT(std::string(line.status().message()), Catch::Contains("x:2"));
}

TEST_CASE("lines on either side of the buffer's end are whole", "[text]") {
  std::string text;
  Rows expected;
  for (size_t i = 0; text.size() < (size_t{1} << 20); ++i) {
    expected.push_back({std::string(i % 1000, static_cast<char>('a' + i % 26)), "x"});
    text += expected.back()[0] + ",x\n";
  }
  CHECK((ReadText(text, Separated(',')).rows == expected));
}

TEST_CASE("an empty file has no rows; a missing file, a folder, a bad column are errors",
          "[text]") {
  CHECK(ReadText("", Separated(',')).rows.empty());
  const testing::TempDir dir;
  VICINITY_CHECK_CODE(TextReader::Open(dir.File("none"), {}), absl::StatusCode::kNotFound);
  VICINITY_CHECK_CODE(TextReader::Open(dir.path(), {}), absl::StatusCode::kInvalidArgument);
  testing::WriteInput(dir.File("x"), "1");
  VICINITY_CHECK_CODE(TextReader::Open(dir.File("x"), Separated(',', {-1})),
                      absl::StatusCode::kInvalidArgument);
}

TEST_CASE("numbers are whole fields", "[text]") {
  int64_t integer = 0;
  CHECK((ParseInteger("-42", &integer) && integer == -42));
  CHECK((ParseInteger(" +7\t", &integer) && integer == 7));
  CHECK((ParseInteger("9223372036854775807", &integer) && integer == INT64_MAX));
  for (const char* bad :
       {"", " ", "1.5", "1x", "x", "--1", "+-1", "0x10", "1 2", "9223372036854775808", "+"}) {
    INFO(bad);
    CHECK_FALSE(ParseInteger(bad, &integer));
  }
  double number = 0;
  CHECK((ParseFloatingPoint("1e-3", &number) && number == 1e-3));
  CHECK((ParseFloatingPoint("+.5", &number) && number == 0.5));
  CHECK((ParseFloatingPoint("nan", &number) && std::isnan(number)));
  CHECK((ParseFloatingPoint("-inf", &number) && number < 0));
  for (const char* bad : {"", "1,5", "1.5f", "1e999", "one"}) {
    INFO(bad);
    CHECK_FALSE(ParseFloatingPoint(bad, &number));
  }
}

TEST_CASE("no damage to a text crashes its reader, and no line gets lost", "[text]") {
  const testing::TempDir dir;
  const char separator = GENERATE(',', '\t', ' ');
  std::string good = "# title\n";
  for (int i = 0; i < 20; ++i) {
    good +=
        std::to_string(i) + separator + "\"q,\"\"" + std::to_string(i) + "\"" + separator + "0.5\n";
  }
  for (uint64_t seed = 0; seed < 700; ++seed) {
    const std::string text = testing::Mutated(good, seed);
    if (text.compare(0, 2, "\x1F\x8B") == 0) continue;
    testing::WriteInput(dir.File("x"), text);
    const Read read = ReadAll(dir.File("x"), Separated(separator));
    size_t lines = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      std::string line = text.substr(begin, end - begin);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      const bool blank =
          separator == ' ' && line.find_first_not_of(" \t\r\v\f") == std::string::npos;
      const bool comment = line == "#" || (line.size() > 1 && line[0] == '#' &&
                                           (line[1] == ' ' || line[1] == '\t' || line[1] == '#'));
      lines += !line.empty() && !comment && !blank;
      begin = end + 1;
    }
    CHECK(read.rows.size() + read.bad.size() == lines);
  }
}

TEST_CASE("no damage to a gzip crashes its reader", "[text]") {
  const testing::TempDir dir;
  testing::WriteGzip(dir.File("good"), std::string(3000, 'x') + "\n1,2\n3,4\n");
  const std::string good = testing::ReadInput(dir.File("good"));
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    testing::WriteInput(dir.File("bad"), testing::Mutated(good, seed));
    VICINITY_ASSERT_OK_AND_ASSIGN(const auto reader, TextReader::Open(dir.File("bad"), {}));
    absl::StatusOr<TextReader::Line> line = reader->Next();
    for (int i = 0; i < 10000 && line.ok() && *line != TextReader::Line::kEnd; ++i) {
      line = reader->Next();
    }
    CHECK((!line.ok() || *line == TextReader::Line::kEnd));
  }
}

}  // namespace
}  // namespace vicinity
