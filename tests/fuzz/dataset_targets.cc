#include "tests/fuzz/dataset_targets.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "partition/cut/file_assigner.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/ranking.h"
#include "partition/dataset/schema_proto.h"
#include "partition/schema/schema.h"
#include "partition/writing/audit.h"
#include "proto/cluster/cluster_file.h"
#include "proto/common/checksum.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "proto/manifest.pb.h"
#include "proto/service.pb.h"
#include "tests/testing/graphs/damage.h"
#include "tests/testing/graphs/input_files.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::fuzz {
namespace {

void ExpectOk(const absl::Status& status) { Expect(status.ok(), status.ToString().c_str()); }

// A dataset of several types and one shard, with a ranking.
void WriteSmallDataset(const std::string& directory) {
  const testing::MemoryGraph graph = testing::TypedGraph(6, 5, 3, 1);
  ExpectOk(testing::WriteGraph(graph, directory));
  proto::Ranking description;
  description.set_name(kDefaultRanking);
  description.add_homes()->add_shards(0);
  ExpectOk(WriteRanking(directory, description, {{{{3, 1}, {0.5F, 0.25F}}, {{}, {}}, {{}, {}}}}));
}

// A dataset of one type with a file of every kind: each costs time at every input.
void WriteOneType(const std::string& directory) {
  testing::RandomGraphOptions options;
  options.num_nodes = 5;
  options.num_edges = 8;
  options.feature_width = 2;
  options.weights = true;
  options.id_kind = IdKind::kString;
  ExpectOk(testing::WriteGraph(testing::RandomGraph(options), directory));
  proto::Ranking description;
  description.set_name(kDefaultRanking);
  description.add_homes()->add_shards(0);
  ExpectOk(WriteRanking(directory, description, {{{{3, 1}, {0.5F, 0.25F}}}}));
}

// A small dataset of which one file at a time is another than it should be.
class ChangedDataset {
 public:
  explicit ChangedDataset(std::string directory) : directory_(std::move(directory)) {
    WriteOneType(directory_);
    const absl::StatusOr<proto::Manifest> manifest = ReadManifest(directory_);
    ExpectOk(manifest.status());
    for (const proto::FileEntry& file : manifest->shards(0).files()) paths_.push_back(file.path());
    ranking_ = manifest->rankings(0).files(0).path();
  }

  const std::string& directory() const { return directory_; }
  const std::vector<std::string>& paths() const { return paths_; }  // of the shard's files
  const std::string& ranking() const { return ranking_; }
  std::string Content(const std::string& path) const {
    return testing::ReadInput(absl::StrCat(directory_, "/", path));
  }

  // Writes the file as `content`, and header and manifest so that all files fit.
  void Change(const std::string& path, std::string content) const {
    if (content.size() >= sizeof(FileHeader)) {
      constexpr size_t kAt = offsetof(FileHeader, checksum);
      const uint64_t checksum = Checksum(std::string_view(content).substr(0, kAt));
      std::memcpy(&content[kAt], &checksum, sizeof(checksum));
    }
    testing::WriteInput(absl::StrCat(directory_, "/", path), content);
    ExpectOk(testing::Reseal(directory_));
  }

 private:
  const std::string directory_;
  std::vector<std::string> paths_;
  std::string ranking_;
};

// Protobuf would print them.
class SilentErrors : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int, google::protobuf::io::ColumnNumber, const std::string&) override {}
};

void WriteManifestText(const std::string& directory, const std::string& text) {
  testing::WriteInput(ManifestPath(directory),
                      text + absl::StrFormat("# xxh3: %016x\n", Checksum(text)));
}

}  // namespace

FuzzTarget FuzzManifest(const std::string& folder) {
  const std::string directory = absl::StrCat(folder, "/dataset");
  WriteSmallDataset(directory);
  FuzzTarget target;
  const std::string whole = testing::ReadInput(ManifestPath(directory));
  target.seeds = {whole.substr(0, whole.rfind("# xxh3"))};
  target.run = [directory](std::string_view input) {
    const std::string text(input);
    WriteManifestText(directory, text);
    const auto as_it_is = ReadManifest(directory);
    proto::Manifest manifest;
    if (!as_it_is.ok()) {
      SilentErrors silent;
      google::protobuf::TextFormat::Parser parser;
      parser.RecordErrorsTo(&silent);
      if (!parser.ParseFromString(text, &manifest)) return;
      manifest.set_format_version(kFormatVersion);
      manifest.set_fingerprint(Fingerprint(manifest));
      WriteManifestText(directory, manifest.DebugString());
    }
    const auto dataset = Dataset::Open(directory);
    Expect(dataset.ok() || !absl::IsInternal(dataset.status()), "a dataset's fault is not ours");
  };
  return target;
}

FuzzTarget FuzzShardFile(const std::string& folder) {
  const auto dataset = std::make_shared<ChangedDataset>(absl::StrCat(folder, "/dataset"));
  FuzzTarget target;
  const std::vector<std::string>& paths = dataset->paths();
  for (size_t i = 0; i < paths.size(); ++i) {
    target.seeds.push_back(static_cast<char>(i) + dataset->Content(paths[i]));
  }
  target.run = [dataset](std::string_view input) {
    if (input.empty()) return;
    const size_t chosen = static_cast<uint8_t>(input.front()) % dataset->paths().size();
    const std::string& path = dataset->paths()[chosen];
    const std::string before = dataset->Content(path);
    dataset->Change(path, std::string(input.substr(1)));
    const absl::Status verdict = VerifyDataset(dataset->directory(), NoProgress());
    Expect(!absl::IsInternal(verdict), "a damaged file is not our fault");
    testing::WriteInput(absl::StrCat(dataset->directory(), "/", path), before);
  };
  return target;
}

FuzzTarget FuzzRanking(const std::string& folder) {
  const auto dataset = std::make_shared<ChangedDataset>(absl::StrCat(folder, "/dataset"));
  FuzzTarget target;
  target.seeds = {dataset->Content(dataset->ranking())};
  target.run = [dataset](std::string_view input) {
    dataset->Change(dataset->ranking(), std::string(input));
    const auto opened = Dataset::Open(dataset->directory());
    ExpectOk(opened.status());
    const auto ranking = Ranking::Open(**opened, kDefaultRanking, {0}, NodeTypeId{0});
    if (!ranking.ok()) return;
    double sum = 0;
    for (int64_t i = 0; i < (*ranking)->size(); ++i) {
      sum += (*ranking)->probability(i) + static_cast<double>((*ranking)->node(i).value);
    }
    volatile double kept = sum;
    (void)kept;
  };
  return target;
}

FuzzTarget FuzzDescription(const std::string& folder) {
  const std::string directory = absl::StrCat(folder, "/dataset");
  WriteSmallDataset(directory);
  const auto manifest = ReadManifest(directory);
  ExpectOk(manifest.status());
  FuzzTarget target;
  proto::DescribeReply description;
  *description.mutable_schema() = manifest->schema();
  *description.mutable_book() = manifest->book();
  target.seeds = {description.SerializeAsString()};
  target.run = [](std::string_view input) {
    proto::DescribeReply description;
    if (!description.ParseFromArray(input.data(), static_cast<int>(input.size()))) return;
    const absl::StatusOr<Schema> schema = SchemaFromProto(description.schema());
    const absl::StatusOr<Book> book = Book::FromProto(description.book());
    if (schema.ok()) {
      Expect(SchemaFromProto(SchemaToProto(*schema)).ok(), "a schema can be written and read");
    }
    if (book.ok()) {
      for (int32_t t = 0; t < std::min(book->num_node_types(), 8); ++t) {
        for (const int64_t node : {int64_t{0}, book->num_nodes({t}) - 1}) {
          if (!book->Contains({t}, {node})) continue;
          const ShardId owner = book->OwnerOf({t}, {node});
          const LocalRow row = book->RowOf({t}, {node});
          Expect(row.value >= 0 && row.value < book->num_nodes({t}, owner), "a row is its owner's");
        }
      }
    }
  };
  return target;
}

FuzzTarget FuzzAssignment(const std::string& folder) {
  const std::string directory = absl::StrCat(folder, "/dataset");
  testing::RandomGraphOptions options;
  options.num_nodes = 4;
  ExpectOk(testing::WriteGraph(testing::RandomGraph(options), directory));
  auto opened = Dataset::Open(directory);
  ExpectOk(opened.status());
  FuzzTarget target;
  target.seeds = {"# shards\n0\n1\n\n2\n0\n", "2147483648\n-1\n1 1\n",
                  testing::NpyBytes("<i4", "(4,)", testing::Bytes<int32_t>({0, 1, 2, 0}))};
  target.run = [folder,
                dataset = std::shared_ptr<Dataset>(*std::move(opened))](std::string_view input) {
    for (const char* const name : {"/shards.txt", "/shards.npy"}) {
      testing::WriteInput(folder + name, input);
      FileAssigner assigner({{"", folder + name}});
      const auto assignment = assigner.Assign(*dataset, 3, NoProgress());
      Expect(assignment.ok() || absl::IsInvalidArgument(assignment.status()),
             "a wrong file of shards is told so");
    }
  };
  return target;
}

FuzzTarget FuzzClusterFile(const std::string&) {
  FuzzTarget target;
  target.seeds = {R"(data: "graph" num_shards: 3
servers { name: "a" listen: "127.0.0.1:7500" shards: [2, 0] admin: "127.0.0.1:7600" }
servers { name: "b" listen: "[::]:0" advertise: "b.example:7501" shards: 1 shards: 0 }
tls { certificate: "tls/s.pem" key: "tls/s.key" ca: "/ca.pem" revoked: "revoked.pem" }
access: "access.textproto" open: true
)"};
  target.run = [](std::string_view input) {
    const auto cluster = ParseClusterFile("cluster.textproto", {input.data(), input.size()});
    if (!cluster.ok()) return;
    for (int32_t shard = 0; shard < std::min(cluster->num_shards, 100); ++shard) {
      const std::vector<int> servers = cluster->ServersOf({shard});
      Expect(!servers.empty(), "every shard has a server");
      Expect(cluster->FindServer(cluster->servers[servers.front()].name) != nullptr,
             "every server is found by its name");
    }
  };
  return target;
}

}  // namespace vicinity::fuzz
