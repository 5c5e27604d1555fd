#include "proto/command_line/help.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace vicinity {
namespace {

class Formatter final : public CLI::Formatter {
 public:
  Formatter() {
    label("INT", "N");
    label("UINT", "N");
    label("FLOAT", "NUMBER");
  }

  // CLI11's own also lists which other flags go with one, and how often it may be given.
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return "";
    const std::string type = option->get_type_name();
    const std::string standard = option->get_default_str();
    return absl::StrCat(type.empty() ? "" : " ", type.empty() ? "" : get_label(type),
                        standard.empty() || standard == "[]" ? "" : "=",
                        standard == "[]" ? "" : standard,
                        option->get_required() ? " (required)" : "");
  }
};

}  // namespace

void SetHelp(CLI::App* app) {
  app->formatter(std::make_shared<Formatter>());
  app->set_help_flag("-h,--help", "show this and do nothing else");
}

}  // namespace vicinity
