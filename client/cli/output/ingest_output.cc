#include "client/cli/output/ingest_output.h"

#include <nlohmann/json.hpp>

#include "proto/common/human_text.h"

namespace vicinity::cli {
namespace {

void PrintTables(const IngestReport& report, std::ostream& out) {
  using Align = Table::Align;
  Table nodes({{"nodes"},
               {"count", Align::kRight},
               {"isolated", Align::kRight},
               {"classes", Align::kRight},
               {"labelled", Align::kRight},
               {"train", Align::kRight},
               {"validation", Align::kRight},
               {"test", Align::kRight}});
  for (const IngestReport::Nodes& type : report.nodes) {
    nodes.AddRow({type.name, HumanCount(type.count), HumanCount(type.isolated),
                  HumanCount(type.num_classes), HumanCount(type.labelled), HumanCount(type.train),
                  HumanCount(type.validation), HumanCount(type.test)});
  }
  nodes.Print(out);
  out << '\n';
  Table edges({{"edges"},
               {"read", Align::kRight},
               {"reversed", Align::kRight},
               {"self-loops dropped", Align::kRight},
               {"duplicates dropped", Align::kRight},
               {"stored", Align::kRight},
               {"max in-degree", Align::kRight}});
  for (const IngestReport::Edges& type : report.edges) {
    edges.AddRow({type.name, HumanCount(type.read), HumanCount(type.reversed),
                  HumanCount(type.self_loops_dropped), HumanCount(type.duplicates_dropped),
                  HumanCount(type.stored), HumanCount(type.max_degree)});
  }
  edges.Print(out);
}

nlohmann::ordered_json ToJson(const IngestReport& report, const std::string& directory) {
  nlohmann::ordered_json json;
  json["directory"] = directory;
  json["nodes"] = nlohmann::ordered_json::array();
  for (const IngestReport::Nodes& type : report.nodes) {
    json["nodes"].push_back({{"name", type.name},
                             {"count", type.count},
                             {"isolated", type.isolated},
                             {"num_classes", type.num_classes},
                             {"labelled", type.labelled},
                             {"train", type.train},
                             {"validation", type.validation},
                             {"test", type.test}});
  }
  json["edges"] = nlohmann::ordered_json::array();
  for (const IngestReport::Edges& type : report.edges) {
    json["edges"].push_back({{"name", type.name},
                             {"read", type.read},
                             {"reversed", type.reversed},
                             {"self_loops_dropped", type.self_loops_dropped},
                             {"duplicates_dropped", type.duplicates_dropped},
                             {"stored", type.stored},
                             {"max_degree", type.max_degree}});
  }
  return json;
}

}  // namespace

void PrintIngest(const IngestReport& report, const std::string& directory, OutputFormat format,
                 std::ostream& out) {
  if (format == OutputFormat::kJson) {
    PrintJson(ToJson(report, directory), out);
  } else {
    PrintTables(report, out);
  }
}

}  // namespace vicinity::cli
