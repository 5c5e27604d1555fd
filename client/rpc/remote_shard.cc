#include "client/rpc/remote_shard.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/rpc/rows_reader.h"
#include "client/rpc/sample_reader.h"
#include "client/rpc/wire_array.h"
#include "client/shards/piece_run.h"
#include "proto/common/status.h"
#include "proto/service.pb.h"
#include "proto/sliced_message.h"

namespace vicinity {
namespace {

// One RPC brings at most this much, so that slow links too end it within the call timeout.
constexpr int64_t kMaxReplyBytes = int64_t{32} << 20;
constexpr int64_t kMaxNamesInRequest = 65536;  // names are of any length
constexpr int64_t kMaxRankedInRequest = 1 << 20;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

absl::Status WrongAmount(const char* what, int64_t got, int64_t expected) {
  return absl::InternalError(absl::StrCat(got, " ", what, " where ", expected, " were asked for"));
}

}  // namespace

RemoteShard::RemoteShard(ShardId shard, uint64_t fingerprint, ServerConnection* connection,
                         const Schema& schema, const Book& book)
    : shard_(shard),
      fingerprint_(fingerprint),
      connection_(connection),
      schema_(schema),
      book_(book) {}

void RemoteShard::AskByLimits(AskWithin question, Cancellation* cancel, Done done) {
  const RequestLimits limits = connection_->limits();
  // Shared, since what it holds of the request is costly to copy, and asked again only seldom.
  const auto ask = std::make_shared<const AskWithin>(std::move(question));
  (*ask)(limits, [=, done = std::move(done)](const absl::Status& status) {
    if (!absl::IsInvalidArgument(status)) return done(status);
    const auto again = [=](const absl::Status& hello, const proto::HelloReply&) {
      const RequestLimits now = connection_->limits();
      const bool smaller = now.max_ids < limits.max_ids || now.max_sampled < limits.max_sampled;
      if (!hello.ok()) return done(hello);  // the server's, not the request's
      if (!smaller) return done(status);
      (*ask)(now, done);
    };
    connection_->AskHello(cancel, connection_->call_timeout(), again);
  });
}

void RemoteShard::RunParts(int64_t count, int64_t most,
                           std::function<void(int64_t begin, int64_t end, Done done)> part,
                           Done done) const {
  RunPieces(
      CeilDiv(count, most), connection_->num_channels(),
      [count, most, part = std::move(part)](int64_t piece, Done piece_done) {
        part(piece * most, std::min(count, (piece + 1) * most), std::move(piece_done));
      },
      std::move(done));
}

void RemoteShard::SampleHop(const ShardHop& hop, absl::Span<Neighbors> out, Cancellation* cancel,
                            Done done) {
  auto ask = [this, hop, out, cancel](const RequestLimits& limits, Done asked) {
    for (Neighbors& neighbors : out) neighbors.Clear();  // of an attempt that was refused
    auto pieces = std::make_shared<const std::vector<SamplePiece>>(CutHop(hop, limits));
    // One after the other: each appends to the same lists.
    RunPieces(
        static_cast<int64_t>(pieces->size()), 1,
        [this, hop, pieces, out, cancel](int64_t piece, Done piece_done) {
          SampleOne(hop, (*pieces)[piece], out, cancel, std::move(piece_done));
        },
        std::move(asked));
  };
  AskByLimits(std::move(ask), cancel, std::move(done));
}

void RemoteShard::SampleOne(const ShardHop& hop, const SamplePiece& piece,
                            absl::Span<Neighbors> out, Cancellation* cancel, Done done) {
  proto::SampleRequest request;
  request.set_fingerprint(fingerprint_);
  request.set_shard(shard_.value);
  request.mutable_draw()->set_run_seed(hop.draw.run_seed);
  request.mutable_draw()->set_epoch(hop.draw.epoch);
  request.mutable_draw()->set_batch(hop.draw.batch);
  request.mutable_draw()->set_hop(hop.hop);
  request.set_replace(hop.replace);
  request.set_want_edge_ids(hop.detail.ids);
  request.set_want_edge_positions(hop.detail.positions);
  std::vector<ExpectedRelation> expected;
  for (const SamplePiece::Range& range : piece.ranges) {
    const size_t first_target = request.targets().size() / sizeof(uint64_t);
    const ShardHop::Relation& first = hop.relations[range.relations.front()];
    AppendBytes(first.rows.subspan(range.first, range.count), request.mutable_targets());
    if (!first.trees.empty()) {
      AppendBytes(first.trees.subspan(range.first, range.count), request.mutable_trees());
    }
    for (const int i : range.relations) {
      const ShardHop::Relation& asked = hop.relations[i];
      proto::SampleRequest::Relation* relation = request.add_relations();
      relation->set_edge_type(asked.edge_type.value);
      relation->set_fanout(asked.fanout);
      relation->set_first_target(first_target);
      relation->set_num_targets(range.count);
      relation->set_weighted(asked.weighted);
      const NodeTypeId source_type{schema_.edge_types[asked.edge_type.value].source_type};
      expected.push_back({range.count, asked.fanout, book_.num_nodes(source_type), &out[i]});
    }
  }
  auto reader = std::make_shared<SampleReader>(std::move(expected), hop.detail);
  const CallSettings settings = connection_->Settings(shard_, "SampleNeighbors", cancel);
  connection_->Start<proto::SampleChunk>(
      std::move(request), settings,
      [reader, traffic = connection_->traffic()](const proto::SampleChunk& chunk,
                                                 const SlicedMessage& message) {
        const size_t sources = message[proto::SampleChunk::kSourcesFieldNumber].size();
        traffic->sampled_edges_remote.fetch_add(sources / sizeof(int64_t),
                                                std::memory_order_relaxed);
        traffic->CountReceived(message.BulkBytes());
        return reader->Add(chunk, message);
      },
      [reader, where = settings.where, done = std::move(done)](const absl::Status& status) {
        done(status.ok() ? At(where, reader->Finish()) : status);
      });
}

void RemoteShard::FetchRows(const ShardRows& rows, Cancellation* cancel, Done done) {
  auto ask = [this, rows, cancel](const RequestLimits& limits, Done asked) {
    int64_t most = std::max<int64_t>(1, kMaxReplyBytes / rows.row_bytes);
    if (!rows.rows.empty()) most = std::min(most, limits.max_ids);
    RunParts(
        rows.num_rows(), most,
        [this, rows, cancel](int64_t begin, int64_t end, Done part_done) {
          FetchSome(rows, begin, end, cancel, std::move(part_done));
        },
        std::move(asked));
  };
  AskByLimits(std::move(ask), cancel, std::move(done));
}

void RemoteShard::FetchSome(const ShardRows& rows, int64_t begin, int64_t end, Cancellation* cancel,
                            Done done) {
  proto::RowsRequest request;
  request.set_fingerprint(fingerprint_);
  request.set_shard(shard_.value);
  request.set_of_edges(rows.edge_type.has_value());
  request.set_node_type(rows.edge_type.has_value() ? rows.edge_type->value : rows.type.value);
  request.set_column(rows.column);
  if (rows.rows.empty()) {
    request.set_first(rows.first + begin);
    request.set_count(end - begin);
  } else {
    AppendBytes(rows.rows.subspan(begin, end - begin), request.mutable_rows());
  }
  request.set_precision(PrecisionOf(rows));
  auto reader =
      std::make_shared<RowsReader>(rows, begin, end, request.precision(), connection_->traffic());
  const CallSettings settings = connection_->Settings(shard_, "FetchRows", cancel);
  connection_->Start<proto::RowsChunk>(
      std::move(request), settings,
      [reader](const proto::RowsChunk& chunk, const SlicedMessage& message) {
        return reader->Add(chunk, message[proto::RowsChunk::kRowsFieldNumber]);
      },
      [reader, where = settings.where, done = std::move(done)](const absl::Status& status) {
        done(status.ok() ? At(where, reader->Finish()) : status);
      });
}

proto::Precision RemoteShard::PrecisionOf(const ShardRows& rows) const {
  const std::vector<ColumnSpec>& columns = rows.edge_type.has_value()
                                               ? schema_.edge_types[rows.edge_type->value].columns
                                               : schema_.node_types[rows.type.value].columns;
  const bool narrow = rows.column != kKeyColumn && columns[rows.column].dtype == DType::kFloat32;
  return narrow ? connection_->precision() : proto::PRECISION_STORED;
}

void RemoteShard::FetchNames(const ShardNames& names, Cancellation* cancel, Done done) {
  auto ask = [this, names, cancel](const RequestLimits& limits, Done asked) {
    RunParts(
        static_cast<int64_t>(names.rows.size()), std::min(kMaxNamesInRequest, limits.max_ids),
        [this, names, cancel](int64_t begin, int64_t end, Done part_done) {
          FetchSomeNames(names, begin, end, cancel, std::move(part_done));
        },
        std::move(asked));
  };
  AskByLimits(std::move(ask), cancel, std::move(done));
}

void RemoteShard::FetchSomeNames(const ShardNames& names, int64_t begin, int64_t end,
                                 Cancellation* cancel, Done done) {
  proto::NamesRequest request;
  request.set_fingerprint(fingerprint_);
  request.set_shard(shard_.value);
  request.set_node_type(names.type.value);
  AppendBytes(names.rows.subspan(begin, end - begin), request.mutable_rows());
  auto received = std::make_shared<int64_t>(0);
  const CallSettings settings = connection_->Settings(shard_, "FetchNames", cancel);
  connection_->Start<proto::NamesChunk>(
      std::move(request), settings,
      [names, begin, end, received, traffic = connection_->traffic()](
          const proto::NamesChunk& chunk, const SlicedMessage&) -> absl::Status {
        if (static_cast<int64_t>(chunk.first()) != *received ||
            chunk.names_size() > end - begin - *received) {
          return WrongAmount("names", *received + chunk.names_size(), end - begin);
        }
        for (const std::string& name : chunk.names()) {
          names.out[names.positions[begin + *received]] = name;
          ++*received;
          traffic->CountReceived(static_cast<int64_t>(name.size()));
        }
        return absl::OkStatus();
      },
      [received, begin, end, where = settings.where, done = std::move(done)](absl::Status status) {
        if (status.ok() && *received != end - begin) {
          status = At(where, WrongAmount("names", *received, end - begin));
        }
        done(status);
      });
}

void RemoteShard::ResolveKeys(const ShardKeys& keys, Cancellation* cancel, Done done) {
  auto ask = [this, keys, cancel](const RequestLimits& limits, Done asked) {
    RunParts(
        static_cast<int64_t>(keys.keys.size()), limits.max_ids,
        [this, keys, cancel](int64_t begin, int64_t end, Done part_done) {
          ResolveSome(keys, begin, end, cancel, std::move(part_done));
        },
        std::move(asked));
  };
  AskByLimits(std::move(ask), cancel, std::move(done));
}

void RemoteShard::ResolveSome(const ShardKeys& keys, int64_t begin, int64_t end,
                              Cancellation* cancel, Done done) {
  proto::ResolveRequest request;
  request.set_fingerprint(fingerprint_);
  request.set_shard(shard_.value);
  request.set_node_type(keys.type.value);
  AppendBytes(keys.keys.subspan(begin, end - begin), request.mutable_keys());
  const CallSettings settings = connection_->Settings(shard_, "ResolveKeys", cancel);
  const auto store = [keys, begin, end, num_nodes = book_.num_nodes(keys.type),
                      traffic = connection_->traffic()](
                         const proto::ResolveReply&, const SlicedMessage& message) -> absl::Status {
    const SlicedBytes& ids = message[proto::ResolveReply::kGlobalIdsFieldNumber];
    if (ids.size() != static_cast<size_t>(end - begin) * sizeof(int64_t)) {
      return WrongAmount("bytes of ids", ids.size(), (end - begin) * sizeof(int64_t));
    }
    SlicedBytes::Cursor from(ids);
    for (int64_t i = begin; i < end; ++i) {
      int64_t id = 0;
      from.Read(reinterpret_cast<char*>(&id), sizeof(id));
      if (id < -1 || id >= num_nodes) {
        return absl::InternalError(
            absl::StrCat("node ", id, " for a key, where there are ", num_nodes));
      }
      keys.out[keys.positions[i]] = id;
    }
    traffic->CountReceived(static_cast<int64_t>(ids.size()));
    return absl::OkStatus();
  };
  connection_->StartSingle<proto::ResolveReply>(std::move(request), settings, store,
                                                std::move(done));
}

void RemoteShard::FetchRanking(const ShardRanking& ranking, Cancellation* cancel, Done done) {
  FetchMore(ranking, cancel, std::move(done));
}

void RemoteShard::FetchMore(const ShardRanking& ranking, Cancellation* cancel, Done done) {
  const auto have = static_cast<int64_t>(ranking.out->nodes.size());
  int64_t count = kMaxRankedInRequest;
  if (ranking.count > 0) count = std::min(count, ranking.count - have);
  if (count == 0) return done(absl::OkStatus());
  proto::RankingRequest request;
  request.set_fingerprint(fingerprint_);
  for (const int32_t shard : ranking.home) request.add_home(shard);
  request.set_name(ranking.name);
  request.set_node_type(ranking.type.value);
  request.set_first(have);
  request.set_count(count);
  const CallSettings settings = connection_->Settings(shard_, "FetchRanking", cancel);
  auto size = std::make_shared<int64_t>(-1);  // of the whole ranking, as the server says
  connection_->Start<proto::RankingChunk>(
      std::move(request), settings,
      [out = ranking.out, limit = have + count, num_nodes = book_.num_nodes(ranking.type), size,
       traffic = connection_->traffic()](const proto::RankingChunk& chunk,
                                         const SlicedMessage& message) -> absl::Status {
        const SlicedBytes& ids = message[proto::RankingChunk::kGlobalIdsFieldNumber];
        const SlicedBytes& odds = message[proto::RankingChunk::kProbabilitiesFieldNumber];
        const auto got = static_cast<int64_t>(ids.size() / sizeof(int64_t));
        *size = static_cast<int64_t>(chunk.size());
        // A server that goes on for ever would fill our memory.
        if (*size > num_nodes) {
          return absl::InternalError(
              absl::StrCat("a ranking of ", *size, " nodes where there are ", num_nodes));
        }
        if (ids.size() % sizeof(int64_t) != 0 || chunk.first() != out->nodes.size() ||
            odds.size() != got * sizeof(float) ||
            static_cast<int64_t>(out->nodes.size()) + got > limit) {
          return WrongAmount("ranked nodes", out->nodes.size() + got, limit);
        }
        AppendArray(ids, &out->nodes);
        AppendArray(odds, &out->probabilities);
        traffic->CountReceived(message.BulkBytes());
        const auto outside =
            std::find_if(out->nodes.end() - got, out->nodes.end(),
                         [num_nodes](int64_t node) { return node < 0 || node >= num_nodes; });
        if (outside == out->nodes.end()) return absl::OkStatus();
        return absl::InternalError(
            absl::StrCat("ranks node ", *outside, " where there are ", num_nodes));
      },
      [this, ranking, cancel, limit = have + count, size, where = settings.where,
       done = std::move(done)](const absl::Status& status) {
        const auto got = static_cast<int64_t>(ranking.out->nodes.size());
        const int64_t expected = std::min(limit, *size);
        if (!status.ok()) return done(status);
        if (got != expected) return done(At(where, WrongAmount("ranked nodes", got, expected)));
        if (got == *size) return done(absl::OkStatus());
        FetchMore(ranking, cancel, done);
      });
}

}  // namespace vicinity
