// Imports in a test's own folder, from a description in text form.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "partition/dataset/dataset.h"
#include "partition/ingest/ingest_report.h"
#include "tests/testing/temp_dir.h"

namespace vicinity::testing {

// A folder with input files and the datasets made of them.
class ImportFolder {
 public:
  // Writes a file for descriptions to name.
  void Write(const std::string& name, const std::string& bytes) const;

  // Imports into the folder's dataset `output`. A description that is no text form of one ends
  // the process.
  absl::StatusOr<IngestReport> Import(const std::string& description,
                                      const std::string& output = "out") const;

  absl::StatusOr<std::unique_ptr<Dataset>> Open(const std::string& output = "out") const;

  // The text of an import's error.
  std::string Refusal(const std::string& description) const;

  const TempDir& dir() const { return dir_; }

 private:
  const TempDir dir_;
};

}  // namespace vicinity::testing
