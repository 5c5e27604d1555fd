// A shard whose every answer is a plain function of the question, to be told right from wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "client/shards/shard_access.h"

namespace vicinity::testing {

// Byte j of row r is r * 31 + j; the neighbour of a node along edge type t is its row + t; its name
// "n" and its row; the node of key k is 2 * k; the ranking is 0, 1, 2, ..., 1000 nodes long.
//
// Every call is over when the method returns.
class PatternShard : public ShardAccess {
 public:
  static char ByteOf(uint64_t row, int64_t j) { return static_cast<char>(row * 31 + j); }
  static constexpr int64_t kRanked = 1000;

  bool remote() const override { return false; }
  void SampleHop(const ShardHop& hop, absl::Span<Neighbors> out, Cancellation* /*cancel*/,
                 Done done) override {
    for (size_t i = 0; i < hop.relations.size(); ++i) {
      for (const uint64_t row : hop.relations[i].rows) {
        out[i].counts.push_back(1);
        out[i].sources.push_back(static_cast<int64_t>(row) + hop.relations[i].edge_type.value);
      }
    }
    done(absl::OkStatus());
  }
  void FetchRows(const ShardRows& rows, Cancellation* /*cancel*/, Done done) override {
    for (int64_t i = 0; i < rows.num_rows(); ++i) {
      const uint64_t row = rows.rows.empty() ? static_cast<uint64_t>(rows.first + i) : rows.rows[i];
      const int64_t place = rows.positions.empty() ? i : rows.positions[i];
      for (int64_t j = 0; j < rows.row_bytes; ++j) {
        rows.out[place * rows.row_bytes + j] = ByteOf(row, j);
      }
    }
    done(absl::OkStatus());
  }
  void FetchNames(const ShardNames& names, Cancellation* /*cancel*/, Done done) override {
    for (size_t i = 0; i < names.rows.size(); ++i) {
      names.out[names.positions[i]] = "n" + std::to_string(names.rows[i]);
    }
    done(absl::OkStatus());
  }
  void ResolveKeys(const ShardKeys& keys, Cancellation* /*cancel*/, Done done) override {
    for (size_t i = 0; i < keys.keys.size(); ++i) {
      keys.out[keys.positions[i]] = static_cast<int64_t>(keys.keys[i]) * 2;
    }
    done(absl::OkStatus());
  }
  void FetchRanking(const ShardRanking& ranking, Cancellation* /*cancel*/, Done done) override {
    const int64_t count = ranking.count == 0 ? kRanked : std::min(ranking.count, kRanked);
    for (int64_t i = 0; i < count; ++i) {
      ranking.out->nodes.push_back(i);
      ranking.out->probabilities.push_back(1.0f / static_cast<float>(i + 1));
    }
    done(absl::OkStatus());
  }
};

}  // namespace vicinity::testing
