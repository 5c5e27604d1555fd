// The directories of a dataset that is being written: which node a key is, sorted by key, each
// shard with the keys that the book gives to it.
#pragma once

#include "absl/status/status.h"
#include "partition/dataset/book.h"
#include "partition/schema/schema.h"
#include "partition/writing/output_files.h"

namespace vicinity {

// Makes the directories of every shard and node type from the keys, all of which `files` has.
// InvalidArgument, naming both nodes, if two nodes of a type share a key; else what
// OutputFiles::Add says.
//
// Memory: 16 bytes an entry of the directory that is being made.
absl::Status BuildDirectories(const Schema& schema, const Book& book, OutputFiles* files);

}  // namespace vicinity
