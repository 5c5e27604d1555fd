#include "client/cli/commands.h"

#include "client/cli/commands/admin_command.h"
#include "client/cli/commands/certificate_command.h"
#include "client/cli/commands/describe_command.h"
#include "client/cli/commands/generate_command.h"
#include "client/cli/commands/graph/backup_command.h"
#include "client/cli/commands/graph/check_command.h"
#include "client/cli/commands/graph/fold_command.h"
#include "client/cli/commands/graph/get_command.h"
#include "client/cli/commands/graph/query_command.h"
#include "client/cli/commands/graph/sample_command.h"
#include "client/cli/commands/graph/versions_command.h"
#include "client/cli/commands/graph/walk_command.h"
#include "client/cli/commands/graph/watch_command.h"
#include "client/cli/commands/graph/write_command.h"
#include "client/cli/commands/health_command.h"
#include "client/cli/commands/import_command.h"
#include "client/cli/commands/index_command.h"
#include "client/cli/commands/live/promote_command.h"
#include "client/cli/commands/live/rebuild_command.h"
#include "client/cli/commands/live/swap_command.h"
#include "client/cli/commands/metis_child_command.h"
#include "client/cli/commands/operate/config_command.h"
#include "client/cli/commands/operate/context_command.h"
#include "client/cli/commands/operate/debug_command.h"
#include "client/cli/commands/operate/doctor_command.h"
#include "client/cli/commands/operate/logs_command.h"
#include "client/cli/commands/operate/rollout_command.h"
#include "client/cli/commands/operate/why_command.h"
#include "client/cli/commands/partition_command.h"
#include "client/cli/commands/plan_command.h"
#include "client/cli/commands/policies_command.h"
#include "client/cli/commands/rank_command.h"
#include "client/cli/commands/repair_command.h"
#include "client/cli/commands/shards_command.h"
#include "client/cli/commands/status_command.h"
#include "client/cli/commands/token_command.h"
#include "client/cli/commands/top_command.h"
#include "client/cli/commands/trace/trace_command.h"
#include "client/cli/commands/verify_command.h"

namespace vicinity::cli {
namespace {

constexpr Command kCommands[] = {
    kImportCommand,  kGenerateCommand, kPartitionCommand,   kRankCommand,       kIndexCommand,
    kFoldCommand,    kPlanCommand,     kPoliciesCommand,    kVerifyCommand,     kRepairCommand,
    kStatusCommand,  kShardsCommand,   kHealthCommand,      kTopCommand,        kAdminCommand,
    kCheckCommand,   kConfigCommand,   kDebugCommand,       kDoctorCommand,     kRolloutCommand,
    kContextCommand, kTokenCommand,    kCertificateCommand, kDescribeCommand,   kGetCommand,
    kSampleCommand,  kWalkCommand,     kQueryCommand,       kWriteCommand,      kVersionsCommand,
    kWatchCommand,   kPromoteCommand,  kRebuildCommand,     kSwapCommand,       kBackupCommand,
    kLogsCommand,    kWhyCommand,      kTraceCommand,       kMetisChildCommand,
};

}  // namespace

absl::Span<const Command> AllCommands() { return kCommands; }

}  // namespace vicinity::cli
