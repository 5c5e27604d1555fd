#include "client/options/options_page.h"

#include <variant>
#include <vector>

#include "client/options/option_json.h"
#include "client/options/options_table.h"
#include "proto/common/human_text.h"

namespace vicinity {
namespace {

constexpr char kOpening[] =
    R"(# Options of graphs, loaders, samples, walks and writers

Made by `bazel run //client/options:options_page_main` of the table `client/options/options_table.cc`; a test
compares them. The names are those of Python's keywords and of the JSON that `client/c_api/vicinity.h` takes
(`vicinity_options_describe` gives this table as JSON, `help(vicinity_graph.Loader)` as text). In C++ they are the fields of
`GraphOptions` (`client/types/graph_values.h`), `LoaderOptions` (`client/types/loader_values.h`) and `WriterOptions`
(`client/types/write_values.h`), whose comments say more; times have no `_ms` there, and what is of sampling is in
`LoaderOptions::sampling`. Python takes `columns` and `edge_columns` as pairs. Seeds that are listed (`LoaderOptions::seeds`) and weights of negatives
(`LoaderOptions::negative_weights`) are no options but passed beside them, in C to
`vicinity_loader_create_with_weights`. An option with a flag is one of `vicinity_train`, too.
)";

constexpr char kHead[] =
    R"(
| option | type | default | what it is | flag |
|---|---|---|---|---|
)";

std::string DefaultText(const OptionField& field) {
  if (std::holds_alternative<OptionGroup>(field)) return "";
  const std::string json = '`' + ValueOf(field).dump() + '`';
  const auto* const bytes = std::get_if<Bytes>(&field);
  if (bytes == nullptr || *bytes->value == 0) return json;
  return json + " (" + HumanBytes(*bytes->value) + ')';
}

std::string TypeText(const Option& option) {
  std::string text = TypeOf(option.field);
  if (option.least != Least::kNone) text += ", at least " + std::to_string(option.least);
  return text;
}

// Of a group first what it is, then its options as `group.name`.
void AddRows(const std::string& prefix, const std::vector<Option>& options, std::string* page) {
  for (const Option& option : options) {
    const std::string name = prefix + option.name;
    *page += "| `" + name + "` | " + TypeText(option) + " | " + DefaultText(option.field) + " | " +
             option.doc + " | " + (option.flag.empty() ? "" : '`' + option.flag + '`') + " |\n";
    if (const auto* group = std::get_if<OptionGroup>(&option.field)) {
      AddRows(name + '.', group->options, page);
    }
  }
}

}  // namespace

std::string OptionsPage() {
  GraphOptions graph;
  LoaderOptions loader;
  SampleOptions sample;
  WalkOptions walk;
  VisitOptions visits;
  PprOptions ppr;
  WriterOptions writer;
  std::string page = kOpening;
  page += "\n## Graphs\n";
  page += kHead;
  AddRows("", OptionsOf(&graph), &page);
  page += "\n## Loaders\n";
  page += kHead;
  AddRows("", OptionsOf(&loader), &page);
  page += "\n## Samples\n";
  page += kHead;
  AddRows("", OptionsOf(&sample), &page);
  page += "\n## Walks\n";
  page += kHead;
  AddRows("", OptionsOf(&walk), &page);
  page += "\n## Most visited nodes\n";
  page += kHead;
  AddRows("", OptionsOf(&visits), &page);
  page += "\n## Personalised PageRank\n";
  page += kHead;
  AddRows("", OptionsOf(&ppr), &page);
  page += "\n## Writers\n";
  page += kHead;
  AddRows("", OptionsOf(&writer), &page);
  return page;
}

}  // namespace vicinity
