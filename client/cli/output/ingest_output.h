// What `import` and `generate` tell about the dataset that they wrote.
#pragma once

#include <ostream>
#include <string>

#include "client/cli/output/output.h"
#include "partition/ingest/ingest_report.h"

namespace vicinity::cli {

void PrintIngest(const IngestReport& report, const std::string& directory, OutputFormat format,
                 std::ostream& out);

}  // namespace vicinity::cli
