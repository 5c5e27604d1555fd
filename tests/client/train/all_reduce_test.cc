#include "client/train/all_reduce.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/testing/temp_dir.h"

namespace vicinity {
namespace {

using testing::TempDir;

TrainerGroupOptions OptionsOf(const TempDir& dir, int trainer, int num_trainers) {
  TrainerGroupOptions options;
  options.trainer = trainer;
  options.num_trainers = num_trainers;
  options.rendezvous = "file:" + dir.File("rendezvous");
  options.timeout = std::chrono::seconds(20);
  return options;
}

// Runs `work` for each trainer of a group, in a thread each; returns what each said.
std::vector<Error> InGroup(int num_trainers,
                           const std::function<Error(TrainerGroup* group)>& work) {
  const TempDir dir;
  std::vector<Error> errors(num_trainers);
  std::vector<std::thread> threads;
  for (int trainer = 0; trainer < num_trainers; ++trainer) {
    threads.emplace_back([&, trainer] {
      auto group = TrainerGroup::Join(OptionsOf(dir, trainer, num_trainers));
      errors[trainer] = group.ok() ? work(group->get()) : group.error();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

}  // namespace

TEST_CASE("trainers add up, and copy from the first", "[all_reduce]") {
  const int num_trainers = GENERATE(1, 2, 3);
  std::vector<torch::Tensor> sums(num_trainers);
  std::vector<torch::Tensor> copies(num_trainers);
  const std::vector<Error> errors = InGroup(num_trainers, [&](TrainerGroup* group) {
    const int trainer = group->trainer();
    sums[trainer] = torch::full({1000}, trainer + 1.0);
    copies[trainer] = torch::full({3}, trainer + 5.0);
    const Error error = group->Sum(sums[trainer]);
    return error.ok() ? group->CopyFromFirst(copies[trainer]) : error;
  });
  for (int trainer = 0; trainer < num_trainers; ++trainer) {
    INFO(errors[trainer].message());
    REQUIRE(errors[trainer].ok());
    CHECK(sums[trainer].eq(num_trainers * (num_trainers + 1) / 2.0).all().item<bool>());
    CHECK(copies[trainer].eq(5.0).all().item<bool>());
  }
}

TEST_CASE("trainers meet at a TCP address too", "[all_reduce]") {
  // One trainer alone needs no rendezvous, so the address is parsed only; groups use a file above.
  TrainerGroupOptions options;
  options.num_trainers = 2;
  options.rendezvous = GENERATE("", "localhost", ":29500", "localhost:", "localhost:0",
                                "localhost:70000", "localhost:80x");
  CHECK(TrainerGroup::Join(options).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("gradients are averaged over all seeds, not over trainers", "[all_reduce]") {
  // Trainer t has t + 1 seeds with a gradient of t each, and no gradient for the second parameter
  // on trainer 0.
  const int num_trainers = GENERATE(1, 3);
  std::vector<std::vector<torch::Tensor>> parameters(num_trainers);
  std::vector<StepTotals> totals(num_trainers);
  const std::vector<Error> errors = InGroup(num_trainers, [&](TrainerGroup* group) {
    const int trainer = group->trainer();
    std::vector<torch::Tensor>& mine = parameters[trainer];
    mine = {torch::zeros({2, 3}).requires_grad_(), torch::zeros({4}).requires_grad_()};
    const double seeds = trainer + 1.0;
    mine[0].mutable_grad() = torch::full({2, 3}, trainer * seeds);
    if (trainer > 0) mine[1].mutable_grad() = torch::full({4}, seeds);
    totals[trainer] = {10.0 * trainer, seeds, 1.0};
    return GradientAverager(mine).Average(group, &totals[trainer]);
  });
  double seeds = 0;
  double first = 0;
  double second = 0;
  double loss = 0;
  for (int trainer = 0; trainer < num_trainers; ++trainer) {
    seeds += trainer + 1;
    first += trainer * (trainer + 1);
    second += trainer > 0 ? trainer + 1 : 0;
    loss += 10.0 * trainer;
  }
  for (int trainer = 0; trainer < num_trainers; ++trainer) {
    REQUIRE(errors[trainer].ok());
    CHECK(totals[trainer].loss == Approx(loss));
    CHECK(totals[trainer].seeds == Approx(seeds));
    CHECK(totals[trainer].correct == Approx(num_trainers));
    CHECK(torch::allclose(parameters[trainer][0].grad(), torch::full({2, 3}, first / seeds)));
    CHECK(torch::allclose(parameters[trainer][1].grad(), torch::full({4}, second / seeds)));
  }
}

TEST_CASE("a step without any labelled seed has no gradient", "[all_reduce]") {
  TrainerGroupOptions options;
  auto group = TrainerGroup::Join(options);
  REQUIRE(group.ok());
  torch::Tensor parameter = torch::zeros({2}).requires_grad_();
  StepTotals totals;
  REQUIRE(GradientAverager({parameter}).Average(group->get(), &totals).ok());
  CHECK(parameter.grad().eq(0).all().item<bool>());
}

TEST_CASE("options that make no sense are refused", "[all_reduce]") {
  TrainerGroupOptions options;
  SECTION("no trainer") { options.num_trainers = 0; }
  SECTION("a trainer below 0") { options.trainer = -1; }
  SECTION("a trainer that is not there") { options.trainer = 1; }
  CHECK(TrainerGroup::Join(options).error().code() == ErrorCode::kInvalidArgument);
}

TEST_CASE("a trainer whose partner never comes gives up", "[all_reduce]") {
  const TempDir dir;
  TrainerGroupOptions options = OptionsOf(dir, 0, 2);
  options.timeout = std::chrono::milliseconds(300);
  CHECK(TrainerGroup::Join(options).error().code() == ErrorCode::kUnavailable);
}

TEST_CASE("a trainer whose partner has left gets an error", "[all_reduce]") {
  const std::vector<Error> errors = InGroup(2, [&](TrainerGroup* group) {
    torch::Tensor tensor = torch::ones({4});
    return group->trainer() == 0 ? group->Sum(tensor) : Error();
  });
  CHECK(errors[0].code() == ErrorCode::kUnavailable);
  CHECK(errors[1].ok());
}

}  // namespace vicinity
