#include "tests/testing/graphs/certified_graph.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "Random123/philox.h"
#include "partition/dataset/book.h"
#include "partition/dataset/ranking.h"
#include "partition/schema/schema.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/checksum.h"
#include "proto/common/ids.h"
#include "proto/common/status.h"

namespace vicinity::testing {
namespace {

constexpr NodeTypeId kNode{0};
constexpr EdgeTypeId kLinks{0};
constexpr int32_t kNumClasses = 16;
constexpr int64_t kStampBytes = 16;  // id and version
constexpr int64_t kChecksumBytes = 8;
constexpr int64_t kMinRowBytes = kStampBytes + kChecksumBytes;
constexpr int64_t kMaxNodes = int64_t{1} << 40;

enum Purpose : uint64_t { kFeatures = 1, kLabel, kSplit, kDegree, kSource, kPlace };

using Block = r123::Philox4x64::ctr_type;

Block Words(Purpose purpose, uint64_t version, uint64_t a, uint64_t b = 0) {
  return r123::Philox4x64()({{a, b, purpose, 0}}, {{version, 0x6365727469667921}});
}

// The row of any id and version, in or out of the graph.
std::string MakeRow(uint64_t id, uint64_t version, int64_t row_bytes) {
  std::string row(row_bytes, '\0');
  std::memcpy(row.data(), &id, sizeof(id));
  std::memcpy(row.data() + sizeof(id), &version, sizeof(version));
  const int64_t end = row_bytes - kChecksumBytes;
  for (int64_t at = kStampBytes; at < end; at += sizeof(Block)) {
    const Block words = Words(kFeatures, version, id, at);
    std::memcpy(row.data() + at, &words, std::min<int64_t>(sizeof(words), end - at));
  }
  const uint64_t checksum = Checksum(std::string_view(row).substr(0, end));
  std::memcpy(row.data() + end, &checksum, sizeof(checksum));
  return row;
}

uint64_t ReadWord(std::string_view bytes, int64_t at) {
  uint64_t word;
  std::memcpy(&word, bytes.data() + at, sizeof(word));
  return word;
}

int64_t Times(int64_t a, int64_t b, int64_t modulus) {
  return static_cast<int64_t>(static_cast<unsigned __int128>(a) * b % modulus);
}

// Of `a`, which is prime to `modulus`, by Euclid.
int64_t InverseOf(int64_t a, int64_t modulus) {
  int64_t previous = modulus, current = a % modulus;
  int64_t previous_factor = 0, factor = 1;
  while (current > 1) {
    const int64_t quotient = previous / current;
    previous = std::exchange(current, previous - quotient * current);
    previous_factor = std::exchange(factor, previous_factor - quotient * factor);
  }
  return factor < 0 ? factor + modulus : factor;
}

Schema MakeSchema(const CertifiedShape& shape) {
  NodeTypeSpec node;
  node.name = "node";
  node.columns.push_back(
      {"features", DType::kFloat32, {shape.row_bytes / static_cast<int64_t>(sizeof(float))}});
  node.columns.push_back({"label", DType::kInt32, {}});
  node.columns.push_back({"split", DType::kUint8, {}});
  node.label_column = "label";
  node.num_classes = kNumClasses;
  node.split_column = "split";
  return {{std::move(node)}, {{0, "links", 0, {}}}};
}

absl::Status WriteNodes(const CertifiedGraph& graph, ShardId shard, DatasetWriter* writer) {
  VICINITY_ASSIGN_OR_RETURN(const OutputArray keys, writer->Keys(shard, kNode));
  VICINITY_ASSIGN_OR_RETURN(const OutputArray features, writer->Column(shard, kNode, 0));
  VICINITY_ASSIGN_OR_RETURN(const OutputArray labels, writer->Column(shard, kNode, 1));
  VICINITY_ASSIGN_OR_RETURN(const OutputArray splits, writer->Column(shard, kNode, 2));
  for (int64_t i = 0; i < keys.num_rows; ++i) {
    const int64_t id = graph.IdOf(graph.FirstOf(shard.value) + i);
    keys.as<uint64_t>()[i] = static_cast<uint64_t>(id);
    const std::string row = graph.Row(id);
    std::copy(row.begin(), row.end(), features.data + i * features.row_bytes);
    labels.as<int32_t>()[i] = graph.Label(id);
    splits.as<uint8_t>()[i] =
        static_cast<uint8_t>(graph.InTraining(id) ? Split::kTrain : Split::kNone);
  }
  return absl::OkStatus();
}

absl::Status WriteEdges(const CertifiedGraph& graph, ShardId shard, DatasetWriter* writer) {
  VICINITY_ASSIGN_OR_RETURN(const OutputArray offsets, writer->Offsets(shard, kLinks));
  const auto target_of = [&](int64_t i) { return graph.IdOf(graph.FirstOf(shard.value) + i); };
  for (int64_t i = 0; i + 1 < offsets.num_rows; ++i) {
    offsets.as<uint64_t>()[i + 1] = offsets.as<uint64_t>()[i] + graph.Degree(target_of(i));
  }
  const auto num_edges = static_cast<int64_t>(offsets.as<uint64_t>()[offsets.num_rows - 1]);
  VICINITY_ASSIGN_OR_RETURN(const OutputArray sources, writer->Sources(shard, kLinks, num_edges));
  VICINITY_ASSIGN_OR_RETURN(const OutputArray edge_ids, writer->EdgeIds(shard, kLinks, num_edges));
  int64_t at = 0;
  std::vector<std::pair<int64_t, int64_t>> list;  // source, edge id: as datasets sort them
  for (int64_t i = 0; i + 1 < offsets.num_rows; ++i) {
    const int64_t target = target_of(i);
    list.clear();
    for (int64_t e = 0; e < graph.Degree(target); ++e) {
      list.emplace_back(graph.Source(target, e), target * graph.shape().max_degree + e);
    }
    std::sort(list.begin(), list.end());
    for (const auto& [source, edge_id] : list) {
      StoreId(sources, at, static_cast<uint64_t>(graph.GlobalOf(source)));
      StoreId(edge_ids, at, static_cast<uint64_t>(edge_id));
      ++at;
    }
  }
  return absl::OkStatus();
}

// By out-degree: a crude guess at how likely a row is needed, the same for every home.
absl::Status WriteDefaultRanking(const CertifiedGraph& graph, const std::string& directory) {
  const CertifiedShape& shape = graph.shape();
  std::vector<float> degrees(shape.num_nodes, 1);
  for (int64_t target = 0; target < shape.num_nodes; ++target) {
    for (int64_t i = 0; i < graph.Degree(target); ++i) ++degrees[graph.Source(target, i)];
  }
  RankedNodes ranked;
  ranked.nodes.resize(shape.num_nodes);
  std::iota(ranked.nodes.begin(), ranked.nodes.end(), 0);
  const auto degree = [&](int64_t global) { return degrees[graph.IdOf(global)]; };
  std::stable_sort(ranked.nodes.begin(), ranked.nodes.end(),
                   [&](int64_t a, int64_t b) { return degree(a) > degree(b); });
  for (const int64_t global : ranked.nodes) {
    ranked.probabilities.push_back(degree(global) / degree(ranked.nodes.front()));
  }
  proto::Ranking description;
  description.set_name(kDefaultRanking);
  description.set_seeds("train");
  description.set_batch_size(1);
  description.add_fanouts(1);
  for (int32_t shard = 0; shard < shape.num_shards; ++shard) {
    description.add_homes()->add_shards(shard);
  }
  if (shape.num_shards > 1) {
    proto::Ranking::Home* all = description.add_homes();
    for (int32_t shard = 0; shard < shape.num_shards; ++shard) all->add_shards(shard);
  }
  const std::vector<std::vector<RankedNodes>> orders(description.homes_size(), {ranked});
  return WriteRanking(directory, description, orders);
}

}  // namespace

const char* RowFaultName(RowFault fault) {
  switch (fault) {
    case RowFault::kNone:
      return "as it should be";
    case RowFault::kWrongSize:
      return "of a wrong size";
    case RowFault::kDamaged:
      return "damaged";
    case RowFault::kMadeUp:
      return "made up";
    case RowFault::kOtherNode:
      return "another node's";
    case RowFault::kOtherVersion:
      return "of another version";
  }
  return "";
}

CertifiedGraph::CertifiedGraph(const CertifiedShape& shape) : shape_(shape) {
  if (shape.num_nodes < 1 || shape.num_nodes > kMaxNodes || shape.num_shards < 1 ||
      shape.num_shards > shape.num_nodes || shape.row_bytes < kMinRowBytes ||
      shape.row_bytes % 8 != 0 || shape.max_degree < 1) {
    std::fprintf(stderr, "not the shape of a certified graph\n");
    std::abort();
  }
  const Block words = Words(kPlace, 0, shape.num_nodes);
  shift_ = static_cast<int64_t>(words[0] % shape.num_nodes);
  multiplier_ = 1 + static_cast<int64_t>(words[1] % shape.num_nodes);
  while (std::gcd(multiplier_, shape.num_nodes) != 1) ++multiplier_;
  inverse_ = InverseOf(multiplier_, shape.num_nodes);
}

int64_t CertifiedGraph::GlobalOf(int64_t id) const {
  return (Times(multiplier_, id, shape_.num_nodes) + shift_) % shape_.num_nodes;
}

int64_t CertifiedGraph::IdOf(int64_t global) const {
  return Times(inverse_, global + shape_.num_nodes - shift_, shape_.num_nodes);
}

int64_t CertifiedGraph::FirstOf(int32_t shard) const {
  return shape_.num_nodes * shard / shape_.num_shards;
}

std::string CertifiedGraph::Row(int64_t id) const {
  return MakeRow(static_cast<uint64_t>(id), shape_.version, shape_.row_bytes);
}

RowFault CertifiedGraph::CheckRow(int64_t id, std::string_view row) const {
  if (row.size() != static_cast<size_t>(shape_.row_bytes)) return RowFault::kWrongSize;
  const int64_t end = shape_.row_bytes - kChecksumBytes;
  if (Checksum(row.substr(0, end)) != ReadWord(row, end)) return RowFault::kDamaged;
  const uint64_t row_id = ReadWord(row, 0);
  const uint64_t row_version = ReadWord(row, sizeof(row_id));
  if (row != MakeRow(row_id, row_version, shape_.row_bytes)) return RowFault::kMadeUp;
  if (row_id != static_cast<uint64_t>(id)) return RowFault::kOtherNode;
  if (row_version != shape_.version) return RowFault::kOtherVersion;
  return RowFault::kNone;
}

int32_t CertifiedGraph::Label(int64_t id) const {
  return static_cast<int32_t>(Words(kLabel, shape_.version, id)[0] % kNumClasses);
}

bool CertifiedGraph::InTraining(int64_t id) const {
  // Node 0 always, so that there is something to train on.
  return id == 0 || Words(kSplit, 0, id)[0] % 4 == 0;
}

int64_t CertifiedGraph::Degree(int64_t target) const {
  return static_cast<int64_t>(Words(kDegree, 0, target)[0] % (shape_.max_degree + 1));
}

int64_t CertifiedGraph::Source(int64_t target, int64_t i) const {
  return static_cast<int64_t>(Words(kSource, shape_.version, target, i)[0] % shape_.num_nodes);
}

bool CertifiedGraph::CheckEdge(int64_t source, int64_t target) const {
  if (!Contains(source) || !Contains(target)) return false;
  for (int64_t i = 0; i < Degree(target); ++i) {
    if (Source(target, i) == source) return true;
  }
  return false;
}

bool CertifiedGraph::CheckEdge(int64_t source, int64_t target, int64_t edge_id) const {
  const int64_t i = edge_id - target * shape_.max_degree;
  return Contains(source) && Contains(target) && i >= 0 && i < Degree(target) &&
         Source(target, i) == source;
}

absl::Status CertifiedGraph::Write(const std::string& directory) const {
  std::vector<int64_t> begins;
  for (int32_t shard = 0; shard <= shape_.num_shards; ++shard) begins.push_back(FirstOf(shard));
  VICINITY_ASSIGN_OR_RETURN(Book book, Book::Create({std::move(begins)}));
  VICINITY_ASSIGN_OR_RETURN(
      const std::unique_ptr<DatasetWriter> writer,
      DatasetWriter::Create(directory, "certified", MakeSchema(shape_), std::move(book)));
  writer->SetEdgeIdBound(kLinks, shape_.num_nodes * shape_.max_degree);
  for (int32_t shard = 0; shard < shape_.num_shards; ++shard) {
    VICINITY_RETURN_IF_ERROR(WriteNodes(*this, {shard}, writer.get()));
    VICINITY_RETURN_IF_ERROR(WriteEdges(*this, {shard}, writer.get()));
  }
  VICINITY_RETURN_IF_ERROR(writer->Finish(nullptr, "a certified graph"));
  return WriteDefaultRanking(*this, directory);
}

}  // namespace vicinity::testing
