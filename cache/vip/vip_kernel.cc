#include "cache/vip/vip_kernel.h"

#include <algorithm>
#include <cstdint>

#include "absl/types/span.h"

namespace vicinity {
namespace {

// Vectors travel by reference: by value their calling convention would depend on the processor.
template <int kLanes>
struct Lanes;
template <>
struct Lanes<4> {
  using Vector = float __attribute__((vector_size(16)));
};
template <>
struct Lanes<8> {
  using Vector = float __attribute__((vector_size(32)));
};

#define VICINITY_INLINE inline __attribute__((always_inline))

// Far enough ahead to cover a miss of memory.
constexpr int64_t kAhead = 20;
constexpr int64_t kSeedsAhead = 100;  // of which few are seeds
// So many messages are joined in single precision, then as one in double: no message is lost beside
// the sum of all.
constexpr int64_t kJoined = 64;

template <typename Vector>
VICINITY_INLINE void Load(const float* from, Vector& to) {
  __builtin_memcpy(&to, from, sizeof(to));
}

template <typename Vector>
VICINITY_INLINE void Positive(Vector& x) {
  const Vector zero = {};
  x = x > zero ? x : zero;
}

// Turns the chance that something happens into that without a helper whose part in it is `helped`.
// Where that part is near 1 little of the chance is known, and little of it matters: the helper
// itself is all but sure.
template <typename Vector>
VICINITY_INLINE void Without(const Vector& helped, Vector& chance) {
  const Vector tiny = Vector{} + 1e-30f;
  Vector rest = 1 - helped;
  rest = rest > tiny ? rest : tiny;
  chance = (chance - helped) / rest;
  Positive(chance);
}

// The chance of a record to draw, hop by hop.
template <typename Vector>
VICINITY_INLINE void DrawMore(float chance, bool only_new, const Vector& met, Vector& before,
                              Vector& drawn) {
  Vector more = met - (only_new ? before : drawn);
  Positive(more);
  drawn += chance * more;
  before = met;
}

struct Ends {
  const float* v;
  const float* u;
  int v_met;  // where c_1 is in a record
  int u_met;
  int v_first;  // where c_0 is
  int u_first;
  const float* v_chance;
  const float* u_chance;
};

// m_hop(v, u), the formula of cache/vip/vip.h with both ends' histories run side by side. Hop 0
// says nothing where neither end is a seed. `together` counts if kTogether.
template <bool kTogether, typename Vector>
VICINITY_INLINE void Message(const Ends& ends, const Vector& together, int begin, int hop,
                             bool only_new, int lanes, Vector& from_v) {
  Vector from_u = {}, v_before = {}, u_before = {};
  from_v = Vector{};
  for (int h = begin; h < hop; ++h) {
    Vector v_met, u_met;
    Load(ends.v + (h == 0 ? ends.v_first : ends.v_met + (h - 1) * lanes), v_met);
    if (kTogether) Without(together, v_met);
    if (h > begin) Without(from_u, v_met);
    if (h + 1 < hop) {
      Load(ends.u + (h == 0 ? ends.u_first : ends.u_met + (h - 1) * lanes), u_met);
      if (kTogether) Without(together, u_met);
      if (h > begin) Without(from_v, u_met);
      DrawMore(ends.u_chance[h], only_new, u_met, u_before, from_u);
    }
    DrawMore(ends.v_chance[h], only_new, v_met, v_before, from_v);
  }
  const Vector one = Vector{} + 1.0f;
  from_v = from_v < one ? from_v : one;
}

template <int kLanes, typename Vector>
VICINITY_INLINE void Join(const Vector& block, double* met) {
  for (int lane = 0; lane < kLanes; ++lane) met[lane] += block[lane] * (1 - met[lane]);
}

VICINITY_INLINE bool HasBit(const uint64_t* bits, uint64_t i) {
  return bits[i >> 6] >> (i & 63) & 1;
}

// `v` is set for each neighbour.
VICINITY_INLINE Ends EndsOf(const VipRecords& v, const VipRecords& u, int64_t u_node) {
  Ends ends;
  ends.v = nullptr;
  ends.u = u.record(u_node);
  ends.v_met = v.head;
  ends.u_met = u.head;
  ends.v_first = v.head + v.lanes * (v.num_hops - 1);
  ends.u_first = u.head + u.lanes * (u.num_hops - 1);
  ends.v_chance = nullptr;
  ends.u_chance = nullptr;
  return ends;
}

// The first hop meets the neighbours of seeds alone, so no other record is read.
template <int kLanes, typename Id>
VICINITY_INLINE void FirstHop(const VipRelation& relation, const Id* ids, int64_t num_ids,
                              int64_t begin, int64_t end, int64_t u, double* met) {
  using Vector = typename Lanes<kLanes>::Vector;
  for (int64_t i = begin; i < end; ++i) {
    if (i + kSeedsAhead < num_ids) {
      const uint64_t ahead = ids[i + kSeedsAhead];
      if (HasBit(relation.v_is_seed, ahead)) {
        __builtin_prefetch(relation.v.met(static_cast<int64_t>(ahead), 0));
        __builtin_prefetch(relation.v.record(static_cast<int64_t>(ahead)));
      }
    }
    const int64_t v = static_cast<int64_t>(ids[i]);
    if (!HasBit(relation.v_is_seed, static_cast<uint64_t>(v))) continue;
    if (relation.one_type && v == u) continue;
    Vector message;
    Load(relation.v.met(v, 0), message);
    message *= relation.v.chance(v, relation.v_slot, 1);
    Join<kLanes>(message, met);
  }
}

template <int kLanes, int kHop, typename Id>
VICINITY_INLINE void LaterHop(const VipRelation& relation, const Id* ids, int64_t num_ids,
                              int64_t begin, int64_t end, int64_t u, int any_hop, double* met) {
  using Vector = typename Lanes<kLanes>::Vector;
  const int hop = kHop > 0 ? kHop : any_hop;  // the usual hops are unrolled
  const float* const records = relation.v.data;
  const int64_t stride = relation.v.stride();
  const int mark = relation.v.head - 1;
  const int v_slot = relation.v_slot * relation.v.num_hops;
  const bool only_new = relation.only_new;
  const bool u_is_seed = relation.u.seed_mark(u) != 0;
  const int64_t self = relation.one_type ? u : -1;
  Ends ends = EndsOf(relation.v, relation.u, u);
  ends.u_chance = ends.u + relation.u_slot * relation.u.num_hops;
  for (int64_t first = begin; first < end; first += kJoined) {
    const int64_t last = std::min(end, first + kJoined);
    // Two in turn: neither waits for the other.
    Vector even = {}, odd = {};
    for (int64_t i = first; i < last; ++i) {
      if (i + kAhead < num_ids) {
        const float* const ahead = records + static_cast<int64_t>(ids[i + kAhead]) * stride;
        __builtin_prefetch(ahead);
        if (hop > 2 && kLanes == 8) __builtin_prefetch(ahead + 16);
      }
      const int64_t v = static_cast<int64_t>(ids[i]);
      if (v == self) continue;
      ends.v = records + v * stride;
      ends.v_chance = ends.v + v_slot;
      Vector message;
      Message<false>(ends, Vector{}, u_is_seed || ends.v[mark] != 0 ? 0 : 1, hop, only_new, kLanes,
                     message);
      const Vector joined = even + message * (1 - even);
      even = odd;
      odd = joined;
    }
    even += odd * (1 - even);
    Join<kLanes>(even, met);
  }
}

template <int kLanes, typename Id>
VICINITY_INLINE void GatherSpan(const VipRelation& relation, absl::Span<const Id> sources,
                                int64_t begin, int64_t end, int64_t u, int hop, double* met) {
  const Id* const ids = sources.data();
  const auto num_ids = static_cast<int64_t>(sources.size());
  if (hop == 1) {
    FirstHop<kLanes>(relation, ids, num_ids, begin, end, u, met);
  } else if (hop == 2) {
    LaterHop<kLanes, 2>(relation, ids, num_ids, begin, end, u, hop, met);
  } else if (hop == 3) {
    LaterHop<kLanes, 3>(relation, ids, num_ids, begin, end, u, hop, met);
  } else {
    LaterHop<kLanes, 0>(relation, ids, num_ids, begin, end, u, hop, met);
  }
}

template <int kLanes>
void OnePair(const VipEnd& v, const VipEnd& u, const float* together, int hop, bool only_new,
             double* messages) {
  using Vector = typename Lanes<kLanes>::Vector;
  Ends ends = EndsOf(v.records, u.records, u.node);
  ends.v = v.records.record(v.node);
  ends.v_chance = v.chances;
  ends.u_chance = u.chances;
  const bool seeds = v.records.seed_mark(v.node) != 0 || u.records.seed_mark(u.node) != 0;
  Vector message, both = {};
  if (together == nullptr) {
    Message<false>(ends, both, seeds ? 0 : 1, hop, only_new, kLanes, message);
  } else {
    __builtin_memcpy(&both, together, sizeof(both));
    Message<true>(ends, both, seeds ? 0 : 1, hop, only_new, kLanes, message);
  }
  for (int lane = 0; lane < kLanes; ++lane) messages[lane] = static_cast<double>(message[lane]);
}

template <int kLanes, typename Id>
void GatherPlain(const VipRelation& relation, absl::Span<const Id> ids, int64_t begin, int64_t end,
                 int64_t u, int hop, double* met) {
  GatherSpan<kLanes>(relation, ids, begin, end, u, hop, met);
}

#if defined(__x86_64__)
// Without fused multiply-add, which would round otherwise than other machines do.
template <typename Id>
__attribute__((target("avx2"))) void Gather8Avx2(const VipRelation& relation,
                                                 absl::Span<const Id> ids, int64_t begin,
                                                 int64_t end, int64_t u, int hop, double* met) {
  GatherSpan<8>(relation, ids, begin, end, u, hop, met);
}
#endif

}  // namespace

GatherMessages FindGather(int lanes, bool plain) {
  if (lanes == 4) return {&GatherPlain<4, uint32_t>, &GatherPlain<4, uint64_t>};
#if defined(__x86_64__)
  if (!plain && __builtin_cpu_supports("avx2")) {
    return {&Gather8Avx2<uint32_t>, &Gather8Avx2<uint64_t>};
  }
#endif
  return {&GatherPlain<8, uint32_t>, &GatherPlain<8, uint64_t>};
}

void PairMessages(const VipEnd& v, const VipEnd& u, const float* together, int hop, bool only_new,
                  double* messages) {
  if (v.records.lanes == 4) {
    OnePair<4>(v, u, together, hop, only_new, messages);
  } else {
    OnePair<8>(v, u, together, hop, only_new, messages);
  }
}

void LonelyMessages(const VipEnd& v, const float* together, int hop, bool only_new,
                    double* messages) {
  for (int lane = 0; lane < v.records.lanes; ++lane) {
    const double both = together == nullptr ? 0 : std::min(together[lane], 1 - 1e-6F);
    double drawn = 0, before = 0;
    for (int h = 0; h < hop; ++h) {
      const double met = std::max(0.0, (v.records.met(v.node, h)[lane] - both) / (1 - both));
      drawn += v.chances[h] * std::max(0.0, met - (only_new ? before : drawn));
      before = met;
    }
    messages[lane] = std::min(drawn, 1.0);
  }
}

}  // namespace vicinity
