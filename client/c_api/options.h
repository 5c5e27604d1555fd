// The options of graphs, loaders and writers from JSON, as client/c_api/vicinity.h describes them.
#pragma once

#include "client/options/ppr_options.h"
#include "client/options/sample_options.h"
#include "client/options/walk_options.h"
#include "client/types/graph_values.h"
#include "client/types/loader_values.h"
#include "client/types/result.h"
#include "client/types/write_values.h"
#include "partition/schema/schema.h"

namespace vicinity::c_api {

// kInvalidArgument naming the field that is wrong, or the fields there are.
Result<GraphOptions> ParseGraphOptions(const char* json);

// Likewise. Whether names and numbers fit the graph is Loader::Create's to say; `schema` tells how
// many edge types a fanout is for.
Result<LoaderOptions> ParseLoaderOptions(const Schema& schema, const char* json);

// Likewise, of vicinity_loader_create_for_query: there are no fanouts.
Result<LoaderOptions> ParseQueryLoaderOptions(const Schema& schema, const char* json);

// Likewise, of vicinity_graph_sample.
Result<SampleOptions> ParseSampleOptions(const Schema& schema, const char* json);

// Likewise, of vicinity_graph_walk.
Result<WalkOptions> ParseWalkOptions(const char* json);

// Likewise, of vicinity_graph_top_visited. kNotFound for a node type that the schema lacks.
Result<VisitOptions> ParseVisitOptions(const Schema& schema, const char* json);

// Likewise, of vicinity_graph_ppr.
Result<PprOptions> ParsePprOptions(const Schema& schema, const char* json);

// Likewise, of vicinity_writer_create.
Result<WriterOptions> ParseWriterOptions(const char* json);

// "train", "validation", "test", or "" for kNone; kInvalidArgument for another word.
Result<Split> ParseSplit(const char* word);

}  // namespace vicinity::c_api
