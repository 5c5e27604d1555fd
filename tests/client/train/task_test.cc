#include "client/train/task.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <variant>
#include <vector>

#include "tests/client/train/random_batch.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {

using testing::TwoTypeSchema;

TEST_CASE("a task names the seeds, their features and the fanouts", "[task]") {
  TrainOptions options;
  options.fanouts = {4, 2};
  options.eval_fanouts = {-1, -1};
  options.loader.seed_policy = SeedPolicy::kHome;
  options.loader.trainer = 1;
  options.loader.num_trainers = 2;
  options.loader.homes = {{1}, {0}};
  const Schema schema = TwoTypeSchema();
  const Result<Task> task = MakeTask(schema, options);
  REQUIRE(task.ok());
  CHECK(task.value().seed_type == 0);
  CHECK(task.value().num_classes == 5);
  CHECK(task.value().feature_widths == std::vector<int64_t>{4, 3});

  const LoaderOptions training = TrainingLoader(schema, task.value(), options);
  CHECK(training.seed_type == "item");
  CHECK(training.split == Split::kTrain);
  CHECK(training.shuffle);
  CHECK(training.seed_policy == SeedPolicy::kHome);
  CHECK(training.homes == options.loader.homes);
  CHECK(training.sampling.fanouts == std::vector<std::vector<int64_t>>{{4, 4, 4}, {2, 2, 2}});
  REQUIRE(training.columns.size() == 2);
  CHECK(training.columns[1].node_type == "tag");

  const LoaderOptions evaluation = EvaluationLoader(schema, task.value(), options, Split::kTest);
  CHECK(evaluation.split == Split::kTest);
  CHECK(!evaluation.shuffle);
  CHECK(evaluation.seed_policy == SeedPolicy::kGlobal);  // each node once, whoever owns it
  CHECK(evaluation.trainer == 1);
  CHECK(evaluation.sampling.fanouts == std::vector<std::vector<int64_t>>(2, {-1, -1, -1}));
}

TEST_CASE("training has the seeds that a file lists, and evaluation its split's", "[task]") {
  const testing::TempDir folder;
  TrainOptions options;
  options.seed_list = folder.path() + "/seeds.txt";
  const Schema schema = TwoTypeSchema();
  CHECK(MakeTask(schema, options).error().code() == ErrorCode::kNotFound);
  std::ofstream(options.seed_list) << "4\n2\n";
  const Result<Task> task = MakeTask(schema, options);
  REQUIRE(task.ok());
  const LoaderOptions training = TrainingLoader(schema, *task, options);
  CHECK(std::get<UserIds>(training.seeds).ids == std::vector<int64_t>{4, 2});
  const LoaderOptions evaluation = EvaluationLoader(schema, *task, options, Split::kTest);
  CHECK(std::holds_alternative<std::monostate>(evaluation.seeds));
}

TEST_CASE("the linear model asks for the least sampling", "[task]") {
  TrainOptions options;
  options.model = ModelKind::kLinear;
  const Result<Task> task = MakeTask(TwoTypeSchema(), options);
  REQUIRE(task.ok());
  CHECK(task.value().sampling.fanouts == std::vector<std::vector<int64_t>>{{1, 0, 0}});

  Schema schema = TwoTypeSchema();
  schema.node_types[0].columns.erase(schema.node_types[0].columns.begin());
  CHECK(MakeTask(schema, options).error().code() == ErrorCode::kNotFound);
  schema = TwoTypeSchema();
  schema.edge_types = {{0, "has", 1, {}}};
  CHECK(MakeTask(schema, options).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("making batches alone needs neither labels nor features", "[task]") {
  Schema schema = TwoTypeSchema();
  schema.node_types.pop_back();
  schema.edge_types = {{0, "cites", 0, {}}};
  schema.node_types[0].columns.clear();
  schema.node_types[0].label_column.clear();
  schema.node_types[0].split_column.clear();
  TrainOptions options;
  CHECK(MakeTask(schema, options).error().code() == ErrorCode::kNotFound);
  options.model = ModelKind::kNone;
  const Result<Task> task = MakeTask(schema, options);
  REQUIRE(task.ok());
  CHECK(task.value().split == Split::kNone);
  const LoaderOptions loader = TrainingLoader(schema, task.value(), options);
  CHECK(loader.columns.empty());
  CHECK(!loader.labels);
}

TEST_CASE("training draws as its flags say, and a condition is not forgotten", "[task]") {
  TrainOptions options;
  options.loader.sampling.draws = Draws::kLabor;
  options.loader.sampling.layer_dependency = true;
  options.loader.sampling.batch_dependency = 4;
  const Schema schema = TwoTypeSchema();
  const Result<Task> task = MakeTask(schema, options);
  REQUIRE(task.ok());
  const SamplingSpec training = TrainingLoader(schema, *task, options).sampling;
  CHECK(training.draws == Draws::kLabor);
  CHECK(training.layer_dependency);
  CHECK(training.batch_dependency == 4);
  const SamplingSpec evaluation = EvaluationLoader(schema, *task, options, Split::kTest).sampling;
  CHECK(evaluation.draws == Draws::kIndependent);
  CHECK(SpecProblem(schema, evaluation).empty());
  // No edge type has such a column.
  options.loader.sampling.where = "year > 2010";
  CHECK(MakeTask(schema, options).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("fanouts that do not fit are refused", "[task]") {
  TrainOptions options;
  options.fanouts = GENERATE(values<std::vector<int64_t>>(
      {{0}, {-2}, {kMaxFanout + 1}, std::vector<int64_t>(kMaxHops + 1, 2)}));
  CHECK(MakeTask(TwoTypeSchema(), options).error().code() == ErrorCode::kInvalidArgument);
}

}  // namespace vicinity
