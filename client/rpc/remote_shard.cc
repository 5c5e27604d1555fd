#include "client/rpc/remote_shard.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/rpc/found_reader.h"
#include "client/rpc/hop_pieces.h"
#include "client/rpc/ragged_reader.h"
#include "client/rpc/rows_reader.h"
#include "client/rpc/sample_reader.h"
#include "client/rpc/walk_reader.h"
#include "client/rpc/wire_array.h"
#include "client/shards/piece_run.h"
#include "client/shards/request_parts.h"
#include "proto/common/status.h"
#include "proto/limits.h"
#include "proto/service.pb.h"
#include "proto/sliced_message.h"
#include "sampler/excluded_edges.h"
#include "sampler/rules/draw_spec_proto.h"

namespace vicinity {
namespace {

// Both ways together.
constexpr int64_t kMostShortBytes = 64 << 10;

absl::Status WrongAmount(const char* what, int64_t got, int64_t expected) {
  return absl::InternalError(absl::StrCat(got, " ", what, " where ", expected, " were asked for"));
}

// As many of a request's elements as one message may ask for.
template <typename Request>
int64_t MostWithin(const Request& request, const RequestLimits& limits) {
  return std::min(request.max_elements(), limits.max_ids);
}
// A range of rows names no ids.
int64_t MostWithin(const ShardRows& rows, const RequestLimits& limits) {
  return rows.rows.empty() ? rows.max_elements() : std::min(rows.max_elements(), limits.max_ids);
}
// Likewise, and parts end where places do.
int64_t MostWithin(const ShardFind& find, const RequestLimits& /*limits*/) {
  return find.max_elements();
}
// A pair is two ids.
int64_t MostWithin(const ShardEdgeIds& pairs, const RequestLimits& limits) {
  return std::min(pairs.max_elements(), std::max<int64_t>(1, limits.max_ids / 2));
}

// A walk is as many as its steps.
int64_t MostWithin(const ShardWalks& walks, const RequestLimits& limits) {
  return std::min(walks.max_elements(), std::max<int64_t>(1, limits.max_ids / walks.spec->length));
}

void AppendTimes(absl::Span<const TimeBounds> times, proto::SampleRequest* request) {
  const auto append = [&](int64_t TimeBounds::*bound, std::string* out) {
    for (const TimeBounds& of_target : times) {
      out->append(reinterpret_cast<const char*>(&(of_target.*bound)), sizeof(int64_t));
    }
  };
  append(&TimeBounds::until, request->mutable_latest());
  append(&TimeBounds::from, request->mutable_earliest());
}

// Those of a range of the relation's rows.
void AppendExcluded(absl::Span<const ExcludedEdge> excluded, const SamplePiece::Range& range,
                    proto::SampleRequest::Relation* relation, proto::SampleRequest* request) {
  const auto before = [](const ExcludedEdge& edge, int64_t row) { return edge.target < row; };
  const auto begin = std::lower_bound(excluded.begin(), excluded.end(), range.first, before);
  const auto end = std::lower_bound(begin, excluded.end(), range.first + range.count, before);
  relation->set_first_excluded(request->excluded_targets().size() / sizeof(uint32_t));
  relation->set_num_excluded(end - begin);
  for (auto edge = begin; edge < end; ++edge) {
    const auto target = static_cast<uint32_t>(edge->target - range.first);
    AppendBytes(absl::MakeConstSpan(&target, 1), request->mutable_excluded_targets());
    AppendBytes(absl::MakeConstSpan(&edge->source, 1), request->mutable_excluded_sources());
  }
}

proto::Durability ToProto(Durability durability) {
  switch (durability) {
    case Durability::kBuffered:
      return proto::BUFFERED;
    case Durability::kReplicated:
      return proto::REPLICATED;
    default:
      return proto::SYNC;
  }
}

class RemoteShard final : public AnswersAlike<RemoteShard> {
 public:
  RemoteShard(ShardId shard, uint64_t fingerprint, ServerConnection* connection,
              const Schema& schema, const Book& book)
      : shard_(shard),
        fingerprint_(fingerprint),
        connection_(connection),
        schema_(schema),
        book_(book) {}

  bool remote() const override { return true; }
  template <typename Request>
  void AskAny(const Request& request, const CallContext& context, Done done) {
    auto ask = [this, request, context](const RequestLimits& limits, Done asked) {
      AskWithin(request, limits, context, std::move(asked));
    };
    AskByLimits(std::move(ask), context, std::move(done));
  }

 private:
  // Asks in pieces within these limits.
  void AskWithin(const ShardHop& hop, const RequestLimits& limits, const CallContext& context,
                 Done done);
  void AskWithin(const ShardRanking& ranking, const RequestLimits& limits,
                 const CallContext& context, Done done);
  template <typename Request>
  void AskWithin(const Request& request, const RequestLimits& limits, const CallContext& context,
                 Done done) {
    AskInParts<Request>(
        request, MostWithin(request, limits), connection_->num_channels(),
        [this, context](const Request& part, Done part_done) {
          AskOnce(part, context, std::move(part_done));
        },
        std::move(done));
  }
  using Question = std::function<void(const RequestLimits& limits, Done done)>;
  void AskByLimits(Question question, const CallContext& context, Done done);

  // One RPC each.
  void AskOnce(const ShardHop& hop, const SamplePiece& piece, const CallContext& context,
               Done done);
  void AskOnce(const ShardRows& rows, const CallContext& context, Done done);
  void AskOnce(const ShardRagged& ragged, const CallContext& context, Done done);
  void AskOnce(const ShardFind& find, const CallContext& context, Done done);
  void AskOnce(const ShardKeys& keys, const CallContext& context, Done done);
  void AskOnce(const ShardDegrees& degrees, const CallContext& context, Done done);
  void AskOnce(const ShardEdgeIds& pairs, const CallContext& context, Done done);
  void AskOnce(const ShardWalks& walks, const CallContext& context, Done done);
  void AskOnce(const ShardWrite& write, const CallContext& context, Done done);
  void AskOnce(const ShardBarrier& barrier, const CallContext& context, Done done);
  void AskOnce(const ShardChanges& changes, const CallContext& context, Done done);
  template <typename Request>
  CallSettings SettingsOf(const Request& request, const CallContext& context) const {
    CallSettings settings = connection_->Settings(shard_, Request::kMethod, context);
    // Whatever its length, a batch waits for its sampling, and so do those behind it.
    constexpr bool kMayBeLong =
        std::is_same_v<Request, ShardRows> || std::is_same_v<Request, ShardFind>;
    const bool is_long = kMayBeLong && request.bytes() > kMostShortBytes;
    settings.lane = is_long ? CallLane::kLong : CallLane::kShort;
    settings.time = &connection_->traffic()->rpc_seconds[kRequestIndex<Request>];
    return settings;
  }
  proto::Precision PrecisionOf(const ShardRows& rows) const;
  // What all requests to a shard have.
  template <typename Message>
  void Address(const CallContext& context, Message* request) const {
    request->set_fingerprint(fingerprint_);
    request->set_shard(shard_.value);
    SetAt(context, request);
  }
  template <typename Message>
  static void SetAt(const CallContext& context, Message* request) {
    if (context.at.version == 0 && !context.at.exactly) return;
    proto::ReadAt& at = *request->mutable_at();
    at.set_version(context.at.version);
    at.set_exactly(context.at.exactly);
    at.set_of_term(context.at.term.has_value());
    at.set_term(context.at.term.value_or(0));
  }

  const ShardId shard_;
  const uint64_t fingerprint_;
  ServerConnection* const connection_;
  const Schema& schema_;
  const Book& book_;
};

void RemoteShard::AskByLimits(Question question, const CallContext& context, Done done) {
  const RequestLimits limits = connection_->limits();
  // Shared, since what it holds of the request is costly to copy, and asked again only seldom.
  const auto ask = std::make_shared<const Question>(std::move(question));
  (*ask)(limits, [=, done = std::move(done)](const absl::Status& status) {
    if (!absl::IsInvalidArgument(status)) return done(status);
    const auto again = [=](const absl::Status& hello, const proto::HelloReply&) {
      const RequestLimits now = connection_->limits();
      const bool smaller = now.max_ids < limits.max_ids || now.max_sampled < limits.max_sampled;
      if (!hello.ok()) return done(hello);  // the server's, not the request's
      if (!smaller) return done(status);
      (*ask)(now, done);
    };
    connection_->AskHello(context.cancel, connection_->call_timeout(), again);
  });
}

void RemoteShard::AskWithin(const ShardHop& hop, const RequestLimits& limits,
                            const CallContext& context, Done done) {
  hop.Forget();  // what an attempt that was refused has left
  auto pieces = std::make_shared<const std::vector<SamplePiece>>(CutHop(hop, limits));
  // One after the other: each appends to the same lists.
  RunPieces(
      static_cast<int64_t>(pieces->size()), 1,
      [this, hop, pieces, context](int64_t piece, Done piece_done) {
        AskOnce(hop, (*pieces)[piece], context, std::move(piece_done));
      },
      std::move(done));
}

void RemoteShard::AskOnce(const ShardHop& hop, const SamplePiece& piece, const CallContext& context,
                          Done done) {
  proto::SampleRequest request;
  Address(context, &request);
  request.mutable_draw()->set_run_seed(hop.draw.run_seed);
  request.mutable_draw()->set_epoch(hop.draw.epoch);
  request.mutable_draw()->set_batch(hop.draw.batch);
  request.mutable_draw()->set_hop(hop.hop);
  request.set_want_edge_ids(hop.detail.ids);
  request.set_want_edge_positions(hop.detail.positions);
  request.set_want_edge_times(hop.detail.times);
  std::vector<ExpectedRelation> expected;
  for (const SamplePiece::Range& range : piece.ranges) {
    const size_t first_target = request.targets().size() / sizeof(uint64_t);
    const ShardHop::Relation& first = hop.relations[range.relations.front()];
    AppendBytes(first.rows.subspan(range.first, range.count), request.mutable_targets());
    if (!first.trees.empty()) {
      AppendBytes(first.trees.subspan(range.first, range.count), request.mutable_trees());
    }
    if (!first.times.empty()) AppendTimes(first.times.subspan(range.first, range.count), &request);
    for (const int i : range.relations) {
      const ShardHop::Relation& asked = hop.relations[i];
      proto::SampleRequest::Relation* relation = request.add_relations();
      relation->set_edge_type(asked.edge_type.value);
      ToProto(asked.spec, relation->mutable_spec());
      relation->set_first_target(first_target);
      relation->set_num_targets(range.count);
      AppendExcluded(asked.excluded, range, relation, &request);
      const NodeTypeId source_type{schema_.edge_types[asked.edge_type.value].source_type};
      expected.push_back({range.count, asked.spec.fanout, book_.id_limit(source_type),
                          /*by_time=*/asked.spec.time_column >= 0, &hop.out[i]});
    }
  }
  auto reader = std::make_shared<SampleReader>(std::move(expected), hop.detail);
  const CallSettings settings = SettingsOf(hop, context);
  connection_->Start<proto::SampleChunk>(
      std::move(request), settings,
      [reader, traffic = connection_->traffic()](const proto::SampleChunk& chunk,
                                                 const SlicedMessage& message) {
        const size_t sources = message[proto::SampleChunk::kSourcesFieldNumber].size();
        traffic->sampled_edges_remote.Add(sources / sizeof(int64_t));
        traffic->CountReceived(message.BulkBytes());
        return reader->Add(chunk, message);
      },
      [reader, where = settings.where, done = std::move(done)](const absl::Status& status) {
        done(status.ok() ? At(where, reader->Finish()) : status);
      });
}

void RemoteShard::AskOnce(const ShardRows& rows, const CallContext& context, Done done) {
  proto::RowsRequest request;
  Address(context, &request);
  request.set_of_edges(rows.edge_type.has_value());
  request.set_node_type(rows.edge_type.has_value() ? rows.edge_type->value : rows.type.value);
  request.set_column(rows.column);
  if (rows.rows.empty()) {
    request.set_first(rows.first);
    request.set_count(rows.count);
  } else {
    AppendBytes(rows.rows, request.mutable_rows());
  }
  request.set_precision(PrecisionOf(rows));
  auto reader = std::make_shared<RowsReader>(rows, request.precision(), connection_->traffic());
  const CallSettings settings = SettingsOf(rows, context);
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

void RemoteShard::AskOnce(const ShardRagged& ragged, const CallContext& context, Done done) {
  proto::RaggedRequest request;
  Address(context, &request);
  request.set_node_type(ragged.type.value);
  request.set_column(ragged.column + 1);  // kNamesColumn: 0
  AppendBytes(ragged.rows, request.mutable_rows());
  auto reader = std::make_shared<RaggedReader>(ragged, connection_->traffic());
  const CallSettings settings = SettingsOf(ragged, context);
  connection_->Start<proto::RaggedChunk>(
      std::move(request), settings,
      [reader](const proto::RaggedChunk& chunk, const SlicedMessage& message) {
        return reader->Add(chunk, message);
      },
      [reader, where = settings.where, done = std::move(done)](const absl::Status& status) {
        done(status.ok() ? At(where, reader->Finish()) : status);
      });
}

void RemoteShard::AskOnce(const ShardFind& find, const CallContext& context, Done done) {
  find.Forget();  // what an attempt that was refused has left
  proto::FindRequest request;
  Address(context, &request);
  request.set_of_edges(find.edge_type.has_value());
  request.set_type(find.edge_type.has_value() ? find.edge_type->value : find.type.value);
  request.set_first(find.first);
  request.set_count(find.count);
  ToProto(*find.where, request.mutable_where());
  auto reader = std::make_shared<FoundReader>(find, connection_->traffic());
  const CallSettings settings = SettingsOf(find, context);
  connection_->Start<proto::FindChunk>(
      std::move(request), settings,
      [reader](const proto::FindChunk& chunk, const SlicedMessage& message) {
        return reader->Add(chunk, message);
      },
      [reader, where = settings.where, done = std::move(done)](const absl::Status& status) {
        done(status.ok() ? At(where, reader->Finish()) : status);
      });
}

void RemoteShard::AskOnce(const ShardKeys& keys, const CallContext& context, Done done) {
  proto::ResolveRequest request;
  Address(context, &request);
  request.set_node_type(keys.type.value);
  AppendBytes(keys.keys, request.mutable_keys());
  const CallSettings settings = SettingsOf(keys, context);
  const auto store = [keys, num_nodes = book_.id_limit(keys.type),
                      traffic = connection_->traffic()](
                         const proto::ResolveReply&, const SlicedMessage& message) -> absl::Status {
    const SlicedBytes& ids = message[proto::ResolveReply::kGlobalIdsFieldNumber];
    if (const size_t expected = keys.keys.size() * sizeof(int64_t); ids.size() != expected) {
      return WrongAmount("bytes of ids", ids.size(), expected);
    }
    SlicedBytes::Cursor from(ids);
    for (const int64_t position : keys.positions) {
      int64_t id = 0;
      from.Read(reinterpret_cast<char*>(&id), sizeof(id));
      if (id < -1 || id >= num_nodes) {
        return absl::InternalError(
            absl::StrCat("node ", id, " for a key, where there are ", num_nodes));
      }
      keys.out[position] = id;
    }
    traffic->CountReceived(static_cast<int64_t>(ids.size()));
    return absl::OkStatus();
  };
  connection_->StartSingle<proto::ResolveReply>(std::move(request), settings, store,
                                                std::move(done));
}

void RemoteShard::AskOnce(const ShardDegrees& degrees, const CallContext& context, Done done) {
  proto::DegreesRequest request;
  Address(context, &request);
  request.set_edge_type(degrees.edge_type.value);
  AppendBytes(degrees.rows, request.mutable_targets());
  const CallSettings settings = SettingsOf(degrees, context);
  const auto store = [degrees, traffic = connection_->traffic()](
                         const proto::DegreesReply&, const SlicedMessage& message) -> absl::Status {
    const SlicedBytes& found = message[proto::DegreesReply::kDegreesFieldNumber];
    const size_t expected = degrees.rows.size() * sizeof(int64_t);
    if (found.size() != expected) return WrongAmount("bytes of degrees", found.size(), expected);
    SlicedBytes::Cursor from(found);
    for (const int64_t position : degrees.positions) {
      int64_t degree = 0;
      from.Read(reinterpret_cast<char*>(&degree), sizeof(degree));
      if (degree < 0) return absl::InternalError(absl::StrCat("a degree of ", degree));
      degrees.out[position] = degree;
    }
    traffic->CountReceived(static_cast<int64_t>(found.size()));
    return absl::OkStatus();
  };
  connection_->StartSingle<proto::DegreesReply>(std::move(request), settings, store,
                                                std::move(done));
}

void RemoteShard::AskOnce(const ShardEdgeIds& pairs, const CallContext& context, Done done) {
  proto::EdgeIdsRequest request;
  Address(context, &request);
  request.set_edge_type(pairs.edge_type.value);
  AppendBytes(pairs.sources, request.mutable_sources());
  AppendBytes(pairs.rows, request.mutable_targets());
  const CallSettings settings = SettingsOf(pairs, context);
  const auto store = [pairs, traffic = connection_->traffic()](
                         const proto::EdgeIdsReply&, const SlicedMessage& message) -> absl::Status {
    const SlicedBytes& found = message[proto::EdgeIdsReply::kEdgeIdsFieldNumber];
    const size_t expected = pairs.rows.size() * sizeof(int64_t);
    if (found.size() != expected) return WrongAmount("bytes of edge ids", found.size(), expected);
    SlicedBytes::Cursor from(found);
    for (const int64_t position : pairs.positions) {
      int64_t edge_id = 0;
      from.Read(reinterpret_cast<char*>(&edge_id), sizeof(edge_id));
      if (edge_id < -1) return absl::InternalError(absl::StrCat("an edge id of ", edge_id));
      pairs.out[position] = edge_id;
    }
    traffic->CountReceived(static_cast<int64_t>(found.size()));
    return absl::OkStatus();
  };
  connection_->StartSingle<proto::EdgeIdsReply>(std::move(request), settings, store,
                                                std::move(done));
}

void RemoteShard::AskOnce(const ShardWalks& walks, const CallContext& context, Done done) {
  proto::WalkRequest request;
  Address(context, &request);
  request.mutable_draw()->set_run_seed(walks.draw.run_seed);
  request.mutable_draw()->set_epoch(walks.draw.epoch);
  request.mutable_draw()->set_batch(walks.draw.batch);
  for (const int32_t type : walks.spec->metapath) request.add_metapath(type);
  request.set_length(static_cast<uint32_t>(walks.spec->length));
  request.set_weighted_by(walks.spec->weighted_by);
  request.set_restart_prob(walks.spec->restart_prob);
  request.set_want_edge_ids(walks.edge_ids != nullptr);
  AppendBytes(walks.walks, request.mutable_walks());
  AppendBytes(walks.steps, request.mutable_steps());
  AppendBytes(walks.rows, request.mutable_rows());
  auto reader = std::make_shared<WalkReader>(walks, schema_, book_, connection_->traffic());
  const CallSettings settings = SettingsOf(walks, context);
  connection_->Start<proto::WalkChunk>(
      std::move(request), settings,
      [reader](const proto::WalkChunk& chunk, const SlicedMessage& arrays) {
        return reader->Add(chunk, arrays);
      },
      [reader, where = settings.where, done = std::move(done)](const absl::Status& status) {
        done(status.ok() ? At(where, reader->Finish()) : status);
      });
}

void RemoteShard::AskOnce(const ShardWrite& write, const CallContext& context, Done done) {
  proto::ApplyRequest request;
  request.set_fingerprint(fingerprint_);
  request.set_shard(shard_.value);
  *request.mutable_session() = *write.session;
  *request.mutable_batch() = *write.batch;
  request.set_durability(ToProto(write.durability));
  const auto store = [write](const proto::ApplyReply& reply, const SlicedMessage&) -> absl::Status {
    write.out->retired = reply.retired();
    if (reply.retired()) return absl::OkStatus();
    const auto same = [](const char* what, int64_t got, int64_t expected) {
      return got == expected ? absl::OkStatus() : WrongAmount(what, got, expected);
    };
    VICINITY_RETURN_IF_ERROR(
        same("parts of new nodes", reply.first_nodes_size(), write.batch->new_nodes_size()));
    VICINITY_RETURN_IF_ERROR(
        same("parts of new edges", reply.first_edges_size(), write.batch->new_edges_size()));
    write.out->version = reply.version();
    write.out->term = reply.term();
    write.out->repeated = reply.repeated();
    write.out->first_nodes.assign(reply.first_nodes().begin(), reply.first_nodes().end());
    write.out->first_edges.assign(reply.first_edges().begin(), reply.first_edges().end());
    return absl::OkStatus();
  };
  connection_->StartSingle<proto::ApplyReply>(std::move(request), SettingsOf(write, context), store,
                                              std::move(done));
}

void RemoteShard::AskOnce(const ShardBarrier& barrier, const CallContext& context, Done done) {
  proto::BarrierRequest request;
  Address(context, &request);
  request.set_of_writer(barrier.of_writer);
  request.set_want_cursors(barrier.want_cursors);
  const auto store = [barrier, num_nodes = schema_.node_types.size(),
                      num_edges = schema_.edge_types.size()](const proto::BarrierReply& reply,
                                                             const SlicedMessage&) -> absl::Status {
    ShardVersion* const out = barrier.out;
    out->version = reply.version();
    out->term = reply.term();
    out->cursors.clear();
    for (const proto::ChangeCursor& told : reply.cursors()) {
      out->cursors.push_back(
          {told.name(), {told.at().version(), told.at().term()}, told.unix_micros()});
    }
    out->num_nodes.assign(reply.num_nodes().begin(), reply.num_nodes().end());
    out->num_edges.assign(reply.num_edges().begin(), reply.num_edges().end());
    if (out->num_nodes.size() != num_nodes || out->num_edges.size() != num_edges) {
      return absl::InternalError(absl::StrCat(
          "sizes of ", out->num_nodes.size(), " node types and ", out->num_edges.size(),
          " edge types, where there are ", num_nodes, " and ", num_edges));
    }
    return absl::OkStatus();
  };
  connection_->StartSingle<proto::BarrierReply>(std::move(request), SettingsOf(barrier, context),
                                                store, std::move(done));
}

void RemoteShard::AskOnce(const ShardChanges& changes, const CallContext& context, Done done) {
  proto::ChangesRequest request;
  request.set_fingerprint(fingerprint_);
  request.set_shard(shard_.value);
  SetAt(context, &request);
  request.mutable_at()->set_exactly(false);  // what was written since then, too
  request.set_after(changes.after);
  request.set_of_term(changes.after_term.has_value());
  request.set_after_term(changes.after_term.value_or(0));
  request.set_cursor(changes.cursor);
  request.set_acknowledges(changes.acknowledges);
  request.set_drops(changes.drops);
  request.set_count(changes.count);
  connection_->Start<proto::ChangesChunk>(
      std::move(request), SettingsOf(changes, context),
      [changes](const proto::ChangesChunk& chunk, const SlicedMessage&) -> absl::Status {
        for (const proto::Change& change : chunk.changes()) {
          const bool knows_first = changes.cursor.empty() || changes.acknowledges;
          const uint64_t next = !changes.out->empty() ? changes.out->back().version() + 1
                                : knows_first         ? changes.after + 1
                                                      : std::max<uint64_t>(change.version(), 1);
          if (change.version() != next || changes.out->size() == changes.count) {
            return absl::InternalError(absl::StrCat("version ", change.version(), " where ", next,
                                                    " of ", changes.count, " comes next"));
          }
          changes.out->push_back(change);
        }
        return absl::OkStatus();
      },
      std::move(done));
}

// What `out` lacks, a part at a time.
void RemoteShard::AskWithin(const ShardRanking& ranking, const RequestLimits& limits,
                            const CallContext& context, Done done) {
  const auto have = static_cast<int64_t>(ranking.out->nodes.size());
  int64_t count = kMaxRequestRanked;
  if (ranking.count > 0) count = std::min(count, ranking.count - have);
  if (count == 0) return done(absl::OkStatus());
  proto::RankingRequest request;
  request.set_fingerprint(fingerprint_);
  for (const int32_t shard : ranking.home) request.add_home(shard);
  request.set_name(ranking.name);
  request.set_node_type(ranking.type.value);
  request.set_first(have);
  request.set_count(count);
  const CallSettings settings = SettingsOf(ranking, context);
  auto size = std::make_shared<int64_t>(-1);  // of the whole ranking, as the server says
  connection_->Start<proto::RankingChunk>(
      std::move(request), settings,
      [out = ranking.out, limit = have + count, num_nodes = book_.num_nodes(ranking.type), size,
       traffic = connection_->traffic()](const proto::RankingChunk& chunk,
                                         const SlicedMessage& message) -> absl::Status {
        const SlicedBytes& ids = message[proto::RankingChunk::kGlobalIdsFieldNumber];
        const SlicedBytes& probabilities = message[proto::RankingChunk::kProbabilitiesFieldNumber];
        const auto got = static_cast<int64_t>(ids.size() / sizeof(int64_t));
        *size = static_cast<int64_t>(chunk.size());
        // A server that goes on for ever would fill our memory.
        if (*size > num_nodes) {
          return absl::InternalError(
              absl::StrCat("a ranking of ", *size, " nodes where there are ", num_nodes));
        }
        if (ids.size() % sizeof(int64_t) != 0 || chunk.first() != out->nodes.size() ||
            probabilities.size() != got * sizeof(float) ||
            static_cast<int64_t>(out->nodes.size()) + got > limit) {
          return WrongAmount("ranked nodes", out->nodes.size() + got, limit);
        }
        AppendArray(ids, &out->nodes);
        AppendArray(probabilities, &out->probabilities);
        traffic->CountReceived(message.BulkBytes());
        const auto outside =
            std::find_if(out->nodes.end() - got, out->nodes.end(),
                         [num_nodes](int64_t node) { return node < 0 || node >= num_nodes; });
        if (outside == out->nodes.end()) return absl::OkStatus();
        return absl::InternalError(
            absl::StrCat("ranks node ", *outside, " where there are ", num_nodes));
      },
      [this, ranking, limits, context, limit = have + count, size, where = settings.where,
       done = std::move(done)](const absl::Status& status) {
        const auto got = static_cast<int64_t>(ranking.out->nodes.size());
        const int64_t expected = std::min(limit, *size);
        if (!status.ok()) return done(status);
        if (got != expected) return done(At(where, WrongAmount("ranked nodes", got, expected)));
        if (got == *size) return done(absl::OkStatus());
        AskWithin(ranking, limits, context, done);
      });
}

}  // namespace

std::unique_ptr<ShardAccess> MakeRemoteShard(ShardId shard, uint64_t fingerprint,
                                             ServerConnection* connection, const Schema& schema,
                                             const Book& book) {
  return std::make_unique<RemoteShard>(shard, fingerprint, connection, schema, book);
}

}  // namespace vicinity
