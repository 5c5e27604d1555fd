// Passes over whole files of a dataset: rankings, cuts, copies. Their loops read the mapped arrays
// as they lie, at the speed of memory, so what they read is verified beforehand, all of it at once,
// and looked at once more when they have ended:
//
//   ReadWhole(ListFiles(dataset), progress, [&] { ...loops over sources, offsets... });
//
// Who reads some rows or lists goes by partition/dataset/shard_reader.h, which verifies those
// alone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "partition/dataset/dataset.h"
#include "partition/dataset/verified_file.h"
#include "proto/common/progress.h"

namespace vicinity {

// Opens all shards for who reads them by ReadWhole and partition/dataset/shard_reader.h alone: what
// those verify is not read here. Errors as Dataset::Open.
absl::StatusOr<std::unique_ptr<Dataset>> OpenForPasses(const std::string& directory);

// Files of all shards that are open. What a pass reads must be among those that it names.
std::vector<VerifiedFile*> AllFiles(const Dataset& dataset);
// What in-neighbour lists are read from: keys, offsets, sources, and the columns of weights.
std::vector<VerifiedFile*> ListFiles(const Dataset& dataset);
// The columns of splits.
std::vector<VerifiedFile*> SplitFiles(const Dataset& dataset);

// Verifies all pages of `files` that nobody has verified yet, then runs `pass`, which may read the
// files raw, then looks whether the files are still those that were verified. OK: whatever `pass`
// has read was right. Its own error is returned where the files are sound.
//
// DataLoss naming file, page and both checksums: `pass` was not run, or what it has made may be
// wrong. Unavailable naming the file: one was changed while `pass` read it. It is sound now, but
// nobody knows what was read. Passes take hours, so it is for the caller to begin anew.
//
// Files of format version 1, which have no checksums of pages, are read against the manifest's in
// each call, and changes of them are not noticed.
//
// Threads: any number of calls at once; `progress` is told by the calling thread.
// Memory:  nothing that grows with the files; those are mapped.
// Cost:    one pass over the pages not verified yet, on all cores, as fast as memory or disk bring
//          them. A call for files that are all verified looks at each once.
// Signals: guards against bus errors (proto/common/bus_errors.h): a page that cannot be read, or
//          has been cut off, is zeros to `pass`, and DataLoss afterwards.
absl::Status ReadWhole(absl::Span<VerifiedFile* const> files, Progress* progress,
                       const std::function<absl::Status()>& pass);

}  // namespace vicinity
