#include "partition/cut/file_assigner.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "proto/common/ids.h"
#include "proto/common/progress.h"
#include "tests/contract/assigner_contract.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

void Write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A version 1 .npy file.
template <typename T>
std::string Npy(const std::string& descr, const std::string& shape, const std::vector<T>& values) {
  std::string header =
      absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': ", shape, ", }");
  header += std::string(63 - (10 + header.size()) % 64, ' ') + "\n";
  std::string bytes = "\x93NUMPY";
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(header.size() % 256);
  bytes += static_cast<char>(header.size() / 256);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return bytes;
}

// Four nodes of one type with dense ids, as one shard or shuffled over two.
class Fixture {
 public:
  explicit Fixture(bool shuffled)
      : graph_(FourNodes()),
        placement_(shuffled ? testing::Shuffled(graph_, 2, 5) : testing::InUserOrder(graph_)) {
    VICINITY_REQUIRE_OK(testing::WriteGraph(graph_, placement_, folder_.File("d")));
    VICINITY_ASSERT_OK_AND_ASSIGN(dataset_, Dataset::Open(folder_.File("d")));
  }

  absl::StatusOr<Assignment> Assign(const std::string& name, const std::string& bytes,
                                    const std::string& type = "") {
    Write(folder_.File(name), bytes);
    return FileAssigner({{type, folder_.File(name)}}).Assign(*dataset_, 3, NoProgress());
  }

  // Checks that user id i went to shards[i].
  void CheckShards(const absl::StatusOr<Assignment>& assignment,
                   const std::vector<int32_t>& shards) {
    VICINITY_REQUIRE_OK(assignment);
    for (int64_t node = 0; node < 4; ++node) {
      const int64_t id = placement_.PositionOf(NodeTypeId{0}, GlobalNode{node});
      CHECK(assignment->shard_of[0][node] == shards[id]);
    }
  }

 private:
  static testing::MemoryGraph FourNodes() {
    testing::RandomGraphOptions options;
    options.num_nodes = 4;
    return testing::RandomGraph(options);
  }

  const testing::TempDir folder_;
  const testing::MemoryGraph graph_;
  const testing::Placement placement_;
  std::unique_ptr<Dataset> dataset_;
};

TEST_CASE("a file assigner keeps the contract of all", "[partition]") {
  const testing::TempDir folder;
  testing::AssignerKind kind;
  kind.make = [&](const Dataset& dataset, int32_t num_shards) {
    std::vector<AssignmentFile> files;
    for (int32_t t = 0; t < dataset.book().num_node_types(); ++t) {
      const int64_t num_nodes = dataset.book().num_nodes(NodeTypeId{t});
      if (num_nodes == 0) continue;
      std::string text;
      for (int64_t node = 0; node < num_nodes; ++node) {
        absl::StrAppend(&text, node * 7 % std::max(1, num_shards), "\n");
      }
      files.push_back({dataset.schema().node_types[t].name, folder.File(absl::StrCat(t))});
      Write(files.back().path, text);
    }
    return std::make_unique<FileAssigner>(std::move(files));
  };
  testing::CheckAssigner(kind);
}

TEST_CASE("shards are read from text and from .npy, by user id", "[partition]") {
  Fixture fixture(/*shuffled=*/GENERATE(false, true));
  const std::vector<int32_t> shards = {2, 0, 0, 1};
  fixture.CheckShards(fixture.Assign("a.txt", "# mine\n2\n0\n 0\n1\n"), shards);
  fixture.CheckShards(fixture.Assign("b.txt", "2\r\n0\r\n0\r\n1", "node"), shards);
  fixture.CheckShards(fixture.Assign("a.npy", Npy<int64_t>("<i8", "(4,)", {2, 0, 0, 1})), shards);
  fixture.CheckShards(fixture.Assign("b.npy", Npy<uint8_t>("|u1", "(4, 1)", {2, 0, 0, 1})), shards);
}

TEST_CASE("an assignment file that does not fit is refused with place and value", "[partition]") {
  Fixture fixture(/*shuffled=*/false);
  const auto check = [&fixture](const std::string& name, const std::string& bytes,
                                const std::string& place, const std::string& value) {
    const absl::Status status = fixture.Assign(name, bytes).status();
    VICINITY_CHECK_CODE(status, absl::StatusCode::kInvalidArgument);
    CHECK_THAT(std::string(status.message()), Catch::Contains(place) && Catch::Contains(value));
  };
  check("range.txt", "0\n# two\n3\n1\n1\n", "range.txt:3", "shard 3");
  check("negative.txt", "0\n1\n1\n-1\n", "negative.txt:4", "shard -1");
  check("word.txt", "0\none\n1\n1\n", "word.txt:2", "'one'");
  check("empty_line.txt", "0\n\n1\n1\n", "empty_line.txt:2", "''");
  check("huge.txt", "0\n99999999999\n1\n1\n", "huge.txt:2", "99999999999");
  check("short.txt", "0\n1\n1\n", "short.txt", "3 shard numbers for the 4 nodes");
  check("long.txt", "0\n1\n1\n1\n1\n", "long.txt", "5 shard numbers for the 4 nodes");
  check("range.npy", Npy<int64_t>("<i8", "(4,)", {0, 0, 7, 1}), "range.npy: row 2", "shard 7");
  check("wide.npy", Npy<int64_t>("<i8", "(4,)", {0, int64_t{1} << 40, 7, 1}), "wide.npy: row 1",
        "1099511627776");
  check("float.npy", Npy<double>("<f8", "(4,)", {0, 1, 2, 1}), "float.npy", "float64");
  check("flat.npy", Npy<int32_t>("<i4", "(2, 2)", {0, 1, 2, 1}), "flat.npy", "2-dimensional");
  check("short.npy", Npy<int32_t>("<i4", "(3,)", {0, 1, 2}), "short.npy", "3 shard numbers");
}

TEST_CASE("every type with nodes needs one assignment file", "[partition]") {
  const testing::TempDir folder;
  VICINITY_REQUIRE_OK(testing::WriteGraph(testing::TypedGraph(2, 1, 0, 1), folder.File("d")));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<Dataset> dataset,
                                Dataset::Open(folder.File("d")));
  const AssignmentFile users = {"user", folder.File("users.txt")};
  const AssignmentFile items = {"item", folder.File("items.txt")};
  Write(users.path, "0\n1\n");
  Write(items.path, "1\n");
  const auto assign = [&dataset](const std::vector<AssignmentFile>& files) {
    return FileAssigner(files).Assign(*dataset, 2, NoProgress());
  };
  VICINITY_ASSERT_OK_AND_ASSIGN(const Assignment assignment, assign({items, users}));
  CHECK(assignment.shard_of == std::vector<std::vector<int32_t>>{{0, 1}, {1}, {}});
  VICINITY_CHECK_CODE(assign({users}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(assign({users, items, users}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(assign({users, items, {"author", items.path}}),
                      absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(assign({users, {"", items.path}}), absl::StatusCode::kInvalidArgument);
  VICINITY_CHECK_CODE(assign({users, {"item", folder.File("nothing.txt")}}),
                      absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace vicinity
