// The calls of client/c_api/vicinity.h that concern batches: arguments; batch_parts_test.cc has
// what they give.
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <string>

#include "client/c_api/vicinity.h"
#include "tests/client/c_api/open_graph.h"

namespace vicinity {
namespace {

using testing::BatchPtr;
using testing::LoaderPtr;
using testing::NextBatch;
using testing::OpenGraph;
using testing::RequireOk;

BatchPtr FirstBatch() {
  const OpenGraph open;
  const LoaderPtr loader = open.MakeLoader(R"({"fanouts": [3, 2], "labels": false})");
  RequireOk(vicinity_loader_start_epoch(loader.get(), 0, 0, -1));
  return NextBatch(loader.get());
}

TEST_CASE("a structure is filled as far as its caller knows it", "[c_api]") {
  const BatchPtr batch = FirstBatch();
  VicinityBlockInfo whole = {};
  whole.struct_size = sizeof(whole);
  RequireOk(vicinity_batch_block(batch.get(), 0, &whole));
  CHECK(whole.num_edges > 0);

  VicinityBlockInfo older;
  memset(&older, 0x55, sizeof(older));
  older.struct_size = offsetof(VicinityBlockInfo, num_targets);
  RequireOk(vicinity_batch_block(batch.get(), 0, &older));
  CHECK(older.edge_type == whole.edge_type);
  CHECK(older.num_targets == 0x5555555555555555);
  CHECK(older.num_edges == 0x5555555555555555);

  struct {
    VicinityBlockInfo info;
    int64_t later = 7;  // a field of a version to come
  } newer = {};
  newer.info.struct_size = sizeof(newer);
  newer.later = 7;
  RequireOk(vicinity_batch_block(batch.get(), 0, &newer.info));
  CHECK(newer.info.num_edges == whole.num_edges);
  CHECK(newer.later == 7);
}

TEST_CASE("wrong calls about batches are refused with a text", "[c_api]") {
  const BatchPtr batch = FirstBatch();
  VicinityBatchInfo info = {};
  VicinityBlockInfo block = {};
  VicinityColumnInfo column = {};
  VicinityEdgeColumnInfo edges = {};
  DLManagedTensor* tensor = nullptr;
  CHECK(vicinity_batch_info(batch.get(), &info) == VICINITY_INVALID_ARGUMENT);  // no size
  info.struct_size = sizeof(info);
  block.struct_size = sizeof(block);
  column.struct_size = sizeof(column);
  edges.struct_size = sizeof(edges);
  RequireOk(vicinity_batch_info(batch.get(), &info));
  const int32_t num_blocks = info.num_blocks;
  const int32_t codes[] = {
      vicinity_batch_info(nullptr, &info),
      vicinity_batch_info(batch.get(), nullptr),
      vicinity_batch_block(nullptr, 0, &block),
      vicinity_batch_block(batch.get(), -1, &block),
      vicinity_batch_block(batch.get(), num_blocks, &block),
      vicinity_batch_block(batch.get(), 0, nullptr),
      vicinity_batch_column(batch.get(), 0, &column),  // it has none
      vicinity_batch_column(nullptr, 0, &column),
      vicinity_batch_edge_column(batch.get(), 0, &edges),
      vicinity_batch_edge_column(nullptr, 0, &edges),
      vicinity_batch_tensor(nullptr, VICINITY_NODES, 0, -1, &tensor),
      vicinity_batch_tensor(batch.get(), VICINITY_NODES, 0, -1, nullptr),
      vicinity_batch_tensor(batch.get(), VICINITY_NODES, 3, -1, &tensor),
      vicinity_batch_tensor(batch.get(), VICINITY_NODES, -1, -1, &tensor),
      vicinity_batch_tensor(batch.get(), VICINITY_COLUMN, 0, -1, &tensor),
      vicinity_batch_tensor(batch.get(), VICINITY_EDGE_COLUMN, 0, -1, &tensor),
      vicinity_batch_tensor(batch.get(), VICINITY_BLOCK_SOURCES, num_blocks, -1, &tensor),
      vicinity_batch_tensor(batch.get(), -1, 0, -1, &tensor),
      vicinity_batch_tensor(batch.get(), 99, 0, -1, &tensor),
  };
  for (const int32_t code : codes) CHECK(code == VICINITY_INVALID_ARGUMENT);
  for (const VicinityPart part : {VICINITY_TREES, VICINITY_LABELS, VICINITY_BLOCK_EDGE_IDS}) {
    CHECK(vicinity_batch_tensor(batch.get(), part, 0, -1, &tensor) == VICINITY_NOT_FOUND);
  }
  CHECK_THAT(std::string(vicinity_last_error()), Catch::Contains("edge_ids"));
  CHECK(tensor == nullptr);
  vicinity_batch_release(nullptr);
}

}  // namespace
}  // namespace vicinity
