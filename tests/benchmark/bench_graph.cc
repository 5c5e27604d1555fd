#include "tests/benchmark/bench_graph.h"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/whole_read.h"
#include "partition/ingest/generate_rmat.h"
#include "proto/common/progress.h"

namespace vicinity::benchmark {

std::unique_ptr<Dataset> OpenRmat(const BenchOptions& options, bool weights) {
  RmatOptions rmat;
  rmat.scale = options.size == "full" ? 22 : 16;
  rmat.symmetric = true;
  rmat.dedup = true;
  rmat.drop_self_loops = true;
  rmat.weights = weights;
  const std::string directory =
      absl::StrCat(options.data, "/rmat-", rmat.scale, weights ? "-weights" : "");
  if (!std::filesystem::exists(directory)) {
    std::filesystem::create_directories(options.data);
    std::cerr << "generating " << directory << '\n';
    if (auto made = GenerateRmat(rmat, directory, NoProgress()); !made.ok()) {
      std::cerr << made.status() << '\n';
      std::exit(1);
    }
  }
  Dataset::Options whole;
  whole.check_bytes = 0;
  auto dataset = Dataset::Open(directory, whole);
  // As in a process that has been up for a while, no page is left to be verified.
  const absl::Status verified =
      dataset.ok() ? ReadWhole(AllFiles(**dataset), NoProgress(), [] { return absl::OkStatus(); })
                   : dataset.status();
  if (!verified.ok()) {
    std::cerr << verified << '\n';
    std::exit(1);
  }
  return *std::move(dataset);
}

}  // namespace vicinity::benchmark
