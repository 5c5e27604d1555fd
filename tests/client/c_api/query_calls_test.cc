// The calls of client/c_api/vicinity.h that concern queries.
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "client/prepared_query.h"
#include "client/query/query.h"
#include "tests/client/c_api/open_graph.h"

namespace vicinity {
namespace {

using testing::OpenGraph;
using testing::RequireOk;
using testing::ShapeOf;
using testing::TensorPtr;
using testing::ValuesOf;

constexpr char kText[] =
    "items = nodes(item, $seeds)\n"
    "users = neighbors(items, buys, 3, columns=[features], edge_columns=[weight], edge_ids=true)\n"
    "all = layer(items, buys, 7)\n"
    "walk = walk(items, [buys, bought_by], 5, edge_ids=true)\n"
    "most = visited(items, [buys, bought_by], 3, length=4, num_walks=9)\n"
    "rank = ppr(items, [buys, bought_by], 4)\n"
    "sub = induced([items, users], buys, edge_ids=true, edge_columns=[weight])\n";

using QueryPtr = std::unique_ptr<VicinityQuery, decltype(&vicinity_query_release)>;
using AnswerPtr = std::unique_ptr<VicinityAnswer, decltype(&vicinity_answer_release)>;

QueryPtr Prepare(const OpenGraph& open, const char* text) {
  VicinityQuery* query = nullptr;
  RequireOk(vicinity_query_prepare(open.graph(), text, &query));
  return QueryPtr(query, &vicinity_query_release);
}

nlohmann::json TakeJson(char* text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  vicinity_string_free(text);
  return json;
}

TEST_CASE("an answer is that of the C++ interface", "[c_api]") {
  const OpenGraph open;
  const std::vector<int64_t> seeds = {4, 0, 4};
  const Query parsed = *Query::Parse(kText);
  const auto plain = *PreparedQuery::Make(&open.plain(), parsed);
  const QueryAnswer expected = *plain->Run({{"seeds", seeds}}, {3, 1, 5});
  const QueryPtr query = Prepare(open, kText);
  const VicinityInput input = {"seeds", seeds.data(), 3};
  VicinityAnswer* given = nullptr;
  RequireOk(vicinity_query_run(query.get(), &input, 1, 3, 1, 5, &given));
  AnswerPtr answer(given, &vicinity_answer_release);
  const auto tensor = [&](int32_t step, int32_t part, int32_t index = 0) {
    DLManagedTensor* made = nullptr;
    RequireOk(vicinity_answer_tensor(answer.get(), step, part, index, &made));
    return TensorPtr(made);
  };
  for (int32_t i = 0; i < 7; ++i) {
    const StepAnswer& step = expected.steps[i];
    CHECK(ValuesOf<int64_t>(*tensor(i, VICINITY_STEP_NODES)) == step.nodes);
    CHECK(ValuesOf<int64_t>(*tensor(i, VICINITY_STEP_OFFSETS)) == step.offsets);
  }
  CHECK(ValuesOf<int64_t>(*tensor(1, VICINITY_STEP_EDGE_IDS)) == expected.steps[1].edge_ids);
  CHECK(ValuesOf<double>(*tensor(2, VICINITY_STEP_WEIGHTS)) == expected.steps[2].weights);
  CHECK(ValuesOf<int64_t>(*tensor(3, VICINITY_STEP_WALKS)) == expected.steps[3].walks.nodes);
  CHECK(ShapeOf(*tensor(3, VICINITY_STEP_WALKS)) == std::vector<int64_t>{3, 6});
  CHECK(ValuesOf<int64_t>(*tensor(3, VICINITY_STEP_WALK_EDGES)) ==
        expected.steps[3].walks.edge_ids);
  CHECK(ShapeOf(*tensor(3, VICINITY_STEP_WALK_EDGES)) == std::vector<int64_t>{3, 5});
  CHECK(ValuesOf<int64_t>(*tensor(4, VICINITY_STEP_COUNTS)) == expected.steps[4].counts);
  CHECK(ValuesOf<double>(*tensor(5, VICINITY_STEP_SCORES)) == expected.steps[5].scores);
  CHECK(ValuesOf<double>(*tensor(5, VICINITY_STEP_RESIDUALS)) == expected.steps[5].residuals);
  const StepAnswer& sub = expected.steps[6];
  const auto num_edges = static_cast<int64_t>(sub.edge_ids.size());
  CHECK(ValuesOf<int64_t>(*tensor(6, VICINITY_STEP_TARGETS)) == sub.targets);
  CHECK(ValuesOf<int64_t>(*tensor(6, VICINITY_STEP_EDGE_INDEX)) == sub.edge_index);
  CHECK(ShapeOf(*tensor(6, VICINITY_STEP_EDGE_INDEX)) == std::vector<int64_t>{2, num_edges});
  CHECK(ValuesOf<int64_t>(*tensor(6, VICINITY_STEP_EDGE_IDS)) == sub.edge_ids);
  CHECK(ShapeOf(*tensor(6, VICINITY_STEP_EDGE_COLUMN))[0] == num_edges);
  const TensorPtr features = tensor(1, VICINITY_STEP_COLUMN);
  CHECK(ShapeOf(*features)[0] == static_cast<int64_t>(expected.steps[1].nodes.size()));
  CHECK(ValuesOf<float>(*features).size() * sizeof(float) ==
        expected.steps[1].columns[0].bytes.size());
  const TensorPtr weights = tensor(1, VICINITY_STEP_EDGE_COLUMN);
  answer.reset();  // its tensors stay
  const std::vector<float> values = ValuesOf<float>(*weights);
  CHECK(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)) ==
        std::string(expected.steps[1].edge_columns[0].bytes.begin(),
                    expected.steps[1].edge_columns[0].bytes.end()));
}

TEST_CASE("a query is described, and its cost foretold", "[c_api]") {
  const OpenGraph open;
  const QueryPtr query = Prepare(open, kText);
  char* text = nullptr;
  RequireOk(vicinity_query_describe(query.get(), &text));
  const nlohmann::json described = TakeJson(text);
  CHECK(described["inputs"].dump() == R"([{"name":"seeds","node_type":"item"}])");
  CHECK(described["steps"][1]["node_type"] == "user");
  CHECK(described["steps"][1]["edge_columns"].dump() == R"(["weight"])");
  CHECK(described["steps"][2]["kind"] == "layer");
  CHECK(described["steps"][6]["among"].dump() == R"(["items","users"])");
  RequireOk(vicinity_query_explain(query.get(), R"({"seeds": 10})", &text));
  const nlohmann::json costs = TakeJson(text);
  CHECK(costs[0]["nodes"] == 10);
  CHECK(costs[2]["does"].get<std::string>().find("7 of all are drawn here") != std::string::npos);
}

TEST_CASE("what is wrong with a query is an error", "[c_api]") {
  const OpenGraph open;
  VicinityQuery* made = nullptr;
  CHECK(vicinity_query_prepare(open.graph(), "a = b", &made) == VICINITY_INVALID_ARGUMENT);
  CHECK(std::string(vicinity_last_error()).find("line 1, character 5") != std::string::npos);
  CHECK(vicinity_query_prepare(open.graph(), "a = nodes(x)", &made) == VICINITY_NOT_FOUND);
  CHECK(vicinity_query_prepare(nullptr, kText, &made) == VICINITY_INVALID_ARGUMENT);
  const QueryPtr query = Prepare(open, kText);
  char* text = nullptr;
  CHECK(vicinity_query_explain(query.get(), "[1]", &text) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_query_explain(query.get(), R"({"seeds": -1})", &text) ==
        VICINITY_INVALID_ARGUMENT);
  VicinityAnswer* answer = nullptr;
  CHECK(vicinity_query_run(query.get(), nullptr, 1, 0, 0, 0, &answer) == VICINITY_INVALID_ARGUMENT);
  const int64_t seed = 1;
  const VicinityInput nameless = {nullptr, &seed, 1};
  CHECK(vicinity_query_run(query.get(), &nameless, 1, 0, 0, 0, &answer) ==
        VICINITY_INVALID_ARGUMENT);
  const VicinityInput input = {"seeds", &seed, 1};
  RequireOk(vicinity_query_run(query.get(), &input, 1, 0, 0, 0, &answer));
  const AnswerPtr kept(answer, &vicinity_answer_release);
  DLManagedTensor* tensor = nullptr;
  CHECK(vicinity_answer_tensor(answer, 7, VICINITY_STEP_NODES, 0, &tensor) ==
        VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_answer_tensor(answer, 0, 99, 0, &tensor) == VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_answer_tensor(answer, 1, VICINITY_STEP_COUNTS, 0, &tensor) == VICINITY_NOT_FOUND);
  CHECK(vicinity_answer_tensor(answer, 1, VICINITY_STEP_SCORES, 0, &tensor) == VICINITY_NOT_FOUND);
  CHECK(vicinity_answer_tensor(answer, 1, VICINITY_STEP_RESIDUALS, 0, &tensor) ==
        VICINITY_NOT_FOUND);
  CHECK(vicinity_answer_tensor(answer, 1, VICINITY_STEP_TARGETS, 0, &tensor) == VICINITY_NOT_FOUND);
  CHECK(vicinity_answer_tensor(answer, 1, VICINITY_STEP_EDGE_INDEX, 0, &tensor) ==
        VICINITY_NOT_FOUND);
  CHECK(vicinity_answer_tensor(answer, 1, VICINITY_STEP_WALKS, 0, &tensor) == VICINITY_NOT_FOUND);
  CHECK(vicinity_answer_tensor(answer, 0, VICINITY_STEP_WALK_EDGES, 0, &tensor) ==
        VICINITY_NOT_FOUND);
  CHECK(vicinity_answer_tensor(answer, 0, VICINITY_STEP_COLUMN, 0, &tensor) ==
        VICINITY_INVALID_ARGUMENT);
  CHECK(vicinity_answer_tensor(answer, 0, VICINITY_STEP_EDGE_IDS, 0, &tensor) ==
        VICINITY_NOT_FOUND);
  CHECK(vicinity_answer_tensor(answer, 1, VICINITY_STEP_WEIGHTS, 0, &tensor) == VICINITY_NOT_FOUND);
  vicinity_query_release(nullptr);
  vicinity_answer_release(nullptr);
}

TEST_CASE("a query's loader gives answers that the query gives for its seeds and draws",
          "[c_api]") {
  const OpenGraph open;
  constexpr char kOptions[] =
      R"({"split": "", "seed_type": "item", "batch_size": 30, "run_seed": 7})";
  VicinityLoader* made = nullptr;
  RequireOk(
      vicinity_loader_create_for_query(open.graph(), kText, kOptions, /*seeds=*/nullptr, &made));
  const testing::LoaderPtr loader(made);
  CHECK(vicinity_loader_num_seeds(loader.get()) == 80);
  CHECK(vicinity_loader_steps_per_epoch(loader.get()) == 3);
  char* text = nullptr;
  RequireOk(vicinity_loader_describe_query(loader.get(), &text));
  const QueryPtr query = Prepare(open, kText);
  char* of_query = nullptr;
  RequireOk(vicinity_query_describe(query.get(), &of_query));
  CHECK(TakeJson(text) == TakeJson(of_query));
  RequireOk(vicinity_loader_start_epoch(loader.get(), 2, 0, -1));
  int64_t steps = 0;
  while (const testing::BatchPtr batch = testing::NextBatch(loader.get())) {
    VicinityBatchInfo info = {};
    info.struct_size = sizeof(info);
    RequireOk(vicinity_batch_info(batch.get(), &info));
    CHECK(info.epoch == 2);
    CHECK(info.step == steps);
    CHECK(info.batches_done == ++steps);
    CHECK(info.has_answer == 1);
    CHECK(info.has_labels == 0);  // items have none
    CHECK(info.num_node_types == 0);
    const auto seeds = ValuesOf<int64_t>(*testing::PartOf(batch.get(), VICINITY_QUERY_SEEDS));
    const auto places = ValuesOf<int64_t>(*testing::PartOf(batch.get(), VICINITY_INPUT_POSITIONS));
    CHECK(seeds.size() == places.size());
    const VicinityInput input = {"seeds", seeds.data(), static_cast<int64_t>(seeds.size())};
    VicinityAnswer* given = nullptr;
    RequireOk(vicinity_query_run(query.get(), &input, 1, 7, 2, info.draw, &given));
    const AnswerPtr alone(given, &vicinity_answer_release);
    RequireOk(vicinity_batch_answer(batch.get(), &given));
    const AnswerPtr answer(given, &vicinity_answer_release);
    for (const auto& [step, part] :
         std::vector<std::pair<int32_t, int32_t>>{{0, VICINITY_STEP_NODES},
                                                  {1, VICINITY_STEP_OFFSETS},
                                                  {1, VICINITY_STEP_EDGE_IDS},
                                                  {1, VICINITY_STEP_COLUMN},
                                                  {2, VICINITY_STEP_NODES},
                                                  {3, VICINITY_STEP_WALKS},
                                                  {5, VICINITY_STEP_SCORES},
                                                  {6, VICINITY_STEP_EDGE_INDEX}}) {
      DLManagedTensor* tensors[2] = {};
      RequireOk(vicinity_answer_tensor(answer.get(), step, part, 0, &tensors[0]));
      RequireOk(vicinity_answer_tensor(alone.get(), step, part, 0, &tensors[1]));
      const TensorPtr one(tensors[0]), other(tensors[1]);
      CHECK(ShapeOf(*one) == ShapeOf(*other));
      CHECK(ValuesOf<uint8_t>(*one) == ValuesOf<uint8_t>(*other));
    }
  }
  CHECK(steps == 3);
}

TEST_CASE("what is wrong with a query's loader is said, and minibatches have no answer",
          "[c_api]") {
  const OpenGraph open;
  VicinityLoader* made = nullptr;
  const auto create = [&](const char* text, const char* options) {
    return vicinity_loader_create_for_query(open.graph(), text, options, nullptr, &made);
  };
  CHECK(create("a = b", "{}") == VICINITY_INVALID_ARGUMENT);
  CHECK(create("a = nodes(item)", "{}") == VICINITY_INVALID_ARGUMENT);
  CHECK(create(kText, R"({"fanouts": [3]})") == VICINITY_INVALID_ARGUMENT);
  CHECK(create(kText, R"({"edge_ids": true})") == VICINITY_INVALID_ARGUMENT);
  CHECK(create(nullptr, "{}") == VICINITY_INVALID_ARGUMENT);
  const testing::LoaderPtr loader = open.MakeLoader(R"({"fanouts": [2]})");
  char* text = nullptr;
  CHECK(vicinity_loader_describe_query(loader.get(), &text) == VICINITY_NOT_FOUND);
  RequireOk(vicinity_loader_start_epoch(loader.get(), 0, 0, -1));
  const testing::BatchPtr batch = testing::NextBatch(loader.get());
  VicinityAnswer* answer = nullptr;
  CHECK(vicinity_batch_answer(batch.get(), &answer) == VICINITY_NOT_FOUND);
  DLManagedTensor* tensor = nullptr;
  CHECK(vicinity_batch_tensor(batch.get(), VICINITY_QUERY_SEEDS, 0, -1, &tensor) ==
        VICINITY_NOT_FOUND);
}

}  // namespace
}  // namespace vicinity
