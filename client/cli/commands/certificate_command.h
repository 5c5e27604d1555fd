// `vicinity certificate`: an authority of one's own, and the certificates of servers and clients.
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareCertificate(CLI::App* app);

inline constexpr Command kCertificateCommand = {
    "certificate", "make a CA; issue, renew, revoke and list certificates of servers and clients",
    "vicinity certificate ca\n"
    "vicinity certificate server node1.example\n"
    "vicinity certificate client trainer\n"
    "vicinity certificate renew --all\n"
    "vicinity certificate revoke trainer\n"
    "vicinity certificate list",
    &DeclareCertificate};

}  // namespace vicinity::cli
