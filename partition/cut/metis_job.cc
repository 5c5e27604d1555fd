#include "partition/cut/metis_job.h"

#include <metis.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr std::array<char, 8> kMagic = {'v', 'i', 'c', 'm', 'e', 't', '0', '1'};
static_assert(sizeof(idx_t) == sizeof(int32_t), "Debian's METIS has 32-bit indices");

template <typename View, typename Header, typename Int, typename Char>
View Cut(Header* header, Char* bytes) {
  Int* const numbers = reinterpret_cast<Int*>(bytes + sizeof(MetisJobHeader));
  const int64_t num_offsets = int64_t{header->num_nodes} + 1;
  const int64_t num_weights = int64_t{header->num_nodes} * header->num_constraints;
  View view;
  view.header = header;
  view.offsets = {numbers, static_cast<size_t>(num_offsets)};
  view.weights = {numbers + num_offsets, static_cast<size_t>(num_weights)};
  view.adjacency = {numbers + num_offsets + num_weights,
                    static_cast<size_t>(header->adjacency_capacity)};
  return view;
}

absl::Status ToStatus(int metis_code, const MetisJobHeader& header) {
  const std::string graph =
      absl::StrCat("a graph of ", header.num_nodes, " nodes into ", header.num_parts, " parts");
  switch (metis_code) {
    case METIS_OK:
      return absl::OkStatus();
    case METIS_ERROR_INPUT:
      return absl::InvalidArgumentError(absl::StrCat("METIS does not take ", graph));
    case METIS_ERROR_MEMORY:
      return absl::ResourceExhaustedError(absl::StrCat("METIS has no memory to cut ", graph));
    default:
      return absl::InternalError(absl::StrCat("METIS failed to cut ", graph));
  }
}

}  // namespace

int64_t MetisJobBytes(int64_t num_nodes, int num_constraints, int64_t adjacency_capacity) {
  return static_cast<int64_t>(sizeof(MetisJobHeader)) +
         static_cast<int64_t>(sizeof(int32_t)) *
             (num_nodes + 1 + num_nodes * num_constraints + adjacency_capacity);
}

MetisJobOutput LayOutMetisJob(int32_t num_nodes, int num_constraints, int64_t adjacency_capacity,
                              absl::Span<char> file) {
  auto* const header = reinterpret_cast<MetisJobHeader*>(file.data());
  *header = {};
  header->magic = kMagic;
  header->num_nodes = num_nodes;
  header->num_constraints = num_constraints;
  header->adjacency_capacity = adjacency_capacity;
  return Cut<MetisJobOutput, MetisJobHeader, int32_t>(header, file.data());
}

absl::StatusOr<MetisJobInput> ViewMetisJob(const MappedFile& file) {
  const auto bytes = file.bytes();
  const absl::Status broken = absl::DataLossError(absl::StrCat(file.path(), ": not a METIS job"));
  if (bytes.size() < sizeof(MetisJobHeader)) return broken;
  const auto* const header = reinterpret_cast<const MetisJobHeader*>(bytes.data());
  if (header->magic != kMagic || header->num_nodes < 0 || header->num_constraints < 1 ||
      header->num_constraints > kMaxMetisConstraints || header->adjacency_capacity < 0 ||
      header->adjacency_capacity > INT32_MAX ||
      MetisJobBytes(header->num_nodes, header->num_constraints, header->adjacency_capacity) !=
          static_cast<int64_t>(bytes.size())) {
    return broken;
  }
  const MetisJobInput view =
      Cut<MetisJobInput, const MetisJobHeader, const int32_t>(header, bytes.data());
  if (view.offsets.back() > header->adjacency_capacity) return broken;
  return view;
}

std::string MetisResultPath(const std::string& job_path) { return job_path + ".parts"; }

absl::Status RunMetisJob(const std::string& job_path) {
  VICINITY_ASSIGN_OR_RETURN(const std::unique_ptr<MappedFile> file, MappedFile::Open(job_path));
  VICINITY_ASSIGN_OR_RETURN(const MetisJobInput job, ViewMetisJob(*file));
  VICINITY_ASSIGN_OR_RETURN(
      const std::unique_ptr<MappedOutput> result,
      MappedOutput::Create(MetisResultPath(job_path),
                           static_cast<int64_t>(sizeof(int32_t)) * (job.header->num_nodes + 1)));
  auto* const numbers = reinterpret_cast<int32_t*>(result->bytes().data());

  std::array<idx_t, METIS_NOPTIONS> options;
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = job.header->seed;
  idx_t num_nodes = job.header->num_nodes;
  idx_t num_constraints = job.header->num_constraints;
  idx_t num_parts = job.header->num_parts;
  std::array<real_t, kMaxMetisConstraints> tolerance = job.header->tolerance;
  // METIS' declarations lack const; the graph is only read.
  const int code = METIS_PartGraphKway(
      &num_nodes, &num_constraints, const_cast<idx_t*>(job.offsets.data()),
      const_cast<idx_t*>(job.adjacency.data()), const_cast<idx_t*>(job.weights.data()),
      /*vsize=*/nullptr, /*adjwgt=*/nullptr, &num_parts, /*tpwgts=*/nullptr, tolerance.data(),
      options.data(), numbers, numbers + 1);
  return ToStatus(code, *job.header);
}

}  // namespace vicinity
