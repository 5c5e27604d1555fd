// Whether a ranking was made for batches as a loader draws them.
#pragma once

#include <string>

#include "partition/schema/sampling_spec.h"

namespace vicinity {

// By which rules two specs draw otherwise, `where "", here "year >= 2010"`, one behind the other;
// "here" is `drawn`'s. Empty: by none. Fanouts, and what does not change a batch's nodes, are not
// compared.
std::string DrawsApart(const SamplingSpec& ranked, const SamplingSpec& drawn);

}  // namespace vicinity
