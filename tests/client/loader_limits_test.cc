// A loader that cannot have its threads. Not under sanitizers, which need the address space that
// this forbids.
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <memory>

#include "absl/status/status.h"
#include "client/loading/loader_core.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"
#include "tests/testing/status_checks.h"

namespace vicinity {
namespace {

// No more address space than this process has, and 24 MiB: two stacks, and not eight.
void LimitStacks() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (24 << 20);
  const rlimit limit = {most, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

void LiftLimit() {
  const rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

TEST_CASE("an epoch whose threads cannot be had is an error, and may begin later", "[loader]") {
  const testing::RoutedGraph graph(testing::TypedGraph(400, 250, 40, 9), 3, {1});
  LoaderOptions options;
  options.seed_type = "user";
  options.sampling = SamplingSpec::Uniform(graph.router().schema(), {4, 3});
  options.batch_size = 16;
  options.sample_threads = 8;
  options.fetch_threads = 8;
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<LoaderCore> loader,
                                LoaderCore::Create(graph.router(), options));
  LimitStacks();
  const absl::Status refused = loader->StartEpoch(0, 0);
  LiftLimit();
  VICINITY_CHECK_CODE(refused, absl::StatusCode::kResourceExhausted);
  VICINITY_CHECK_CODE(loader->Next(), absl::StatusCode::kFailedPrecondition);
  VICINITY_REQUIRE_OK(loader->StartEpoch(0, 0));
  VICINITY_ASSERT_OK_AND_ASSIGN(const std::unique_ptr<MiniBatch> batch, loader->Next());
  CHECK(batch != nullptr);
}

}  // namespace
}  // namespace vicinity
