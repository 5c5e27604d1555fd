// Where `vicinity import` gets its description from: a file, or flags for the common simple case.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "proto/import.pb.h"

namespace vicinity::cli {

// One node type, one edge type: "FILE" or, for .npz, "FILE:member" each; empty: none.
struct SimpleImportFlags {
  std::string name;
  std::string edges;        // [E, 2]
  bool transposed = false;  // [2, E]
  int64_t num_nodes = 0;    // 0: found from the ids or the edges
  std::string ids;
  std::string features;
  std::string labels;
  std::string targets;
  std::string train;  // user ids, one a row
  std::string validation;
  std::string test;
  std::string train_mask;  // or one truth value a node
  std::string validation_mask;
  std::string test_mask;
  bool add_reverse = false;
  bool add_reverse_apart = false;
  bool dedup = false;
  bool drop_self_loops = false;
};

// Node type "node", edge type "node:link:node". InvalidArgument for flags that exclude each other.
absl::StatusOr<proto::ImportDescription> DescribeSimpleImport(const SimpleImportFlags& flags);

// NotFound, or InvalidArgument with file, line and column.
absl::StatusOr<proto::ImportDescription> ReadImportDescription(const std::string& path);

}  // namespace vicinity::cli
