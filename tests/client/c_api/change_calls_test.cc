// The calls of client/c_api/vicinity.h that collect changes: what they refuse, and that what they
// refuse leaves nothing behind.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/c_api/handles.h"
#include "client/c_api/vicinity.h"
#include "client/types/write_values.h"
#include "partition/schema/schema.h"
#include "proto/common/mutex.h"
#include "tests/client/c_api/open_graph.h"

namespace vicinity {
namespace {

using testing::RequireOk;
using ChangesPtr = std::unique_ptr<VicinityChanges, decltype(&vicinity_changes_release)>;

constexpr int64_t kIds[] = {3, 1, 4};
constexpr int64_t kOthers[] = {2, 7, 1};
constexpr float kValues[] = {0.5F, 1, 2};

ChangesPtr NewChanges() {
  VicinityChanges* changes = nullptr;
  RequireOk(vicinity_changes_create(&changes));
  return ChangesPtr(changes, &vicinity_changes_release);
}

TEST_CASE("parts of every kind have what they were given", "[change_calls]") {
  const ChangesPtr owned = NewChanges();
  VicinityChanges* const changes = owned.get();
  RequireOk(vicinity_changes_add_nodes(changes, "user", kIds, 3));
  RequireOk(vicinity_changes_column(changes, "age", "float32", kValues, sizeof(kValues)));
  const int64_t ends[] = {1, 1, 3};
  RequireOk(vicinity_changes_ragged(changes, "clicks", "int8", ends, nullptr, 0, "abc", 3));
  RequireOk(vicinity_changes_add_named_nodes(changes, "item", "abc", ends, 3));
  const int32_t indices[] = {4, 0, 9};
  RequireOk(vicinity_changes_ragged(changes, "words", "float32", ends, indices, 3, kValues,
                                    sizeof(kValues)));
  RequireOk(vicinity_changes_add_edges(changes, "a:r:b", kIds, kOthers, 3));
  RequireOk(vicinity_changes_column(changes, "weight", "float32", kValues, sizeof(kValues)));
  RequireOk(vicinity_changes_update_nodes(changes, "user", kIds, 2));
  RequireOk(vicinity_changes_update_edges(changes, "a:r:b", kIds, kOthers, 3));
  RequireOk(vicinity_changes_remove_edges(changes, "a:r:b", kIds, kOthers, 1));
  RequireOk(vicinity_changes_remove_nodes(changes, "user", kIds, 3));

  const GraphChanges& given = changes->given.changes;
  const std::vector<int64_t> ids(kIds, kIds + 3);
  const std::vector<int64_t> others(kOthers, kOthers + 3);
  REQUIRE(given.new_nodes.size() == 2);
  CHECK(given.new_nodes[0].node_type == "user");
  CHECK(given.new_nodes[0].ids == ids);
  CHECK(given.new_nodes[0].columns.at(0).name == "age");
  CHECK(given.new_nodes[0].columns[0].dtype == DType::kFloat32);
  CHECK(given.new_nodes[0].columns[0].bytes.size() == sizeof(kValues));
  CHECK(given.new_nodes[0].ragged.at(0).row_ends == std::vector<int64_t>(ends, ends + 3));
  CHECK(given.new_nodes[0].ragged[0].values == std::vector<char>{'a', 'b', 'c'});
  CHECK(given.new_nodes[0].ragged[0].indices.empty());
  CHECK(given.new_nodes[1].names == std::vector<std::string>{"a", "", "bc"});
  CHECK(given.new_nodes[1].ragged.at(0).indices == std::vector<int32_t>{4, 0, 9});
  CHECK(given.new_edges.at(0).sources == ids);
  CHECK(given.new_edges[0].targets == others);
  CHECK(given.new_edges[0].columns.size() == 1);
  CHECK(given.node_values.at(0).nodes == std::vector<int64_t>{3, 1});
  CHECK(given.edge_values.at(0).targets == ids);
  CHECK(given.edge_values[0].edge_ids == others);
  CHECK(given.removed_edges.at(0).targets == std::vector<int64_t>{3});
  CHECK(given.removed_edges[0].edge_ids == std::vector<int64_t>{2});
  CHECK(given.removed_nodes.at(0).nodes == ids);
}

TEST_CASE("no rows need no arrays", "[change_calls]") {
  const ChangesPtr changes = NewChanges();
  RequireOk(vicinity_changes_add_edges(changes.get(), "a:r:b", nullptr, nullptr, 0));
  RequireOk(vicinity_changes_column(changes.get(), "weight", "float32", nullptr, 0));
  RequireOk(vicinity_changes_add_named_nodes(changes.get(), "item", "", nullptr, 0));
}

TEST_CASE("what is wrong with a part is said, and adds none", "[change_calls]") {
  const ChangesPtr owned = NewChanges();
  VicinityChanges* const changes = owned.get();
  const auto refused = [](int32_t code, const char* text) {
    CHECK(code == VICINITY_INVALID_ARGUMENT);
    CHECK_THAT(vicinity_last_error(), Catch::Contains(text));
  };
  refused(vicinity_changes_create(nullptr), "changes");
  refused(vicinity_changes_add_nodes(nullptr, "user", kIds, 3), "changes is null");
  refused(vicinity_changes_add_nodes(changes, nullptr, kIds, 3), "node_type");
  refused(vicinity_changes_add_nodes(changes, "user", nullptr, 3), "ids is null");
  refused(vicinity_changes_add_nodes(changes, "user", kIds, -1), "-1 ids");
  refused(vicinity_changes_add_edges(changes, "a:r:b", kIds, nullptr, 3), "ids is null");
  const int64_t falling[] = {2, 1};
  refused(vicinity_changes_add_named_nodes(changes, "item", "abc", falling, 2), "ends at 1");
  refused(vicinity_changes_column(changes, "age", "float32", kValues, 4), "no columns");
  RequireOk(vicinity_changes_add_edges(changes, "a:r:b", kIds, kOthers, 3));
  refused(vicinity_changes_column(changes, "age", "real", kValues, 4), "float64");
  refused(vicinity_changes_column(changes, "age", "float32", nullptr, 4), "values is null");
  refused(vicinity_changes_ragged(changes, "words", "int8", kIds, nullptr, 0, "", 0),
          "no ragged columns");
  RequireOk(vicinity_changes_remove_nodes(changes, "user", kIds, 3));
  refused(vicinity_changes_column(changes, "age", "float32", kValues, 4), "no columns");
  const GraphChanges& given = changes->given.changes;
  CHECK(given.new_nodes.empty());
  CHECK(given.new_edges.size() == 1);
  CHECK(given.new_edges[0].columns.empty());
}

TEST_CASE("nothing is added while a write reads them", "[change_calls]") {
  const ChangesPtr changes = NewChanges();
  {
    MutexLock lock(&changes->mu);
    changes->num_writes = 1;
  }
  CHECK(vicinity_changes_remove_nodes(changes.get(), "user", kIds, 3) ==
        VICINITY_FAILED_PRECONDITION);
  CHECK(changes->given.changes.removed_nodes.empty());
}

}  // namespace
}  // namespace vicinity
