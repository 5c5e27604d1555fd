#include "cache/reverse_edges.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "cache/threads.h"
#include "partition/book.h"
#include "partition/dataset.h"
#include "partition/schema.h"
#include "partition/shard.h"
#include "proto/common/checksum.h"
#include "proto/common/ids.h"

namespace vicinity {
namespace {

// Sums of hashes over the edges as they are, and turned round.
struct Digest {
  int64_t num_edges = 0;
  uint64_t forth = 0;
  uint64_t back = 0;
};

uint64_t HashOf(int64_t from, int64_t to) {
  const int64_t ends[] = {from, to};
  return Checksum({reinterpret_cast<const char*>(ends), sizeof(ends)});
}

bool MayReverse(const EdgeTypeSpec& a, const EdgeTypeSpec& b) {
  return a.source_type == b.target_type && a.target_type == b.source_type;
}

void DigestPart(const Dataset& dataset, EdgeTypeId type, const Shard& shard, int part,
                int num_parts, Digest* digest) {
  const NodeTypeId target{dataset.schema().edge_types[type.value].target_type};
  const int64_t base = dataset.book().First(target, shard.id()).value;
  const int64_t num_rows = dataset.book().num_nodes(target, shard.id());
  const EdgeTable& edges = shard.edges(type);
  for (int64_t row = num_rows * part / num_parts; row < num_rows * (part + 1) / num_parts; ++row) {
    for (uint64_t i = edges.offsets[row]; i < edges.offsets[row + 1]; ++i) {
      const int64_t source = edges.sources[static_cast<int64_t>(i)];
      digest->forth += HashOf(source, base + row);
      digest->back += HashOf(base + row, source);
      ++digest->num_edges;
    }
  }
}

Digest DigestOf(const Dataset& dataset, EdgeTypeId type, int num_threads) {
  std::vector<Digest> parts(num_threads);
  RunThreads(num_threads, [&](int thread) {
    for (const auto& shard : dataset.shards()) {
      DigestPart(dataset, type, *shard, thread, num_threads, &parts[thread]);
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
                                  int num_threads) {
  const std::vector<EdgeTypeSpec>& types = dataset.schema().edge_types;
  std::vector<Digest> digests(types.size());
  for (size_t a = 0; a < types.size(); ++a) {
    bool candidate = false;
    for (size_t b = 0; b < types.size(); ++b) {
      candidate = candidate || (wanted[b] && MayReverse(types[a], types[b]));
    }
    if (wanted[a] && candidate) {
      digests[a] = DigestOf(dataset, {static_cast<int32_t>(a)}, num_threads);
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
