// Belady: next use, all of the future known. No pool of the same size fetches fewer rows.
#pragma once

#include <memory>

#include "cache/policies/policy.h"

namespace vicinity {

// "belady": the pool starts with the rows that the trace asks for first.
std::unique_ptr<Policy> MakeBeladyPolicy();

}  // namespace vicinity
