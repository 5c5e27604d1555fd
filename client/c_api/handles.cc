#include "client/c_api/handles.h"

#include <utility>

namespace vicinity::c_api {
namespace {

std::map<int32_t, DeviceColumn> TakeDeviceColumns(MiniBatch* batch) {
  std::map<int32_t, DeviceColumn> taken;
  for (size_t i = 0; i < batch->columns.size(); ++i) {
    std::unique_ptr<DeviceTensor>& tensor = batch->columns[i].tensor;
    if (tensor == nullptr) continue;
    const DeviceKind kind = tensor->device_kind();
    const int32_t ordinal = tensor->device_ordinal();
    taken.emplace(static_cast<int32_t>(i), DeviceColumn{kind, ordinal, std::move(tensor)});
  }
  return taken;
}

// What an answer's batch has in common with others.
std::unique_ptr<MiniBatch> NumbersOf(QueryBatch* given) {
  auto batch = std::make_unique<MiniBatch>();
  batch->epoch = given->epoch;
  batch->step = given->step;
  batch->batches_done = given->batches_done;
  batch->input_positions = std::move(given->input_positions);
  batch->labels = std::move(given->labels);
  return batch;
}

std::vector<std::vector<int64_t>> SeedsOf(const Query& query, QueryInputs* inputs) {
  std::vector<std::vector<int64_t>> seeds;
  for (const QueryStep& step : query.steps) {
    const auto found = inputs->find(step.input);
    if (found == inputs->end()) continue;
    seeds.push_back(std::move(found->second));
    inputs->erase(found);
  }
  return seeds;
}

}  // namespace

OpenBatch::OpenBatch(std::shared_ptr<const Schema> batch_schema, std::unique_ptr<MiniBatch> given)
    : schema(std::move(batch_schema)),
      on_device(TakeDeviceColumns(given.get())),
      batch(std::move(given)) {}

OpenBatch::OpenBatch(std::shared_ptr<const Schema> batch_schema, std::unique_ptr<QueryBatch> given,
                     const Query& query)
    : schema(std::move(batch_schema)),
      batch(NumbersOf(given.get())),
      answer(std::make_shared<const QueryAnswer>(std::move(given->answer))),
      query_seeds(SeedsOf(query, &given->inputs)),
      draw(given->draw.batch) {}

}  // namespace vicinity::c_api
