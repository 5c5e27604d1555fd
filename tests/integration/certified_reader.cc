#include "tests/integration/certified_reader.h"

#include <algorithm>
#include <utility>

namespace vicinity::testing {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

Result<std::unique_ptr<CertifiedReader>> CertifiedReader::Open(const CertifiedGraph* graph,
                                                               const ReaderOptions& options) {
  Result<std::unique_ptr<Graph>> opened = Graph::Open(options.graph);
  if (!opened.ok()) return opened.error();
  LoaderOptions loading;
  loading.sampling = SamplingSpec::Uniform((*opened)->schema(), options.fanouts);
  loading.batch_size = options.batch_size;
  loading.columns = {{"node", "features"}};
  loading.edge_ids = true;
  loading.cache = options.cache;
  loading.cache_rows = options.cache_rows;
  loading.window_bytes = options.window_bytes;
  loading.batch_timeout = options.batch_timeout;
  Result<std::unique_ptr<Loader>> loader = Loader::Create(opened->get(), loading);
  if (!loader.ok()) return loader.error();
  return std::unique_ptr<CertifiedReader>(new CertifiedReader(
      graph, options, *std::move(opened), std::move(loading.sampling), *std::move(loader)));
}

CertifiedReader::CertifiedReader(const CertifiedGraph* graph, const ReaderOptions& options,
                                 std::unique_ptr<Graph> opened, SamplingSpec spec,
                                 std::unique_ptr<Loader> loader)
    : graph_(graph),
      on_wrong_(options.on_wrong),
      opened_(std::move(opened)),
      spec_(std::move(spec)),
      loader_(std::move(loader)) {}

void CertifiedReader::Check(const MiniBatch& batch, BatchVerdict* sum) const {
  const BatchVerdict verdict = CheckBatch(*graph_, spec_, batch);
  sum->rows += verdict.rows;
  sum->edges += verdict.edges;
  sum->wrong_rows += verdict.wrong_rows;
  sum->wrong_edges += verdict.wrong_edges;
  if (!sum->first_wrong.empty() || verdict.first_wrong.empty()) return;
  sum->first_wrong = verdict.first_wrong;
  if (on_wrong_) on_wrong_(verdict.first_wrong);
}

Reading CertifiedReader::Read(int64_t epoch, int64_t first_step,
                              const std::function<void(int64_t step)>& before) {
  Reading reading;
  reading.error = loader_->StartEpoch(epoch, first_step);
  for (int64_t step = first_step; reading.error.ok(); ++step) {
    if (before && step < steps()) before(step);
    const Clock::time_point asked = Clock::now();
    const Result<std::unique_ptr<MiniBatch>> batch = loader_->Next();
    reading.longest_wait =
        std::max<std::chrono::nanoseconds>(reading.longest_wait, Clock::now() - asked);
    if (!batch.ok()) {
      reading.error = batch.error();
    } else if (*batch == nullptr) {
      break;
    } else {
      reading.digests.push_back(Digest(**batch));
      Check(**batch, &reading.verdict);
    }
  }
  return reading;
}

}  // namespace vicinity::testing
