#include "client/shards/shard_requests.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "proto/limits.h"
#include "proto/live.pb.h"

namespace vicinity {
namespace {

constexpr int64_t kIdBytes = sizeof(uint64_t);
constexpr int64_t kNameBytes = 32;                                   // a guess
constexpr int64_t kRaggedBytes = kMaxCallBytes / kMaxRequestRagged;  // likewise, rather too many
constexpr int64_t kExcludedBytes = 12;                               // an id and an index
constexpr int64_t kRankedBytes = 12;                                 // an id and a probability
constexpr int64_t kChangeBytes = 1 << 10;                            // a guess
constexpr int64_t kUnknownCount = int64_t{16} << 20;                 // of a whole ranking: a guess
constexpr int64_t kNeighborsOfAll = 32;                              // a guess, for a fanout of all
// Larger fanouts stand for "all", too; the time for a call does not grow with them.
constexpr int64_t kMaxNeighbors = 1024;

// Row i of `from` to where the request wants it.
void Scatter(const ShardRows& rows, const char* from) {
  if (rows.positions.empty()) {
    std::memcpy(rows.out, from, rows.num_elements() * rows.row_bytes);
    return;
  }
  for (const int64_t position : rows.positions) {
    std::memcpy(rows.out + position * rows.row_bytes, from, rows.row_bytes);
    from += rows.row_bytes;
  }
}

// Of a request whose answer to element i goes to out[positions[i]]: room for the answers in the
// order of the elements.
template <typename Request, typename Value>
RequestApart<Request> ElementsApart(const Request& request) {
  struct Room {
    std::vector<int64_t> in_order;
    std::vector<Value> values;
  };
  auto room = std::make_shared<Room>();
  room->in_order.resize(request.num_elements());
  std::iota(room->in_order.begin(), room->in_order.end(), int64_t{0});
  room->values.resize(request.num_elements());
  RequestApart<Request> apart{request, [request, room] {
                                for (size_t i = 0; i < room->values.size(); ++i) {
                                  request.out[request.positions[i]] = std::move(room->values[i]);
                                }
                              }};
  apart.request.positions = room->in_order;
  apart.request.out = room->values.data();
  return apart;
}

}  // namespace

int64_t ShardHop::bytes() const {
  int64_t bytes = 0;
  const int64_t num_values =
      1 + (detail.ids ? 1 : 0) + (detail.positions ? 1 : 0) + (detail.times ? 1 : 0);
  for (const Relation& relation : relations) {
    const int64_t neighbors =
        relation.spec.fanout > 0 ? std::min(relation.spec.fanout, kMaxNeighbors) : kNeighborsOfAll;
    const int64_t each = kIdBytes * num_values * neighbors + kIdBytes;
    bytes += static_cast<int64_t>(relation.rows.size()) * each;
    bytes += static_cast<int64_t>(relation.times.size() * sizeof(TimeBounds));
    bytes += static_cast<int64_t>(relation.excluded.size()) * kExcludedBytes;
  }
  return bytes;
}

void ShardHop::Forget() const {
  for (Neighbors& neighbors : out) neighbors.Clear();
}

RequestApart<ShardHop> ShardHop::Apart() const {
  auto room = std::make_shared<std::vector<Neighbors>>(out.size());
  RequestApart<ShardHop> apart{
      *this, [to = out, room] { std::move(room->begin(), room->end(), to.begin()); }};
  apart.request.out = absl::MakeSpan(*room);
  return apart;
}

int64_t ShardRows::max_elements() const {
  const int64_t most = std::max<int64_t>(1, kMaxCallBytes / row_bytes);
  return rows.empty() ? most : std::min(most, kMaxRequestIds);
}

ShardRows ShardRows::Part(int64_t begin, int64_t end) const {
  ShardRows part = *this;
  if (rows.empty()) {
    part.first += begin;
    part.count = end - begin;
  } else {
    part.rows = rows.subspan(begin, end - begin);
  }
  if (positions.empty()) {
    part.out += begin * row_bytes;
  } else {
    part.positions = positions.subspan(begin, end - begin);
  }
  return part;
}

int64_t ShardRows::bytes() const {
  return num_elements() * row_bytes + static_cast<int64_t>(rows.size()) * kIdBytes;
}

RequestApart<ShardRows> ShardRows::Apart() const {
  // Not a vector: nothing needs these bytes to be zeroes first.
  const std::shared_ptr<char[]> room(new char[num_elements() * row_bytes]);
  RequestApart<ShardRows> apart{*this, [rows = *this, room] { Scatter(rows, room.get()); }};
  apart.request.positions = {};
  apart.request.out = room.get();
  return apart;
}

int64_t ShardRagged::max_elements() const {
  return column == kNamesColumn ? kMaxRequestNames : kMaxRequestRagged;
}

ShardRagged ShardRagged::Part(int64_t begin, int64_t end) const {
  ShardRagged part = *this;
  part.rows = rows.subspan(begin, end - begin);
  part.positions = positions.subspan(begin, end - begin);
  return part;
}

int64_t ShardRagged::bytes() const {
  return num_elements() * (kIdBytes + (column == kNamesColumn ? kNameBytes : kRaggedBytes));
}

RequestApart<ShardRagged> ShardRagged::Apart() const {
  return ElementsApart<ShardRagged, std::string>(*this);
}

int64_t ShardFind::max_elements() const { return kMaxRequestLooked; }

int64_t ShardFind::num_places() const {
  return (count + kMaxRequestLooked - 1) / kMaxRequestLooked;
}

ShardFind ShardFind::Part(int64_t begin, int64_t end) const {
  ShardFind part = *this;
  part.first += begin;
  part.count = end - begin;
  part.out += begin / kMaxRequestLooked;
  return part;
}

// Of those that are found, nobody knows how many: time is for those that are looked at.
int64_t ShardFind::bytes() const { return num_elements() * kIdBytes; }

void ShardFind::Forget() const {
  for (int64_t i = 0; i < num_places(); ++i) out[i].Clear();
}

RequestApart<ShardFind> ShardFind::Apart() const {
  auto room = std::make_shared<std::vector<FoundRows>>(num_places());
  RequestApart<ShardFind> apart{*this,
                                [to = out, room] { std::move(room->begin(), room->end(), to); }};
  apart.request.out = room->data();
  return apart;
}

int64_t ShardKeys::max_elements() const { return kMaxRequestIds; }

ShardKeys ShardKeys::Part(int64_t begin, int64_t end) const {
  ShardKeys part = *this;
  part.keys = keys.subspan(begin, end - begin);
  part.positions = positions.subspan(begin, end - begin);
  return part;
}

int64_t ShardKeys::bytes() const { return num_elements() * 2 * kIdBytes; }

RequestApart<ShardKeys> ShardKeys::Apart() const {
  return ElementsApart<ShardKeys, int64_t>(*this);
}

int64_t ShardDegrees::max_elements() const { return kMaxRequestIds; }

ShardDegrees ShardDegrees::Part(int64_t begin, int64_t end) const {
  ShardDegrees part = *this;
  part.rows = rows.subspan(begin, end - begin);
  part.positions = positions.subspan(begin, end - begin);
  return part;
}

int64_t ShardDegrees::bytes() const { return num_elements() * 2 * kIdBytes; }

RequestApart<ShardDegrees> ShardDegrees::Apart() const {
  return ElementsApart<ShardDegrees, int64_t>(*this);
}

int64_t ShardEdgeIds::max_elements() const { return kMaxRequestIds / 2; }

ShardEdgeIds ShardEdgeIds::Part(int64_t begin, int64_t end) const {
  ShardEdgeIds part = *this;
  part.sources = sources.subspan(begin, end - begin);
  part.rows = rows.subspan(begin, end - begin);
  part.positions = positions.subspan(begin, end - begin);
  return part;
}

int64_t ShardEdgeIds::bytes() const { return num_elements() * 3 * kIdBytes; }

RequestApart<ShardEdgeIds> ShardEdgeIds::Apart() const {
  return ElementsApart<ShardEdgeIds, int64_t>(*this);
}

int64_t ShardWalks::max_elements() const {
  return std::max<int64_t>(1, kMaxRequestIds / 2 / spec->length);
}

ShardWalks ShardWalks::Part(int64_t begin, int64_t end) const {
  ShardWalks part = *this;
  part.walks = walks.subspan(begin, end - begin);
  part.steps = steps.subspan(begin, end - begin);
  part.rows = rows.subspan(begin, end - begin);
  part.positions = positions.subspan(begin, end - begin);
  return part;
}

int64_t ShardWalks::bytes() const {
  return num_elements() * kIdBytes * (2 + spec->length * (edge_ids == nullptr ? 1 : 2));
}

void ShardWalks::Place(size_t i, absl::Span<const int64_t> to,
                       absl::Span<const int64_t> edges) const {
  const int64_t length = spec->length;
  int64_t* const line = nodes + positions[i] * (length + 1);
  std::fill(std::copy(to.begin(), to.end(), line + steps[i] + 1), line + length + 1, -1);
  if (edge_ids == nullptr) return;
  int64_t* const edge_line = edge_ids + positions[i] * length;
  std::fill(std::copy(edges.begin(), edges.end(), edge_line + steps[i]), edge_line + length, -1);
}

void ShardWalks::Place(const WalkedSteps& made) const {
  const absl::Span<const int64_t> all_nodes(made.nodes);
  const absl::Span<const int64_t> all_edges(made.edge_ids);
  for (size_t i = 0, first = 0; i < made.counts.size(); first += made.counts[i++]) {
    Place(i, all_nodes.subspan(first, made.counts[i]),
          edge_ids == nullptr ? all_edges : all_edges.subspan(first, made.counts[i]));
  }
}

RequestApart<ShardWalks> ShardWalks::Apart() const {
  struct Room {
    std::vector<int64_t> in_order;
    std::vector<int64_t> nodes;
    std::vector<int64_t> edge_ids;
  };
  auto room = std::make_shared<Room>();
  room->in_order.resize(num_elements());
  std::iota(room->in_order.begin(), room->in_order.end(), int64_t{0});
  room->nodes.resize(num_elements() * (spec->length + 1));
  if (edge_ids != nullptr) room->edge_ids.resize(num_elements() * spec->length);
  RequestApart<ShardWalks> apart{
      *this, [to = *this, room] {
        for (int64_t i = 0; i < to.num_elements(); ++i) {
          const int64_t length = to.spec->length;
          const int64_t made = to.steps[i];
          const auto lines = [&](const std::vector<int64_t>& from, int64_t width) {
            return absl::MakeConstSpan(from).subspan((i + 1) * width - (length - made),
                                                     length - made);
          };
          to.Place(
              i, lines(room->nodes, length + 1),
              to.edge_ids == nullptr ? absl::Span<const int64_t>() : lines(room->edge_ids, length));
        }
      }};
  apart.request.positions = room->in_order;
  apart.request.nodes = room->nodes.data();
  if (edge_ids != nullptr) apart.request.edge_ids = room->edge_ids.data();
  return apart;
}

int64_t ShardWrite::bytes() const { return static_cast<int64_t>(batch->ByteSizeLong()); }

RequestApart<ShardWrite> ShardWrite::Apart() const {
  auto room = std::make_shared<AppliedBatch>();
  RequestApart<ShardWrite> apart{*this, [to = out, room] { *to = std::move(*room); }};
  apart.request.out = room.get();
  return apart;
}

RequestApart<ShardBarrier> ShardBarrier::Apart() const {
  auto room = std::make_shared<ShardVersion>();
  RequestApart<ShardBarrier> apart{*this, [to = out, room] { *to = std::move(*room); }};
  apart.request.out = room.get();
  return apart;
}

int64_t ShardChanges::bytes() const { return static_cast<int64_t>(count) * kChangeBytes; }

void ShardChanges::Forget() const { out->clear(); }

RequestApart<ShardChanges> ShardChanges::Apart() const {
  auto room = std::make_shared<std::vector<proto::Change>>();
  RequestApart<ShardChanges> apart{*this, [to = out, room] { *to = std::move(*room); }};
  apart.request.out = room.get();
  return apart;
}

int64_t ShardRanking::bytes() const { return (count > 0 ? count : kUnknownCount) * kRankedBytes; }

void ShardRanking::Forget() const { *out = RankedNodes(); }

RequestApart<ShardRanking> ShardRanking::Apart() const {
  auto room = std::make_shared<RankedNodes>();
  RequestApart<ShardRanking> apart{*this, [to = out, room] { *to = std::move(*room); }};
  apart.request.out = room.get();
  return apart;
}

}  // namespace vicinity
