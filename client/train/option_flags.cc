#include "client/train/option_flags.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdint>
#include <string>
#include <variant>

#include "client/types/loader_values.h"
#include "proto/common/human_text.h"

namespace vicinity {
namespace {

// "0,2/1,3": shards by trainer.
std::vector<std::vector<int32_t>> ParseLists(const std::string& flag, const std::string& text) {
  std::vector<std::vector<int32_t>> lists;
  for (const std::string& list : CLI::detail::split(text, '/')) {
    std::vector<int32_t>& numbers = lists.emplace_back();
    for (const std::string& number : CLI::detail::split(list, ',')) {
      if (!CLI::detail::lexical_cast(number, numbers.emplace_back()) || numbers.back() < 0) {
        throw CLI::ValidationError(flag, "'" + number + "' is no number from 0, in " + text);
      }
    }
  }
  return lists;
}

// Declares the flag of an option, by its type: what std::visit calls.
struct FlagAdder {
  const Option& option;
  CLI::App* app;

  template <typename Value>
  CLI::Option* operator()(Value* value) const {
    return app->add_option(option.flag, *value, option.doc)->capture_default_str();
  }
  CLI::Option* operator()(bool* value) const {
    return app->add_flag(option.flag, *value, option.doc);
  }
  CLI::Option* operator()(const Bytes& bytes) const {
    return app->add_option(option.flag, *bytes.value, option.doc + ", as 512MB")
        ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
        ->default_str(HumanBytes(*bytes.value));
  }
  CLI::Option* operator()(const FilePath& path) const { return (*this)(path.value); }
  CLI::Option* operator()(std::chrono::milliseconds* time) const {
    return app
        ->add_option_function<int64_t>(
            option.flag, [time](int64_t given) { *time = std::chrono::milliseconds(given); },
            option.doc)
        ->default_str(std::to_string(time->count()));
  }
  CLI::Option* operator()(std::vector<int32_t>* numbers) const {
    return app->add_option(option.flag, *numbers, option.doc)->delimiter(',');
  }
  CLI::Option* operator()(std::vector<std::vector<int32_t>>* lists) const {
    return app->add_option_function<std::string>(
        option.flag,
        [lists, flag = option.flag](const std::string& text) { *lists = ParseLists(flag, text); },
        option.doc + "; as 0,2/1,3");
  }
  CLI::Option* operator()(const Choice& choice) const {
    const auto set = [choice](const std::string& word) {
      Choice chosen = choice;
      const auto found = std::find(chosen.words().begin(), chosen.words().end(), word);
      chosen.Set(found - chosen.words().begin());
    };
    return app->add_option_function<std::string>(option.flag, set, option.doc)
        ->check(CLI::IsMember(choice.words()))
        ->default_str(choice.words()[choice.Get()]);
  }
  // Of these the trainer has flags of its own, or none.
  CLI::Option* operator()(const Fanouts&) const { return nullptr; }
  CLI::Option* operator()(std::vector<LoaderOptions::ColumnRequest>*) const { return nullptr; }
  CLI::Option* operator()(std::vector<LoaderOptions::EdgeColumnRequest>*) const { return nullptr; }
  CLI::Option* operator()(const OptionGroup&) const { return nullptr; }
};

}  // namespace

void AddOptionFlags(const std::vector<Option>& options, CLI::App* app) {
  for (const Option& option : options) {
    if (option.flag.empty()) continue;
    CLI::Option* const flag = std::visit(FlagAdder{option, app}, option.field);
    assert(flag != nullptr);
    if (option.least == 0) flag->check(CLI::NonNegativeNumber);
    if (option.least == 1) flag->check(CLI::PositiveNumber);
    assert(option.least == Least::kNone || option.least == 0 || option.least == 1);
  }
}

}  // namespace vicinity
