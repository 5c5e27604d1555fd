#include "client/cli/commands/trace/trace_tree.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace vicinity::cli {
namespace {

constexpr int kMaxDepth = 64;  // deeper ones stand beside each other

bool Earlier(const ShownSpan& a, const ShownSpan& b) {
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

const std::string* Find(const ShownSpan& span, const char* key) {
  for (const auto& attribute : span.attributes) {
    if (attribute.first == key) return &attribute.second;
  }
  return nullptr;
}

int64_t SlownessOf(const std::vector<TraceLine>& lines) {
  int64_t longest = 0;
  int64_t waited = -1;
  for (const TraceLine& line : lines) {
    longest = std::max(longest, line.span.end - line.span.start);
    int64_t value = 0;
    const std::string* text = Find(line.span, "trainer_waited_ns");
    if (text != nullptr && absl::SimpleAtoi(*text, &value)) waited = std::max(waited, value);
  }
  return waited >= 0 ? waited : longest;
}

// The spans of one trace, sorted by start.
class Growing {
 public:
  explicit Growing(std::vector<ShownSpan> spans) : spans_(std::move(spans)) {
    std::unordered_map<std::string, size_t> by_id;
    for (size_t i = 0; i < spans_.size(); ++i) by_id.emplace(spans_[i].id, i);
    parts_.resize(spans_.size());
    placed_.resize(spans_.size());
    for (size_t i = 0; i < spans_.size(); ++i) {
      const auto whole = by_id.find(spans_[i].parent);
      if (whole == by_id.end() || whole->second == i) {
        wholes_.push_back(i);
      } else {
        parts_[whole->second].push_back(i);
      }
    }
  }

  std::vector<TraceLine> Lines() && {
    for (const size_t whole : wholes_) Place(whole, 0);
    // What is left goes in circles.
    for (size_t i = 0; i < spans_.size(); ++i) Place(i, 0);
    return std::move(lines_);
  }

 private:
  void Place(size_t first, int depth_of_first) {
    std::vector<std::pair<size_t, int>> todo = {{first, depth_of_first}};
    while (!todo.empty()) {
      const auto [i, depth] = todo.back();
      todo.pop_back();
      if (placed_[i]) continue;
      placed_[i] = true;
      lines_.push_back({spans_[i], depth});
      for (auto part = parts_[i].rbegin(); part != parts_[i].rend(); ++part) {
        todo.emplace_back(*part, std::min(depth + 1, kMaxDepth));
      }
    }
  }

  std::vector<ShownSpan> spans_;
  std::vector<std::vector<size_t>> parts_;
  std::vector<size_t> wholes_;
  std::vector<bool> placed_;
  std::vector<TraceLine> lines_;
};

TraceTree TreeOf(const std::string& id, std::vector<ShownSpan> spans) {
  std::stable_sort(spans.begin(), spans.end(), Earlier);
  TraceTree tree;
  tree.id = id;
  tree.start = spans.front().start;
  for (const ShownSpan& span : spans) tree.end = std::max(tree.end, span.end);
  tree.lines = Growing(std::move(spans)).Lines();
  tree.slowness = SlownessOf(tree.lines);
  return tree;
}

}  // namespace

std::vector<TraceTree> TreesOf(std::vector<ShownSpan> spans) {
  std::map<std::string, std::vector<ShownSpan>> by_trace;
  std::set<std::pair<std::string, std::string>> known;
  for (ShownSpan& span : spans) {
    if (!known.emplace(span.trace, span.id).second) continue;
    by_trace[span.trace].push_back(std::move(span));
  }
  std::vector<TraceTree> trees;
  for (auto& [id, of_trace] : by_trace) trees.push_back(TreeOf(id, std::move(of_trace)));
  std::stable_sort(trees.begin(), trees.end(),
                   [](const TraceTree& a, const TraceTree& b) { return a.slowness > b.slowness; });
  return trees;
}

std::string LabelOf(const ShownSpan& span) {
  std::string label = span.name;
  if (const std::string* step = Find(span, "step"); step != nullptr) {
    const std::string* epoch = Find(span, "epoch");
    absl::StrAppend(&label, " ", *step, " of epoch ", epoch != nullptr ? *epoch : "?");
  }
  if (const std::string* shard = Find(span, "shard")) absl::StrAppend(&label, ", shard ", *shard);
  if (const std::string* server = Find(span, "server")) absl::StrAppend(&label, " to ", *server);
  if (Find(span, "lost") != nullptr) {
    absl::StrAppend(&label, ", lost");
  } else if (!span.error.empty()) {
    absl::StrAppend(&label, ", ", span.error);
  }
  return label;
}

}  // namespace vicinity::cli
