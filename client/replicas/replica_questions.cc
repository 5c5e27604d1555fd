#include "client/replicas/replica_questions.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace vicinity {
namespace {

constexpr int64_t kIdBytes = sizeof(uint64_t);
constexpr int64_t kNameBytes = 32;                    // a guess
constexpr int64_t kRankedBytes = 12;                  // an id and a probability
constexpr int64_t kUnknownCount = int64_t{16} << 20;  // of a whole ranking: a guess
constexpr int64_t kNeighborsOfAll = 32;               // a guess, for a fanout of all
// Larger fanouts stand for "all", too; the time for a call does not grow with them.
constexpr int64_t kMostNeighbors = 1024;

int64_t BytesOf(const ShardHop& hop) {
  int64_t bytes = 0;
  const int64_t num_values = 1 + (hop.detail.ids ? 1 : 0) + (hop.detail.positions ? 1 : 0);
  for (const ShardHop::Relation& relation : hop.relations) {
    const int64_t fanout =
        relation.fanout > 0 ? std::min<int64_t>(relation.fanout, kMostNeighbors) : kNeighborsOfAll;
    const int64_t each = kIdBytes * num_values * fanout + kIdBytes;
    bytes += static_cast<int64_t>(relation.rows.size()) * each;
  }
  return bytes;
}

// 0, 1, 2, ...: answers to elements in their own order.
std::vector<int64_t> InOrder(size_t count) {
  std::vector<int64_t> positions(count);
  std::iota(positions.begin(), positions.end(), int64_t{0});
  return positions;
}

// Row i of `from` to where the request wants it.
void Scatter(const ShardRows& rows, const char* from) {
  if (rows.positions.empty()) {
    std::memcpy(rows.out, from, rows.num_rows() * rows.row_bytes);
    return;
  }
  for (const int64_t position : rows.positions) {
    std::memcpy(rows.out + position * rows.row_bytes, from, rows.row_bytes);
    from += rows.row_bytes;
  }
}

// An answer to names or keys, into values in the order of the request.
template <typename Request, typename Value>
struct ElementsAside {
  ElementsAside(const Request& request, size_t count)
      : asked(request), original(request), positions(InOrder(count)), values(count) {
    asked.positions = positions;
    asked.out = values.data();
  }
  void Take() {
    for (size_t i = 0; i < values.size(); ++i) {
      original.out[original.positions[i]] = std::move(values[i]);
    }
  }

  Request asked;
  const Request original;
  const std::vector<int64_t> positions;
  std::vector<Value> values;
};

}  // namespace

ReplicaQuestion QuestionOf(const ShardHop& hop, absl::Span<Neighbors> out) {
  ReplicaQuestion question;
  question.operation = Operation::kSampleHop;
  question.bytes = BytesOf(hop);
  question.ask = [hop, out](ShardAccess& shard, Cancellation* cancel, Done done) {
    for (Neighbors& neighbors : out) neighbors.Clear();  // of an attempt that failed
    shard.SampleHop(hop, out, cancel, std::move(done));
  };
  question.aside = [hop, out] {
    auto own = std::make_shared<std::vector<Neighbors>>(out.size());
    ReplicaQuestion::Aside aside;
    aside.ask = [hop, own](ShardAccess& shard, Cancellation* cancel, Done done) {
      shard.SampleHop(hop, absl::MakeSpan(*own), cancel, std::move(done));
    };
    aside.take = [own, out] { std::move(own->begin(), own->end(), out.begin()); };
    return aside;
  };
  return question;
}

ReplicaQuestion QuestionOf(const ShardRows& rows) {
  ReplicaQuestion question;
  question.operation = Operation::kFetchRows;
  question.bytes =
      rows.num_rows() * rows.row_bytes + static_cast<int64_t>(rows.rows.size()) * kIdBytes;
  question.ask = [rows](ShardAccess& shard, Cancellation* cancel, Done done) {
    shard.FetchRows(rows, cancel, std::move(done));
  };
  question.aside = [rows] {
    // Not a vector: nothing needs these bytes to be zeroes first.
    const std::shared_ptr<char[]> own(new char[rows.num_rows() * rows.row_bytes]);
    ReplicaQuestion::Aside aside;
    aside.ask = [rows, own](ShardAccess& shard, Cancellation* cancel, Done done) {
      ShardRows asked = rows;
      asked.positions = {};
      asked.out = own.get();
      shard.FetchRows(asked, cancel, std::move(done));
    };
    aside.take = [rows, own] { Scatter(rows, own.get()); };
    return aside;
  };
  return question;
}

ReplicaQuestion QuestionOf(const ShardNames& names) {
  ReplicaQuestion question;
  question.operation = Operation::kFetchNames;
  question.bytes = static_cast<int64_t>(names.rows.size()) * (kIdBytes + kNameBytes);
  question.ask = [names](ShardAccess& shard, Cancellation* cancel, Done done) {
    shard.FetchNames(names, cancel, std::move(done));
  };
  question.aside = [names] {
    auto own = std::make_shared<ElementsAside<ShardNames, std::string>>(names, names.rows.size());
    ReplicaQuestion::Aside aside;
    aside.ask = [own](ShardAccess& shard, Cancellation* cancel, Done done) {
      shard.FetchNames(own->asked, cancel, std::move(done));
    };
    aside.take = [own] { own->Take(); };
    return aside;
  };
  return question;
}

ReplicaQuestion QuestionOf(const ShardKeys& keys) {
  ReplicaQuestion question;
  question.operation = Operation::kResolveKeys;
  question.bytes = static_cast<int64_t>(keys.keys.size()) * 2 * kIdBytes;
  question.ask = [keys](ShardAccess& shard, Cancellation* cancel, Done done) {
    shard.ResolveKeys(keys, cancel, std::move(done));
  };
  question.aside = [keys] {
    auto own = std::make_shared<ElementsAside<ShardKeys, int64_t>>(keys, keys.keys.size());
    ReplicaQuestion::Aside aside;
    aside.ask = [own](ShardAccess& shard, Cancellation* cancel, Done done) {
      shard.ResolveKeys(own->asked, cancel, std::move(done));
    };
    aside.take = [own] { own->Take(); };
    return aside;
  };
  return question;
}

ReplicaQuestion QuestionOf(const ShardRanking& ranking) {
  ReplicaQuestion question;
  question.operation = Operation::kFetchRanking;
  question.bytes = (ranking.count > 0 ? ranking.count : kUnknownCount) * kRankedBytes;
  question.ask = [ranking](ShardAccess& shard, Cancellation* cancel, Done done) {
    *ranking.out = RankedNodes();  // of an attempt that failed
    shard.FetchRanking(ranking, cancel, std::move(done));
  };
  question.aside = [ranking] {
    auto own = std::make_shared<RankedNodes>();
    ReplicaQuestion::Aside aside;
    aside.ask = [ranking, own](ShardAccess& shard, Cancellation* cancel, Done done) {
      ShardRanking asked = ranking;
      asked.out = own.get();
      shard.FetchRanking(asked, cancel, std::move(done));
    };
    aside.take = [ranking, own] { *ranking.out = std::move(*own); };
    return aside;
  };
  return question;
}

ShardRows Part(const ShardRows& rows, int64_t begin, int64_t end) {
  ShardRows part = rows;
  if (rows.rows.empty()) {
    part.first += begin;
    part.count = end - begin;
  } else {
    part.rows = rows.rows.subspan(begin, end - begin);
  }
  if (rows.positions.empty()) {
    part.out += begin * rows.row_bytes;
  } else {
    part.positions = rows.positions.subspan(begin, end - begin);
  }
  return part;
}

ShardNames Part(const ShardNames& names, int64_t begin, int64_t end) {
  ShardNames part = names;
  part.rows = names.rows.subspan(begin, end - begin);
  part.positions = names.positions.subspan(begin, end - begin);
  return part;
}

ShardKeys Part(const ShardKeys& keys, int64_t begin, int64_t end) {
  ShardKeys part = keys;
  part.keys = keys.keys.subspan(begin, end - begin);
  part.positions = keys.positions.subspan(begin, end - begin);
  return part;
}

}  // namespace vicinity
