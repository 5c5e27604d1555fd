// A trainer as a process of its own: reads one epoch of a certified graph, going on after errors as
// often as it is told, and says what it met, a line each, as soon as it knows: "wrong <row or
// edge>" (a reading's first), "error <code> <text>", "end <steps read> of <steps>". Exits 0
// whatever it met, so anything else is a crash.
#include <cstdlib>
#include <iostream>
#include <string>

#include "client/result.h"
#include "tests/integration/certified_reader.h"
#include "tests/testing/certified_graph.h"

namespace {

using vicinity::testing::CertifiedReader;

int Report(const vicinity::Error& error) {
  std::cout << "error " << vicinity::ErrorCodeName(error.code()) << " " << error.message()
            << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::cerr << "certified_trainer CLUSTER_FILE NODES SHARDS ROW_BYTES CALL_TIMEOUT_MS RETRIES\n";
    return 2;
  }
  vicinity::testing::CertifiedShape shape;
  shape.num_nodes = std::atoll(argv[2]);
  shape.num_shards = std::atoi(argv[3]);
  shape.row_bytes = std::atoll(argv[4]);
  const vicinity::testing::CertifiedGraph graph(shape);
  vicinity::testing::ReaderOptions options;
  options.graph.cluster_file = argv[1];
  options.graph.call_timeout = std::chrono::milliseconds(std::atoll(argv[5]));
  options.graph.call_budget = 2 * options.graph.call_timeout;
  options.on_wrong = [](const std::string& what) { std::cout << "wrong " << what << std::endl; };
  const auto reader = CertifiedReader::Open(&graph, options);
  if (!reader.ok()) return Report(reader.error());
  int64_t step = 0;
  for (int tries = 1 + std::atoi(argv[6]); tries > 0 && step < (*reader)->steps(); --tries) {
    const vicinity::testing::Reading reading = (*reader)->Read(0, step);
    step += static_cast<int64_t>(reading.digests.size());
    if (!reading.error.ok()) Report(reading.error);
  }
  std::cout << "end " << step << " of " << (*reader)->steps() << std::endl;
  return 0;
}
