// The flags that say what a VIP analysis is of: shared by `partition`, `rank`, `plan`, `policies`.
#pragma once

#include "client/planning/calibrated_scores.h"
#include "client/planning/home_plan.h"

namespace CLI {
class App;
}

namespace vicinity::cli {

// Seeds, homes, and draws by all the rules of loaders.
void AddVipFlags(CLI::App* app, VipRequest* request);
// For commands that take links as seeds.
void AddLinkFlags(CLI::App* app, VipRequest* request);
// `--sampled-epochs`.
void AddCalibrationFlag(CLI::App* app, CalibrationOptions* options);

}  // namespace vicinity::cli
