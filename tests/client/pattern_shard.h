// A shard whose every answer is a plain function of the question, to be told right from wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/shards/shard_access.h"
#include "proto/live.pb.h"

namespace vicinity::testing {

// Byte j of row r is r * 31 + j; the neighbour of a node along edge type t is its row + t; its name
// "n" and its row; every third row meets any condition; the node of key k is 2 * k; the degree of
// row r is 3 * r; the edge of source s and row r is s + 5 * r; the ranking is 0, 1, 2, ..., 1000
// nodes long.
//
// Every call is over when the method returns.
class PatternShard final : public AnswersAlike<PatternShard> {
 public:
  static char ByteOf(uint64_t row, int64_t j) { return static_cast<char>(row * 31 + j); }
  static constexpr int64_t kRanked = 1000;

  bool remote() const override { return false; }
  template <typename Request>
  void AskAny(const Request& request, const CallContext& /*context*/, const Done& done) {
    Answer(request);
    done(absl::OkStatus());
  }

 private:
  static void Answer(const ShardHop& hop) {
    for (size_t i = 0; i < hop.relations.size(); ++i) {
      for (const uint64_t row : hop.relations[i].rows) {
        hop.out[i].counts.push_back(1);
        hop.out[i].sources.push_back(static_cast<int64_t>(row) + hop.relations[i].edge_type.value);
      }
    }
  }
  static void Answer(const ShardRows& rows) {
    for (int64_t i = 0; i < rows.num_elements(); ++i) {
      const uint64_t row = rows.rows.empty() ? static_cast<uint64_t>(rows.first + i) : rows.rows[i];
      const int64_t place = rows.positions.empty() ? i : rows.positions[i];
      for (int64_t j = 0; j < rows.row_bytes; ++j) {
        rows.out[place * rows.row_bytes + j] = ByteOf(row, j);
      }
    }
  }
  static void Answer(const ShardRagged& names) {
    for (size_t i = 0; i < names.rows.size(); ++i) {
      names.out[names.positions[i]] = "n" + std::to_string(names.rows[i]);
    }
  }
  static void Answer(const ShardFind& find) {
    for (int64_t i = 0; i < find.count; ++i) {
      FoundRows& place = find.out[i / find.max_elements()];
      ++place.num_read;
      if ((find.first + i) % 3 == 0) place.rows.push_back(find.first + i);
    }
  }
  static void Answer(const ShardKeys& keys) {
    for (size_t i = 0; i < keys.keys.size(); ++i) {
      keys.out[keys.positions[i]] = static_cast<int64_t>(keys.keys[i]) * 2;
    }
  }
  static void Answer(const ShardDegrees& degrees) {
    for (size_t i = 0; i < degrees.rows.size(); ++i) {
      degrees.out[degrees.positions[i]] = static_cast<int64_t>(degrees.rows[i]) * 3;
    }
  }
  static void Answer(const ShardEdgeIds& pairs) {
    for (size_t i = 0; i < pairs.rows.size(); ++i) {
      pairs.out[pairs.positions[i]] = static_cast<int64_t>(pairs.sources[i] + pairs.rows[i] * 5);
    }
  }
  // Each walk makes its steps here, to nodes that its number tells.
  static void Answer(const ShardWalks& walks) {
    for (size_t i = 0; i < walks.walks.size(); ++i) {
      std::vector<int64_t> nodes;
      for (int64_t step = walks.steps[i]; step < walks.spec->length; ++step) {
        nodes.push_back(int64_t{walks.walks[i]} * 100 + step);
      }
      walks.Place(i, nodes, nodes);
    }
  }
  static void Answer(const ShardRanking& ranking) {
    const int64_t count = ranking.count == 0 ? kRanked : std::min(ranking.count, kRanked);
    for (int64_t i = 0; i < count; ++i) {
      ranking.out->nodes.push_back(i);
      ranking.out->probabilities.push_back(1.0f / static_cast<float>(i + 1));
    }
  }
  static void Answer(const ShardWrite& write) { write.out->version = 7; }
  static void Answer(const ShardBarrier& barrier) { barrier.out->version = 7; }
  static void Answer(const ShardChanges& changes) { changes.out->resize(changes.count); }
};

}  // namespace vicinity::testing
