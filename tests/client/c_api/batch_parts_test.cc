#include "client/c_api/batch_parts.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/loader.h"
#include "tests/client/c_api/open_graph.h"

namespace vicinity {
namespace {

using testing::BatchPtr;
using testing::LoaderPtr;
using testing::NextBatch;
using testing::OpenGraph;
using testing::PartOf;
using testing::RequireOk;
using testing::ShapeOf;
using testing::TensorPtr;
using testing::ValuesOf;

constexpr char kOptions[] = R"({
    "fanouts": [3, 2], "batch_size": 10, "run_seed": 5, "edge_ids": true, "user_ids": true,
    "disjoint": DISJOINT,
    "columns": [{"node_type": "user", "column": "features"},
                {"node_type": "item", "column": "words"},
                {"node_type": "item", "column": "features"},
                {"node_type": "item", "column": "nothing"},
                {"node_type": "user", "column": "clicks"}],
    "edge_columns": [{"edge_type": "buys", "column": "weight"}]})";

// The twin of a device, which every build has.
constexpr char kOnTwin[] = R"("placement": "device", "device": {"kind": "host"}, )";

std::string OptionsText(bool disjoint, const std::string& more = "") {
  std::string text = kOptions;
  text.replace(text.find("DISJOINT"), 8, disjoint ? "true" : "false");
  return text.insert(text.find('"'), more);
}

LoaderOptions SameOptions(const Graph& graph, bool disjoint) {
  LoaderOptions options;
  options.sampling = SamplingSpec::Uniform(graph.schema(), {3, 2});
  options.sampling.disjoint = disjoint;
  options.batch_size = 10;
  options.run_seed = 5;
  options.edge_ids = true;
  options.user_ids = true;
  options.columns = {{"user", "features"},
                     {"item", "words"},
                     {"item", "features"},
                     {"item", "nothing"},
                     {"user", "clicks"}};
  options.edge_columns = {{"buys", "weight"}};
  return options;
}

void CheckNodes(const VicinityBatch* batch, const MiniBatch& expected) {
  for (size_t t = 0; t < expected.graph.nodes.size(); ++t) {
    const SampledNodes& nodes = expected.graph.nodes[t];
    const auto type = static_cast<int32_t>(t);
    CHECK(ValuesOf<int64_t>(*PartOf(batch, VICINITY_NODES, type)) == nodes.ids);
    CHECK(ValuesOf<int64_t>(*PartOf(batch, VICINITY_HOP_ENDS, type)) == nodes.hop_ends);
    if (!nodes.trees.empty()) {
      CHECK(ValuesOf<uint32_t>(*PartOf(batch, VICINITY_TREES, type)) == nodes.trees);
    }
  }
  CHECK(ValuesOf<int32_t>(*PartOf(batch, VICINITY_SEEDS)) == expected.graph.seeds[0].positions);
  CHECK(ValuesOf<int64_t>(*PartOf(batch, VICINITY_LABELS)) == expected.labels);
}

void CheckUserIds(const VicinityBatch* batch, const Graph& graph, const MiniBatch& expected) {
  for (int32_t type = 0; type < static_cast<int32_t>(expected.graph.nodes.size()); ++type) {
    if (graph.schema().node_types[type].id_kind == IdKind::kString) {
      DLManagedTensor* tensor = nullptr;
      CHECK(vicinity_batch_tensor(batch, VICINITY_USER_IDS, type, -1, &tensor) ==
            VICINITY_NOT_FOUND);
      continue;
    }
    CHECK(ValuesOf<int64_t>(*PartOf(batch, VICINITY_USER_IDS, type)) ==
          *graph.UserIds(type, expected.graph.nodes[type].ids));
  }
}

// Edge by edge, hop by hop: what the blocks say.
void CheckEdges(const VicinityBatch* batch, const MiniBatch& expected, int32_t edge_type) {
  std::vector<int64_t> sources, targets, ids;
  for (const std::vector<Block>& hop : expected.graph.hops) {
    for (const Block& block : hop) {
      if (block.edge_type != edge_type) continue;
      for (int64_t i = 0; i < block.num_targets(); ++i) {
        for (int64_t e = block.offsets[i]; e < block.offsets[i + 1]; ++e) {
          sources.push_back(block.sources[e]);
          targets.push_back(block.first_target + i);
          ids.push_back(block.edge_ids[e]);
        }
      }
    }
  }
  std::vector<int64_t> index = sources;
  index.insert(index.end(), targets.begin(), targets.end());
  const auto tensor = PartOf(batch, VICINITY_EDGE_INDEX, edge_type);
  REQUIRE(tensor->dl_tensor.ndim == 2);
  CHECK(tensor->dl_tensor.shape[0] == 2);
  CHECK(tensor->dl_tensor.shape[1] == static_cast<int64_t>(sources.size()));
  CHECK(ValuesOf<int64_t>(*tensor) == index);
  CHECK(ValuesOf<int64_t>(*PartOf(batch, VICINITY_EDGE_IDS, edge_type)) == ids);
}

std::vector<int32_t> TargetsOf(const Block& block) {
  std::vector<int32_t> targets;
  for (int32_t i = 0; i < block.num_targets(); ++i) {
    for (int64_t e = block.offsets[i]; e < block.offsets[i + 1]; ++e) targets.push_back(i);
  }
  return targets;
}

int32_t CheckBlocks(const VicinityBatch* batch, const Schema& schema, const MiniBatch& expected) {
  int32_t index = 0;
  for (size_t hop = 0; hop < expected.graph.hops.size(); ++hop) {
    for (const Block& block : expected.graph.hops[hop]) {
      VicinityBlockInfo info = {};
      info.struct_size = sizeof(info);
      RequireOk(vicinity_batch_block(batch, index, &info));
      CHECK(info.hop == static_cast<int32_t>(hop));
      CHECK(info.edge_type == block.edge_type);
      CHECK(info.source_type == schema.edge_types[block.edge_type].source_type);
      CHECK(info.target_type == schema.edge_types[block.edge_type].target_type);
      CHECK(info.first_target == block.first_target);
      CHECK(info.num_targets == block.num_targets());
      CHECK(info.num_edges == static_cast<int64_t>(block.sources.size()));
      for (const int32_t source : block.sources) CHECK(source < info.num_sources);
      CHECK(ValuesOf<int64_t>(*PartOf(batch, VICINITY_BLOCK_OFFSETS, index)) == block.offsets);
      CHECK(ValuesOf<int32_t>(*PartOf(batch, VICINITY_BLOCK_SOURCES, index)) == block.sources);
      CHECK(ValuesOf<int64_t>(*PartOf(batch, VICINITY_BLOCK_EDGE_IDS, index)) == block.edge_ids);
      CHECK(ValuesOf<int32_t>(*PartOf(batch, VICINITY_BLOCK_TARGETS, index)) == TargetsOf(block));
      ++index;
    }
  }
  return index;
}

void CheckColumns(const VicinityBatch* batch, const MiniBatch& expected) {
  for (size_t c = 0; c < expected.columns.size(); ++c) {
    const BatchColumn& column = expected.columns[c];
    VicinityColumnInfo info = {};
    info.struct_size = sizeof(info);
    RequireOk(vicinity_batch_column(batch, static_cast<int32_t>(c), &info));
    CHECK(info.node_type == column.node_type);
    CHECK(info.name == column.spec.name);
    CHECK(info.device_type == kDLCPU);
    const TensorPtr rows = PartOf(batch, VICINITY_COLUMN, static_cast<int32_t>(c));
    CHECK(ValuesOf<char>(*rows) == std::vector<char>(column.bytes.begin(), column.bytes.end()));
    std::vector<int64_t> shape = column.spec.shape;
    shape.insert(shape.begin(), column.num_rows);
    CHECK(ShapeOf(*rows) == shape);
  }
  for (size_t c = 0; c < expected.edge_columns.size(); ++c) {
    VicinityEdgeColumnInfo info = {};
    info.struct_size = sizeof(info);
    RequireOk(vicinity_batch_edge_column(batch, static_cast<int32_t>(c), &info));
    CHECK(info.hop == expected.edge_columns[c].hop);
    CHECK(info.edge_type == expected.edge_columns[c].edge_type);
    CHECK(info.name == expected.edge_columns[c].spec.name);
    const auto& bytes = expected.edge_columns[c].bytes;
    CHECK(ValuesOf<char>(*PartOf(batch, VICINITY_EDGE_COLUMN, static_cast<int32_t>(c))) ==
          std::vector<char>(bytes.begin(), bytes.end()));
  }
}

void CheckRagged(const VicinityBatch* batch, const MiniBatch& expected) {
  for (int32_t c = 0; c < static_cast<int32_t>(expected.ragged.size()); ++c) {
    const RaggedRows& rows = expected.ragged[c].rows;
    VicinityRaggedInfo info = {};
    info.struct_size = sizeof(info);
    RequireOk(vicinity_batch_ragged(batch, c, &info));
    CHECK(info.node_type == expected.ragged[c].node_type);
    CHECK(info.num_columns == rows.spec.num_columns);
    CHECK(info.name == rows.spec.name);
    CHECK(ValuesOf<int64_t>(*PartOf(batch, VICINITY_RAGGED_ROW_ENDS, c)) == rows.row_ends);
    CHECK(ValuesOf<char>(*PartOf(batch, VICINITY_RAGGED_VALUES, c)) ==
          std::vector<char>(rows.values.begin(), rows.values.end()));
    DLManagedTensor* indices = nullptr;
    const int32_t code = vicinity_batch_tensor(batch, VICINITY_RAGGED_INDICES, c, -1, &indices);
    CHECK(code == (rows.spec.is_sparse() ? VICINITY_OK : VICINITY_NOT_FOUND));
    if (code == VICINITY_OK) CHECK(ValuesOf<int32_t>(*TensorPtr(indices)) == rows.indices);
  }
}

TEST_CASE("every byte of a batch is that of the C++ loader's", "[c_api]") {
  const bool disjoint = GENERATE(false, true);
  const char* const placement = GENERATE("", kOnTwin);
  const OpenGraph open;
  const LoaderPtr loader = open.MakeLoader(OptionsText(disjoint, placement));
  const LoaderOptions options = SameOptions(open.plain(), disjoint);
  const std::unique_ptr<Loader> same = *Loader::Create(&open.plain(), options);
  RequireOk(vicinity_loader_start_epoch(loader.get(), 3, 0, -1));
  REQUIRE(same->StartEpoch(3).ok());
  while (const std::unique_ptr<MiniBatch> expected = *same->Next()) {
    const BatchPtr batch = NextBatch(loader.get());
    REQUIRE(batch != nullptr);
    VicinityBatchInfo info = {};
    info.struct_size = sizeof(info);
    RequireOk(vicinity_batch_info(batch.get(), &info));
    CHECK(info.epoch == 3);
    CHECK(info.step == expected->step);
    CHECK(info.batches_done == expected->batches_done);
    CHECK(info.num_seed_lists == 1);
    VicinitySeedListInfo list = {};
    list.struct_size = sizeof(list);
    RequireOk(vicinity_batch_seed_list(batch.get(), 0, &list));
    CHECK(list.node_type == expected->graph.seeds[0].node_type);
    CHECK(list.count == expected->graph.num_seeds());
    CHECK(info.num_node_types == 3);
    CHECK(info.num_hops == 2);
    CHECK(info.num_columns == 3);
    CHECK(info.num_edge_columns == static_cast<int32_t>(expected->edge_columns.size()));
    CHECK(info.has_labels == 1);
    CheckNodes(batch.get(), *expected);
    CHECK(info.num_blocks == CheckBlocks(batch.get(), open.plain().schema(), *expected));
    CheckColumns(batch.get(), *expected);
    CHECK(info.num_ragged == 2);
    CHECK(expected->ragged.size() == 2);
    CheckRagged(batch.get(), *expected);
    for (int32_t e = 0; e < static_cast<int32_t>(open.plain().schema().edge_types.size()); ++e) {
      CheckEdges(batch.get(), *expected, e);
    }
    CheckUserIds(batch.get(), open.plain(), *expected);
    CHECK(ValuesOf<int64_t>(*PartOf(batch.get(), VICINITY_INPUT_POSITIONS)) ==
          expected->input_positions);
  }
  CHECK(NextBatch(loader.get()) == nullptr);
}

TEST_CASE("a column in host memory is the same memory for all who ask", "[c_api]") {
  const OpenGraph open;
  const LoaderPtr loader = open.MakeLoader(OptionsText(false));
  RequireOk(vicinity_loader_start_epoch(loader.get(), 0, 0, -1));
  const BatchPtr batch = NextBatch(loader.get());
  CHECK(PartOf(batch.get(), VICINITY_COLUMN)->dl_tensor.data ==
        PartOf(batch.get(), VICINITY_COLUMN)->dl_tensor.data);
}

TEST_CASE("a column on a device is handed over once, and outlives all", "[c_api]") {
  TensorPtr rows;
  std::vector<char> before;
  {
    const OpenGraph open;
    const LoaderPtr loader = open.MakeLoader(OptionsText(false, kOnTwin));
    RequireOk(vicinity_loader_start_epoch(loader.get(), 0, 0, -1));
    const BatchPtr batch = NextBatch(loader.get());
    DLManagedTensor* tensor = nullptr;
    CHECK(vicinity_batch_tensor(batch.get(), VICINITY_COLUMN, 0, 0, &tensor) ==
          VICINITY_INVALID_ARGUMENT);  // a stream that DLPack forbids
    rows = PartOf(batch.get(), VICINITY_COLUMN);
    before = ValuesOf<char>(*rows);
    CHECK(vicinity_batch_tensor(batch.get(), VICINITY_COLUMN, 0, -1, &tensor) ==
          VICINITY_FAILED_PRECONDITION);
    CHECK(tensor == nullptr);
  }
  CHECK_FALSE(before.empty());
  CHECK(ValuesOf<char>(*rows) == before);
}

}  // namespace
}  // namespace vicinity
