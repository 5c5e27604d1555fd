// What a loader of a query's answers has in the place of what minibatches are told by options: the
// query says what is drawn and which columns come.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/loading/batch_rows.h"
#include "client/query/query_steps.h"
#include "client/query/seed_input.h"
#include "client/shards/shard_router.h"
#include "client/types/loader_values.h"
#include "partition/schema/schema.h"

namespace vicinity {

// As CheckLoaderOptions. InvalidArgument, too, for options that are of minibatches alone: they must
// be as they are by themselves.
absl::Status CheckQueryLoaderOptions(const ShardRouter& router, const LoaderOptions& options);

// Which inputs take a batch's seeds, in the order of its lists of them: of nodes the only one, of
// links that of their sources and that of their targets. InvalidArgument for a query with more or
// fewer, and for seeds of another type; NotFound for links of no edge type.
absl::StatusOr<std::vector<SeedInput>> InputsOfSeeds(const Schema& schema,
                                                     absl::Span<const ResolvedStep> steps,
                                                     const LoaderOptions& given);

// As given, with the seeds' type and the columns that the steps bring, each once. `inputs` are
// those of its seeds.
LoaderOptions OptionsOfQuery(const Schema& schema, absl::Span<const ResolvedStep> steps,
                             absl::Span<const SeedInput> inputs, const LoaderOptions& given);

// Of each step, in their order, the columns that it brings of its nodes: list i of a batch is of
// step i. Those of the same column have one pool, which is `made`'s: the plans of these options'
// columns.
std::vector<ColumnPlan> ColumnsOfSteps(absl::Span<const ResolvedStep> steps,
                                       absl::Span<const ColumnPlan> made);

// What LoaderStats::ranked_by says behind the name of a ranking that was made for minibatches;
// empty: of one that was not, and of a name that no ranking has.
std::string MadeForMinibatches(const ShardRouter& router, const std::string& ranking);

}  // namespace vicinity
