#include "tests/fuzz/wire_targets.h"

#include <google/protobuf/message.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "client/cli/commands/trace/otlp_reader.h"
#include "client/cli/commands/trace/timeline.h"
#include "client/cli/commands/trace/trace_tree.h"
#include "client/rpc/found_reader.h"
#include "client/rpc/rows_reader.h"
#include "client/rpc/sample_reader.h"
#include "client/rpc/wire_array.h"
#include "client/shards/shard_access.h"
#include "client/shards/traffic.h"
#include "proto/bulk_fields.h"
#include "proto/common/retry_delay.h"
#include "proto/service.pb.h"
#include "proto/sliced_message.h"
#include "proto/telemetry/trace/otlp_json.h"
#include "proto/telemetry/trace/span.h"
#include "proto/telemetry/trace_context.h"
#include "proto/wire_checksum.h"
#include "proto/wire_parts.h"
#include "tests/proto/parsed_parts.h"

namespace vicinity::fuzz {
namespace {

using google::protobuf::Message;

// In pieces of `piece` bytes each, as gRPC's reads may happen to cut it.
grpc::ByteBuffer InPieces(std::string_view bytes, size_t piece) {
  std::vector<grpc::Slice> slices;
  for (size_t i = 0; i < bytes.size(); i += piece) {
    slices.emplace_back(std::string(bytes.substr(i, piece)));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

std::vector<std::unique_ptr<Message>> MessageKinds() {
  std::vector<std::unique_ptr<Message>> kinds;
  kinds.push_back(std::make_unique<proto::SampleRequest>());
  kinds.push_back(std::make_unique<proto::SampleChunk>());
  kinds.push_back(std::make_unique<proto::RowsRequest>());
  kinds.push_back(std::make_unique<proto::RowsChunk>());
  kinds.push_back(std::make_unique<proto::RaggedChunk>());
  kinds.push_back(std::make_unique<proto::ResolveRequest>());
  kinds.push_back(std::make_unique<proto::ResolveReply>());
  kinds.push_back(std::make_unique<proto::RankingChunk>());
  kinds.push_back(std::make_unique<proto::HelloReply>());
  kinds.push_back(std::make_unique<proto::DescribeReply>());
  kinds.push_back(std::make_unique<proto::StatusReply>());
  kinds.push_back(std::make_unique<proto::FindRequest>());
  kinds.push_back(std::make_unique<proto::FindChunk>());
  return kinds;
}

void CheckLikeProtobuf(std::string_view bytes, const Message& kind, size_t piece) {
  const std::unique_ptr<Message> whole(kind.New());
  const std::unique_ptr<Message> small(kind.New());
  const bool good = whole->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  grpc::ByteBuffer buffer = InPieces(bytes, piece);
  SlicedMessage sliced;
  const bool parsed = sliced.Parse(&buffer, small.get());
  Expect(parsed || !good, "what protobuf reads is read");
  if (!parsed || !good) return;
  const std::vector<BytesBeside> sums = sliced.Sums();
  Expect(RequestChecksum("M", *small, sums) == RequestChecksum("M", *whole),
         "a request's parts are those that protobuf finds");
  Expect(ReplyChecksum(7, *small, sums) == ReplyChecksum(7, *whole),
         "a reply's parts are those that protobuf finds");
}

// What protobuf would keep is counted before it reads, in damaged messages, too.
void CheckParts(std::string_view bytes, const Message& kind, size_t piece) {
  grpc::ByteBuffer buffer = InPieces(bytes, piece);
  grpc::ProtoBufferReader reader(&buffer);
  const std::optional<WireParts> found = CountWireParts(
      *kind.GetDescriptor(), static_cast<int64_t>(bytes.size()), {INT64_MAX, INT64_MAX}, &reader);
  const std::unique_ptr<Message> message(kind.New());
  const bool good = message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  const WireParts kept = testing::ParsedParts(*message);
  if (!found.has_value()) return Expect(!good, "what protobuf reads is counted");
  Expect(found->parts >= kept.parts, "all parts that protobuf makes are counted");
  Expect(found->numbers >= kept.numbers, "all numbers that protobuf keeps are counted");
}

// Hands `take` each of the messages in `input`, of at most 255 bytes each: a length, the bytes.
void ForEachMessage(std::string_view input, const std::function<bool(std::string_view)>& take) {
  while (!input.empty()) {
    const size_t size = std::min<size_t>(static_cast<uint8_t>(input.front()), input.size() - 1);
    if (!take(input.substr(1, size))) return;
    input.remove_prefix(1 + size);
  }
}

template <typename Chunk>
std::string WithLength(const Chunk& chunk) {
  const std::string bytes = chunk.SerializeAsString();
  return static_cast<char>(bytes.size()) + bytes;
}

proto::RowsChunk Rows(uint64_t first, proto::Precision precision, size_t bytes) {
  proto::RowsChunk chunk;
  chunk.set_first(first);
  chunk.set_precision(precision);
  chunk.set_rows(std::string(bytes, 'r'));
  return chunk;
}

proto::SampleChunk Sampled(uint32_t relation, uint64_t first, const std::vector<uint32_t>& counts,
                           const std::vector<int64_t>& sources) {
  proto::SampleChunk chunk;
  chunk.set_relation(relation);
  chunk.set_first_target(first);
  AppendBytes<uint32_t>(counts, chunk.mutable_counts());
  AppendBytes<int64_t>(sources, chunk.mutable_sources());
  AppendBytes<int64_t>(sources, chunk.mutable_edge_ids());
  return chunk;
}

// Each list is as long as its counts say, and all are known nodes.
void CheckNeighbors(const Neighbors& found, int64_t num_targets, int64_t fanout, int64_t nodes) {
  Expect(static_cast<int64_t>(found.counts.size()) == num_targets, "every target has its count");
  uint64_t sum = 0;
  for (const uint32_t count : found.counts) {
    Expect(fanout < 0 || count <= fanout, "no list is longer than the fanout");
    sum += count;
  }
  Expect(sum == found.sources.size(), "counts add up to the neighbours");
  for (const int64_t source : found.sources) {
    Expect(source >= 0 && source < nodes, "every neighbour exists");
  }
}

}  // namespace

FuzzTarget FuzzMessage(const std::string&) {
  FuzzTarget target;
  const auto kinds = std::make_shared<std::vector<std::unique_ptr<Message>>>(MessageKinds());
  proto::SampleRequest request;
  request.set_fingerprint(~uint64_t{0});
  request.add_relations()->mutable_spec()->set_fanout(-1);
  request.set_targets(std::string(16, 't'));
  request.set_trees("tree");
  proto::RaggedChunk ragged;
  ragged.set_lengths(std::string("\4\0\0\0", 4));
  ragged.set_rows("name");
  proto::RankingChunk ranking;
  ranking.set_global_ids("12345678");
  ranking.set_probabilities("1234");
  // The kind, how it is cut, and the message.
  const auto seed = [](char kind, char piece, const Message& message) {
    return std::string{kind, piece} + message.SerializeAsString();
  };
  target.seeds = {seed(0, 3, request), seed(1, 1, Sampled(1, 2, {1, 0}, {5})),
                  seed(3, 40, Rows(1, proto::PRECISION_FLOAT16, 12)), seed(4, 2, ragged),
                  seed(7, 5, ranking)};
  target.run = [kinds](std::string_view input) {
    if (input.size() < 2) return;
    const size_t kind = static_cast<uint8_t>(input[0]) % kinds->size();
    const size_t piece = 1 + static_cast<uint8_t>(input[1]);
    CheckLikeProtobuf(input.substr(2), *(*kinds)[kind], piece);
    CheckParts(input.substr(2), *(*kinds)[kind], piece);
  };
  return target;
}

FuzzTarget FuzzRowsReply(const std::string&) {
  constexpr int64_t kNumRows = 6;
  constexpr int64_t kRowBytes = 12;
  FuzzTarget target;
  // A byte that chooses what was asked for, and chunks.
  target.seeds = {std::string(1, '\0') + WithLength(Rows(0, proto::PRECISION_STORED, 36)) +
                      WithLength(Rows(3, proto::PRECISION_STORED, 24)),
                  "\x05" + WithLength(Rows(0, proto::PRECISION_FLOAT16, 30)),
                  "\x06" + WithLength(Rows(0, proto::PRECISION_BFLOAT16, 6))};
  target.run = [](std::string_view input) {
    if (input.empty()) return;
    const auto chosen = static_cast<uint8_t>(input.front());
    std::vector<char> out(kNumRows * kRowBytes);
    const std::vector<uint64_t> rows(kNumRows, 9);
    const std::vector<int64_t> positions = {5, 4, 3, 2, 1, 0};
    TrafficCounters traffic;
    ShardRows asked;
    asked.row_bytes = kRowBytes;
    asked.rows = rows;
    if ((chosen & 4) != 0) asked.positions = positions;
    asked.out = out.data();
    RowsReader reader(asked.Part(1, kNumRows), static_cast<proto::Precision>(chosen % 4 % 3),
                      &traffic);
    ForEachMessage(input.substr(1), [&](std::string_view bytes) {
      grpc::ByteBuffer buffer = InPieces(bytes, 1 + chosen / 8);
      proto::RowsChunk chunk;
      SlicedMessage message;
      return message.Parse(&buffer, &chunk) &&
             reader.Add(chunk, message[proto::RowsChunk::kRowsFieldNumber]).ok();
    });
    reader.Finish().IgnoreError();
  };
  return target;
}

FuzzTarget FuzzFoundReply(const std::string&) {
  constexpr int64_t kFirst = 40;
  constexpr int64_t kCount = 10;
  FuzzTarget target;
  const auto found = [](uint64_t looked, uint64_t read, const std::vector<int64_t>& rows) {
    proto::FindChunk chunk;
    chunk.set_looked(looked);
    chunk.set_rows_read(read);
    AppendBytes<int64_t>(rows, chunk.mutable_rows());
    return WithLength(chunk);
  };
  target.seeds = {"\x02" + found(4, 4, {40, 43}) + found(5, 0, {}) + found(10, 1, {49}),
                  "\x09" + found(10, 10, {})};
  target.run = [](std::string_view input) {
    if (input.empty()) return;
    const size_t piece = 1 + static_cast<uint8_t>(input.front());
    TrafficCounters traffic;
    FoundRows rows;
    ShardFind asked;
    asked.first = kFirst;
    asked.count = kCount;
    asked.out = &rows;
    FoundReader reader(asked, &traffic);
    bool good = true;
    ForEachMessage(input.substr(1), [&](std::string_view bytes) {
      grpc::ByteBuffer buffer = InPieces(bytes, piece);
      proto::FindChunk chunk;
      SlicedMessage message;
      good = message.Parse(&buffer, &chunk) && reader.Add(chunk, message).ok();
      return good;
    });
    if (!good || !reader.Finish().ok()) return;
    Expect(rows.num_read <= kCount, "no more rows are read than there are");
    uint64_t least = kFirst;
    for (const uint64_t row : rows.rows) {
      Expect(row >= least && row < kFirst + kCount, "found rows rise inside the range");
      least = row + 1;
    }
  };
  return target;
}

FuzzTarget FuzzSampleReply(const std::string&) {
  FuzzTarget target;
  proto::SampleChunk more = Sampled(1, 0, {2}, {4, 5});
  more.set_more(true);
  target.seeds = {"\x01" + WithLength(Sampled(0, 0, {2, 0}, {1, 2})) +
                      WithLength(Sampled(0, 2, {1}, {3})) + WithLength(more) +
                      WithLength(Sampled(1, 0, {1, 1}, {6, 7})),
                  std::string(1, '\0') + WithLength(Sampled(0, 0, {0, 0, 0}, {}))};
  target.run = [](std::string_view input) {
    if (input.empty()) return;
    const auto chosen = static_cast<uint8_t>(input.front());
    Neighbors first;
    Neighbors second;
    EdgeDetail detail;
    detail.ids = (chosen & 1) != 0;
    detail.positions = (chosen & 2) != 0;
    detail.times = (chosen & 4) != 0;
    SampleReader reader({{3, 2, 10, true, &first}, {2, kAllNeighbors, 10, false, &second}}, detail);
    bool good = true;
    ForEachMessage(input.substr(1), [&](std::string_view bytes) {
      grpc::ByteBuffer buffer = InPieces(bytes, 1 + chosen / 8);
      proto::SampleChunk chunk;
      SlicedMessage arrays;
      good = arrays.Parse(&buffer, &chunk) && reader.Add(chunk, arrays).ok();
      return good;
    });
    if (!good || !reader.Finish().ok()) return;
    CheckNeighbors(first, 3, 2, 10);
    CheckNeighbors(second, 2, kAllNeighbors, 10);
  };
  return target;
}

FuzzTarget FuzzRetryDelay(const std::string&) {
  FuzzTarget target;
  target.seeds = {"100", "-1", "86400000", "1e3", " 7"};
  target.run = [](std::string_view input) {
    absl::Status status = absl::ResourceExhaustedError("later");
    status.SetPayload(kRetryDelayTrailer,
                      absl::Cord(absl::string_view(input.data(), input.size())));
    const auto delay = RetryDelayOf(status);
    Expect(!delay.has_value() || (delay->count() >= 0 && delay->count() <= 86'400'000),
           "nobody waits for more than a day");
  };
  return target;
}

FuzzTarget FuzzTraceparent(const std::string&) {
  FuzzTarget target;
  target.seeds = {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                  "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00-what-comes",
                  "00-00000000000000000000000000000000-0000000000000000-00"};
  target.run = [](std::string_view input) {
    const auto trace = ParseTraceparent(input);
    if (!trace.has_value()) return;
    Expect(trace->is_valid(), "ids of zeros are no trace");
    Expect(ParseTraceparent(Traceparent(*trace)) == trace, "what is written is what was read");
  };
  return target;
}

FuzzTarget FuzzTraces(const std::string&) {
  Span span;
  span.context = {1, 2, 3, true};
  span.parent = 4;
  span.name = "FetchRows";
  span.Set("server", "a");
  FuzzTarget target;
  target.seeds = {OtlpJson({{"service.name", "vicinityd"}}, {{span, span}}), "{}"};
  target.run = [](std::string_view input) {
    std::vector<cli::ShownSpan> spans;
    const absl::Status read = cli::ReadOtlp({input.data(), input.size()}, &spans);
    const size_t num_spans = spans.size();
    const std::vector<cli::TraceTree> trees = cli::TreesOf(std::move(spans));
    size_t lines = 0;
    for (const cli::TraceTree& tree : trees) lines += tree.lines.size();
    Expect(lines <= num_spans && (lines > 0) == (num_spans > 0), "each span is there once");
    const std::string svg = cli::SvgTimelines(trees);
    Expect(read.ok() || svg.size() > 0, "there is always a picture");
    for (const char c : svg) {
      Expect(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "XML has no control characters");
    }
  };
  return target;
}

}  // namespace vicinity::fuzz
