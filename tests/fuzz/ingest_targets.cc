#include "tests/fuzz/ingest_targets.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "partition/ingest/formats/array_source.h"
#include "partition/ingest/formats/npy_reader.h"
#include "partition/ingest/formats/npz_reader.h"
#include "partition/ingest/formats/text_reader.h"
#include "partition/ingest/formats/text_value.h"
#include "partition/ingest/importer.h"
#include "partition/schema/schema.h"
#include "proto/cluster/text_proto.h"
#include "proto/common/progress.h"
#include "proto/import.pb.h"
#include "tests/testing/graphs/input_files.h"

namespace vicinity::fuzz {
namespace {

using testing::Bytes;
using testing::NpyBytes;

constexpr std::string_view kDashes = "\n---\n";

// Every byte of what a parser says is there can be read.
void Touch(std::string_view bytes) {
  uint8_t all = 0;
  for (const char byte : bytes) all = static_cast<uint8_t>(all ^ static_cast<uint8_t>(byte));
  volatile uint8_t kept = all;
  (void)kept;
}

void CheckView(const NpyView& view) {
  Expect(view.num_values() >= 0, "an array has no fewer than 0 values");
  Expect(static_cast<uint64_t>(view.num_values()) * ValueBytes(view.type) == view.data.size(),
         "an array's bytes are those of its values");
  Touch(view.data);
}

// As an import would, as doubles: not all arrays can be.
void ReadAll(ArraySource* source) {
  constexpr int64_t kMostValues = 1 << 16;
  const int64_t rows = std::min(kMostValues / std::max<int64_t>(1, source->values_per_row()),
                                std::max<int64_t>(0, source->num_rows()));
  std::vector<double> values(static_cast<size_t>(rows * source->values_per_row()));
  for (int64_t left = source->num_rows(); rows > 0 && left > 0; left -= rows) {
    char* const out = reinterpret_cast<char*>(values.data());
    if (!source->ReadValues(DType::kFloat64, rows, out).ok()) return;
  }
}

std::string Zipped(const std::string& folder,
                   const std::vector<std::pair<std::string, std::string>>& members, bool deflated) {
  const std::string path = absl::StrCat(folder, "/seed.npz");
  testing::WriteZip(path, members, deflated);
  return testing::ReadInput(path);
}

std::string Gzipped(const std::string& folder, const std::string& text) {
  const std::string path = absl::StrCat(folder, "/seed.gz");
  testing::WriteGzip(path, text);
  return testing::ReadInput(path);
}

std::string SmallNpy() { return NpyBytes("<i8", "(3, 2)", Bytes<int64_t>({0, 1, 1, 2, 2, 0})); }

// Those that lie in the folder and nowhere else: other files are not this test's to read.
bool NamesOnlyOwnFiles(const std::string& description) {
  return description.find('/') == std::string::npos && description.find('\\') == std::string::npos;
}

}  // namespace

FuzzTarget FuzzNpy(const std::string&) {
  FuzzTarget target;
  target.seeds = {
      SmallNpy(),
      NpyBytes("<f4", "(2,)", Bytes<float>({1, 2}), 2),
      NpyBytes("|b1", "(2, 1, 3)", "abcdef", 3),
      NpyBytes("<u2", "()", "xx"),
      NpyBytes("<f8", "(0, 9223372036854775807)", ""),
      testing::NpyBytesWithHeader(
          "{'descr': '>i4', 'fortran_order': True, 'shape': (1,), 'more': None}", "1234"),
  };
  target.run = [](std::string_view input) {
    const absl::StatusOr<NpyView> view = ParseNpy(input, "input.npy");
    if (view.ok()) CheckView(*view);
  };
  return target;
}

FuzzTarget FuzzNpz(const std::string& folder) {
  FuzzTarget target;
  for (const bool deflated : {false, true}) {
    target.seeds.push_back(Zipped(
        folder, {{"edges.npy", SmallNpy()}, {"x.npy", NpyBytes("<f4", "(1,)", "abcd")}}, deflated));
  }
  target.seeds.push_back(Zipped(
      folder, {{"zeros.npy", NpyBytes("|u1", "(200000,)", std::string(200'000, '\0'))}}, true));
  target.run = [folder](std::string_view input) {
    const std::string path = absl::StrCat(folder, "/input.npz");
    testing::WriteInput(path, input);
    const auto file = NpzFile::Open(path, NpzFile::Options());
    if (!file.ok()) return;
    constexpr size_t kMostRead = 4;
    const std::vector<std::string> members = (*file)->members();
    for (size_t i = 0; i < std::min(members.size(), kMostRead); ++i) {
      proto::ArrayFile array;
      array.set_path(path);
      array.set_member(members[i]);
      const auto source = ArraySource::Open(array, {"", folder, /*transposed=*/false});
      if (source.ok()) ReadAll(source->get());
    }
  };
  return target;
}

FuzzTarget FuzzTextTable(const std::string& folder) {
  FuzzTarget target;
  // A byte with the options comes first.
  const std::string commas = "\"a, b\",2,\"say \"\"x\"\"\"\r\n# no\n\n1,2,3\n4,5\n\"open\n";
  target.seeds = {
      std::string(1, '\0') + commas,
      std::string(1, '\x0c') + "\xef\xbb\xbfh1,h2,h3\n" + commas,
      "\x01source\ttarget\n1\t2\n3\t\t4\n",
      "\x02"
      "  1 \t 2\n-9223372036854775808 nan\n0x10 1e400\n",
      std::string(1, '\0') + "2020-01-31T23:59:59.5+01:00,True,NA\n2020-02-30,nan,#\n#1,\xff,x\n",
      std::string(1, '\0') + Gzipped(folder, commas),
  };
  target.run = [folder](std::string_view input) {
    if (input.empty()) return;
    const auto chosen = static_cast<uint8_t>(input.front());
    const std::string path = absl::StrCat(folder, "/input.csv");
    testing::WriteInput(path, input.substr(1));
    TextReader::Options options;
    options.separator = ",\t ,"[chosen % 4];
    options.header = (chosen & 4) != 0;
    if ((chosen & 8) != 0) options.columns = {2, 0};
    const auto reader = TextReader::Open(path, options);
    if (!reader.ok()) return;
    for (;;) {
      const auto line = (*reader)->Next();
      if (!line.ok() || *line == TextReader::Line::kEnd) return;
      if (*line == TextReader::Line::kBad) {
        Expect(!(*reader)->problem().empty(), "a bad line says why");
        continue;
      }
      Expect(options.columns.empty() || (*reader)->fields().size() == options.columns.size(),
             "a row has the wanted fields");
      for (const absl::string_view field : (*reader)->fields()) {
        Touch({field.data(), field.size()});
        int64_t integer = 0;
        double number = 0;
        ParseInteger(field, &integer);
        ParseFloatingPoint(field, &number);
        ParseTextValue(field);
      }
    }
  };
  return target;
}

FuzzTarget FuzzImport(const std::string& folder) {
  const std::string dashes(kDashes);
  FuzzTarget target;
  target.seeds = {
      R"(name: "g" nodes { name: "n" ids { path: "in.csv" columns: 0 } columns { name: "x"
  array { path: "in.csv" columns: [1, 2] } cast: INT16 } } edges { source: "n" relation: "r"
  target: "n" ends { path: "in.csv" columns: [0, 0] } weight_column: "w" columns { name: "w"
  array { path: "in.csv" columns: 2 } } } dedup: true)" +
          dashes + "1,2,3\n4,5,6\n7,8,9\n",
      R"(name: "g" nodes { name: "n" ids_from_edges: true id_kind: INTEGER } edges { source: "n"
  relation: "r" target: "n" ends { path: "in.npy" } } add_reverse: true drop_self_loops: true)" +
          dashes + SmallNpy(),
      R"(name: "g" nodes { name: "n" ids_from_edges: true id_kind: INTEGER } edges { source: "n"
  relation: "r" target: "n" ends { path: "in.npy" } } add_reverse_apart: true dedup: true)" +
          dashes + SmallNpy(),
      R"(name: "g" nodes { name: "a" count: 3 label { array { path: "in.txt" columns: 1 } }
  num_classes: 4 train { mask { path: "in.txt" columns: 0 } } } nodes { name: "b" ids_from_edges: true
  id_kind: STRING } edges { source: "a" relation: "r" target: "b" ends { path: "in.txt" } })" +
          dashes + "0 1\n1 2\n2 -1\n",
      R"(nodes { name: "n" count: 6 test { ids { path: "in.npz" member: "e" } } columns { name: "e"
  array { path: "in.npz" member: "edges" read_as: BFLOAT16 } } })" +
          dashes + Zipped(folder, {{"e.npy", SmallNpy()}}, true),
  };
  target.seeds.push_back(
      R"(nodes { name: "n" id_kind: STRING ids_from_edges: true columns { name: "t" array { path: "in.csv"
  columns: 2 } } target_column: "t" train { mask { path: "in.csv" columns: 3 } } } edges { source: "n"
  relation: "r" target: "n" ends { path: "in.csv" columns: [0, 1] } })" +
      dashes + "#a,b,2020-01-01,True\nb,c,2020-01-01T00:00:01Z,False\nc,#a,1970-01-01,0\n");
  target.run = [folder, files = std::vector<std::string>{"in.csv", "in.tsv", "in.txt", "in.npy",
                                                         "in.npz"}](std::string_view input) {
    const size_t end = std::min(input.find(kDashes), input.size());
    proto::ImportDescription description;
    const std::string text(input.substr(0, end));
    if (!ParseTextProto("description.textproto", text, &description).ok()) return;
    if (!NamesOnlyOwnFiles(description.ShortDebugString())) return;
    // A count, or one dense id, can ask for any number of nodes, and is a user's to mean.
    for (const proto::NodeSource& nodes : description.nodes()) {
      const bool dense = nodes.id_kind() != proto::INTEGER && nodes.id_kind() != proto::STRING;
      if (nodes.count() > 100'000 || (nodes.ids_from_edges() && dense)) return;
    }
    input.remove_prefix(std::min(end + kDashes.size(), input.size()));
    for (const std::string& file : files) {
      testing::WriteInput(absl::StrCat(folder, "/", file), input);
    }
    const std::string output = absl::StrCat(folder, "/out");
    const auto report = Import(description, folder, output, NoProgress());
    Expect(report.ok() == std::filesystem::exists(output),
           "a dataset is there if the import went well, and only then");
    std::error_code ignored;
    std::filesystem::remove_all(output, ignored);
  };
  return target;
}

}  // namespace vicinity::fuzz
