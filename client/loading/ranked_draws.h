// Whether a ranking was made for batches as a loader draws them.
#pragma once

#include <string>

#include "partition/schema/sampling_spec.h"

namespace vicinity {

// By what two specs draw otherwise, `fanouts [15,10], here [5,5]; where "", here "year >= 2010"`,
// one behind the other; "here" is `drawn`'s. Empty: by nothing. A hop's fanouts that are one number
// for all edge types are shown, and compared, as that number; a spec without hops does not say, and
// its fanouts are not compared. Nor is what does not change a batch's nodes.
std::string DrawsApart(const SamplingSpec& ranked, const SamplingSpec& drawn);

}  // namespace vicinity
