#include "client/cli/commands.h"

#include "client/cli/admin_command.h"
#include "client/cli/certificate_command.h"
#include "client/cli/describe_command.h"
#include "client/cli/generate_command.h"
#include "client/cli/get_command.h"
#include "client/cli/health_command.h"
#include "client/cli/import_command.h"
#include "client/cli/metis_child_command.h"
#include "client/cli/partition_command.h"
#include "client/cli/plan_command.h"
#include "client/cli/policies_command.h"
#include "client/cli/rank_command.h"
#include "client/cli/repair_command.h"
#include "client/cli/sample_command.h"
#include "client/cli/shards_command.h"
#include "client/cli/status_command.h"
#include "client/cli/token_command.h"
#include "client/cli/top_command.h"
#include "client/cli/verify_command.h"

namespace vicinity::cli {
namespace {

constexpr Command kCommands[] = {
    kImportCommand,   kGenerateCommand, kPartitionCommand, kRankCommand,       kPlanCommand,
    kPoliciesCommand, kVerifyCommand,   kRepairCommand,    kStatusCommand,     kShardsCommand,
    kHealthCommand,   kTopCommand,      kAdminCommand,     kTokenCommand,      kCertificateCommand,
    kDescribeCommand, kGetCommand,      kSampleCommand,    kMetisChildCommand,
};

}  // namespace

absl::Span<const Command> AllCommands() { return kCommands; }

}  // namespace vicinity::cli
