// What is to change in a live graph, and what became of it, as plain values (client/writer.h).
//
// Public header: standard C++ and the project's own plain headers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "client/types/result.h"
#include "partition/overlay/live_values.h"
#include "partition/schema/schema.h"

namespace vicinity {

namespace internal {

template <typename T>
constexpr DType DTypeOf() {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, "no type of a column");
  if constexpr (std::is_floating_point_v<T>) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "no type of a column");
    return sizeof(T) == 4 ? DType::kFloat32 : DType::kFloat64;
  } else if constexpr (std::is_unsigned_v<T>) {
    static_assert(sizeof(T) == 1, "columns have no unsigned integers of more than 8 bits");
    return DType::kUint8;
  } else {
    return sizeof(T) == 1   ? DType::kInt8
           : sizeof(T) == 2 ? DType::kInt16
           : sizeof(T) == 4 ? DType::kInt32
                            : DType::kInt64;
  }
}

template <typename T>
std::vector<char> BytesOf(const std::vector<T>& values) {
  const char* const begin = reinterpret_cast<const char*>(values.data());
  return std::vector<char>(begin, begin + values.size() * sizeof(T));
}

}  // namespace internal

// Values of a column: a row for each node or edge that it is given for.
struct GivenColumn {
  std::string name;
  DType dtype = DType::kFloat32;  // the column's own: nothing is converted
  std::vector<char> bytes{};      // [rows, the column's shape], little-endian

  // Of bool and the 16-bit floats as the bytes or bits that they are, with their type named:
  //   std::vector<int16_t> years = {1999, 2003};
  //   std::vector<uint8_t> seen = {0, 1};
  //   auto year = vicinity::GivenColumn::Of("year", years);
  //   auto flag = vicinity::GivenColumn::Of("seen", seen, vicinity::DType::kBool);
  template <typename T>
  static GivenColumn Of(std::string name, const std::vector<T>& values,
                        DType dtype = internal::DTypeOf<T>()) {
    return {std::move(name), dtype, internal::BytesOf(values)};
  }
};

// ... of a ragged column, laid out as RaggedRows are: row i has row_ends[i] - row_ends[i - 1]
// values, which end before row_ends[i].
struct GivenRagged {
  std::string name;
  DType dtype = DType::kFloat32;    // of one value
  std::vector<int64_t> row_ends{};  // [rows], counted in values
  std::vector<int32_t> indices{};   // [values], of sparse columns: rising in a row
  std::vector<char> values{};       // [values] of dtype
};

// Nodes that are new, by the user's ids, with all columns of their type.
struct NewNodes {
  std::string node_type;
  std::vector<int64_t> ids{};        // of DENSE and INT64 types
  std::vector<std::string> names{};  // of STRING types
  std::vector<GivenColumn> columns{};
  std::vector<GivenRagged> ragged{};
};

// Edges that are new, with all columns of their type. Ids are global, of any shards; a node gets
// its own when it is written, so edges to new nodes come with a later call.
struct NewEdges {
  std::string edge_type;
  std::vector<int64_t> sources{};
  std::vector<int64_t> targets{};  // as many
  std::vector<GivenColumn> columns{};
};

// Other values for nodes, in one column or several: a node gets all of them or none.
struct NodeValues {
  std::string node_type;
  std::vector<int64_t> nodes{};  // global ids; of two alike the later one counts
  std::vector<GivenColumn> columns{};
  std::vector<GivenRagged> ragged{};
};

// ... for edges, each named by its target and its id (SampledGraph and Graph::EdgeIds have them).
struct EdgeValues {
  std::string edge_type;
  std::vector<int64_t> targets{};  // global ids
  std::vector<int64_t> edge_ids{};
  std::vector<GivenColumn> columns{};
};

struct RemovedEdges {
  std::string edge_type;
  std::vector<int64_t> targets{};  // global ids
  std::vector<int64_t> edge_ids{};
};

// Nodes that go: no id of the user finds them any more, and their in-edges are gone. Edges that
// they are the source of stay until these are removed.
struct RemovedNodes {
  std::string node_type;
  std::vector<int64_t> nodes{};  // global ids
};

// What Writer::Write is given. Each shard takes it in this order, and in each list in the order of
// its rows.
struct GraphChanges {
  std::vector<NewNodes> new_nodes{};
  std::vector<NewEdges> new_edges{};
  std::vector<NodeValues> node_values{};
  std::vector<EdgeValues> edge_values{};
  std::vector<RemovedEdges> removed_edges{};
  std::vector<RemovedNodes> removed_nodes{};
};

enum class ChangeKind : uint8_t {
  kNewNodes,
  kNewEdges,
  kNodeValues,
  kEdgeValues,
  kRemovedEdges,
  kRemovedNodes,
};

// One node or edge of GraphChanges: row `row` of element `part` of the list of its kind.
struct ChangedRow {
  ChangeKind kind = ChangeKind::kNewNodes;
  int32_t part = 0;
  int64_t row = 0;
};

struct RefusedRow {
  ChangedRow what;
  Error why;  // kInvalidArgument, kAlreadyExists or kNotFound
};

struct WrittenVersion {
  int32_t shard = 0;
  uint64_t version = 0;  // that all of it which went to the shard is in
};

struct Written {
  std::vector<WrittenVersion> versions{};  // of the shards that were written, rising
  // Global ids of what is new, as it was given: [part][row]; -1 for what was refused.
  std::vector<std::vector<int64_t>> node_ids{};
  std::vector<std::vector<int64_t>> edge_ids{};
  int64_t num_applied = 0;            // nodes and edges
  std::vector<RefusedRow> refused{};  // not applied; in the order they were given
  // Only of a call that failed, in the same order:
  std::vector<ChangedRow> unsure{};  // no answer came: applied or not
  std::vector<ChangedRow> unsent{};  // not applied
};

struct WriterOptions {
  // What a call survives once it has returned: kSync a power cut of the servers, kBuffered the end
  // of their processes.
  Durability durability = Durability::kSync;
  // How long a batch is sent again and again until a server answers it.
  std::chrono::milliseconds give_up_after{60000};
};

}  // namespace vicinity
