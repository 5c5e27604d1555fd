#include "tests/benchmark/plain_service.h"

#include <algorithm>
#include <cstring>

#include "partition/shard.h"
#include "proto/common/ids.h"
#include "tests/benchmark/plain_service.grpc.pb.h"

namespace vicinity::benchmark {
namespace {

class PlainService final : public Plain::Service {
 public:
  PlainService(const Shard* shard, int64_t chunk_bytes)
      : shard_(*shard), chunk_bytes_(chunk_bytes) {}

  grpc::Status Floats(grpc::ServerContext*, const PlainRowsRequest* request,
                      grpc::ServerWriter<PlainFloats>* writer) override {
    const ColumnView& column = shard_.nodes(NodeTypeId{0}).columns[request->column()];
    const int64_t width = column.row_bytes / sizeof(float);
    return InChunks(request->rows_size(), chunk_bytes_ / column.row_bytes, [&](int from, int to) {
      PlainFloats reply;
      reply.mutable_values()->Reserve(static_cast<int>((to - from) * width));
      for (int i = from; i < to; ++i) {
        const auto* values = reinterpret_cast<const float*>(column.data) +
                             static_cast<int64_t>(request->rows(i)) * width;
        reply.mutable_values()->Add(values, values + width);
      }
      return writer->Write(reply);
    });
  }

  grpc::Status Rows(grpc::ServerContext*, const PlainRowsRequest* request,
                    grpc::ServerWriter<PlainRows>* writer) override {
    const ColumnView& column = shard_.nodes(NodeTypeId{0}).columns[request->column()];
    return InChunks(request->rows_size(), chunk_bytes_ / column.row_bytes, [&](int from, int to) {
      PlainRows reply;
      for (int i = from; i < to; ++i) {
        const std::string_view row = column.row(static_cast<int64_t>(request->rows(i)));
        reply.add_rows(row.data(), row.size());
      }
      return writer->Write(reply);
    });
  }

  grpc::Status Bytes(grpc::ServerContext*, const PlainRowsRequest* request,
                     grpc::ServerWriter<PlainBytes>* writer) override {
    const ColumnView& column = shard_.nodes(NodeTypeId{0}).columns[request->column()];
    return InChunks(request->rows_size(), chunk_bytes_ / column.row_bytes, [&](int from, int to) {
      PlainBytes reply;
      reply.mutable_rows()->reserve((to - from) * column.row_bytes);
      for (int i = from; i < to; ++i) {
        const std::string_view row = column.row(static_cast<int64_t>(request->rows(i)));
        reply.mutable_rows()->append(row.data(), row.size());
      }
      return writer->Write(reply);
    });
  }

  grpc::Status Sample(grpc::ServerContext*, const PlainSampleRequest* request,
                      grpc::ServerWriter<PlainNeighbors>* writer) override {
    OneHopOptions options;
    options.fanout = request->fanout();
    options.stream = request->stream();
    const std::vector<uint64_t> targets(request->targets().begin(), request->targets().end());
    const int64_t per_chunk = chunk_bytes_ / (4 + 8 * request->fanout());
    return InChunks(request->targets_size(), per_chunk, [&](int from, int to) {
      Neighbors neighbors;
      const absl::Status status =
          SampleOneHop(shard_.edges(EdgeTypeId{0}), shard_.nodes(NodeTypeId{0}).keys,
                       absl::MakeConstSpan(targets).subspan(from, to - from), options, &neighbors);
      PlainNeighbors reply;
      reply.mutable_counts()->Add(neighbors.counts.begin(), neighbors.counts.end());
      reply.mutable_sources()->Add(neighbors.sources.begin(), neighbors.sources.end());
      return status.ok() && writer->Write(reply);
    });
  }

 private:
  template <typename Send>
  static grpc::Status InChunks(int count, int64_t per_chunk, Send send) {
    for (int from = 0; from < count;) {
      const int to = static_cast<int>(std::min<int64_t>(count, from + per_chunk));
      if (!send(from, to)) return grpc::Status::CANCELLED;
      from = to;
    }
    return grpc::Status::OK;
  }

  const Shard& shard_;
  const int64_t chunk_bytes_;
};

PlainRowsRequest RowsRequest(int32_t column, absl::Span<const uint64_t> rows) {
  PlainRowsRequest request;
  request.set_column(column);
  request.mutable_rows()->Add(rows.begin(), rows.end());
  return request;
}

}  // namespace

std::unique_ptr<grpc::Service> MakePlainService(const Shard* shard, int64_t chunk_bytes) {
  return std::make_unique<PlainService>(shard, chunk_bytes);
}

bool PlainClient::FetchFloats(int32_t column, absl::Span<const uint64_t> rows, char* out) const {
  grpc::ClientContext context;
  const auto stub = Plain::NewStub(channel_);
  const auto reader = stub->Floats(&context, RowsRequest(column, rows));
  PlainFloats reply;
  while (reader->Read(&reply)) {
    const size_t bytes = reply.values_size() * sizeof(float);
    std::memcpy(out, reply.values().data(), bytes);
    out += bytes;
  }
  return reader->Finish().ok();
}

bool PlainClient::FetchRows(int32_t column, absl::Span<const uint64_t> rows, char* out) const {
  grpc::ClientContext context;
  const auto stub = Plain::NewStub(channel_);
  const auto reader = stub->Rows(&context, RowsRequest(column, rows));
  PlainRows reply;
  while (reader->Read(&reply)) {
    for (const std::string& row : reply.rows()) {
      std::memcpy(out, row.data(), row.size());
      out += row.size();
    }
  }
  return reader->Finish().ok();
}

bool PlainClient::FetchBytes(int32_t column, absl::Span<const uint64_t> rows, char* out) const {
  grpc::ClientContext context;
  const auto stub = Plain::NewStub(channel_);
  const auto reader = stub->Bytes(&context, RowsRequest(column, rows));
  PlainBytes reply;
  while (reader->Read(&reply)) {
    std::memcpy(out, reply.rows().data(), reply.rows().size());
    out += reply.rows().size();
  }
  return reader->Finish().ok();
}

bool PlainClient::Sample(int64_t fanout, absl::Span<const uint64_t> targets, Neighbors* out) const {
  PlainSampleRequest request;
  request.set_fanout(fanout);
  request.set_stream(1);
  request.mutable_targets()->Add(targets.begin(), targets.end());
  grpc::ClientContext context;
  const auto stub = Plain::NewStub(channel_);
  const auto reader = stub->Sample(&context, request);
  PlainNeighbors reply;
  while (reader->Read(&reply)) {
    out->counts.insert(out->counts.end(), reply.counts().begin(), reply.counts().end());
    out->sources.insert(out->sources.end(), reply.sources().begin(), reply.sources().end());
  }
  return reader->Finish().ok();
}

}  // namespace vicinity::benchmark
