// How programs show their flags: in words of their own, without the marks of the library that
// parses them.
#pragma once

namespace CLI {
class App;
}

namespace vicinity {

// Of `app` and of subcommands that are added to it later: a flag is shown with the form of its
// value and its default, "--last N=100", or as required.
void SetHelp(CLI::App* app);

}  // namespace vicinity
