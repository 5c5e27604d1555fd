#include "tests/integration/dataset_answers.h"

#include <chrono>
#include <cstdint>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/mapped_shard.h"
#include "client/traffic.h"
#include "partition/ranking.h"
#include "partition/schema.h"
#include "proto/common/grpc_status.h"

namespace vicinity::testing {
namespace {

// Of everything at most so many rows, so that files of a GiB can be asked about, too: the first,
// the last, and some between.
constexpr int64_t kMostRows = 64;

std::vector<uint64_t> SomeRows(int64_t num_rows) {
  std::vector<uint64_t> rows;
  const int64_t count = std::min(num_rows, kMostRows);
  for (int64_t i = 0; i < count; ++i) {
    rows.push_back(static_cast<uint64_t>(count == 1 ? 0 : i * (num_rows - 1) / (count - 1)));
  }
  return rows;
}

template <typename T>
std::string Bytes(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// The questions, whoever answers.
class Asker {
 public:
  virtual ~Asker() = default;
  virtual Answer Rows(NodeTypeId type, int32_t column, int64_t row_bytes,
                      const std::vector<uint64_t>& rows, bool of_edges) = 0;
  virtual Answer Names(NodeTypeId type, const std::vector<uint64_t>& rows) = 0;
  virtual Answer Resolve(NodeTypeId type, const std::vector<uint64_t>& keys) = 0;
  virtual Answer Sample(EdgeTypeId type, int64_t fanout, bool weighted,
                        const std::vector<uint64_t>& rows) = 0;
  virtual Answer Rank(NodeTypeId type) = 0;
};

class MappedAsker final : public Asker {
 public:
  MappedAsker(const Dataset& dataset, const Shard& shard)
      : id_(shard.id()), shard_(dataset, shard, &traffic_) {}

  Answer Rows(NodeTypeId type, int32_t column, int64_t row_bytes, const std::vector<uint64_t>& rows,
              bool of_edges) override {
    std::string out(rows.size() * row_bytes, '?');
    ShardRows request;
    request.type = type;
    request.column = column;
    request.row_bytes = row_bytes;
    request.rows = rows;
    request.out = &out[0];
    if (of_edges) request.edge_type = EdgeTypeId{type.value};
    absl::Status status;
    shard_.FetchRows(request, nullptr, [&](const absl::Status& done) { status = done; });
    return status.ok() ? Answer(out) : Answer(status);
  }

  Answer Names(NodeTypeId type, const std::vector<uint64_t>& rows) override {
    std::vector<std::string> names(rows.size());
    const std::vector<int64_t> positions = Positions(rows.size());
    ShardNames request{type, rows, positions, names.data()};
    absl::Status status;
    shard_.FetchNames(request, nullptr, [&](const absl::Status& done) { status = done; });
    if (!status.ok()) return status;
    std::string out;
    for (const std::string& name : names) absl::StrAppend(&out, name, "\n");
    return out;
  }

  Answer Resolve(NodeTypeId type, const std::vector<uint64_t>& keys) override {
    std::vector<int64_t> nodes(keys.size());
    const std::vector<int64_t> positions = Positions(keys.size());
    ShardKeys request{type, keys, positions, nodes.data()};
    absl::Status status;
    shard_.ResolveKeys(request, nullptr, [&](const absl::Status& done) { status = done; });
    return status.ok() ? Answer(Bytes(nodes)) : Answer(status);
  }

  Answer Sample(EdgeTypeId type, int64_t fanout, bool weighted,
                const std::vector<uint64_t>& rows) override {
    ShardHop hop;
    hop.detail.ids = hop.detail.positions = true;
    hop.relations.push_back({type, fanout, rows, weighted});
    Neighbors out;
    absl::Status status;
    shard_.SampleHop(hop, absl::MakeSpan(&out, 1), nullptr,
                     [&](const absl::Status& done) { status = done; });
    if (!status.ok()) return status;
    return absl::StrCat(Bytes(out.counts), Bytes(out.sources), Bytes(out.edge_ids),
                        Bytes(out.edge_positions));
  }

  Answer Rank(NodeTypeId type) override {
    RankedNodes nodes;
    ShardRanking request;
    request.name = kDefaultRanking;
    request.home = {id_.value};
    request.type = type;
    request.out = &nodes;
    absl::Status status;
    shard_.FetchRanking(request, nullptr, [&](const absl::Status& done) { status = done; });
    if (!status.ok()) return status;
    return absl::StrCat(Bytes(nodes.nodes), Bytes(nodes.probabilities));
  }

 private:
  static std::vector<int64_t> Positions(size_t count) {
    std::vector<int64_t> positions(count);
    std::iota(positions.begin(), positions.end(), 0);
    return positions;
  }

  const ShardId id_;
  TrafficCounters traffic_;
  MappedShard shard_;
};

class ServedAsker final : public Asker {
 public:
  ServedAsker(uint64_t fingerprint, ShardId shard, proto::Graph::Stub* server)
      : fingerprint_(fingerprint), shard_(shard), server_(server) {}

  Answer Rows(NodeTypeId type, int32_t column, int64_t, const std::vector<uint64_t>& rows,
              bool of_edges) override {
    proto::RowsRequest request = Request<proto::RowsRequest>();
    request.set_node_type(type.value);
    request.set_column(column);
    request.set_rows(Bytes(rows));
    request.set_of_edges(of_edges);
    return Stream<proto::RowsChunk>(&proto::Graph::Stub::FetchRows, request);
  }
  Answer Names(NodeTypeId type, const std::vector<uint64_t>& rows) override {
    proto::NamesRequest request = Request<proto::NamesRequest>();
    request.set_node_type(type.value);
    request.set_rows(Bytes(rows));
    return Stream<proto::NamesChunk>(&proto::Graph::Stub::FetchNames, request);
  }
  Answer Resolve(NodeTypeId type, const std::vector<uint64_t>& keys) override {
    proto::ResolveRequest request = Request<proto::ResolveRequest>();
    request.set_node_type(type.value);
    request.set_keys(Bytes(keys));
    grpc::ClientContext context;
    SetDeadline(&context);
    proto::ResolveReply reply;
    const grpc::Status status = server_->ResolveKeys(&context, request, &reply);
    return status.ok() ? Answer(reply.global_ids()) : Answer(FromGrpc(status));
  }
  Answer Sample(EdgeTypeId type, int64_t fanout, bool weighted,
                const std::vector<uint64_t>& rows) override {
    proto::SampleRequest request = Request<proto::SampleRequest>();
    request.set_want_edge_ids(true);
    request.set_want_edge_positions(true);
    request.set_targets(Bytes(rows));
    proto::SampleRequest::Relation* const relation = request.add_relations();
    relation->set_edge_type(type.value);
    relation->set_fanout(fanout);
    relation->set_weighted(weighted);
    relation->set_num_targets(static_cast<uint32_t>(rows.size()));
    return Stream<proto::SampleChunk>(&proto::Graph::Stub::SampleNeighbors, request);
  }
  Answer Rank(NodeTypeId type) override {
    proto::RankingRequest request;
    request.set_fingerprint(fingerprint_);
    request.add_home(shard_.value);
    request.set_name(kDefaultRanking);
    request.set_node_type(type.value);
    return Stream<proto::RankingChunk>(&proto::Graph::Stub::FetchRanking, request);
  }

 private:
  template <typename Message>
  Message Request() const {
    Message message;
    message.set_fingerprint(fingerprint_);
    message.set_shard(shard_.value);
    return message;
  }
  static void SetDeadline(grpc::ClientContext* context) {
    context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  }
  template <typename Chunk, typename Message>
  Answer Stream(std::unique_ptr<grpc::ClientReader<Chunk>> (proto::Graph::Stub::*call)(
                    grpc::ClientContext*, const Message&),
                const Message& request) {
    grpc::ClientContext context;
    SetDeadline(&context);
    const auto reader = (server_->*call)(&context, request);
    std::string out;
    Chunk chunk;
    while (reader->Read(&chunk)) absl::StrAppend(&out, chunk.SerializeAsString());
    const grpc::Status status = reader->Finish();
    return status.ok() ? Answer(out) : Answer(FromGrpc(status));
  }

  const uint64_t fingerprint_;
  const ShardId shard_;
  proto::Graph::Stub* const server_;
};

// Some of the keys of a type that the shard's directory should list, and one of nobody.
std::vector<uint64_t> SomeKeys(const Dataset& shape, ShardId shard, NodeTypeId type) {
  const NodeTable& nodes = shape.shard(shard)->nodes(type);
  std::vector<uint64_t> keys;
  for (const uint64_t i : SomeRows(static_cast<int64_t>(nodes.directory_keys.size()))) {
    keys.push_back(nodes.directory_keys[i]);
  }
  return keys;
}

void AskOfNodes(const Dataset& shape, ShardId shard, NodeTypeId type, Asker* asker,
                std::vector<Answer>* answers) {
  const NodeTypeSpec& spec = shape.schema().node_types[type.value];
  const std::vector<uint64_t> rows = SomeRows(shape.book().num_nodes(type, shard));
  if (!rows.empty()) {
    answers->push_back(asker->Rows(type, kKeyColumn, sizeof(uint64_t), rows, false));
    for (int32_t c = 0; c < static_cast<int32_t>(spec.columns.size()); ++c) {
      const int64_t row_bytes = spec.columns[c].row_bytes();
      if (row_bytes > 0) answers->push_back(asker->Rows(type, c, row_bytes, rows, false));
    }
    if (spec.id_kind == IdKind::kString) answers->push_back(asker->Names(type, rows));
  }
  const std::vector<uint64_t> keys = SomeKeys(shape, shard, type);
  if (!keys.empty()) answers->push_back(asker->Resolve(type, keys));
  answers->push_back(asker->Rank(type));
}

void AskOfEdges(const Dataset& shape, ShardId shard, EdgeTypeId type, Asker* asker,
                std::vector<Answer>* answers) {
  const EdgeTypeSpec& spec = shape.schema().edge_types[type.value];
  const std::vector<uint64_t> rows =
      SomeRows(shape.book().num_nodes(NodeTypeId{spec.target_type}, shard));
  if (rows.empty()) return;
  for (const int64_t fanout : {int64_t{2}, int64_t{-1}}) {
    answers->push_back(asker->Sample(type, fanout, false, rows));
    if (!spec.weight_column.empty()) answers->push_back(asker->Sample(type, fanout, true, rows));
  }
  const std::vector<uint64_t> positions = SomeRows(shape.shard(shard)->edges(type).num_edges());
  for (int32_t c = 0; !positions.empty() && c < static_cast<int32_t>(spec.columns.size()); ++c) {
    answers->push_back(
        asker->Rows(NodeTypeId{type.value}, c, spec.columns[c].row_bytes(), positions, true));
  }
}

std::vector<Answer> AskAll(const Dataset& shape, ShardId shard, Asker* asker) {
  std::vector<Answer> answers;
  for (int32_t t = 0; t < static_cast<int32_t>(shape.schema().node_types.size()); ++t) {
    AskOfNodes(shape, shard, {t}, asker, &answers);
  }
  for (int32_t e = 0; e < static_cast<int32_t>(shape.schema().edge_types.size()); ++e) {
    AskOfEdges(shape, shard, {e}, asker, &answers);
  }
  return answers;
}

}  // namespace

std::vector<Answer> MappedAnswers(const Dataset& shape, const Dataset& dataset, ShardId shard) {
  MappedAsker asker(dataset, *dataset.shard(shard));
  return AskAll(shape, shard, &asker);
}

std::vector<Answer> ServedAnswers(const Dataset& shape, ShardId shard, proto::Graph::Stub* server) {
  ServedAsker asker(shape.fingerprint(), shard, server);
  return AskAll(shape, shard, &asker);
}

std::string CompareAnswers(const std::vector<Answer>& expected, const std::vector<Answer>& found,
                           int* num_errors) {
  if (found.size() != expected.size()) return "not as many answers as questions";
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i].ok()) {
      ++*num_errors;
      if (absl::IsDataLoss(found[i].status()) || absl::IsUnavailable(found[i].status())) continue;
      return absl::StrCat("question ", i, ": ", found[i].status().ToString());
    }
    if (*found[i] != *expected[i]) return absl::StrCat("question ", i, ": a wrong answer");
  }
  return "";
}

}  // namespace vicinity::testing
