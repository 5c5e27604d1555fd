#include "client/backup/named_nodes.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "partition/dataset/book.h"
#include "partition/overlay/live_values.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"
#include "proto/live.pb.h"

namespace vicinity {
namespace {

constexpr ShardId kNodes{0};  // the shard that gets nodes
constexpr ShardId kEdges{1};  // ... edges from them

// One type of ten nodes, and edges between them, on two shards: the i-th new node of shard 0 is
// 10 + 2 i.
class NamedNodesTest {
 public:
  NamedNodesTest() {
    schema_.node_types.resize(1);
    schema_.edge_types.resize(1);
  }
  // Shard 0 is kept with so many new nodes, and has so many by now.
  NamedNodes Kept(int64_t kept, int64_t there_are) const {
    return {schema_, book_, Versions(kept), Versions(there_are)};
  }
  static proto::Change EdgeFrom(uint64_t source) {
    proto::Change change;
    change.mutable_batch()->add_new_edges()->add_sources(source);
    return change;
  }
  static proto::Change AddNodes(uint64_t first, int count) {
    proto::Change change;
    change.add_first_nodes(first);
    proto::NewNodes& nodes = *change.mutable_batch()->add_new_nodes();
    for (int i = 0; i < count; ++i) nodes.add_keys(i);
    return change;
  }

 private:
  static std::vector<ShardVersion> Versions(int64_t new_nodes) {
    std::vector<ShardVersion> versions(2);
    versions[0].num_nodes = {5 + new_nodes};
    versions[1].num_nodes = {5};
    return versions;
  }

  Schema schema_;
  const Book book_ = *Book::Create({{0, 5, 10}});
};

TEST_CASE_METHOD(NamedNodesTest, "a shard lacks the node of an edge until that is kept",
                 "[named_nodes]") {
  NamedNodes named = Kept(2, 6);
  CHECK_FALSE(named.Lacks(kNodes));
  named.Note(kEdges, EdgeFrom(9));           // in the files
  named.Note(kEdges, EdgeFrom(10 + 2 * 1));  // the second new one
  CHECK_FALSE(named.Lacks(kNodes));
  named.Note(kEdges, EdgeFrom(10 + 2 * 3));
  CHECK(named.Lacks(kNodes));
  CHECK_FALSE(named.Lacks(kEdges));
  named.Note(kNodes, AddNodes(2, 1));
  CHECK(named.Lacks(kNodes));
  named.Note(kNodes, AddNodes(3, 2));
  CHECK_FALSE(named.Lacks(kNodes));
}

TEST_CASE_METHOD(NamedNodesTest, "a node that was in no answer is not waited for",
                 "[named_nodes]") {
  NamedNodes named = Kept(2, 6);
  named.Note(kEdges, EdgeFrom(10 + 2 * 6));
  named.Note(kEdges, EdgeFrom(~uint64_t{0}));
  CHECK_FALSE(named.Lacks(kNodes));
  named.Note(kEdges, EdgeFrom(10 + 2 * 5));
  CHECK(named.Lacks(kNodes));
}

}  // namespace
}  // namespace vicinity
