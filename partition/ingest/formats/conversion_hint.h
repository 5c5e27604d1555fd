// What turns files of other programs into files that import reads, for messages.
//
// Threads: functions of their arguments alone.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace vicinity {

// A command that converts the file, told by its name: "bzip2 -dk edges.csv.bz2". Empty: none known.
std::string ConversionOf(absl::string_view path);

// The same for an .npz archive with these members, which may be a sparse matrix of SciPy; empty for
// an archive of ordinary arrays.
std::string SparseConversionOf(absl::string_view path, const std::vector<std::string>& members);

}  // namespace vicinity
