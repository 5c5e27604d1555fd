#include "proto/common/progress.h"

#include <catch2/catch.hpp>

namespace vicinity {
namespace {

TEST_CASE("silent progress takes everything and is always the same", "[partition]") {
  Progress* progress = NoProgress();
  progress->Begin("reading", 10, "edges");
  progress->Update(5);
  progress->Note("half way");
  progress->End();
  CHECK(progress == NoProgress());
}

}  // namespace
}  // namespace vicinity
