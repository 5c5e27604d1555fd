#include "partition/dataset/ranking.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "partition/dataset/book.h"
#include "partition/dataset/file_header.h"
#include "partition/dataset/manifest.h"
#include "partition/dataset/page_sums.h"
#include "partition/dataset/schema_proto.h"
#include "partition/dataset/shard_files.h"
#include "partition/schema/schema.h"
#include "proto/common/checksum.h"
#include "proto/common/file.h"
#include "proto/common/file_identity.h"
#include "proto/common/folder_lock.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// Of format version 1: larger ones are checked by `verify` alone, for opening must not take
// minutes.
constexpr int64_t kCheckedAtOpenBytes = int64_t{256} << 20;

constexpr char kFilePrefix[] = "ranking.";

// In the folder of the home's first shard, which every server of that shard has. The content is
// part of the name: a ranking that takes another's place is written beside it, and until the
// manifest names the new files the old ones are whole.
std::string RankingPath(const Schema& schema, const proto::Ranking& ranking, int home,
                        NodeTypeId type, uint64_t checksum) {
  return absl::StrCat(ShardFolder({ranking.homes(home).shards(0)}), "/", kFilePrefix,
                      ranking.name(), ".", home, ".", schema.node_types[type.value].name, ".",
                      absl::Hex(checksum, absl::kZeroPad16));
}

std::string HomeText(const google::protobuf::RepeatedField<int32_t>& shards) {
  return absl::StrCat("{", absl::StrJoin(shards, ", "), "}");
}

absl::Status CheckHomes(const proto::Ranking& description, const Book& book) {
  std::set<std::vector<int32_t>> seen;
  for (const proto::Ranking::Home& home : description.homes()) {
    if (home.shards().empty()) return absl::InvalidArgumentError("a home without shards");
    for (int i = 0; i < home.shards_size(); ++i) {
      if (home.shards(i) < 0 || home.shards(i) >= book.num_shards()) {
        return absl::InvalidArgumentError(absl::StrCat("home ", HomeText(home.shards()),
                                                       ": no shard ", home.shards(i), " of ",
                                                       book.num_shards()));
      }
      if (i > 0 && home.shards(i) <= home.shards(i - 1)) {
        return absl::InvalidArgumentError(
            absl::StrCat("home ", HomeText(home.shards()), ": not rising"));
      }
    }
    if (!seen.emplace(home.shards().begin(), home.shards().end()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("home ", HomeText(home.shards()), ": given twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckOrder(const RankedNodes& order, const Book& book, NodeTypeId type) {
  if (order.nodes.size() != order.probabilities.size()) {
    return absl::InvalidArgumentError(absl::StrCat(order.nodes.size(), " nodes, but ",
                                                   order.probabilities.size(), " probabilities"));
  }
  for (size_t i = 0; i < order.nodes.size(); ++i) {
    if (!book.Contains(type, {order.nodes[i]})) {
      return absl::InvalidArgumentError(
          absl::StrCat("at ", i, ": node ", order.nodes[i], " is outside the book"));
    }
    // Written so that NaN is refused too.
    const bool falling = i == 0 || order.probabilities[i] <= order.probabilities[i - 1];
    if (!(order.probabilities[i] > 0) || !falling) {
      return absl::InvalidArgumentError(absl::StrCat(
          "at ", i, ": probability ", order.probabilities[i], " is not above 0 and falling"));
    }
  }
  return absl::OkStatus();
}

std::string FileBytes(const RankedNodes& order, int64_t id_bytes, uint32_t format_version) {
  const int64_t size = static_cast<int64_t>(order.nodes.size());
  const FileHeader header =
      MakeHeader(FileKind::kRanking, size, id_bytes + sizeof(float), format_version);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  for (const int64_t node : order.nodes) {
    // Little-endian: the low bytes come first.
    bytes.append(reinterpret_cast<const char*>(&node), id_bytes);
  }
  bytes.append(reinterpret_cast<const char*>(order.probabilities.data()), size * sizeof(float));
  return bytes;
}

absl::StatusOr<proto::FileEntry> WriteOrder(const std::string& directory, const Schema& schema,
                                            const proto::Ranking& ranking, int home,
                                            NodeTypeId type, std::string bytes,
                                            uint32_t format_version) {
  proto::FileEntry entry;
  if (format_version > 1) {
    const PageLayout layout = LayoutOf(static_cast<int64_t>(bytes.size()));
    bytes.resize(layout.file_bytes());
    entry.set_pages_checksum(SealPages(layout, absl::MakeSpan(bytes)));
  }
  entry.set_size(bytes.size());
  entry.set_checksum(Checksum(bytes));
  entry.set_path(RankingPath(schema, ranking, home, type, entry.checksum()));
  VICINITY_RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(directory, "/", entry.path()), bytes));
  return entry;
}

absl::StatusOr<const proto::Ranking*> FindRanking(const Dataset& dataset, const std::string& name) {
  std::vector<std::string> names;
  for (const proto::Ranking& ranking : dataset.manifest().rankings()) {
    if (ranking.name() == name) return &ranking;
    names.push_back(ranking.name());
  }
  return absl::NotFoundError(absl::StrCat(dataset.directory(), ": no ranking named ", name,
                                          "; there are ",
                                          names.empty() ? "none" : absl::StrJoin(names, ", ")));
}

absl::StatusOr<int> FindHome(const Dataset& dataset, const proto::Ranking& ranking,
                             absl::Span<const int32_t> home) {
  std::vector<std::string> homes;
  for (int h = 0; h < ranking.homes_size(); ++h) {
    const auto& shards = ranking.homes(h).shards();
    if (absl::Span<const int32_t>(shards.data(), shards.size()) == home) return h;
    homes.push_back(HomeText(shards));
  }
  return absl::NotFoundError(absl::StrCat(dataset.directory(), ": ranking ", ranking.name(),
                                          " was not made for home {", absl::StrJoin(home, ", "),
                                          "}; it was for ", absl::StrJoin(homes, ", ")));
}

absl::Status CheckRanking(const proto::Ranking& description, const Schema& schema, const Book& book,
                          const std::vector<std::vector<RankedNodes>>& orders) {
  VICINITY_RETURN_IF_ERROR(CheckName(description.name()));
  VICINITY_RETURN_IF_ERROR(CheckHomes(description, book));
  if (static_cast<int>(orders.size()) != description.homes_size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(orders.size(), " orders for ", description.homes_size(), " homes"));
  }
  for (size_t h = 0; h < orders.size(); ++h) {
    if (orders[h].size() != schema.node_types.size()) {
      return absl::InvalidArgumentError(absl::StrCat("home ", h, " has orders of ",
                                                     orders[h].size(), " node types of ",
                                                     schema.node_types.size()));
    }
    for (int32_t t = 0; t < static_cast<int32_t>(orders[h].size()); ++t) {
      const absl::Status order = CheckOrder(orders[h][t], book, {t});
      if (!order.ok()) {
        return At(absl::StrCat("home ", h, " node type ", schema.node_types[t].name), order);
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<VerifiedFile>> OpenFile(const Dataset& dataset,
                                                       const proto::FileEntry& entry) {
  const std::string& path = entry.path();
  absl::StatusOr<std::shared_ptr<const OpenFolder>> folder =
      OpenFolder::Open(absl::StrCat(dataset.directory(), "/", path.substr(0, path.rfind('/') + 1)));
  if (!folder.ok()) return absl::DataLossError(folder.status().message());
  VerifiedFile::Source source;
  source.directory = dataset.directory();
  source.folder = *std::move(folder);
  source.entry = &entry;
  source.kind = FileKind::kRanking;
  source.format_version = dataset.manifest().format_version();
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<VerifiedFile> file, VerifiedFile::Open(source));
  if (!file->has_sums() && file->size() <= kCheckedAtOpenBytes) {
    VICINITY_RETURN_IF_ERROR(CheckFile(dataset.directory(), entry));
  }
  return file;
}

void RemoveEntry(const std::string& name, proto::Manifest* manifest) {
  auto* rankings = manifest->mutable_rankings();
  for (int i = rankings->size() - 1; i >= 0; --i) {
    if (rankings->Get(i).name() == name) rankings->DeleteSubrange(i, 1);
  }
}

// Removes what begins with `prefix` in a folder and is not among `kept`, paths from `directory` on.
void RemoveOthers(const std::string& directory, const std::string& folder,
                  const std::string& prefix, const std::set<std::string>& kept) {
  std::error_code ignored;  // a file that nothing lists any more harms nobody
  std::vector<std::string> others;
  std::filesystem::directory_iterator entries(absl::StrCat(directory, "/", folder), ignored);
  for (; !ignored && entries != std::filesystem::directory_iterator(); entries.increment(ignored)) {
    const std::string name = entries->path().filename().string();
    const bool is_kept = kept.count(absl::StrCat(folder, "/", name)) > 0;
    if (absl::StartsWith(name, prefix) && !is_kept) others.push_back(entries->path().string());
  }
  for (const std::string& path : others) std::filesystem::remove(path, ignored);
}

// Of the ranking that was replaced, and of writers that were killed. For the lock's holder.
void RemoveLeftovers(const std::string& directory, const proto::Manifest& manifest,
                     int32_t num_shards) {
  std::set<std::string> listed;
  for (const proto::Ranking& ranking : manifest.rankings()) {
    for (const proto::FileEntry& file : ranking.files()) listed.insert(file.path());
  }
  for (int32_t s = 0; s < num_shards; ++s) {
    RemoveOthers(directory, ShardFolder({s}), kFilePrefix, listed);
  }
  RemoveOthers(directory, ".",
               std::filesystem::path(ManifestPath("")).filename().string() + ".tmp.", {});
}

SamplingSpec DrawsOf(const proto::Ranking& ranking) {
  SamplingSpec draws;
  for (const int64_t fanout : ranking.fanouts()) draws.fanouts.push_back({fanout});
  draws.replace = ranking.replace();
  if (ranking.new_nodes_only()) draws.expansion = Expansion::kNewNodes;
  draws.weighted_by = ranking.weighted_by();
  draws.where = ranking.where();
  draws.disjoint = ranking.disjoint();
  draws.time_column = ranking.time_column();
  if (!draws.time_column.empty()) draws.time_window = ranking.time_window();
  if (ranking.time_follows_path()) draws.time_follows = TimeFollows::kPath;
  if (ranking.latest_edges()) draws.temporal_strategy = TemporalStrategy::kLast;
  if (!ranking.labor()) return draws;
  draws.draws = Draws::kLabor;
  draws.layer_dependency = ranking.layer_dependency();
  draws.batch_dependency = ranking.batch_dependency();
  return draws;
}

}  // namespace

std::vector<RankingHomes> HomesOfRankings(
    const google::protobuf::RepeatedPtrField<proto::Ranking>& rankings) {
  std::vector<RankingHomes> result;
  for (const proto::Ranking& ranking : rankings) {
    result.push_back({ranking.name(), {}, DrawsOf(ranking)});
    for (const proto::Ranking::Home& home : ranking.homes()) {
      result.back().homes.emplace_back(home.shards().begin(), home.shards().end());
    }
  }
  return result;
}

absl::StatusOr<std::unique_ptr<Ranking>> Ranking::Open(const Dataset& dataset,
                                                       const std::string& name,
                                                       absl::Span<const int32_t> home,
                                                       NodeTypeId type) {
  const Schema& schema = dataset.schema();
  if (type.value < 0 || type.value >= static_cast<int32_t>(schema.node_types.size())) {
    return absl::InvalidArgumentError(absl::StrCat("no node type ", type.value));
  }
  VICINITY_ASSIGN_OR_RETURN(const proto::Ranking* ranking, FindRanking(dataset, name));
  VICINITY_ASSIGN_OR_RETURN(const int index, FindHome(dataset, *ranking, home));
  const int at = index * static_cast<int>(schema.node_types.size()) + type.value;
  if (at >= ranking->files_size()) {
    return absl::DataLossError(absl::StrCat(ManifestPath(dataset.directory()), ": ranking ", name,
                                            " lists ", ranking->files_size(), " files only"));
  }
  const proto::FileEntry& entry = ranking->files(at);
  VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<VerifiedFile> file, OpenFile(dataset, entry));
  const FileHeader& header = file->header();
  const int64_t id_bytes = StoredNodeIdBytes(dataset.book().num_nodes(type));
  if (header.row_bytes != id_bytes + sizeof(float)) {
    return absl::DataLossError(absl::StrCat(file->path(), ": rows have ", header.row_bytes,
                                            " bytes, expected ", id_bytes + sizeof(float)));
  }
  const size_t size = header.num_rows;
  const char* ids = file->rows().data();
  const IdArray nodes =
      id_bytes == 4
          ? IdArray(absl::Span<const uint32_t>(reinterpret_cast<const uint32_t*>(ids), size))
          : IdArray(absl::Span<const uint64_t>(reinterpret_cast<const uint64_t*>(ids), size));
  const absl::Span<const float> probabilities(reinterpret_cast<const float*>(ids + size * id_bytes),
                                              size);
  return std::unique_ptr<Ranking>(new Ranking(std::move(file), nodes, probabilities));
}

Ranking::Ranking(std::unique_ptr<VerifiedFile> file, IdArray nodes,
                 absl::Span<const float> probabilities)
    : file_(std::move(file)), nodes_(nodes), probabilities_(probabilities) {}

Ranking::~Ranking() = default;

absl::Status Ranking::Read(int64_t first, int64_t count, std::vector<int64_t>* nodes,
                           std::vector<float>* probabilities) const {
  if (first < 0 || count < 0 || first > size() - count) {
    return absl::InvalidArgumentError(
        absl::StrCat("places ", first, " + ", count, " of a ranking of ", size()));
  }
  VerifiedFile* const files[] = {file_.get()};
  return ReadVerified(files, [&]() -> absl::Status {
    nodes->resize(count);
    probabilities->resize(count);
    if (count == 0) return absl::OkStatus();
    const int64_t id_bytes = nodes_.narrow() != nullptr ? 4 : 8;
    VICINITY_RETURN_IF_ERROR(
        file_->Touch(file_->rows().data() + first * id_bytes, count * id_bytes));
    const float* const values = probabilities_.data() + first;
    VICINITY_RETURN_IF_ERROR(file_->Touch(values, count * sizeof(float)));
    for (int64_t i = 0; i < count; ++i) (*nodes)[i] = nodes_[first + i];
    std::copy(values, values + count, probabilities->begin());
    return absl::OkStatus();
  });
}

absl::Status WriteRanking(const std::string& directory, proto::Ranking description,
                          const std::vector<std::vector<RankedNodes>>& orders,
                          const LockWait& wait) {
  // Until the manifest is written: two who read the same one would keep one ranking of the two.
  VICINITY_ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(directory, wait));
  VICINITY_ASSIGN_OR_RETURN(proto::Manifest manifest, ReadManifest(directory));
  VICINITY_ASSIGN_OR_RETURN(const Schema schema, SchemaFromProto(manifest.schema()));
  VICINITY_ASSIGN_OR_RETURN(const Book book, Book::FromProto(manifest.book()));
  // All is checked before the first byte is written.
  const absl::Status fits = CheckRanking(description, schema, book, orders);
  if (!fits.ok()) return At(absl::StrCat("ranking ", description.name()), fits);
  RemoveEntry(description.name(), &manifest);
  description.clear_files();
  for (size_t h = 0; h < orders.size(); ++h) {
    for (int32_t t = 0; t < static_cast<int32_t>(orders[h].size()); ++t) {
      const int64_t id_bytes = StoredNodeIdBytes(book.num_nodes(NodeTypeId{t}));
      const uint32_t version = manifest.format_version();
      VICINITY_ASSIGN_OR_RETURN(*description.add_files(),
                                WriteOrder(directory, schema, description, static_cast<int>(h), {t},
                                           FileBytes(orders[h][t], id_bytes, version), version));
    }
  }
  *manifest.add_rankings() = std::move(description);
  VICINITY_RETURN_IF_ERROR(WriteManifest(directory, manifest));
  RemoveLeftovers(directory, manifest, book.num_shards());
  return absl::OkStatus();
}

}  // namespace vicinity
