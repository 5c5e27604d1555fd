#include "client/why/metric_samples.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace vicinity {
namespace {

constexpr size_t kQuoted = 80;  // of a line that is wrong

bool IsNameByte(char c) { return absl::ascii_isalnum(c) || c == '_' || c == ':'; }

absl::string_view TakeName(absl::string_view* line) {
  const auto end = std::find_if_not(line->begin(), line->end(), IsNameByte);
  const absl::string_view name = line->substr(0, static_cast<size_t>(end - line->begin()));
  line->remove_prefix(name.size());
  return name;
}

// Behind the opening quote: the value, whose closing quote is taken too.
bool TakeValue(absl::string_view* line, std::string* value) {
  while (!line->empty()) {
    const char c = line->front();
    line->remove_prefix(1);
    if (c == '"') return true;
    if (c != '\\') {
      value->push_back(c);
      continue;
    }
    if (line->empty()) return false;
    value->push_back(line->front() == 'n' ? '\n' : line->front());
    line->remove_prefix(1);
  }
  return false;
}

bool TakeLabels(absl::string_view* line, std::map<std::string, std::string>* labels) {
  if (!absl::ConsumePrefix(line, "{")) return true;
  while (!absl::ConsumePrefix(line, "}")) {
    const std::string name(TakeName(line));
    std::string value;
    if (name.empty() || !absl::ConsumePrefix(line, "=\"") || !TakeValue(line, &value)) return false;
    labels->emplace(name, std::move(value));
    absl::ConsumePrefix(line, ",");
    *line = absl::StripLeadingAsciiWhitespace(*line);
  }
  return true;
}

bool ParseValue(absl::string_view text, double* value) {
  if (text == "+Inf" || text == "-Inf" || text == "Nan" || text == "NaN") {
    *value = text[0] == 'N' ? std::numeric_limits<double>::quiet_NaN()
                            : std::numeric_limits<double>::infinity() * (text[0] == '-' ? -1 : 1);
    return true;
  }
  return absl::SimpleAtod(text, value);
}

bool ParseLine(absl::string_view line, MetricSample* sample) {
  sample->name = std::string(TakeName(&line));
  if (sample->name.empty() || !TakeLabels(&line, &sample->labels)) return false;
  // A time may stand behind the value.
  const std::vector<absl::string_view> rest = absl::StrSplit(line, ' ', absl::SkipEmpty());
  return !rest.empty() && rest.size() <= 2 && ParseValue(rest[0], &sample->value);
}

}  // namespace

const std::string& MetricSample::Label(const std::string& label) const {
  static const std::string& none = *new std::string();
  const auto found = labels.find(label);
  return found == labels.end() ? none : found->second;
}

absl::StatusOr<MetricSamples> ParseMetrics(absl::string_view text) {
  MetricSamples samples;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    MetricSample sample;
    if (!ParseLine(line, &sample)) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, " is no metric of Prometheus: ", line.substr(0, kQuoted)));
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

double SumOf(const MetricSamples& samples, absl::string_view name,
             const std::map<std::string, std::string>& labels) {
  double sum = 0;
  for (const MetricSample& sample : samples) {
    if (sample.name != name) continue;
    const bool has_all = std::all_of(labels.begin(), labels.end(), [&sample](const auto& label) {
      return sample.Label(label.first) == label.second;
    });
    if (has_all) sum += sample.value;
  }
  return sum;
}

}  // namespace vicinity
