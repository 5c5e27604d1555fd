#include "tests/testing/graphs/simulated_shard.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "proto/common/checksum.h"
#include "proto/common/mutex.h"
#include "proto/live.pb.h"

namespace vicinity::testing {
namespace {

// A digest of values, one after the other.
class Asked {
 public:
  Asked& Add(int64_t value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  Asked& Add(absl::Span<const uint64_t> values) {
    Add(static_cast<int64_t>(values.size()));
    text_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(uint64_t));
    return *this;
  }
  uint64_t Digest() const { return Checksum(text_); }

 private:
  std::string text_;
};

// A call that ends once: by its answer or by its cancellation, whichever comes first. The other
// finds nobody to tell, and keeps nothing of the call alive.
class Pending {
 public:
  explicit Pending(Done done) : done_(std::move(done)) {}

  // Null when the call is over.
  Done End() {
    MutexLock lock(&mu_);
    return std::exchange(done_, nullptr);
  }

 private:
  Mutex mu_;
  Done done_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

SimulatedShard::SimulatedShard(ShardAccess* near, Timer* timer, Decide decide)
    : near_(near), timer_(timer), decide_(std::move(decide)) {}

void SimulatedShard::Run(uint64_t question, std::function<void(Done)> answer,
                         std::function<void()> spoil, const CallContext& context, Done done) {
  const Fate fate = decide_(question);
  auto pending = std::make_shared<Pending>(std::move(done));
  if (!fate.lost) {
    timer_->Schedule(timer_->Now() + fate.delay,
                     [pending, fate, answer = std::move(answer), spoil] {
                       const Done end = pending->End();
                       if (end == nullptr) return;
                       if (fate.status.ok()) return answer(end);
                       spoil();
                       end(fate.status);
                     });
  }
  if (context.cancel == nullptr) return;
  context.cancel->Add([pending, spoil = std::move(spoil)] {
    const Done end = pending->End();
    if (end == nullptr) return;
    spoil();
    end(absl::CancelledError("simulated"));
  });
}

uint64_t SimulatedShard::DigestOf(const ShardHop& hop) {
  Asked asked;
  asked.Add(0).Add(static_cast<int64_t>(hop.draw.epoch)).Add(hop.hop);
  asked.Add(static_cast<int64_t>(hop.draw.batch));
  for (const ShardHop::Relation& relation : hop.relations) {
    asked.Add(relation.edge_type.value).Add(relation.spec.fanout).Add(relation.rows);
  }
  return asked.Digest();
}

uint64_t SimulatedShard::DigestOf(const ShardRows& rows) {
  Asked asked;
  asked.Add(1).Add(rows.type.value).Add(rows.column).Add(rows.first).Add(rows.count);
  return asked.Add(rows.rows).Digest();
}

uint64_t SimulatedShard::DigestOf(const ShardRagged& ragged) {
  return Asked().Add(2).Add(ragged.type.value).Add(ragged.column).Add(ragged.rows).Digest();
}

uint64_t SimulatedShard::DigestOf(const ShardFind& find) {
  return Asked().Add(8).Add(find.type.value).Add(find.first).Add(find.count).Digest();
}

uint64_t SimulatedShard::DigestOf(const ShardKeys& keys) {
  return Asked().Add(3).Add(keys.type.value).Add(keys.keys).Digest();
}

uint64_t SimulatedShard::DigestOf(const ShardDegrees& degrees) {
  return Asked().Add(5).Add(degrees.edge_type.value).Add(degrees.rows).Digest();
}

uint64_t SimulatedShard::DigestOf(const ShardEdgeIds& pairs) {
  return Asked().Add(6).Add(pairs.edge_type.value).Add(pairs.sources).Add(pairs.rows).Digest();
}

uint64_t SimulatedShard::DigestOf(const ShardWalks& walks) {
  return Asked().Add(7).Add(static_cast<int64_t>(walks.draw.batch)).Add(walks.rows).Digest();
}

uint64_t SimulatedShard::DigestOf(const ShardRanking& ranking) {
  return Asked().Add(4).Add(ranking.type.value).Add(ranking.count).Digest();
}

uint64_t SimulatedShard::DigestOf(const ShardWrite& write) {
  return Asked().Add(5).Add(write.session->sequence()).Digest();
}

uint64_t SimulatedShard::DigestOf(const ShardBarrier& /*barrier*/) {
  return Asked().Add(6).Digest();
}

uint64_t SimulatedShard::DigestOf(const ShardChanges& changes) {
  return Asked().Add(7).Add(changes.after).Add(changes.count).Digest();
}

void SimulatedShard::Spoil(const ShardHop& hop) {
  for (Neighbors& neighbors : hop.out) {
    neighbors.counts.push_back(3);
    neighbors.sources.push_back(-77);
  }
}

void SimulatedShard::Spoil(const ShardRows& rows) {
  for (int64_t i = 0; i < rows.num_elements(); i += 2) {
    const int64_t place = rows.positions.empty() ? i : rows.positions[i];
    std::memset(rows.out + place * rows.row_bytes, 0xee, rows.row_bytes);
  }
}

void SimulatedShard::Spoil(const ShardRagged& ragged) {
  for (const int64_t place : ragged.positions) ragged.out[place] = "garbage";
}

void SimulatedShard::Spoil(const ShardFind& find) {
  for (int64_t i = 0; i < find.num_places(); ++i) find.out[i].rows.push_back(77);
}

void SimulatedShard::Spoil(const ShardKeys& keys) {
  for (const int64_t place : keys.positions) keys.out[place] = -77;
}

void SimulatedShard::Spoil(const ShardDegrees& degrees) {
  for (const int64_t place : degrees.positions) degrees.out[place] = -77;
}

void SimulatedShard::Spoil(const ShardEdgeIds& pairs) {
  for (const int64_t place : pairs.positions) pairs.out[place] = -77;
}

void SimulatedShard::Spoil(const ShardWalks& walks) {
  const std::vector<int64_t> rubbish(walks.spec->length, -77);
  for (size_t i = 0; i < walks.walks.size(); ++i) {
    const auto some = absl::MakeConstSpan(rubbish).first(walks.spec->length - walks.steps[i]);
    walks.Place(i, some, some);
  }
}

void SimulatedShard::Spoil(const ShardRanking& ranking) {
  ranking.out->nodes.push_back(-77);
  ranking.out->probabilities.push_back(-1);
}

void SimulatedShard::Spoil(const ShardWrite& write) { write.out->first_nodes.push_back(-77); }

void SimulatedShard::Spoil(const ShardBarrier& barrier) { barrier.out->num_nodes.push_back(-77); }

void SimulatedShard::Spoil(const ShardChanges& changes) { changes.out->emplace_back(); }

}  // namespace vicinity::testing
