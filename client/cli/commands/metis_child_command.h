// `vicinity metis-child JOB`: what `vicinity partition` runs METIS in. Not for people.
#pragma once

#include "client/cli/commands/command.h"
#include "partition/cut/metis_assigner.h"

namespace vicinity::cli {

Action DeclareMetisChild(CLI::App* app);

inline constexpr Command kMetisChildCommand = {
    ::vicinity::kMetisChildCommand, "run METIS on a prepared job", "vicinity metis-child JOB",
    &DeclareMetisChild, /*hidden=*/true};

}  // namespace vicinity::cli
