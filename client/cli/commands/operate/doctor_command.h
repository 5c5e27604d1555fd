// `vicinity doctor`: would a server run well on this machine?
#pragma once

#include "client/cli/commands/command.h"

namespace vicinity::cli {

Action DeclareDoctor(CLI::App* app);

inline constexpr Command kDoctorCommand = {
    "doctor", "look whether this machine is fit for a server, and say what to change",
    "vicinity doctor\nvicinity doctor --cluster cluster.textproto --name a", &DeclareDoctor};

}  // namespace vicinity::cli
