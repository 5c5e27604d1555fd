// Opens a graph, makes a loader and prints its first minibatch. Standard C++ and the client
// library.
//
//   sample_and_fetch DIR               a dataset on this machine, without any server
//   sample_and_fetch CLUSTER.textproto the servers of a cluster file
#include <vicinity/graph.h>
#include <vicinity/loader.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

namespace {

int Fail(const vicinity::Error& error) {
  std::cerr << vicinity::ErrorCodeName(error.code()) << ": " << error.message() << '\n';
  return 1;
}

void Print(const vicinity::Schema& schema, const vicinity::MiniBatch& batch) {
  std::cout << "batch " << batch.step << " of epoch " << batch.epoch << ": "
            << batch.graph.num_seeds() << " seeds, " << batch.graph.num_edges() << " edges\n";
  for (size_t hop = 0; hop < batch.graph.hops.size(); ++hop) {
    for (const vicinity::Block& block : batch.graph.hops[hop]) {
      std::cout << "  hop " << hop << ", " << schema.EdgeTypeName(block.edge_type) << ": "
                << block.num_targets() << " targets, " << block.sources.size() << " edges\n";
    }
  }
  for (const vicinity::BatchColumn& column : batch.columns) {
    uint64_t sum = 0;  // of the bytes, so that two runs can be compared
    for (const char byte : column.bytes) sum += static_cast<unsigned char>(byte);
    std::cout << "  " << schema.node_types[column.node_type].name << "." << column.spec.name << ": "
              << column.num_rows << " rows of " << column.spec.row_bytes()
              << " bytes, which add up to " << sum << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: sample_and_fetch DIR | CLUSTER.textproto\n";
    return 2;
  }
  vicinity::GraphOptions where;
  (std::filesystem::is_directory(argv[1]) ? where.directory : where.cluster_file) = argv[1];
  auto graph = vicinity::Graph::Open(where);
  if (!graph.ok()) return Fail(graph.error());
  const vicinity::Schema& schema = (*graph)->schema();

  vicinity::LoaderOptions options;
  options.sampling = vicinity::SamplingSpec::Uniform(schema, {10, 5});
  options.batch_size = 32;
  for (const vicinity::NodeTypeSpec& type : schema.node_types) {
    for (const vicinity::ColumnSpec& column : type.columns) {
      if (!type.HasRole(column.name)) options.columns.push_back({type.name, column.name});
    }
  }
  auto loader = vicinity::Loader::Create(graph->get(), options);
  if (!loader.ok()) return Fail(loader.error());
  const vicinity::Error started = (*loader)->StartEpoch(0);
  if (!started.ok()) return Fail(started);
  auto batch = (*loader)->Next();
  if (!batch.ok()) return Fail(batch.error());
  if (*batch == nullptr) {
    std::cerr << "the graph has no training seeds\n";
    return 1;
  }
  Print(schema, **batch);
}
