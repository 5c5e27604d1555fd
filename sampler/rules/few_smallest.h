// The smallest of a few keys, found by comparing each with each: without a branch that nobody can
// foretell.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"

namespace vicinity {

// So many keys FewSmallest takes: 64 with AVX-512, which the processor is asked for, else 32.
size_t MostFew();

// Writes the positions of the `most` smallest of at most MostFew() keys, in order; there are at
// least `most`. False, with rubbish in `out`, if the upper halves of the keys do not tell which
// these are.
//
// Cost: 20 to 100 ns.
bool FewSmallest(absl::Span<const uint64_t> keys, uint64_t most, int64_t* out);

// The same without instructions that not every processor has, of at most 32.
bool FewSmallestPlainly(absl::Span<const uint64_t> keys, uint64_t most, int64_t* out);

}  // namespace vicinity
