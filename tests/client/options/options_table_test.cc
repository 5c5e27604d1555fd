#include "client/options/options_table.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace vicinity {
namespace {

// Where a member lies in its struct.
struct Place {
  size_t offset;
  size_t size;
  std::string name;
};

class Places {
 public:
  explicit Places(const void* start) : start_(static_cast<const char*>(start)) {}

  void Add(const std::vector<Option>& options) {
    for (const Option& option : options) {
      name_ = option.name;
      std::visit(*this, option.field);
    }
  }
  template <typename Value>
  void operator()(const Value* value) {
    Add(value, sizeof(Value));
  }
  void operator()(const Bytes& bytes) { (*this)(bytes.value); }
  void operator()(const FilePath& path) { (*this)(path.value); }
  void operator()(const Fanouts& fanouts) { (*this)(fanouts.value); }
  void operator()(const Choice& choice) { Add(choice.address(), 1); }
  void operator()(const OptionGroup& group) { Add(group.options); }

  std::vector<Place> Sorted() && {
    std::sort(places_.begin(), places_.end(),
              [](const Place& a, const Place& b) { return a.offset < b.offset; });
    return std::move(places_);
  }

 private:
  void Add(const void* value, size_t size) {
    const size_t offset = static_cast<const char*>(value) - start_;
    places_.push_back({offset, size, name_});
  }

  const char* const start_;
  std::string name_;
  std::vector<Place> places_;
};

// A member without a row leaves a hole, unless it is so small that padding hides it. `others` are
// members that are for C++ alone.
template <typename Options, typename... Members>
void CheckNoHoles(Members Options::*... others) {
  Options options;
  Places places(&options);
  places.Add(OptionsOf(&options));
  (places(&(options.*others)), ...);
  size_t end = 0;
  for (const Place& place : std::move(places).Sorted()) {
    INFO("before " << place.name);
    CHECK(place.offset - end < alignof(Options));
    end = place.offset + place.size;
  }
  CHECK(sizeof(Options) - end < alignof(Options));
}

void CheckRows(const std::vector<Option>& options) {
  std::set<std::string> names;
  for (const Option& option : options) {
    INFO(option.name);
    CHECK(names.insert(option.name).second);
    CHECK(!option.doc.empty());
    CHECK(option.doc.back() != '.');
    CHECK((option.flag.empty() || option.flag.rfind("--", 0) == 0));
    if (const auto* group = std::get_if<OptionGroup>(&option.field)) CheckRows(group->options);
  }
}

TEST_CASE("no member of the options is missing in the table", "[options_table]") {
  CheckNoHoles<GraphOptions>();
  CheckNoHoles(&LoaderOptions::seeds, &LoaderOptions::seed_times, &LoaderOptions::negative_weights);
  CheckNoHoles<SampleOptions>();
  CheckNoHoles<WriterOptions>();
}

TEST_CASE("rows have names of their own and say what they are", "[options_table]") {
  GraphOptions graph;
  CheckRows(OptionsOf(&graph));
  LoaderOptions loader;
  CheckRows(OptionsOf(&loader));
  SampleOptions sample;
  CheckRows(OptionsOf(&sample));
  WalkOptions walk;
  CheckRows(OptionsOf(&walk));
  VisitOptions visits;
  CheckRows(OptionsOf(&visits));
  PprOptions ppr;
  CheckRows(OptionsOf(&ppr));
  WriterOptions writer;
  CheckRows(OptionsOf(&writer));
}

TEST_CASE("a choice is read and set by its words", "[options_table]") {
  CachePolicy policy = CachePolicy::kVip;
  Choice choice(&policy);
  CHECK(choice.words() == std::vector<std::string>{"none", "vip", "auto"});
  CHECK(choice.Get() == 1);
  choice.Set(2);
  CHECK(policy == CachePolicy::kAuto);
}

}  // namespace
}  // namespace vicinity
