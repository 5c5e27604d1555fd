// The alias tables of a dataset that is being written: one for each list of each edge type that has
// a weight column.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"
#include "partition/writing/output_files.h"

namespace vicinity {

// Makes the tables from offsets, edge ids and weight columns, all of which `files` has. Errors of
// WeightTable name the column's file in `directory`, where the dataset will be; else what
// OutputFiles::Add says.
//
// Threads: uses all cores.
absl::Status BuildWeights(const Schema& schema, const Book& book, const std::string& directory,
                          OutputFiles* files);

}  // namespace vicinity
