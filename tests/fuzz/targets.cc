#include "tests/fuzz/targets.h"

#include "tests/fuzz/bulk_targets.h"
#include "tests/fuzz/command_targets.h"
#include "tests/fuzz/dataset_targets.h"
#include "tests/fuzz/ingest_targets.h"
#include "tests/fuzz/security_targets.h"
#include "tests/fuzz/wire_targets.h"

namespace vicinity::fuzz {
namespace {

constexpr NamedTarget kTargets[] = {
    // What users import.
    {"npy", FuzzNpy},
    {"npz", FuzzNpz},
    {"text_table", FuzzTextTable},
    {"import", FuzzImport},
    // What a dataset is made of, and who serves it.
    {"manifest", FuzzManifest},
    {"shard_file", FuzzShardFile},
    {"ranking", FuzzRanking},
    {"description", FuzzDescription},
    {"assignment", FuzzAssignment},
    {"cluster_file", FuzzClusterFile},
    // Who may call, and how they prove it.
    {"access_file", FuzzAccessFile},
    {"token", FuzzToken},
    {"certificates", FuzzCertificates},
    // What comes over the network.
    {"message", FuzzMessage},
    {"rows_reply", FuzzRowsReply},
    {"found_reply", FuzzFoundReply},
    {"sample_reply", FuzzSampleReply},
    {"retry_delay", FuzzRetryDelay},
    {"traceparent", FuzzTraceparent},
    {"traces", FuzzTraces},
    {"bulk_frames", FuzzBulkFrames},
    // How a server is started, and where it is.
    {"server_flags", FuzzServerFlags},
    {"address", FuzzAddress},
};

}  // namespace

absl::Span<const NamedTarget> AllTargets() { return kTargets; }

}  // namespace vicinity::fuzz
