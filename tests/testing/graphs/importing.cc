#include "tests/testing/graphs/importing.h"

#include <google/protobuf/text_format.h>

#include <cstdio>
#include <cstdlib>

#include "partition/ingest/importer.h"
#include "proto/common/progress.h"
#include "proto/import.pb.h"
#include "tests/testing/graphs/input_files.h"

namespace vicinity::testing {

void ImportFolder::Write(const std::string& name, const std::string& bytes) const {
  WriteInput(dir_.File(name), bytes);
}

absl::StatusOr<IngestReport> ImportFolder::Import(const std::string& description,
                                                  const std::string& output) const {
  proto::ImportDescription parsed;
  if (!google::protobuf::TextFormat::ParseFromString(description, &parsed)) {
    std::fprintf(stderr, "no import description: %s\n", description.c_str());
    std::abort();
  }
  return vicinity::Import(parsed, dir_.path(), dir_.File(output), NoProgress());
}

absl::StatusOr<std::unique_ptr<Dataset>> ImportFolder::Open(const std::string& output) const {
  return Dataset::Open(dir_.File(output));
}

std::string ImportFolder::Refusal(const std::string& description) const {
  const absl::StatusOr<IngestReport> report = Import(description, "refused");
  if (report.status().code() != absl::StatusCode::kInvalidArgument) {
    return "not an InvalidArgument: " + report.status().ToString();
  }
  return std::string(report.status().message());
}

}  // namespace vicinity::testing
