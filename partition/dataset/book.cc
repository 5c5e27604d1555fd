#include "partition/dataset/book.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

absl::Status CheckBegins(size_t type, const std::vector<int64_t>& begins) {
  if (begins.front() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("book: node type ", type, " begins at ", begins.front(), ", not at 0"));
  }
  for (size_t s = 1; s < begins.size(); ++s) {
    if (begins[s] < begins[s - 1]) {
      return absl::InvalidArgumentError(absl::StrCat("book: node type ", type, ": boundary ", s,
                                                     " is ", begins[s], ", below ", begins[s - 1],
                                                     " before it"));
    }
  }
  if (begins.back() > kMaxNodes) {
    return absl::InvalidArgumentError(absl::StrCat("book: node type ", type, " has ", begins.back(),
                                                   " nodes, at most ", kMaxNodes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Book> Book::Create(std::vector<std::vector<int64_t>> begins) {
  if (begins.empty()) return absl::InvalidArgumentError("book: no node types");
  const size_t size = begins[0].size();
  if (size < 2 || size > size_t{kMaxShards} + 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "book: ", size, " boundaries make ", int64_t(size) - 1, " shards, not 1 to ", kMaxShards));
  }
  for (size_t type = 0; type < begins.size(); ++type) {
    if (begins[type].size() != size) {
      return absl::InvalidArgumentError(absl::StrCat(
          "book: node type ", type, " has ", begins[type].size(), " boundaries, not ", size));
    }
    if (absl::Status status = CheckBegins(type, begins[type]); !status.ok()) return status;
  }
  return Book(std::move(begins));
}

absl::StatusOr<Book> Book::FromProto(const proto::Book& stored) {
  std::vector<std::vector<int64_t>> begins;
  for (const proto::Book::Ranges& type : stored.node_types()) {
    begins.emplace_back(type.begins().begin(), type.begins().end());
  }
  absl::StatusOr<Book> book = Create(std::move(begins));
  if (book.ok() && book->num_shards() != stored.num_shards()) {
    return absl::InvalidArgumentError(absl::StrCat("book: num_shards is ", stored.num_shards(),
                                                   ", but the boundaries make ",
                                                   book->num_shards()));
  }
  return book;
}

Book::Book(std::vector<std::vector<int64_t>> begins)
    : begins_(std::move(begins)), num_shards_(static_cast<int32_t>(begins_[0].size()) - 1) {}

proto::Book Book::ToProto() const {
  proto::Book stored;
  stored.set_num_shards(num_shards_);
  for (const std::vector<int64_t>& begins : begins_) {
    stored.add_node_types()->mutable_begins()->Add(begins.begin(), begins.end());
  }
  return stored;
}

Book Book::Growing() const {
  Book book = *this;
  book.grows_ = true;
  return book;
}

Book::Place Book::PlaceOf(NodeTypeId type, GlobalNode node) const {
  const std::vector<int64_t>& begins = begins_[type.value];
  if (node.value >= begins.back()) {
    const int64_t past = node.value - begins.back();
    const ShardId shard{static_cast<int32_t>(past % num_shards_)};
    return {shard, {num_nodes(type, shard) + past / num_shards_}};
  }
  // The inner boundaries alone, so that any number gets some shard: a node id that a corrupt
  // file or message made up must not lead outside the book.
  const auto after = std::upper_bound(begins.begin() + 1, begins.end() - 1, node.value);
  const auto shard = static_cast<int32_t>(after - begins.begin()) - 1;
  return {{shard}, {node.value - begins[shard]}};
}

GlobalNode Book::NodeAt(NodeTypeId type, const Place& place) const {
  const int64_t past = place.row.value - num_nodes(type, place.shard);
  if (past < 0) return {First(type, place.shard).value + place.row.value};
  return {num_nodes(type) + past * num_shards_ + place.shard.value};
}

ShardId Book::DirectoryShard(uint64_t key) const {
  // Stored in files (docs/formats.md): never to change. Mixed, since keys are often dense and
  // a cut by their remainder would follow any pattern in them.
  key ^= key >> 32;
  key *= 0xd6e8feb86659fd93;
  key ^= key >> 32;
  key *= 0xd6e8feb86659fd93;
  key ^= key >> 32;
  return {static_cast<int32_t>(key % static_cast<uint64_t>(num_shards_))};
}

}  // namespace vicinity
