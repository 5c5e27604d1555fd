// Remote rows of a batch alone, as a table and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>

#include "client/planning/expected_remote.h"

namespace vicinity::cli {

// "5 %"; "all remote".
std::string CacheShareText(double share);

// `of_loader`: batches are minibatches, which loaders share rows among.
void PrintExpectedRemote(const ExpectedRemote& expected, bool of_loader, std::ostream& out);
nlohmann::ordered_json ExpectedRemoteJson(const ExpectedRemote& expected);

}  // namespace vicinity::cli
