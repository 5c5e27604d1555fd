#include "cache/vip/vip_kernel.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "partition/dataset/shard.h"
#include "proto/common/random.h"

namespace vicinity {
namespace {

constexpr int64_t kNodes = 300;
constexpr int kHops = 4;

// Records with random chances; every fifth node is a seed of one home.
struct Records {
  explicit Records(int lanes) : is_seed(kNodes / 64 + 1) {
    records.lanes = lanes;
    records.num_hops = kHops;
    records.head = VipRecords::HeadFor(2, kHops, lanes);
    memory.resize(kNodes * records.stride() + 16);
    while (reinterpret_cast<uintptr_t>(&memory[first]) % 32 != 0) ++first;
    records.data = &memory[first];
    NodeDraws draws(1, 2);
    const auto chance = [&] { return static_cast<float>(draws.Below(1000)) * 1e-3f; };
    for (int64_t node = 0; node < kNodes; ++node) {
      for (int hop = 1; hop <= kHops; ++hop) {
        for (int slot = 0; slot < 2; ++slot) records.chance(node, slot, hop) = chance();
      }
      if (node % 5 == 0) {
        records.seed_mark(node) = 1;
        is_seed[node / 64] |= uint64_t{1} << node % 64;
        records.met(node, 0)[node % lanes] = 0.25f;
      }
      for (int lane = 0; lane < lanes; ++lane) {
        float met = records.met(node, 0)[lane];
        for (int hop = 1; hop < kHops; ++hop) {
          met += 0.01f * chance() * (1 - met);
          records.met(node, hop)[lane] = met;
        }
      }
    }
  }

  std::vector<float> memory;
  size_t first = 0;
  VipRecords records;
  std::vector<uint64_t> is_seed;
};

double Without(double chance, double helped) {
  return helped < 1 ? std::max(0.0, (chance - helped) / (1 - helped)) : 0;
}

// The formula of cache/vip/vip.h for one edge and home.
double Message(const VipRelation& relation, int64_t v, int64_t u, int hop, int lane) {
  double from_v = 0, from_u = 0, v_before = 0, u_before = 0;
  for (int h = 0; h < hop; ++h) {
    const double v_met = Without(relation.v.met(v, h)[lane], from_u);
    const double u_met = Without(relation.u.met(u, h)[lane], from_v);
    from_u += static_cast<double>(relation.u.chance(u, relation.u_slot, h + 1)) *
              std::max(0.0, u_met - (relation.only_new ? u_before : from_u));
    from_v += static_cast<double>(relation.v.chance(v, relation.v_slot, h + 1)) *
              std::max(0.0, v_met - (relation.only_new ? v_before : from_v));
    u_before = u_met;
    v_before = v_met;
  }
  return std::min(from_v, 1.0);
}

template <typename Id>
std::vector<Id> Neighbours() {
  std::vector<Id> ids;
  NodeDraws draws(4, 5);
  for (int i = 0; i < 500; ++i) ids.push_back(static_cast<Id>(draws.Below(kNodes)));
  ids[3] = 7;  // a loop of node 7
  return ids;
}

VipRelation Relation(const Records& records, bool only_new) {
  VipRelation relation;
  relation.v = relation.u = records.records;
  relation.v_slot = 1;
  relation.v_is_seed = records.is_seed.data();
  relation.only_new = only_new;
  relation.one_type = true;
  return relation;
}

TEST_CASE("a gather is the formula, edge by edge", "[vip_kernel]") {
  const int lanes = GENERATE(4, 8);
  const bool only_new = GENERATE(false, true);
  const bool wide = GENERATE(false, true);
  const Records records(lanes);
  const VipRelation relation = Relation(records, only_new);
  const std::vector<uint32_t> narrow_ids = Neighbours<uint32_t>();
  const std::vector<uint64_t> wide_ids = Neighbours<uint64_t>();
  for (int hop = 1; hop <= kHops; ++hop) {
    for (const int64_t u : {7, 10}) {  // 10 is a seed
      for (const int64_t end : {2, 5, 70, 500}) {
        std::vector<double> met(lanes, 0.125), expected(lanes, 0.125);
        if (wide) {
          FindGather(lanes)(relation, absl::MakeConstSpan(wide_ids), 2, end, u, hop, met.data());
        } else {
          FindGather(lanes)(relation, absl::MakeConstSpan(narrow_ids), 2, end, u, hop, met.data());
        }
        for (int lane = 0; lane < lanes; ++lane) {
          for (int64_t i = 2; i < end; ++i) {
            const auto v = static_cast<int64_t>(wide_ids[i]);
            if (v == u) continue;
            expected[lane] += Message(relation, v, u, hop, lane) * (1 - expected[lane]);
          }
          CAPTURE(lanes, only_new, wide, hop, u, end, lane);
          CHECK(met[lane] == Approx(expected[lane]).epsilon(1e-5));
        }
      }
    }
  }
}

TEST_CASE("processors with longer vectors find the same bits", "[vip_kernel]") {
  const Records records(8);
  const std::vector<uint32_t> neighbours = Neighbours<uint32_t>();
  const absl::Span<const uint32_t> ids(neighbours);
  for (int hop = 1; hop <= kHops; ++hop) {
    for (int64_t u = 0; u < 20; ++u) {
      std::vector<double> fast(8), plain(8);
      FindGather(8)(Relation(records, false), ids, 0, 500, u, hop, fast.data());
      FindGather(8, /*plain=*/true)(Relation(records, false), ids, 0, 500, u, hop, plain.data());
      CHECK(fast == plain);
    }
  }
}

TEST_CASE("a pair with chances of its own is the formula, too", "[vip_kernel]") {
  const int lanes = GENERATE(4, 8);
  const bool only_new = GENERATE(false, true);
  const Records records(lanes);
  const VipRelation relation = Relation(records, only_new);
  for (int hop = 1; hop <= kHops; ++hop) {
    for (const int64_t u : {11, 15}) {  // 15 is a seed
      double messages[8];
      PairMessages({records.records, 20, &records.records.chance(20, 1, 1)},
                   {records.records, u, &records.records.chance(u, 0, 1)}, nullptr, hop, only_new,
                   messages);
      for (int lane = 0; lane < lanes; ++lane) {
        CHECK(messages[lane] == Approx(Message(relation, 20, u, hop, lane)).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("without a way back a message is that of a node which draws nothing", "[vip_kernel]") {
  Records records(4);
  const bool only_new = GENERATE(false, true);
  VipRelation relation = Relation(records, only_new);
  for (int hop = 1; hop <= kHops; ++hop) records.records.chance(11, 0, hop) = 0;
  for (int hop = 1; hop <= kHops; ++hop) {
    double messages[4];
    LonelyMessages({records.records, 20, &records.records.chance(20, 1, 1)}, nullptr, hop, only_new,
                   messages);
    for (int lane = 0; lane < 4; ++lane) {
      CHECK(messages[lane] == Approx(Message(relation, 20, 11, hop, lane)));
    }
  }
}

}  // namespace
}  // namespace vicinity
