#include "client/query/query_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr size_t kMostShown = 40;

constexpr std::array<std::pair<absl::string_view, StepKind>, 8> kKinds = {
    {{"nodes", StepKind::kNodes},
     {"neighbors", StepKind::kNeighbors},
     {"negatives", StepKind::kNegatives},
     {"layer", StepKind::kLayer},
     {"walk", StepKind::kWalk},
     {"visited", StepKind::kVisited},
     {"ppr", StepKind::kPpr},
     {"induced", StepKind::kInduced}}};

constexpr std::array<std::pair<absl::string_view, Split>, 3> kSplits = {
    {{"train", Split::kTrain}, {"validation", Split::kValidation}, {"test", Split::kTest}}};

constexpr std::array<std::pair<absl::string_view, EdgeDirection>, 2> kDirections = {
    {{"in", EdgeDirection::kIn}, {"out", EdgeDirection::kOut}}};

constexpr unsigned Bit(StepKind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr unsigned kOfNodes = Bit(StepKind::kNodes);
constexpr unsigned kOfNeighbors = Bit(StepKind::kNeighbors);
constexpr unsigned kOfNegatives = Bit(StepKind::kNegatives);
constexpr unsigned kOfLayer = Bit(StepKind::kLayer);
constexpr unsigned kOfDrawn = kOfNeighbors | kOfNegatives | kOfLayer;
constexpr unsigned kOfWalk = Bit(StepKind::kWalk);
constexpr unsigned kOfVisited = Bit(StepKind::kVisited);
constexpr unsigned kOfWalks = kOfWalk | kOfVisited;
constexpr unsigned kOfPpr = Bit(StepKind::kPpr);
constexpr unsigned kOfInduced = Bit(StepKind::kInduced);
constexpr unsigned kOfCounted = kOfNodes | kOfDrawn;
constexpr unsigned kOfAny = kOfCounted | kOfWalks | kOfPpr | kOfInduced;

// Where an argument goes to.
using Member =
    std::variant<std::string QueryStep::*, std::vector<std::string> QueryStep::*, bool QueryStep::*,
                 double QueryStep::*, std::vector<double> QueryStep::*, int64_t QueryStep::*,
                 Split QueryStep::*, EdgeDirection QueryStep::*>;

struct Argument {
  absl::string_view name;
  unsigned kinds;  // that have it
  Member member;
};

// What stands behind its name, in the order in which QueryText writes it.
const std::vector<Argument>& Arguments() {
  static const auto* const arguments = new std::vector<Argument>{
      {"split", kOfNodes, &QueryStep::split},
      {"count", kOfNodes, &QueryStep::count},
      {"by", kOfCounted, &QueryStep::by},
      {"replace", kOfNeighbors, &QueryStep::replace},
      {"direction", kOfNeighbors, &QueryStep::direction},
      {"degree_power", kOfNegatives, &QueryStep::degree_power},
      {"exact", kOfNegatives, &QueryStep::exact},
      {"shared", kOfNegatives, &QueryStep::shared},
      {"like", kOfNegatives, &QueryStep::like},
      {"same", kOfNegatives, &QueryStep::same},
      {"shares", kOfNegatives, &QueryStep::shares},
      {"square_root", kOfLayer, &QueryStep::square_root},
      {"length", kOfVisited, &QueryStep::length},
      {"num_walks", kOfVisited, &QueryStep::num_walks},
      {"alpha", kOfPpr, &QueryStep::alpha},
      {"eps", kOfPpr, &QueryStep::eps},
      {"max_neighbors", kOfPpr, &QueryStep::max_neighbors},
      {"weighted_by", kOfWalks | kOfPpr, &QueryStep::weighted_by},
      {"restart_prob", kOfWalks, &QueryStep::restart_prob},
      {"p", kOfWalks, &QueryStep::p},
      {"q", kOfWalks, &QueryStep::q},
      {"node_type", kOfWalks | kOfPpr, &QueryStep::node_type},
      {"exclude_start", kOfVisited, &QueryStep::exclude_start},
      {"where", kOfNodes | kOfNeighbors | kOfInduced, &QueryStep::where},
      {"order_by", kOfNodes | kOfNeighbors, &QueryStep::order_by},
      {"descending", kOfNodes | kOfNeighbors, &QueryStep::descending},
      {"limit", kOfNodes | kOfNeighbors, &QueryStep::limit},
      {"columns", kOfAny, &QueryStep::columns},
      {"edge_columns", kOfNeighbors | kOfInduced, &QueryStep::edge_columns},
      {"edge_ids", kOfNeighbors | kOfWalk | kOfInduced, &QueryStep::edge_ids}};
  return *arguments;
}

constexpr absl::string_view kEdgeTypes = "an edge type, or a list of them";

// What stands first, without a name. In the place of a list of one word the word will do.
struct Positionals {
  std::vector<Argument> all;
  size_t needed;
};
Positionals PositionalsOf(StepKind kind) {
  const Argument from = {"a step's name", kOfAny, &QueryStep::from};
  switch (kind) {
    case StepKind::kNodes:
      return {{{"a node type", kOfNodes, &QueryStep::type}}, 1};
    case StepKind::kWalk:
      return {{from,
               {kEdgeTypes, kOfWalks, &QueryStep::metapath},
               {"how many steps", kOfWalk, &QueryStep::length}},
              3};
    case StepKind::kVisited:
      return {{from,
               {kEdgeTypes, kOfWalks, &QueryStep::metapath},
               {"how many of the nodes", kOfVisited, &QueryStep::top}},
              3};
    case StepKind::kPpr:
      return {{from,
               {kEdgeTypes, kOfPpr, &QueryStep::edge_types},
               {"how many of the nodes", kOfPpr, &QueryStep::top}},
              3};
    case StepKind::kInduced:
      return {{{"a step's name, or a list of them", kOfInduced, &QueryStep::among},
               {"an edge type", kOfInduced, &QueryStep::type}},
              2};
    default:
      return {{from,
               {"an edge type", kOfDrawn, &QueryStep::type},
               {"how many", kOfDrawn, &QueryStep::count}},
              kind == StepKind::kNeighbors ? size_t{2} : size_t{3}};
  }
}

const Argument* FindArgument(StepKind kind, absl::string_view name) {
  for (const Argument& argument : Arguments()) {
    if (argument.name == name && (argument.kinds & Bit(kind)) != 0) return &argument;
  }
  return nullptr;
}

std::string ArgumentsOf(StepKind kind) {
  std::vector<absl::string_view> names;
  for (const Argument& argument : Arguments()) {
    if ((argument.kinds & Bit(kind)) != 0) names.push_back(argument.name);
  }
  return absl::StrJoin(names, ", ");
}

bool BeginsWord(char c) { return absl::ascii_isalpha(c) || c == '_' || (c & 0x80) != 0; }
bool IsOfWord(char c) {
  return BeginsWord(c) || absl::ascii_isdigit(c) || c == '.' || c == '-' || c == ':';
}
bool IsOfNumber(char c) { return absl::ascii_isalnum(c) || c == '.' || c == '+' || c == '-'; }

struct Token {
  enum class Kind { kEnd, kLineEnd, kWord, kText, kNumber, kInput, kSign } kind = Kind::kEnd;
  absl::string_view text;  // of a text what is within, of an input its name
  size_t at = 0;
};

class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Query> Parse() {
    VICINITY_RETURN_IF_ERROR(Next());
    while (token_.kind != Token::Kind::kEnd) {
      if (token_.kind == Token::Kind::kLineEnd) {
        VICINITY_RETURN_IF_ERROR(Next());
        continue;
      }
      if (static_cast<int64_t>(query_.steps.size()) == kMostQuerySteps) {
        return absl::InvalidArgumentError(
            absl::StrCat("a query of more than ", kMostQuerySteps, " steps"));
      }
      VICINITY_RETURN_IF_ERROR(ParseStep());
    }
    if (query_.steps.empty()) return absl::InvalidArgumentError("a query without steps");
    return std::move(query_);
  }

 private:
  absl::Status ParseStep() {
    if (token_.kind != Token::Kind::kWord) return Expected("a step, `name = nodes(...)`");
    step_ = &query_.steps.emplace_back();
    step_->name = std::string(token_.text);
    VICINITY_RETURN_IF_ERROR(Next());
    VICINITY_RETURN_IF_ERROR(Take("="));
    VICINITY_RETURN_IF_ERROR(ParseKind());
    ++open_;
    VICINITY_RETURN_IF_ERROR(Take("("));
    VICINITY_RETURN_IF_ERROR(ParseArguments());
    --open_;
    VICINITY_RETURN_IF_ERROR(Take(")"));
    if (token_.kind == Token::Kind::kLineEnd || token_.kind == Token::Kind::kEnd) {
      return absl::OkStatus();
    }
    return Expected("the end of the line, or ;");
  }

  absl::Status ParseKind() {
    std::vector<absl::string_view> names;
    for (const auto& [name, kind] : kKinds) {
      names.push_back(name);
      if (token_.kind != Token::Kind::kWord || token_.text != name) continue;
      step_->kind = kind;
      return Next();
    }
    return Expected(absl::StrCat("one of ", absl::StrJoin(names, ", ")));
  }

  absl::Status ParseArguments() {
    const Positionals positionals = PositionalsOf(step_->kind);
    given_.clear();
    for (size_t i = 0; !IsSign(")"); ++i) {
      if (i > 0) VICINITY_RETURN_IF_ERROR(Take(","));
      if (BeginsNamed()) {
        if (i < positionals.needed) return Expected(positionals.all[i].name);
        VICINITY_RETURN_IF_ERROR(ParseNamed());
      } else if (!given_.empty()) {
        return Expected("an argument with its name, since one with a name stands before it");
      } else if (i < positionals.all.size()) {
        VICINITY_RETURN_IF_ERROR(ParsePositional(positionals.all[i]));
      } else if (step_->kind == StepKind::kNodes && i == positionals.all.size()) {
        VICINITY_RETURN_IF_ERROR(ParseIds());
      } else {
        return Expected(absl::StrCat("one of ", ArgumentsOf(step_->kind), ", with its name and ="));
      }
      num_given_ = i + 1;
    }
    if (num_given_ < positionals.needed) return Expected(positionals.all[num_given_].name);
    num_given_ = 0;
    return absl::OkStatus();
  }

  absl::Status ParseNamed() {
    const Argument* const argument = FindArgument(step_->kind, token_.text);
    if (argument == nullptr) {
      return Expected(absl::StrCat("one of ", ArgumentsOf(step_->kind)));
    }
    if (std::find(given_.begin(), given_.end(), argument->name) != given_.end()) {
      return Expected(
          absl::StrCat("another argument than ", argument->name, ", which is given already"));
    }
    given_.push_back(argument->name);
    VICINITY_RETURN_IF_ERROR(Next());
    VICINITY_RETURN_IF_ERROR(Take("="));
    return ParseInto(argument->member, argument->name);
  }

  absl::Status ParsePositional(const Argument& argument) {
    const auto* const list = std::get_if<std::vector<std::string> QueryStep::*>(&argument.member);
    if (list != nullptr && !IsSign("[")) {
      if (!IsText()) return Expected(argument.name);
      step_->*(*list) = {std::string(token_.text)};
      return Next();
    }
    return ParseInto(argument.member, argument.name);
  }

  // `what` it is, for errors.
  absl::Status ParseInto(const Member& member, absl::string_view what) {
    if (const auto* text = std::get_if<std::string QueryStep::*>(&member)) {
      if (!IsText()) return Expected(absl::StrCat("for ", what, " a word or a text"));
      step_->*(*text) = std::string(token_.text);
      return Next();
    }
    if (const auto* list = std::get_if<std::vector<std::string> QueryStep::*>(&member)) {
      return ParseList(/*numbers=*/false, &(step_->*(*list)));
    }
    if (const auto* flag = std::get_if<bool QueryStep::*>(&member)) {
      if (!IsWord("true") && !IsWord("false")) return Expected("true or false");
      step_->*(*flag) = IsWord("true");
      return Next();
    }
    if (const auto* real = std::get_if<double QueryStep::*>(&member)) {
      return ParseReal(what, &(step_->*(*real)));
    }
    if (const auto* reals = std::get_if<std::vector<double> QueryStep::*>(&member)) {
      return ParseReals(what, &(step_->*(*reals)));
    }
    if (const auto* split = std::get_if<Split QueryStep::*>(&member)) {
      return ParseNamedValue(kSplits, &(step_->*(*split)));
    }
    if (const auto* direction = std::get_if<EdgeDirection QueryStep::*>(&member)) {
      return ParseNamedValue(kDirections, &(step_->*(*direction)));
    }
    return ParseCount(what, &(step_->*std::get<int64_t QueryStep::*>(member)));
  }

  template <typename NamedValues, typename Value>
  absl::Status ParseNamedValue(const NamedValues& all, Value* value) {
    std::vector<absl::string_view> names;
    for (const auto& [name, named] : all) {
      names.push_back(name);
      if (!IsText() || token_.text != name) continue;
      *value = named;
      return Next();
    }
    return Expected(absl::StrCat("one of ", absl::StrJoin(names, ", ")));
  }

  absl::Status ParseReal(absl::string_view what, double* value) {
    if (token_.kind != Token::Kind::kNumber || !absl::SimpleAtod(token_.text, value) ||
        !std::isfinite(*value)) {
      return Expected(absl::StrCat("for ", what, " a number"));
    }
    return Next();
  }

  absl::Status ParseReals(absl::string_view what, std::vector<double>* values) {
    VICINITY_RETURN_IF_ERROR(Take("["));
    while (!IsSign("]")) {
      double value = 0;
      VICINITY_RETURN_IF_ERROR(ParseReal(what, &value));
      values->push_back(value);
      if (!IsSign("]")) VICINITY_RETURN_IF_ERROR(Take(","));
    }
    return Next();
  }

  absl::Status ParseCount(absl::string_view what, int64_t* count) {
    if (IsWord("all")) {
      *count = kAllNeighbors;
      return Next();
    }
    if (token_.kind != Token::Kind::kNumber || !absl::SimpleAtoi(token_.text, count)) {
      return Expected(absl::StrCat("for ", what, " a whole number, or all"));
    }
    return Next();
  }

  absl::Status ParseIds() {
    if (token_.kind != Token::Kind::kInput) return ParseList(/*numbers=*/true, &step_->ids);
    step_->input = std::string(token_.text);
    return Next();
  }

  absl::Status ParseList(bool numbers, std::vector<std::string>* list) {
    VICINITY_RETURN_IF_ERROR(Take("["));
    while (!IsSign("]")) {
      if (!IsText() && !(numbers && token_.kind == Token::Kind::kNumber)) {
        return Expected(numbers ? "an id, or ]" : "a word, a text or ]");
      }
      list->emplace_back(token_.text);
      VICINITY_RETURN_IF_ERROR(Next());
      if (!IsSign("]")) VICINITY_RETURN_IF_ERROR(Take(","));
    }
    return Next();
  }

  bool IsSign(absl::string_view sign) const {
    return token_.kind == Token::Kind::kSign && token_.text == sign;
  }
  bool IsWord(absl::string_view word) const {
    return token_.kind == Token::Kind::kWord && token_.text == word;
  }
  bool IsText() const {
    return token_.kind == Token::Kind::kWord || token_.kind == Token::Kind::kText;
  }
  // Whether here is `word =`.
  bool BeginsNamed() const {
    if (token_.kind != Token::Kind::kWord) return false;
    size_t at = at_;
    while (at < text_.size() && absl::ascii_isspace(text_[at])) ++at;
    return at < text_.size() && text_[at] == '=';
  }
  absl::Status Take(absl::string_view sign) {
    if (!IsSign(sign)) return Expected(absl::StrCat("`", sign, "`"));
    return Next();
  }

  absl::Status Expected(absl::string_view what) const {
    const absl::string_view before = text_.substr(0, token_.at);
    const int64_t line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t line_begin = line == 1 ? 0 : before.rfind('\n') + 1;
    absl::string_view rest = text_.substr(token_.at);
    rest = rest.substr(0, rest.find('\n'));
    const std::string found = rest.empty()
                                  ? (token_.at == text_.size() ? "the end" : "the end of the line")
                                  : absl::StrCat("`", rest.substr(0, kMostShown),
                                                 rest.size() > kMostShown ? "..." : "", "`");
    return absl::InvalidArgumentError(absl::StrCat("query, line ", line, ", character ",
                                                   token_.at - line_begin + 1, ": expected ", what,
                                                   ", found ", found));
  }

  // Reads on to the next token. Lines end only between steps.
  absl::Status Next() {
    SkipBlanks();
    token_ = {Token::Kind::kEnd, text_.substr(at_, 0), at_};
    if (at_ == text_.size()) return absl::OkStatus();
    const char c = text_[at_];
    if (c == '\n' || c == ';') {
      token_.kind = Token::Kind::kLineEnd;
      ++at_;
    } else if (c == '"' || c == '\'') {
      return NextText(c);
    } else if (c == '$') {
      ++at_;
      if (at_ == text_.size() || !BeginsWord(text_[at_])) return Expected("a word behind $");
      TakeWhile(Token::Kind::kInput, IsOfWord);
    } else if (BeginsWord(c)) {
      TakeWhile(Token::Kind::kWord, IsOfWord);
    } else if (absl::ascii_isdigit(c) || c == '-' || c == '+' || c == '.') {
      TakeWhile(Token::Kind::kNumber, IsOfNumber);
    } else if (absl::StrContains("=(),[]", c)) {
      token_.kind = Token::Kind::kSign;
      token_.text = text_.substr(at_++, 1);
    } else {
      return Expected("a word, a text, a number or one of = ( ) , [ ] $ # ;");
    }
    return absl::OkStatus();
  }

  void SkipBlanks() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        if (at_ == text_.size()) return;
      }
      const bool skipped = absl::ascii_isspace(text_[at_]) && (text_[at_] != '\n' || open_ > 0);
      if (!skipped) return;
    }
  }

  void TakeWhile(Token::Kind kind, bool (*belongs)(char)) {
    const size_t begin = at_++;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    token_.kind = kind;
    token_.text = text_.substr(begin, at_ - begin);
  }

  absl::Status NextText(char quote) {
    const size_t end = text_.find(quote, at_ + 1);
    if (end == absl::string_view::npos) {
      return Expected(absl::StrCat("a second ", absl::string_view(&quote, 1), " behind the text"));
    }
    token_.kind = Token::Kind::kText;
    token_.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return absl::OkStatus();
  }

  const absl::string_view text_;
  size_t at_ = 0;
  Token token_;
  int open_ = 0;  // parentheses
  Query query_;
  QueryStep* step_ = nullptr;             // the one that is read
  std::vector<absl::string_view> given_;  // its arguments with names
  size_t num_given_ = 0;                  // of all its arguments
};

std::string Quoted(absl::string_view text) {
  const bool is_word = !text.empty() && BeginsWord(text.front()) &&
                       std::all_of(text.begin(), text.end(), IsOfWord) && text != "true" &&
                       text != "false" && text != "all";
  if (is_word) return std::string(text);
  const absl::string_view quote = absl::StrContains(text, '"') ? "'" : "\"";
  return absl::StrCat(quote, text, quote);
}

std::string ListText(const std::vector<std::string>& quoted) {
  return absl::StrCat("[", absl::StrJoin(quoted, ", "), "]");
}

std::string WordsText(const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& each : words) quoted.push_back(Quoted(each));
  return ListText(quoted);
}

std::string IdsText(const std::vector<std::string>& ids) {
  std::vector<std::string> quoted;
  for (const std::string& each : ids) {
    int64_t number = 0;  // which is read from " 7" as well
    const bool is_number = absl::SimpleAtoi(each, &number) && absl::StrCat(number) == each;
    quoted.push_back(is_number ? each : Quoted(each));
  }
  return ListText(quoted);
}

std::string RealText(double value) { return absl::StrFormat("%.17g", value); }

std::string RealsText(const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(RealText(value));
  return absl::StrCat("[", absl::StrJoin(texts, ", "), "]");
}

std::string CountText(int64_t count) {
  return count == kAllNeighbors ? "all" : absl::StrCat(count);
}

template <typename NamedValues, typename Value>
std::string NameOfValue(const NamedValues& all, Value wanted) {
  for (const auto& [name, value] : all) {
    if (value == wanted) return std::string(name);
  }
  return "";
}

std::string ValueText(const QueryStep& step, const Member& member) {
  return std::visit(
      [&step](auto of_step) -> std::string {
        const auto& value = step.*of_step;
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, std::string>) return Quoted(value);
        if constexpr (std::is_same_v<Value, std::vector<std::string>>) return WordsText(value);
        if constexpr (std::is_same_v<Value, bool>) return value ? "true" : "false";
        if constexpr (std::is_same_v<Value, double>) return RealText(value);
        if constexpr (std::is_same_v<Value, std::vector<double>>) return RealsText(value);
        if constexpr (std::is_same_v<Value, int64_t>) return CountText(value);
        if constexpr (std::is_same_v<Value, Split>) return NameOfValue(kSplits, value);
        if constexpr (std::is_same_v<Value, EdgeDirection>) return NameOfValue(kDirections, value);
      },
      member);
}

bool HasDefault(const QueryStep& step, const Member& member) {
  static const QueryStep defaults;
  return std::visit([&](auto of_step) { return step.*of_step == defaults.*of_step; }, member);
}

std::string PositionalText(const QueryStep& step, const Member& member) {
  const auto* const list = std::get_if<std::vector<std::string> QueryStep::*>(&member);
  if (list != nullptr && (step.*(*list)).size() == 1) return Quoted((step.*(*list)).front());
  return ValueText(step, member);
}

std::string StepText(const QueryStep& step) {
  std::vector<std::string> parts;
  for (const Argument& argument : PositionalsOf(step.kind).all) {
    parts.push_back(PositionalText(step, argument.member));
  }
  if (!step.input.empty()) parts.push_back(absl::StrCat("$", step.input));
  if (!step.ids.empty()) parts.push_back(IdsText(step.ids));
  for (const Argument& argument : Arguments()) {
    if ((argument.kinds & Bit(step.kind)) == 0 || HasDefault(step, argument.member)) continue;
    parts.push_back(absl::StrCat(argument.name, "=", ValueText(step, argument.member)));
  }
  return absl::StrCat(step.name, " = ", StepKindName(step.kind), "(", absl::StrJoin(parts, ", "),
                      ")\n");
}

}  // namespace

absl::StatusOr<Query> ParseQuery(absl::string_view text) {
  if (static_cast<int64_t>(text.size()) > kMostQueryBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a query of ", text.size(), " bytes, at most ", kMostQueryBytes));
  }
  return Parser(text).Parse();
}

std::string QueryText(const Query& query) {
  std::string text;
  for (const QueryStep& step : query.steps) absl::StrAppend(&text, StepText(step));
  return text;
}

absl::string_view StepKindName(StepKind kind) {
  for (const auto& [name, value] : kKinds) {
    if (value == kind) return name;
  }
  return "";
}

}  // namespace vicinity
