// The user's ids of one node type, and which node each one means.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "partition/ingest/formats/array_source.h"
#include "partition/schema/schema.h"

namespace vicinity {

// Nodes are numbered in the order of their insertion. proto/schema.proto tells what a key is.
//
// Threads: any number may read while nobody inserts.
// Memory:  DENSE: none; INTEGER: about 25 bytes a node; STRING: about 40 and the names.
class NodeIds {
 public:
  using KeyFunction = uint64_t (*)(std::string_view name, uint64_t salt);
  static constexpr int64_t kUnknown = -1;

  // `key` is Checksum() for all but tests.
  explicit NodeIds(IdKind kind, KeyFunction key = nullptr);

  IdKind kind() const { return kind_; }
  int64_t size() const { return size_; }
  uint64_t salt() const { return salt_; }
  uint64_t key(int64_t node) const;
  absl::string_view name(int64_t node) const;  // STRING only
  std::string Text(int64_t node) const;        // the user's id, for messages

  // The node with this id, which becomes a node if it is none yet. DENSE: all up to `id` do, and
  // `id` must not be negative.
  int64_t InsertInt(int64_t id);
  int64_t InsertName(absl::string_view name);
  // DENSE and INTEGER. kUnknown: no such node.
  int64_t FindInt(int64_t id) const;
  // Any kind; for DENSE and INTEGER the text of an integer.
  int64_t Find(absl::string_view id) const;

  // Inserts every row of `ids`, of one value each. InvalidArgument: what `ids` says, more than one
  // value a row, and ids that occur more than once, with both places.
  absl::Status InsertAll(ArraySource* ids);

 private:
  absl::Status InsertAllInts(ArraySource* ids);
  absl::Status InsertAllNames(ArraySource* ids);
  void Resalt();

  const IdKind kind_;
  const KeyFunction key_function_;
  int64_t size_ = 0;
  uint64_t salt_ = 0;
  std::vector<uint64_t> keys_;                          // INTEGER and STRING
  absl::flat_hash_map<uint64_t, int64_t> node_of_key_;  // likewise
  std::string names_;                                   // STRING: one after the other
  std::vector<uint64_t> name_ends_;
};

}  // namespace vicinity
