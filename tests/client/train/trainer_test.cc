#include "client/train/trainer.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "client/graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"
#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using nlohmann::json;
using testing::TempDir;

std::string WriteRandomGraph(const TempDir& dir, const testing::RandomGraphOptions& options) {
  const std::string directory = dir.File("graph");
  const testing::MemoryGraph graph = testing::RandomGraph(options);
  VICINITY_REQUIRE_OK(testing::WriteGraph(graph, testing::Shuffled(graph, 4, 1), directory));
  return directory;
}

// All neighbours and no dropout: nothing is left to chance.
TrainOptions ExactOptions(const std::string& directory) {
  TrainOptions options;
  options.graph.directory = directory;
  options.features = "features";
  options.fanouts = {-1, -1};
  options.hidden = 16;
  options.dropout = 0;
  options.learning_rate = 0.02;
  options.epochs = 3;
  options.threads = 1;
  return options;
}

int64_t NumTrainingSeeds(const TrainOptions& options) {
  GraphOptions where;
  where.directory = options.graph.directory;
  Result<std::unique_ptr<Graph>> graph = Graph::Open(where);
  REQUIRE(graph.ok());
  return static_cast<int64_t>((*graph)->NodesOf(0, Split::kTrain).value().size());
}

// The JSON lines of each trainer.
std::vector<std::vector<json>> RunGroup(const TempDir& dir, TrainOptions options,
                                        int num_trainers) {
  std::vector<Error> errors(num_trainers);
  std::vector<std::thread> threads;
  const auto report = [&](int trainer) {
    return dir.File(std::to_string(trainer) + "-of-" + std::to_string(num_trainers));
  };
  for (int trainer = 0; trainer < num_trainers; ++trainer) {
    threads.emplace_back([&, trainer] {
      TrainOptions mine = options;
      mine.loader.trainer = trainer;
      mine.loader.num_trainers = num_trainers;
      mine.rendezvous = "file:" + dir.File("meet-" + std::to_string(num_trainers));
      mine.report = report(trainer);
      std::ostringstream out;
      errors[trainer] = RunTraining(mine, &out);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<std::vector<json>> lines(num_trainers);
  for (int trainer = 0; trainer < num_trainers; ++trainer) {
    INFO(errors[trainer].message());
    REQUIRE(errors[trainer].ok());
    std::ifstream file(report(trainer));
    for (std::string line; std::getline(file, line);) {
      lines[trainer].push_back(json::parse(line));
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("trainers together take the steps of one with their batches", "[trainer]") {
  const TempDir dir;
  testing::RandomGraphOptions random;
  random.num_nodes = 400;
  TrainOptions options = ExactOptions(WriteRandomGraph(dir, random));
  const int num_trainers = 2;
  // Six batches, the last one smaller: three steps of two trainers, none of whom begins again.
  const int64_t num_seeds = NumTrainingSeeds(options);
  const int64_t batch_size = (num_seeds + 5) / 6;
  REQUIRE((num_seeds + batch_size - 1) / batch_size == 6);
  options.loader.batch_size = batch_size;
  const auto many = RunGroup(dir, options, num_trainers);
  options.loader.batch_size = batch_size * num_trainers;
  const auto one = RunGroup(dir, options, 1);
  options.loader.batch_size = batch_size;
  options.accumulate = num_trainers;
  const auto accumulating = RunGroup(dir, options, 1);

  REQUIRE(many[0].size() == one[0].size());
  for (int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    const json& mine = many[0][epoch];
    for (const json& theirs : {one[0][epoch], accumulating[0][epoch]}) {
      CHECK(mine["loss"].get<double>() == Approx(theirs["loss"].get<double>()).epsilon(1e-3));
      CHECK(mine["validation_accuracy"] == theirs["validation_accuracy"]);
      CHECK(mine["test_accuracy"] == theirs["test_accuracy"]);
      CHECK(mine["steps"] == theirs["steps"]);
    }
  }
  // Trainers agree on everything that is summed.
  CHECK(many[0][1]["loss"] == many[1][1]["loss"]);
  CHECK(many[0][1]["rows_local"] == many[1][1]["rows_local"]);
}

TEST_CASE("training fits what it is shown", "[trainer]") {
  const TempDir dir;
  testing::RandomGraphOptions random;
  random.feature_width = 32;
  TrainOptions options = ExactOptions(WriteRandomGraph(dir, random));
  options.epochs = 60;
  options.eval_every = 0;
  const auto lines = RunGroup(dir, options, 1)[0];
  CHECK(lines[60]["loss"].get<double>() < 0.3 * lines[1]["loss"].get<double>());
  CHECK(lines[60]["train_accuracy"].get<double>() > 0.9);
  CHECK(!lines[59].contains("test_accuracy"));
  CHECK(lines[60].contains("test_accuracy"));
  CHECK(lines[61]["kind"] == "result");
}

TEST_CASE("without a model batches are made and counted", "[trainer]") {
  const TempDir dir;
  TrainOptions options = ExactOptions(WriteRandomGraph(dir, {}));
  options.model = ModelKind::kNone;
  options.loader.batch_size = 8;
  options.epochs = 1;
  const auto lines = RunGroup(dir, options, 2)[0];
  CHECK(lines[1]["seeds"].get<double>() > 0);
  CHECK(lines[1]["nodes"].get<int64_t>() > 0);
  CHECK(lines[1]["nodes"] == lines[1]["rows_local"]);
  CHECK(!lines[1].contains("test_accuracy"));
}

TEST_CASE("a graph that is not there is an error", "[trainer]") {
  const TempDir dir;
  std::ostringstream out;
  CHECK(!RunTraining(ExactOptions(dir.File("missing")), &out).ok());
}

}  // namespace vicinity
