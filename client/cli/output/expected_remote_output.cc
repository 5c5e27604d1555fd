#include "client/cli/output/expected_remote_output.h"

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "absl/strings/str_format.h"
#include "client/cli/output/output.h"
#include "client/planning/expected_remote.h"
#include "proto/common/human_text.h"

namespace vicinity::cli {

std::string CacheShareText(double share) {
  return share < 0 ? "all remote" : absl::StrFormat("%.0f %%", share * 100);
}

void PrintExpectedRemote(const ExpectedRemote& expected, bool of_loader, std::ostream& out) {
  out << absl::StrFormat(
      "A batch needs %.0f rows. Remote ones of a batch on its own, by cache size in %% of a mean\n"
      "shard's nodes%s:\n",
      expected.rows, of_loader ? " (what a loader fetches is less: `vicinity plan`)" : "");
  Table table({{"cache", Table::Align::kRight},
               {"rows", Table::Align::kRight},
               {"of a batch alone", Table::Align::kRight},
               {"of all rows", Table::Align::kRight}});
  for (const ExpectedRemote::Point& point : expected.points) {
    table.AddRow({CacheShareText(point.share), HumanCount(point.cache_rows),
                  absl::StrFormat("%.1f", point.remote_rows),
                  HumanPercent(expected.rows > 0 ? point.remote_rows / expected.rows : 0)});
  }
  table.Print(out);
}

nlohmann::ordered_json ExpectedRemoteJson(const ExpectedRemote& expected) {
  nlohmann::ordered_json json;
  json["rows_per_batch"] = expected.rows;
  json["by_cache_size"] = nlohmann::ordered_json::array();
  for (const ExpectedRemote::Point& point : expected.points) {
    nlohmann::ordered_json entry;
    if (point.share < 0) {
      entry["cache_share"] = nullptr;
    } else {
      entry["cache_share"] = point.share;
    }
    entry["cache_rows"] = point.cache_rows;
    entry["remote_rows_per_batch"] = point.remote_rows;
    json["by_cache_size"].push_back(entry);
  }
  return json;
}

}  // namespace vicinity::cli
