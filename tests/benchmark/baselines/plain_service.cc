#include "tests/benchmark/baselines/plain_service.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "partition/dataset/shard.h"
#include "proto/common/ids.h"
#include "tests/benchmark/baselines/plain_service.grpc.pb.h"

namespace vicinity::benchmark {
namespace {

class PlainService final : public Plain::Service {
 public:
  PlainService(const Shard* shard, int64_t chunk_bytes)
      : shard_(*shard), chunk_bytes_(chunk_bytes) {}

  grpc::Status Floats(grpc::ServerContext*, const PlainRowsRequest* request,
                      PlainFloats* reply) override {
    return Fill(*request, 0, request->rows_size(), reply);
  }
  grpc::Status Rows(grpc::ServerContext*, const PlainRowsRequest* request,
                    PlainRows* reply) override {
    return Fill(*request, 0, request->rows_size(), reply);
  }
  grpc::Status Bytes(grpc::ServerContext*, const PlainRowsRequest* request,
                     PlainBytes* reply) override {
    return Fill(*request, 0, request->rows_size(), reply);
  }
  grpc::Status StreamFloats(grpc::ServerContext*, const PlainRowsRequest* request,
                            grpc::ServerWriter<PlainFloats>* writer) override {
    return Stream(*request, writer);
  }
  grpc::Status StreamRows(grpc::ServerContext*, const PlainRowsRequest* request,
                          grpc::ServerWriter<PlainRows>* writer) override {
    return Stream(*request, writer);
  }
  grpc::Status StreamBytes(grpc::ServerContext*, const PlainRowsRequest* request,
                           grpc::ServerWriter<PlainBytes>* writer) override {
    return Stream(*request, writer);
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
  const ColumnView& ColumnOf(const PlainRowsRequest& request) const {
    return shard_.nodes(NodeTypeId{0}).columns[request.column()];
  }

  // Puts the request's rows from position `from` to position `to` into a reply.
  grpc::Status Fill(const PlainRowsRequest& request, int from, int to, PlainFloats* reply) const {
    const ColumnView& column = ColumnOf(request);
    const int64_t width = column.row_bytes / sizeof(float);
    reply->mutable_values()->Reserve(static_cast<int>((to - from) * width));
    for (int i = from; i < to; ++i) {
      const auto* values = reinterpret_cast<const float*>(column.data) +
                           static_cast<int64_t>(request.rows(i)) * width;
      reply->mutable_values()->Add(values, values + width);
    }
    return grpc::Status::OK;
  }
  grpc::Status Fill(const PlainRowsRequest& request, int from, int to, PlainRows* reply) const {
    const ColumnView& column = ColumnOf(request);
    for (int i = from; i < to; ++i) {
      const std::string_view row = column.row(static_cast<int64_t>(request.rows(i)));
      reply->add_rows(row.data(), row.size());
    }
    return grpc::Status::OK;
  }
  grpc::Status Fill(const PlainRowsRequest& request, int from, int to, PlainBytes* reply) const {
    const ColumnView& column = ColumnOf(request);
    reply->mutable_rows()->reserve((to - from) * column.row_bytes);
    for (int i = from; i < to; ++i) {
      const std::string_view row = column.row(static_cast<int64_t>(request.rows(i)));
      reply->mutable_rows()->append(row.data(), row.size());
    }
    return grpc::Status::OK;
  }

  template <typename Reply>
  grpc::Status Stream(const PlainRowsRequest& request, grpc::ServerWriter<Reply>* writer) const {
    const int64_t per_chunk = chunk_bytes_ / ColumnOf(request).row_bytes;
    return InChunks(request.rows_size(), per_chunk, [&](int from, int to) {
      Reply reply;
      Fill(request, from, to, &reply);
      return writer->Write(reply);
    });
  }

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

// Copies a reply's rows to `out`; gives the place behind them.
char* Put(const PlainFloats& reply, char* out) {
  const size_t bytes = reply.values_size() * sizeof(float);
  std::memcpy(out, reply.values().data(), bytes);
  return out + bytes;
}
char* Put(const PlainRows& reply, char* out) {
  for (const std::string& row : reply.rows()) {
    std::memcpy(out, row.data(), row.size());
    out += row.size();
  }
  return out;
}
char* Put(const PlainBytes& reply, char* out) {
  std::memcpy(out, reply.rows().data(), reply.rows().size());
  return out + reply.rows().size();
}

template <typename Reply>
bool ReadOne(Plain::Stub& stub,
             grpc::Status (Plain::Stub::*call)(grpc::ClientContext*, const PlainRowsRequest&,
                                               Reply*),
             const PlainRowsRequest& request, char* out) {
  grpc::ClientContext context;
  Reply reply;
  if (!(stub.*call)(&context, request, &reply).ok()) return false;
  Put(reply, out);
  return true;
}

template <typename Reply>
bool ReadAll(Plain::Stub& stub,
             std::unique_ptr<grpc::ClientReader<Reply>> (Plain::Stub::*call)(
                 grpc::ClientContext*, const PlainRowsRequest&),
             const PlainRowsRequest& request, char* out) {
  grpc::ClientContext context;
  const auto reader = (stub.*call)(&context, request);
  Reply reply;
  while (reader->Read(&reply)) out = Put(reply, out);
  return reader->Finish().ok();
}

}  // namespace

std::unique_ptr<grpc::Service> MakePlainService(const Shard* shard, int64_t chunk_bytes) {
  return std::make_unique<PlainService>(shard, chunk_bytes);
}

bool PlainClient::Fetch(PlainForm form, bool in_chunks, int32_t column,
                        absl::Span<const uint64_t> rows, char* out) const {
  const auto stub = Plain::NewStub(channel_);
  const PlainRowsRequest request = RowsRequest(column, rows);
  switch (form) {
    case PlainForm::kFloats:
      return in_chunks ? ReadAll(*stub, &Plain::Stub::StreamFloats, request, out)
                       : ReadOne(*stub, &Plain::Stub::Floats, request, out);
    case PlainForm::kRows:
      return in_chunks ? ReadAll(*stub, &Plain::Stub::StreamRows, request, out)
                       : ReadOne(*stub, &Plain::Stub::Rows, request, out);
    case PlainForm::kBytes:
      return in_chunks ? ReadAll(*stub, &Plain::Stub::StreamBytes, request, out)
                       : ReadOne(*stub, &Plain::Stub::Bytes, request, out);
  }
  return false;
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

std::shared_ptr<grpc::Channel> MakePlainChannel(int port) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // a reply is as large as the call
  return grpc::CreateCustomChannel(absl::StrCat("127.0.0.1:", port),
                                   grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace vicinity::benchmark
