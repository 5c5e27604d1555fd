#include "client/train/evaluation.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/graph.h"
#include "client/train/linear_model.h"
#include "client/train/task.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::TempDir;

constexpr int64_t kBatchSize = 16;

// The accuracy of a linear model with these weights, from the user's own arrays.
Accuracy Expected(const testing::MemoryGraph& graph, LinearModel* model) {
  const torch::Tensor weights = model->parameters()[0];
  const torch::Tensor bias = model->parameters()[1];
  const NodeTypeSpec& type = graph.schema.node_types[0];
  Accuracy expected;
  for (int64_t node = 0; node < graph.num_nodes({0}); ++node) {
    const std::string_view split = graph.row({0}, type.FindColumn(type.split_column), node);
    if (static_cast<Split>(split[0]) != Split::kTest) continue;
    ++expected.nodes;
    int32_t label = 0;
    const std::string_view bytes = graph.row({0}, type.FindColumn(type.label_column), node);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(&label));
    if (label < 0) continue;
    ++expected.labelled;
    const std::string_view row = graph.row({0}, type.FindColumn("features"), node);
    const std::vector<char> features(row.begin(), row.end());
    const torch::Tensor values =
        torch::from_blob(const_cast<char*>(features.data()), {weights.size(1)}, torch::kFloat32);
    const torch::Tensor scores = torch::mv(weights, values) + bias;
    expected.correct += scores.argmax(0).item<int64_t>() == label ? 1 : 0;
  }
  return expected;
}

// What one trainer of a group finds.
Result<Accuracy> EvaluateAs(const TrainOptions& options, const Graph& graph) {
  Result<Task> task = MakeTask(graph.schema(), options);
  if (!task.ok()) return task.error();
  const Schema& schema = graph.schema();
  Result<std::unique_ptr<Loader>> loader =
      Loader::Create(&graph, EvaluationLoader(schema, *task, options, Split::kTest));
  if (!loader.ok()) return loader.error();
  Result<std::vector<int64_t>> nodes = graph.NodesOf(0, Split::kTest);
  if (!nodes.ok()) return nodes.error();
  TrainerGroupOptions group_options;
  group_options.trainer = options.loader.trainer;
  group_options.num_trainers = options.loader.num_trainers;
  group_options.rendezvous = options.rendezvous;
  Result<std::unique_ptr<TrainerGroup>> group = TrainerGroup::Join(group_options);
  if (!group.ok()) return group.error();
  LinearModel model(0, task->feature_widths[0], task->num_classes);
  InitializeWeights(5, &model);
  return Evaluate(schema, task->eval_sampling.expansion, options.loader.batch_size,
                  static_cast<int64_t>(nodes->size()), loader->get(), &model, group->get());
}

}  // namespace

TEST_CASE("every position counts once, for any trainers and batch size", "[evaluation]") {
  const int num_trainers = GENERATE(1, 2, 3, 7);
  const int64_t batch_size = GENERATE(1, 4, 10);
  const int64_t num_nodes = GENERATE(0, 1, 9, 40, 41);
  int64_t counted = 0;
  const int64_t num_batches = (num_nodes + batch_size - 1) / batch_size;
  for (int trainer = 0; trainer < num_trainers; ++trainer) {
    for (int64_t step = 0; step < num_batches / num_trainers + 2; ++step) {
      const int64_t here = CountedSeeds(step, trainer, num_trainers, batch_size, num_nodes);
      CHECK(here >= 0);
      CHECK(here <= batch_size);
      counted += here;
    }
  }
  CHECK(counted == num_nodes);
}

TEST_CASE("each node of the split is evaluated once, whoever does it", "[evaluation]") {
  const int num_trainers = GENERATE(1, 2, 3);
  const TempDir dir;
  testing::RandomGraphOptions random;
  random.num_nodes = 300;
  const testing::MemoryGraph memory = testing::RandomGraph(random);
  const std::string directory = dir.File("graph");
  VICINITY_REQUIRE_OK(testing::WriteGraph(memory, testing::Shuffled(memory, 3, 1), directory));
  GraphOptions where;
  where.directory = directory;
  Result<std::unique_ptr<Graph>> graph = Graph::Open(where);
  REQUIRE(graph.ok());

  std::vector<Result<Accuracy>> found(num_trainers, Accuracy());
  std::vector<std::thread> threads;
  for (int trainer = 0; trainer < num_trainers; ++trainer) {
    threads.emplace_back([&, trainer] {
      TrainOptions options;
      options.model = ModelKind::kLinear;
      options.features = "features";
      options.loader.batch_size = kBatchSize;
      options.loader.trainer = trainer;
      options.loader.num_trainers = num_trainers;
      options.rendezvous = "file:" + dir.File("rendezvous");
      found[trainer] = EvaluateAs(options, **graph);
    });
  }
  for (std::thread& thread : threads) thread.join();

  LinearModel model(0, random.feature_width, random.num_classes);
  InitializeWeights(5, &model);
  const Accuracy expected = Expected(memory, &model);
  REQUIRE(expected.nodes > kBatchSize);
  for (Result<Accuracy>& accuracy : found) {
    INFO(accuracy.error().message());
    REQUIRE(accuracy.ok());
    CHECK(accuracy->nodes == expected.nodes);
    CHECK(accuracy->labelled == expected.labelled);
    CHECK(accuracy->correct == expected.correct);
  }
}

}  // namespace vicinity
