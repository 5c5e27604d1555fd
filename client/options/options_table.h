// The options of graphs, loaders, writers and of what else is asked of graphs, each once: its name,
// where its value lies, what it means. From this table follow the C interface and through it
// Python's keywords, the flags of the example trainer, and docs/options.md. Types and defaults are
// those of the members themselves.
//
// A new option is a member of client/types/graph_values.h, loader_values.h or write_values.h, a row
// here, and the code that heeds it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "client/options/ppr_options.h"
#include "client/options/sample_options.h"
#include "client/options/walk_options.h"
#include "client/options/words.h"
#include "client/types/graph_values.h"
#include "client/types/loader_values.h"
#include "client/types/write_values.h"

namespace vicinity {

struct Option;

// A number of bytes: in flags also as "512MB".
struct Bytes {
  int64_t* value;
};

// Of a file or folder.
struct FilePath {
  std::string* value;
};

// How many neighbours to draw: one number a hop, or in each hop one number an edge type.
struct Fanouts {
  std::vector<std::vector<int64_t>>* value;
};

// A value that is one of a few words.
class Choice {
 public:
  template <typename Enum>
  explicit Choice(Enum* value) : value_(reinterpret_cast<uint8_t*>(value)) {
    static_assert(sizeof(Enum) == 1 && !kWords<Enum>.empty());
    for (const Word<Enum>& each : kWords<Enum>) {
      words_.emplace_back(each.word);
      values_.push_back(static_cast<uint8_t>(each.value));
    }
  }

  const std::vector<std::string>& words() const { return words_; }
  // Which of the words it is.
  size_t Get() const;
  void Set(size_t word) { *value_ = values_[word]; }
  const void* address() const { return value_; }

 private:
  uint8_t* value_;
  std::vector<std::string> words_;
  std::vector<uint8_t> values_;
};

// Options that are given together, as one object.
struct OptionGroup {
  std::vector<Option> options;
};

// Where the value of an option lies, by its type.
using OptionField =
    std::variant<bool*, int32_t*, int64_t*, uint64_t*, double*, Bytes, std::chrono::milliseconds*,
                 std::string*, FilePath, std::vector<int32_t>*, std::vector<std::vector<int32_t>>*,
                 Choice, Fanouts, std::vector<LoaderOptions::ColumnRequest>*,
                 std::vector<LoaderOptions::EdgeColumnRequest>*, OptionGroup>;

// The option's flag of the example trainer, "--batch-size"; empty: it has none.
struct Flag {
  std::string name{};
};

// Below it a number is wrong.
struct Least {
  int64_t value = kNone;
  static constexpr int64_t kNone = INT64_MIN;
};

struct Option {
  Option(std::string its_name, OptionField its_field, std::string its_doc, Flag its_flag = {},
         Least its_least = {});
  Option(std::string its_name, OptionField its_field, std::string its_doc, Least its_least);

  std::string name;
  OptionField field;
  std::string doc;  // a sentence without its full stop, units included
  std::string flag;
  int64_t least;
};

// The tables, bound to these options.
//
// Lifetime: the fields point into `options`, which must outlive them.
std::vector<Option> OptionsOf(GraphOptions* options);
std::vector<Option> OptionsOf(LoaderOptions* options);
std::vector<Option> OptionsOf(SampleOptions* options);
std::vector<Option> OptionsOf(WalkOptions* options);
std::vector<Option> OptionsOf(VisitOptions* options);
std::vector<Option> OptionsOf(PprOptions* options);
std::vector<Option> OptionsOf(WriterOptions* options);

}  // namespace vicinity
