#include "client/options/python_options.h"

#include <cctype>
#include <chrono>
#include <cstdint>
#include <variant>
#include <vector>

#include "client/options/options_table.h"

namespace vicinity {
namespace {

constexpr char kOpening[] =
    R"("""The types of the options that Graph, Loader, Writer and methods of Graph take as keywords.

Made by `bazel run //client/options:python_options_main` of client/options/options_table.cc; a test
compares them. Defaults and meanings are in their help() and in docs/options.md.
"""

import os
from typing import Literal, Sequence, Tuple, TypedDict, Union

FilePath = Union[str, "os.PathLike[str]"]
Fanouts = Sequence[Union[int, Sequence[int]]]
)";

// "device" -> "Device"
std::string ClassOf(const std::string& group) {
  std::string name = group;
  name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return name;
}

struct ToPython {
  const std::string& name;

  std::string operator()(const bool*) const { return "bool"; }
  std::string operator()(const int32_t*) const { return "int"; }
  std::string operator()(const int64_t*) const { return "int"; }
  std::string operator()(const uint64_t*) const { return "int"; }
  std::string operator()(const double*) const { return "float"; }
  std::string operator()(const Bytes&) const { return "int"; }
  std::string operator()(const std::chrono::milliseconds*) const { return "int"; }
  std::string operator()(const std::string*) const { return "str"; }
  std::string operator()(const FilePath&) const { return "FilePath"; }
  std::string operator()(const std::vector<int32_t>*) const { return "Sequence[int]"; }
  std::string operator()(const std::vector<std::vector<int32_t>>*) const {
    return "Sequence[Sequence[int]]";
  }
  std::string operator()(const Choice& choice) const {
    std::string words;
    for (const std::string& word : choice.words()) {
      words += (words.empty() ? "\"" : ", \"") + word + '"';
    }
    return "Literal[" + words + ']';
  }
  std::string operator()(const Fanouts&) const { return "Fanouts"; }
  std::string operator()(const std::vector<LoaderOptions::ColumnRequest>*) const {
    return "Sequence[Tuple[str, str]]";
  }
  std::string operator()(const std::vector<LoaderOptions::EdgeColumnRequest>*) const {
    return "Sequence[Tuple[str, str]]";
  }
  std::string operator()(const OptionGroup&) const { return ClassOf(name); }
};

// After the classes of its groups, which its fields name.
void AddClass(const std::string& name, const std::vector<Option>& options, std::string* text) {
  for (const Option& option : options) {
    const auto* const group = std::get_if<OptionGroup>(&option.field);
    if (group != nullptr) AddClass(ClassOf(option.name), group->options, text);
  }
  *text += "\n\nclass " + name + "(TypedDict, total=False):\n";
  for (const Option& option : options) {
    if (std::holds_alternative<Fanouts>(option.field)) continue;  // an argument, no keyword
    *text += "    " + option.name + ": " + std::visit(ToPython{option.name}, option.field) + '\n';
  }
}

}  // namespace

std::string PythonOptions() {
  GraphOptions graph;
  LoaderOptions loader;
  SampleOptions sample;
  WalkOptions walk;
  VisitOptions visits;
  PprOptions ppr;
  WriterOptions writer;
  std::string text = kOpening;
  AddClass("GraphOptions", OptionsOf(&graph), &text);
  AddClass("LoaderOptions", OptionsOf(&loader), &text);
  AddClass("SampleOptions", OptionsOf(&sample), &text);
  AddClass("WalkOptions", OptionsOf(&walk), &text);
  AddClass("VisitOptions", OptionsOf(&visits), &text);
  AddClass("PprOptions", OptionsOf(&ppr), &text);
  AddClass("WriterOptions", OptionsOf(&writer), &text);
  return text;
}

}  // namespace vicinity
