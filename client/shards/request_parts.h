// A request that is too large for one call, as several: the one place where requests are cut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "client/shards/fan_out.h"
#include "client/shards/piece_run.h"

namespace vicinity {

// Asks for all elements of a request, at most `most` > 0 of them at a time and `width` parts at
// once; then `done`, with the first error. Nothing is asked of a request without elements.
template <typename Request>
void AskInParts(const Request& request, int64_t most, int width,
                std::function<void(const Request& part, Done done)> ask, Done done) {
  const int64_t count = request.num_elements();
  if (count == 0) return done(absl::OkStatus());
  if (count <= most) return ask(request, std::move(done));
  RunPieces((count + most - 1) / most, width,
            [=](int64_t i, Done part_done) {
              ask(request.Part(i * most, std::min(count, (i + 1) * most)), std::move(part_done));
            },
            std::move(done));
}

}  // namespace vicinity
