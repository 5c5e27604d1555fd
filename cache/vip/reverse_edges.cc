#include "cache/vip/reverse_edges.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/types/span.h"
#include "cache/vip/edge_weights.h"
#include "cache/vip/threads.h"
#include "partition/dataset/base_views.h"
#include "partition/dataset/book.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/shard.h"
#include "partition/schema/schema.h"
#include "proto/common/ids.h"

namespace vicinity {
namespace {

// Sums of hashes over the edges as they are, and reversed.
struct Digest {
  int64_t num_edges = 0;
  uint64_t forth = 0;
  uint64_t back = 0;
};

// Spreads the bits of a node's number.
uint64_t Spread(int64_t node) {
  const uint64_t product = static_cast<uint64_t>(node + 1) * 0x9e3779b97f4a7c15u;
  return product ^ product >> 32;
}

// Of an edge whose ends are spread: both halves of a product, which are not those of the edge
// reversed.
uint64_t HashOf(uint64_t from, uint64_t to) {
  const unsigned __int128 product =
      static_cast<unsigned __int128>(from ^ 0xa0761d6478bd642fu) * (to ^ 0xe7037ed1a0b428dbu);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

bool MayReverse(const EdgeTypeSpec& a, const EdgeTypeSpec& b) {
  return a.source_type == b.target_type && a.target_type == b.source_type;
}

template <typename Id>
void DigestRow(absl::Span<const Id> sources, int64_t target, Digest* digest) {
  const uint64_t to = Spread(target);
  uint64_t forth = 0, back = 0;
  for (const Id source : sources) {
    const uint64_t from = Spread(static_cast<int64_t>(source));
    forth += HashOf(from, to);
    back += HashOf(to, from);
  }
  digest->forth += forth;
  digest->back += back;
  digest->num_edges += static_cast<int64_t>(sources.size());
}

void DigestWeightedRow(const BaseLists& edges, const EdgeWeights& weights, int64_t row,
                       int64_t target, Digest* digest) {
  const uint64_t to = Spread(target);
  const int64_t begin = edges.begin(row);
  for (int64_t i = begin; i < begin + edges.degree(row); ++i) {
    const double weight = weights[i];
    int64_t bits;
    std::memcpy(&bits, &weight, sizeof(bits));
    const uint64_t mark = Spread(bits);
    const uint64_t from = Spread(edges.source(i));
    digest->forth += HashOf(from ^ mark, to);
    digest->back += HashOf(to ^ mark, from);
  }
  digest->num_edges += edges.degree(row);
}

void DigestPart(const Dataset& dataset, EdgeTypeId type, const Shard& shard,
                const EdgeWeights& weights, int part, int num_parts, Digest* digest) {
  const NodeTypeId target{dataset.schema().edge_types[type.value].target_type};
  const int64_t base = dataset.book().First(target, shard.id()).value;
  const int64_t num_rows = dataset.book().num_nodes(target, shard.id());
  const BaseLists edges(shard, type);
  for (int64_t row = num_rows * part / num_parts; row < num_rows * (part + 1) / num_parts; ++row) {
    if (weights.is_given()) {
      DigestWeightedRow(edges, weights, row, base + row, digest);
      continue;
    }
    const int64_t degree = edges.degree(row);
    edges.VisitSources([&](const auto& sources) {
      DigestRow(sources.subspan(degree == 0 ? 0 : edges.begin(row), degree), base + row, digest);
    });
  }
}

Digest DigestOf(const Dataset& dataset, EdgeTypeId type, const WeightsOf& weights_of,
                int num_threads) {
  std::vector<Digest> parts(num_threads);
  RunThreads(num_threads, [&](int thread) {
    for (const auto& shard : dataset.shards()) {
      DigestPart(dataset, type, *shard, weights_of(type, *shard), thread, num_threads,
                 &parts[thread]);
    }
  });
  Digest all;
  for (const Digest& part : parts) {
    all.num_edges += part.num_edges;
    all.forth += part.forth;
    all.back += part.back;
  }
  return all;
}

}  // namespace

std::vector<int32_t> FindReverses(const Dataset& dataset, absl::Span<const uint8_t> wanted,
                                  const WeightsOf& weights_of, int num_threads) {
  const std::vector<EdgeTypeSpec>& types = dataset.schema().edge_types;
  std::vector<Digest> digests(types.size());
  for (size_t a = 0; a < types.size(); ++a) {
    bool candidate = false;
    for (size_t b = 0; b < types.size(); ++b) {
      candidate = candidate || (wanted[b] && MayReverse(types[a], types[b]));
    }
    if (wanted[a] && candidate) {
      digests[a] = DigestOf(dataset, {static_cast<int32_t>(a)}, weights_of, num_threads);
    }
  }
  std::vector<int32_t> reverses(types.size(), -1);
  for (size_t a = 0; a < types.size(); ++a) {
    for (size_t b = 0; b < types.size() && reverses[a] < 0; ++b) {
      if (wanted[a] && wanted[b] && MayReverse(types[a], types[b]) && digests[a].num_edges > 0 &&
          digests[a].num_edges == digests[b].num_edges && digests[a].forth == digests[b].back) {
        reverses[a] = static_cast<int32_t>(b);
      }
    }
  }
  return reverses;
}

}  // namespace vicinity
