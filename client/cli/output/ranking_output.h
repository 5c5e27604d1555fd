// What a stored ranking says about itself, as a line and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "proto/manifest.pb.h"

namespace vicinity::cli {

// 'Ranking "default": seeds train, batch 1024, fanouts 15,10,5, 4 homes'.
std::string RankingText(const proto::Ranking& ranking);
nlohmann::ordered_json RankingJson(const proto::Ranking& ranking);

}  // namespace vicinity::cli
