#include "client/cli/commands/trace/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "client/cli/commands/trace/otlp_reader.h"

namespace vicinity::cli {
namespace {

// Of text.
constexpr size_t kLabelColumns = 44;
constexpr int kBarColumns = 40;
// Of pictures, in pixels.
constexpr double kWidth = 1200;
constexpr double kBarLeft = 420;
constexpr double kBarWidth = 680;
constexpr double kRow = 18;
constexpr double kHead = 44;

// Okabe and Ito's colours, told apart by everybody: one a process.
constexpr std::array<const char*, 8> kColors = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                "#56b4e9", "#e69f00", "#666666", "#999933"};

std::string Length(int64_t nanoseconds) {
  if (nanoseconds < 1'000'000) return absl::StrFormat("%.1f us", nanoseconds * 1e-3);
  if (nanoseconds < 1'000'000'000) return absl::StrFormat("%.1f ms", nanoseconds * 1e-6);
  return absl::StrFormat("%.2f s", nanoseconds * 1e-9);
}

std::string Moment(int64_t unix_nanoseconds) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%E6S UTC", absl::FromUnixNanos(unix_nanoseconds),
                          absl::UTCTimeZone());
}

std::string TitleOf(const TraceTree& tree) {
  return absl::StrCat(
      "trace ", tree.id, ": ", Length(tree.end - tree.start), " from ", Moment(tree.start),
      tree.slowness != tree.end - tree.start ? absl::StrCat(", slow for ", Length(tree.slowness))
                                             : "");
}

// Terminals obey control characters, and XML has no room for them.
std::string Printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

// Cut to so many columns, never inside a character of several bytes.
std::string Cut(const std::string& text, size_t columns) {
  std::string cut;
  size_t taken = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (begins && ++taken > columns) break;
    cut.push_back(text[i]);
  }
  const size_t width = std::min(taken, columns);
  return cut + std::string(columns - width, ' ');
}

double Share(const TraceTree& tree, int64_t moment) {
  return tree.end == tree.start ? 0
                                : static_cast<double>(moment - tree.start) /
                                      static_cast<double>(tree.end - tree.start);
}

std::string TextBar(const TraceTree& tree, const ShownSpan& span) {
  const int from = std::min(kBarColumns - 1,
                            static_cast<int>(std::floor(Share(tree, span.start) * kBarColumns)));
  const int to =
      std::max(from + 1, static_cast<int>(std::ceil(Share(tree, span.end) * kBarColumns)));
  std::string bar(kBarColumns, ' ');
  for (int i = from; i < std::min(to, kBarColumns); ++i) bar[i] = '=';
  return bar;
}

std::string Escape(const std::string& text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

const char* ColorOf(const std::string& process) {
  size_t sum = 0;  // the same in every picture
  for (const char c : process) sum = sum * 31 + static_cast<unsigned char>(c);
  return kColors[sum % kColors.size()];
}

std::string TipOf(const ShownSpan& span) {
  std::string tip = absl::StrCat(LabelOf(span), "\n", span.process, "\n",
                                 Length(span.end - span.start), " from ", Moment(span.start));
  for (const auto& attribute : span.attributes) {
    absl::StrAppend(&tip, "\n", attribute.first, " = ", attribute.second);
  }
  return tip;
}

void AppendRow(const TraceTree& tree, const TraceLine& line, double top, std::string* svg) {
  const ShownSpan& span = line.span;
  const double left = kBarLeft + Share(tree, span.start) * kBarWidth;
  const double right = kBarLeft + Share(tree, span.end) * kBarWidth;
  const double width = std::max(1.0, right - left);
  absl::StrAppendFormat(svg, "<g><title>%s</title>", Escape(TipOf(span)));
  absl::StrAppendFormat(svg, "<text x=\"%.1f\" y=\"%.1f\">%s</text>", 8 + 12.0 * line.depth,
                        top + 13, Escape(LabelOf(span)));
  absl::StrAppendFormat(
      svg, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"%s/>", left,
      top + 2, width, kRow - 4, ColorOf(span.process),
      span.error.empty() ? "" : " stroke=\"#000000\" stroke-dasharray=\"3 2\"");
  absl::StrAppendFormat(svg, "<text x=\"%.1f\" y=\"%.1f\">%s</text></g>\n",
                        kBarLeft + kBarWidth + 8, top + 13, Length(span.end - span.start));
}

}  // namespace

void PrintTimelines(absl::Span<const TraceTree> trees, std::ostream& out) {
  for (const TraceTree& tree : trees) {
    out << Printable(TitleOf(tree)) << '\n';
    for (const TraceLine& line : tree.lines) {
      const std::string label =
          absl::StrCat(std::string(2 * std::min(line.depth, 12), ' '), LabelOf(line.span));
      out << "  " << Cut(Printable(label), kLabelColumns)
          << absl::StrFormat("%9s", Length(line.span.end - line.span.start)) << " |"
          << TextBar(tree, line.span) << "|\n";
    }
    out << '\n';
  }
}

std::string SvgTimelines(absl::Span<const TraceTree> trees) {
  double height = 0;
  for (const TraceTree& tree : trees) {
    height += kHead + kRow * static_cast<double>(tree.lines.size());
  }
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
      "height=\"%.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      kWidth, height, kWidth, height);
  double top = 0;
  for (const TraceTree& tree : trees) {
    absl::StrAppendFormat(&svg, "<text x=\"8\" y=\"%.1f\" font-size=\"14\">%s</text>\n", top + 28,
                          Escape(TitleOf(tree)));
    top += kHead;
    for (const TraceLine& line : tree.lines) {
      AppendRow(tree, line, top, &svg);
      top += kRow;
    }
  }
  return svg + "</svg>\n";
}

}  // namespace vicinity::cli
