#include "partition/cut/metis_assigner.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "partition/cut/child_process.h"
#include "partition/cut/metis_job.h"
#include "partition/cut/node_facts.h"
#include "proto/common/file.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

// What METIS 5.1 holds beside the job: of each coarser graph two numbers an entry; and, by
// measurement (`deploy/bench.sh memory`), so much an entry and a node of the finest.
constexpr double kMetisBytesPerCoarseEntry = 8;
constexpr double kMetisBytesPerEntry = 3;
constexpr int64_t kMetisBytesPerNode = 150;
constexpr int64_t kMetisProcessBytes = int64_t{3} << 19;  // of one that has done nothing
// It goes on to coarser graphs for as long as entries become fewer by this at least.
constexpr double kMostCoarseShare = 0.9;

// A folder that goes with all it holds.
class Scratch {
 public:
  static absl::StatusOr<Scratch> Create(const std::string& parent) {
    std::string path = parent + "/vicinity_metis_XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return ErrnoStatus(errno, path, "create");
    return Scratch(std::move(path));
  }
  ~Scratch() {
    std::error_code ignored;  // a full disk or a lost mount is told by whoever writes
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  Scratch& operator=(Scratch&&) = delete;
  std::string File(const char* name) const { return absl::StrCat(path_, "/", name); }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Calls store(type, node, index over all types) for every node.
template <typename Store>
void ForEachNode(const Assignment& assignment, Store store) {
  int64_t index = 0;
  for (size_t t = 0; t < assignment.shard_of.size(); ++t) {
    for (size_t node = 0; node < assignment.shard_of[t].size(); ++node) store(t, node, index++);
  }
}

// Without edges every cut is free: each kind of node is dealt out evenly.
Assignment DealOut(const NodeWeights& weights, Assignment assignment) {
  std::array<int64_t, kMaxMetisConstraints> seen{};
  ForEachNode(assignment, [&](size_t t, size_t node, int64_t index) {
    const Constraint role = weights.role(index);
    const int64_t position = seen[static_cast<int>(role)]++;
    assignment.shard_of[t][node] =
        static_cast<int32_t>(static_cast<__int128>(position) * assignment.num_shards /
                             std::max<int64_t>(weights.total(role), 1));
  });
  return assignment;
}

// Entries of the adjacency: 0 where nothing but self-loops was there.
absl::StatusOr<int64_t> WriteJob(const Dataset& dataset, const NodeWeights& weights,
                                 int32_t num_shards, const MetisOptions& options,
                                 const std::string& path, Progress* progress) {
  const int num_constraints = static_cast<int>(weights.present().size());
  const int64_t capacity = MetisAdjacencyCapacity(NumEdges(dataset));
  VICINITY_ASSIGN_OR_RETURN(
      const std::unique_ptr<MappedOutput> file,
      MappedOutput::Create(path, MetisJobBytes(weights.num_nodes(), num_constraints, capacity)));
  const MetisJobOutput job = LayOutMetisJob(static_cast<int32_t>(weights.num_nodes()),
                                            num_constraints, capacity, file->bytes());
  job.header->num_parts = num_shards;
  job.header->seed = options.seed;
  for (int i = 0; i < num_constraints; ++i) {
    const auto constraint = static_cast<size_t>(weights.present()[i]);
    job.header->tolerance[i] = static_cast<float>(options.tolerance[constraint]);
  }
  FillMetisJob(dataset, weights, job, progress);
  return job.offsets.back();
}

absl::Status RunMetis(const MetisOptions& options, const Scratch& scratch, const std::string& job,
                      Progress* progress) {
  ChildOptions child;
  child.program = options.program;
  child.arguments = {kMetisChildCommand, job};
  child.log_path = scratch.File("log");
  child.time_limit = options.time_limit;
  child.on_tick = [progress](absl::Duration elapsed) {
    progress->Update(absl::ToInt64Seconds(elapsed));
  };
  progress->Begin("METIS", 0, "s");
  const absl::StatusOr<ChildUsage> usage = RunChild(child);
  progress->End();
  if (!usage.ok()) {
    return absl::Status(usage.status().code(),
                        absl::StrCat("METIS: ", usage.status().message(),
                                     ". The assigners hash and range do without METIS"));
  }
  progress->Note(absl::StrFormat("METIS took %.1f s and %.1f MiB of memory",
                                 absl::ToDoubleSeconds(usage->elapsed),
                                 static_cast<double>(usage->peak_memory_bytes) / (1 << 20)));
  return absl::OkStatus();
}

absl::Status ReadResult(const std::string& job_path, const NodeWeights& weights,
                        Assignment* assignment) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<MappedFile> file,
                            MappedFile::Open(MetisResultPath(job_path)));
  const size_t count = static_cast<size_t>(weights.num_nodes()) + 1;
  if (file->bytes().size() != count * sizeof(int32_t)) {
    return absl::DataLossError(absl::StrCat(file->path(), ": ", file->bytes().size(),
                                            " bytes instead of ", count * sizeof(int32_t)));
  }
  const absl::Span<const int32_t> numbers(reinterpret_cast<const int32_t*>(file->bytes().data()),
                                          count);
  for (const int32_t part : numbers.subspan(1)) {
    if (part < 0 || part >= assignment->num_shards) {
      return absl::DataLossError(absl::StrCat(file->path(), ": METIS answered part ", part, " of ",
                                              assignment->num_shards));
    }
  }
  ForEachNode(*assignment, [&](size_t t, size_t node, int64_t index) {
    assignment->shard_of[t][node] = numbers[index + 1];
  });
  return absl::OkStatus();
}

// METIS gives no promise: what it misses is told.
void NoteImbalance(const Assignment& assignment, const NodeWeights& weights,
                   const MetisOptions& options, Progress* progress) {
  for (const Constraint constraint : weights.present()) {
    std::vector<int64_t> loads(assignment.num_shards);
    ForEachNode(assignment, [&](size_t t, size_t node, int64_t index) {
      loads[assignment.shard_of[t][node]] += weights.weight(index, constraint);
    });
    const double mean = static_cast<double>(weights.total(constraint)) / assignment.num_shards;
    const double largest = static_cast<double>(*std::max_element(loads.begin(), loads.end()));
    const double goal = options.tolerance[static_cast<size_t>(constraint)];
    // No cut is finer than one node, and METIS itself rounds.
    if (largest > std::max(mean * (goal + 0.001), mean + 1)) {
      progress->Note(absl::StrFormat(
          "METIS missed the balance of %s: largest shard %.3f of the mean instead of %.3f",
          std::string(ConstraintName(constraint)), largest / mean, goal));
    }
  }
}

}  // namespace

absl::Status MetisOptions::Validate() const {
  if (program.empty()) return absl::InvalidArgumentError("no program to run METIS in");
  if (scratch_directory.empty())
    return absl::InvalidArgumentError("no scratch directory for METIS");
  if (time_limit <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "time limit of METIS: ", absl::FormatDuration(time_limit), "; it must be positive"));
  }
  for (const double value : tolerance) {
    if (!(value > 1) || !std::isfinite(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("balance tolerance ", value, "; it must be above 1, such as 1.05"));
    }
  }
  return absl::OkStatus();
}

MetisAssigner::MetisAssigner(MetisOptions options) : options_(std::move(options)) {}

WorkEstimate MetisAssigner::Estimate(const Dataset& dataset, int32_t num_shards) const {
  const int64_t num_nodes = NumNodes(dataset);
  WorkEstimate estimate;
  estimate.memory_bytes = num_nodes * static_cast<int64_t>(sizeof(int32_t));
  if (num_shards <= 1) return estimate;
  const int64_t entries = MetisAdjacencyCapacity(NumEdges(dataset));
  estimate.disk_bytes = MetisJobBytes(num_nodes, kMaxMetisConstraints, entries) +
                        num_nodes * static_cast<int64_t>(sizeof(int32_t));
  // What is used of the job counts as memory too: METIS walks it again and again.
  const int64_t used = EstimateMetisAdjacency(dataset);
  const double graphs = 1 / (1 - std::min(EstimateCoarseShare(dataset), kMostCoarseShare));
  const double an_entry = kMetisBytesPerEntry + kMetisBytesPerCoarseEntry * graphs;
  estimate.memory_bytes += MetisJobBytes(num_nodes, kMaxMetisConstraints, used) +
                           std::llround(static_cast<double>(used) * an_entry) +
                           num_nodes * kMetisBytesPerNode + kMetisProcessBytes;
  return estimate;
}

absl::StatusOr<Assignment> MetisAssigner::Assign(const Dataset& dataset, int32_t num_shards,
                                                 Progress* progress) {
  VICINITY_RETURN_IF_ERROR(options_.Validate());
  VICINITY_RETURN_IF_ERROR(CheckAssignable(dataset, num_shards));
  Assignment assignment = MakeAssignment(dataset, num_shards);
  if (num_shards == 1) return assignment;
  VICINITY_RETURN_IF_ERROR(CheckMetisLimits(NumNodes(dataset), NumEdges(dataset)));
  const NodeWeights weights(dataset);
  VICINITY_ASSIGN_OR_RETURN(const Scratch scratch, Scratch::Create(options_.scratch_directory));
  const std::string job = scratch.File("job");
  VICINITY_ASSIGN_OR_RETURN(const int64_t num_entries,
                            WriteJob(dataset, weights, num_shards, options_, job, progress));
  if (num_entries == 0) return DealOut(weights, std::move(assignment));
  VICINITY_RETURN_IF_ERROR(RunMetis(options_, scratch, job, progress));
  VICINITY_RETURN_IF_ERROR(ReadResult(job, weights, &assignment));
  NoteImbalance(assignment, weights, options_, progress);
  return assignment;
}

}  // namespace vicinity
