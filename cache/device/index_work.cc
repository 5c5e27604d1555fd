#include "cache/device/index_work.h"

#include <cstdint>

#include "cache/device/base/kernel.h"

namespace vicinity {

Kernel KernelOf(const WriteCells& work) {
  return MakeKernel("write index cells", work, work.num_cells,
                    [](const WriteCells& cells, int64_t t) { WriteCellsThread(cells, t); });
}

Kernel KernelOf(const LookUpIds& work) {
  return MakeKernel("look up ids", work, ThreadsOf(work),
                    [](const LookUpIds& ids, int64_t t) { LookUpIdsThread(ids, t); });
}

Kernel KernelOf(const PublishCounts& work) {
  return MakeKernel("publish counts", work, work.num_counts,
                    [](const PublishCounts& counts, int64_t t) { PublishCountsThread(counts, t); });
}

}  // namespace vicinity
