// What a live graph costs behind a server, over the bulk channel's TCP: readers beside a read-only
// server of the same files, and writers.
#pragma once

#include <memory>
#include <string>

#include "partition/dataset/dataset.h"
#include "tests/benchmark/baselines/other_process.h"
#include "tests/benchmark/bench_report.h"

namespace vicinity::benchmark {

// Two servers of one shard, each in a process of its own: one takes changes, one does not. To be
// made before anything of gRPC's is, and before there are threads.
class ServedPair {
 public:
  // `folder`: for changes.
  ServedPair(std::string directory, const std::string& folder);

  // Rows and neighbours while nothing has changed and when a tenth has, each in turns with the
  // read-only server; edges and rows a second of four writers at once.
  void Measure(const Dataset& dataset, BenchReport* report) const;

 private:
  const std::string directory_;
  const std::unique_ptr<OtherProcess> files_;
  const std::unique_ptr<OtherProcess> live_;
};

}  // namespace vicinity::benchmark
