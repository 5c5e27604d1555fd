// A small graph on disk, opened through the C interface and through the C++ one, and what tests of
// the C interface check again and again.
#pragma once

#include <dlpack/dlpack.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "client/c_api/vicinity.h"
#include "client/graph.h"
#include "tests/client/routed_graph.h"
#include "tests/testing/graphs/small_graphs.h"

namespace vicinity::testing {

// Frees what the library gave.
struct Free {
  void operator()(VicinityGraph* graph) const { vicinity_graph_close(graph); }
  void operator()(VicinityLoader* loader) const { vicinity_loader_release(loader); }
  void operator()(VicinityBatch* batch) const { vicinity_batch_release(batch); }
  void operator()(DLManagedTensor* tensor) const { vicinity_tensor_free(tensor); }
};
using GraphPtr = std::unique_ptr<VicinityGraph, Free>;
using LoaderPtr = std::unique_ptr<VicinityLoader, Free>;
using BatchPtr = std::unique_ptr<VicinityBatch, Free>;
using TensorPtr = std::unique_ptr<DLManagedTensor, Free>;

// The call must have worked.
inline void RequireOk(int32_t code) {
  INFO(vicinity_last_error());
  REQUIRE(code == VICINITY_OK);
}

// Users "user" with features and labels, "item"s with features; two shards.
class OpenGraph {
 public:
  OpenGraph() : on_disk_(TypedGraph(300, 80, 20, 6), 2) {
    GraphOptions options;
    options.directory = on_disk_.directory();
    Result<std::unique_ptr<Graph>> opened = Graph::Open(options);
    REQUIRE(opened.ok());
    plain_ = *std::move(opened);
    graph_ = Open();
  }

  std::string options() const { return R"({"directory": ")" + on_disk_.directory() + "\"}"; }
  VicinityGraph* graph() const { return graph_.get(); }
  const Graph& plain() const { return *plain_; }  // the same through the C++ interface

  GraphPtr Open() const {
    VicinityGraph* graph = nullptr;
    RequireOk(vicinity_graph_open(options().c_str(), &graph));
    return GraphPtr(graph);
  }

  LoaderPtr MakeLoader(const std::string& options) const {
    VicinityLoader* loader = nullptr;
    RequireOk(vicinity_loader_create(graph(), options.c_str(), &loader));
    return LoaderPtr(loader);
  }

 private:
  const RoutedGraph on_disk_;
  std::unique_ptr<Graph> plain_;
  GraphPtr graph_;
};

inline BatchPtr NextBatch(VicinityLoader* loader) {
  VicinityBatch* batch = nullptr;
  RequireOk(vicinity_loader_next(loader, -1, &batch));
  return BatchPtr(batch);
}

inline TensorPtr PartOf(const VicinityBatch* batch, VicinityPart part, int32_t index = 0) {
  DLManagedTensor* tensor = nullptr;
  RequireOk(vicinity_batch_tensor(batch, part, index, -1, &tensor));
  return TensorPtr(tensor);
}

inline std::vector<int64_t> ShapeOf(const DLManagedTensor& tensor) {
  return {tensor.dl_tensor.shape, tensor.dl_tensor.shape + tensor.dl_tensor.ndim};
}

// The values of a tensor in host memory.
template <typename Value>
std::vector<Value> ValuesOf(const DLManagedTensor& tensor) {
  REQUIRE(tensor.dl_tensor.device.device_type == kDLCPU);
  REQUIRE(tensor.dl_tensor.strides == nullptr);
  int64_t bytes = tensor.dl_tensor.dtype.bits / 8;
  for (const int64_t length : ShapeOf(tensor)) bytes *= length;
  std::vector<Value> values(bytes / sizeof(Value));
  if (bytes > 0) memcpy(values.data(), tensor.dl_tensor.data, bytes);
  return values;
}

}  // namespace vicinity::testing
