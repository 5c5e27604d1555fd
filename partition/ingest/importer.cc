#include "partition/ingest/importer.h"

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "partition/dataset/book.h"
#include "partition/dataset/schema_proto.h"
#include "partition/ingest/csc_builder.h"
#include "partition/ingest/formats/array_source.h"
#include "partition/ingest/formats/spool_file.h"
#include "partition/ingest/import_edges.h"
#include "partition/ingest/import_nodes.h"
#include "partition/writing/dataset_writer.h"
#include "proto/common/ids.h"
#include "proto/common/machine.h"
#include "proto/common/status.h"
#include "proto/schema.pb.h"

namespace vicinity {
namespace {

// Labels, splits, list ends and the order of keys, all at once.
constexpr int64_t kBytesANode = 48;

class Importer {
 public:
  Importer(const proto::ImportDescription& description, const std::string& base_directory,
           const std::string& output, Progress* progress)
      : description_(description), output_(output), progress_(progress) {
    options_.base_directory = base_directory;
    options_.spool_directory = SpoolDirectoryFor(output);
  }

  absl::StatusOr<IngestReport> Run() {
    VICINITY_RETURN_IF_ERROR(CheckOutput());
    VICINITY_RETURN_IF_ERROR(OpenInputs());
    VICINITY_RETURN_IF_ERROR(ReadInputs());
    VICINITY_RETURN_IF_ERROR(CreateWriter());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      VICINITY_RETURN_IF_ERROR(nodes_[i]->Write(TypeOf(i), writer_.get(), progress_));
      report_.nodes.push_back(nodes_[i]->Report());
      has_edge_.emplace_back(static_cast<size_t>(nodes_[i]->ids()->size()), false);
      orders_.push_back(OrderOf(*nodes_[i]->ids()));
    }
    const int num_edge_types = static_cast<int>(writer_->schema().edge_types.size());
    for (int i = 0; i < num_edge_types; ++i) {
      VICINITY_RETURN_IF_ERROR(WriteEdges(EdgeTypeId{i}));
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      report_.nodes[i].isolated = absl::c_count(has_edge_[i], false);
    }
    VICINITY_RETURN_IF_ERROR(writer_->Finish(nullptr, "vicinity import"));
    return report_;
  }

 private:
  static NodeTypeId TypeOf(size_t i) { return NodeTypeId{static_cast<int32_t>(i)}; }

  // Long work should not end in an error that was known at its beginning.
  absl::Status CheckOutput() const {
    struct stat info;
    if (lstat(output_.c_str(), &info) != 0) return absl::OkStatus();
    return absl::AlreadyExistsError(absl::StrCat(output_, ": is there already"));
  }

  absl::Status OpenInputs() {
    if (description_.add_reverse() && description_.add_reverse_apart()) {
      return absl::InvalidArgumentError(
          "add_reverse and add_reverse_apart: the description has both, give one of them");
    }
    if (description_.nodes().empty()) {
      return absl::InvalidArgumentError("the description has no `nodes`");
    }
    for (const proto::NodeSource& source : description_.nodes()) {
      VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<NodeImport> nodes,
                                NodeImport::Open(source, options_));
      if (FindNodes(nodes->name()) != nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("two node types are named '", nodes->name(), "'"));
      }
      nodes_.push_back(std::move(nodes));
    }
    for (const proto::EdgeSource& source : description_.edges()) {
      VICINITY_ASSIGN_OR_RETURN(NodeImport * sources, NodesOf(source, source.source()));
      VICINITY_ASSIGN_OR_RETURN(NodeImport * targets, NodesOf(source, source.target()));
      VICINITY_ASSIGN_OR_RETURN(std::unique_ptr<EdgeImport> edges,
                                EdgeImport::Open(source, options_, sources, targets));
      edges_.push_back(std::move(edges));
    }
    return absl::OkStatus();
  }

  NodeImport* FindNodes(const std::string& name) {
    for (const std::unique_ptr<NodeImport>& nodes : nodes_) {
      if (nodes->name() == name) return nodes.get();
    }
    return nullptr;
  }

  absl::StatusOr<NodeImport*> NodesOf(const proto::EdgeSource& edges, const std::string& name) {
    NodeImport* const found = FindNodes(name);
    if (found != nullptr) return found;
    return absl::InvalidArgumentError(absl::StrCat("edge type '", edges.source(), ":",
                                                   edges.relation(), ":", edges.target(),
                                                   "': there is no node type '", name, "'"));
  }

  absl::Status ReadInputs() {
    for (const auto& nodes : nodes_) VICINITY_RETURN_IF_ERROR(nodes->ReadIds(progress_));
    for (const auto& edges : edges_) VICINITY_RETURN_IF_ERROR(edges->ReadEnds(progress_));
    VICINITY_RETURN_IF_ERROR(CheckMemory());
    for (const auto& nodes : nodes_) VICINITY_RETURN_IF_ERROR(nodes->ReadRoles(progress_));
    for (const auto& edges : edges_) VICINITY_RETURN_IF_ERROR(edges->ReadColumns(progress_));
    return absl::OkStatus();
  }

  // A count in a description can be any number.
  absl::Status CheckMemory() const {
    const int64_t memory = TotalMemory();
    int64_t left = memory / kBytesANode;
    for (const auto& nodes : nodes_) {
      if (nodes->ids()->size() > left) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "node type '", nodes->name(), "' has ", nodes->ids()->size(), " nodes: at ",
            kBytesANode, " bytes a node that is more than this machine's (or container's) memory, ",
            memory, " bytes"));
      }
      left -= nodes->ids()->size();
    }
    return absl::OkStatus();
  }

  // Whether reversed edges join the type of the others, or are of types of their own.
  bool joins() const {
    return description_.add_reverse() && nodes_.size() == 1 && edges_.size() == 1;
  }
  bool reverses_apart() const {
    return description_.add_reverse_apart() || (description_.add_reverse() && !joins());
  }

  absl::Status CreateWriter() {
    proto::Schema stored;
    std::vector<std::vector<int64_t>> begins;
    for (const auto& nodes : nodes_) {
      *stored.add_node_types() = nodes->Type();
      begins.push_back({0, nodes->ids()->size()});
    }
    for (const auto& edges : edges_) *stored.add_edge_types() = edges->Type(/*reversed=*/false);
    if (reverses_apart()) {
      for (const auto& edges : edges_) *stored.add_edge_types() = edges->Type(/*reversed=*/true);
    }
    VICINITY_ASSIGN_OR_RETURN(Schema schema, SchemaFromProto(stored));
    VICINITY_ASSIGN_OR_RETURN(Book book, Book::Create(std::move(begins)));
    VICINITY_ASSIGN_OR_RETURN(writer_, DatasetWriter::Create(output_, description_.name(),
                                                             std::move(schema), std::move(book)));
    return absl::OkStatus();
  }

  static KeyOrder OrderOf(const NodeIds& ids) {
    if (ids.kind() == IdKind::kDense) return KeyOrder();
    std::vector<uint64_t> keys(static_cast<size_t>(ids.size()));
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = ids.key(static_cast<int64_t>(i));
    return KeyOrder::Of(keys);
  }

  // The edge types of the schema are those of the description, then their reverses.
  absl::Status WriteEdges(EdgeTypeId type) {
    const size_t index = static_cast<size_t>(type.value);
    const bool reversed = index >= edges_.size();
    const EdgeImport& edges = *edges_[reversed ? index - edges_.size() : index];
    const EdgeTypeSpec& ends = writer_->schema().edge_types[index];
    const size_t source_type = static_cast<size_t>(ends.source_type);
    const size_t target_type = static_cast<size_t>(ends.target_type);

    CscSpec spec;
    spec.type = type;
    spec.spool_directory = options_.spool_directory;
    spec.reversed = reversed;
    spec.add_reverse = joins();
    spec.dedup = description_.dedup();
    spec.drop_self_loops = description_.drop_self_loops() && source_type == target_type;
    spec.time_of = edges.TimeOf(reversed);
    VICINITY_ASSIGN_OR_RETURN(
        const CscResult csc, BuildCsc(edges.edges(), spec, orders_[source_type], writer_.get(),
                                      &has_edge_[source_type], &has_edge_[target_type], progress_));
    VICINITY_RETURN_IF_ERROR(edges.WriteColumns(type, reversed, csc, writer_.get(), progress_));

    IngestReport::Edges report;
    report.name = writer_->schema().EdgeTypeName(type.value);
    report.read = reversed ? 0 : edges.edges().size();
    report.reversed = reversed ? edges.edges().size() : csc.reversed;
    report.self_loops_dropped = csc.self_loops_dropped;
    report.duplicates_dropped = csc.duplicates_dropped;
    report.stored = csc.stored;
    report.max_degree = csc.max_degree;
    report_.edges.push_back(std::move(report));
    return absl::OkStatus();
  }

  const proto::ImportDescription& description_;
  const std::string output_;
  Progress* const progress_;
  ArraySource::Options options_;
  std::vector<std::unique_ptr<NodeImport>> nodes_;
  std::vector<std::unique_ptr<EdgeImport>> edges_;
  std::unique_ptr<DatasetWriter> writer_;
  std::vector<std::vector<bool>> has_edge_;  // by node type and node
  std::vector<KeyOrder> orders_;             // by node type
  IngestReport report_;
};

}  // namespace

absl::StatusOr<IngestReport> Import(const proto::ImportDescription& description,
                                    const std::string& base_directory, const std::string& output,
                                    Progress* progress) {
  return Importer(description, base_directory, output, progress).Run();
}

}  // namespace vicinity
