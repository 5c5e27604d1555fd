#include "partition/schema/condition_text.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/common/status.h"

namespace vicinity {
namespace {

constexpr int kMostNested = 100;
constexpr size_t kMostShown = 60;

bool BeginsName(char c) { return absl::ascii_isalpha(c) || c == '_' || (c & 0x80) != 0; }
bool IsOfName(char c) {
  return BeginsName(c) || absl::ascii_isdigit(c) || c == '.' || c == '-' || c == ':';
}
bool IsOfNumber(char c) { return absl::ascii_isalnum(c) || c == '.' || c == '+' || c == '-'; }

struct Token {
  enum class Kind { kEnd, kName, kQuoted, kNumber, kSign } kind = Kind::kEnd;
  absl::string_view text;  // of a quoted name what is within
  size_t at = 0;
};

class Parser {
 public:
  explicit Parser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Condition> Parse() {
    VICINITY_RETURN_IF_ERROR(Next());
    VICINITY_RETURN_IF_ERROR(ParseAny(0));
    if (token_.kind != Token::Kind::kEnd) return Expected("`and`, `or` or the end");
    if (num_numbers_ > kMostConditionNumbers) {
      return absl::InvalidArgumentError(absl::StrCat("a condition of ", num_numbers_,
                                                     " numbers, at most ", kMostConditionNumbers));
    }
    return std::move(condition_);
  }

 private:
  absl::Status ParseAny(int nested) {
    VICINITY_RETURN_IF_ERROR(ParseAll(nested));
    while (IsWord("or")) {
      VICINITY_RETURN_IF_ERROR(Next());
      VICINITY_RETURN_IF_ERROR(ParseAll(nested));
      VICINITY_RETURN_IF_ERROR(Add({ConditionOp::kOr}));
    }
    return absl::OkStatus();
  }

  absl::Status ParseAll(int nested) {
    VICINITY_RETURN_IF_ERROR(ParseOne(nested));
    while (IsWord("and")) {
      VICINITY_RETURN_IF_ERROR(Next());
      VICINITY_RETURN_IF_ERROR(ParseOne(nested));
      VICINITY_RETURN_IF_ERROR(Add({ConditionOp::kAnd}));
    }
    return absl::OkStatus();
  }

  absl::Status ParseOne(int nested) {
    if (nested > kMostNested) {
      return absl::InvalidArgumentError(
          absl::StrCat("a condition nested more than ", kMostNested, " deep"));
    }
    if (IsWord("not")) {
      VICINITY_RETURN_IF_ERROR(Next());
      VICINITY_RETURN_IF_ERROR(ParseOne(nested + 1));
      return Add({ConditionOp::kNot});
    }
    if (!IsSign("(")) return ParseComparison();
    VICINITY_RETURN_IF_ERROR(Next());
    VICINITY_RETURN_IF_ERROR(ParseAny(nested + 1));
    return Take(")");
  }

  absl::Status ParseComparison() {
    const bool is_name = token_.kind == Token::Kind::kName && !IsKeyword();
    if (!is_name && token_.kind != Token::Kind::kQuoted) return Expected("a column");
    Condition::Term term;
    term.op = ConditionOp::kIn;
    term.column = std::string(token_.text);
    VICINITY_RETURN_IF_ERROR(Next());
    if (IsWord("in")) return AddIn(std::move(term), /*negated=*/false);
    if (IsWord("not")) {
      VICINITY_RETURN_IF_ERROR(Next());
      if (!IsWord("in")) return Expected("`in`");
      return AddIn(std::move(term), /*negated=*/true);
    }
    if (token_.kind == Token::Kind::kSign && !IsSign("(") && !IsSign(")") && !IsSign(",")) {
      return AddCompared(std::move(term));
    }
    term.numbers = {ConditionNumber()};
    return AddNegated(std::move(term));
  }

  absl::Status AddIn(Condition::Term term, bool negated) {
    VICINITY_RETURN_IF_ERROR(Next());
    VICINITY_RETURN_IF_ERROR(Take("("));
    while (true) {
      VICINITY_RETURN_IF_ERROR(AddNumber(&term));
      if (IsSign(")")) break;
      VICINITY_RETURN_IF_ERROR(Take(","));
    }
    VICINITY_RETURN_IF_ERROR(Next());
    return negated ? AddNegated(std::move(term)) : Add(std::move(term));
  }

  absl::Status AddCompared(Condition::Term term) {
    const std::string sign(token_.text);
    VICINITY_RETURN_IF_ERROR(Next());
    VICINITY_RETURN_IF_ERROR(AddNumber(&term));
    if (sign == "!=") return AddNegated(std::move(term));
    if (sign == "<") term.op = ConditionOp::kLess;
    if (sign == "<=") term.op = ConditionOp::kLessEqual;
    if (sign == ">") term.op = ConditionOp::kGreater;
    if (sign == ">=") term.op = ConditionOp::kGreaterEqual;
    return Add(std::move(term));
  }

  absl::Status AddNegated(Condition::Term term) {
    VICINITY_RETURN_IF_ERROR(Add(std::move(term)));
    return Add({ConditionOp::kNot});
  }

  absl::Status Add(Condition::Term term) {
    condition_.terms.push_back(std::move(term));
    if (static_cast<int64_t>(condition_.terms.size()) <= kMostConditionTerms) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("a condition of more than ", kMostConditionTerms, " terms"));
  }

  absl::Status AddNumber(Condition::Term* term) {
    ConditionNumber number;
    const bool is_true = IsWord("true");
    if (is_true || IsWord("false")) {
      number.whole = is_true ? 1 : 0;
    } else if (token_.kind != Token::Kind::kNumber) {
      return Expected("a number");
    } else if (!absl::SimpleAtoi(token_.text, &number.whole)) {
      number.is_whole = false;
      number.whole = 0;
      if (!absl::SimpleAtod(token_.text, &number.real) || !std::isfinite(number.real)) {
        return Expected("a number");
      }
    }
    term->numbers.push_back(number);
    ++num_numbers_;
    return Next();
  }

  bool IsSign(absl::string_view sign) const {
    return token_.kind == Token::Kind::kSign && token_.text == sign;
  }
  bool IsWord(absl::string_view word) const {
    return token_.kind == Token::Kind::kName && absl::EqualsIgnoreCase(token_.text, word);
  }
  bool IsKeyword() const {
    return IsWord("and") || IsWord("or") || IsWord("not") || IsWord("in") || IsWord("true") ||
           IsWord("false");
  }
  absl::Status Take(absl::string_view sign) {
    if (!IsSign(sign)) return Expected(absl::StrCat("`", sign, "`"));
    return Next();
  }

  absl::Status Expected(absl::string_view what) const {
    const absl::string_view rest = text_.substr(token_.at);
    const std::string found = rest.empty()
                                  ? "the end"
                                  : absl::StrCat("`", rest.substr(0, kMostShown),
                                                 rest.size() > kMostShown ? "..." : "", "`");
    return absl::InvalidArgumentError(absl::StrCat(
        "condition `", text_.substr(0, kMostShown), text_.size() > kMostShown ? "..." : "",
        "`: expected ", what, " at character ", token_.at + 1, ", found ", found));
  }

  // Reads on to the next token.
  absl::Status Next() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
    token_ = {Token::Kind::kEnd, {}, at_};
    if (at_ == text_.size()) return absl::OkStatus();
    const char c = text_[at_];
    if (c == '`') return NextQuoted();
    const bool is_signed = (c == '-' || c == '+' || c == '.') && at_ + 1 < text_.size();
    if (BeginsName(c)) {
      TakeWhile(Token::Kind::kName, IsOfName);
    } else if (absl::ascii_isdigit(c) || is_signed) {
      TakeWhile(Token::Kind::kNumber, IsOfNumber);
    } else {
      return NextSign();
    }
    return absl::OkStatus();
  }

  void TakeWhile(Token::Kind kind, bool (*belongs)(char)) {
    const size_t begin = at_++;
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
    token_.kind = kind;
    token_.text = text_.substr(begin, at_ - begin);
  }

  absl::Status NextQuoted() {
    const size_t end = text_.find('`', at_ + 1);
    if (end == absl::string_view::npos) return Expected("a second ` behind the column's name");
    token_.kind = Token::Kind::kQuoted;
    token_.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return absl::OkStatus();
  }

  absl::Status NextSign() {
    for (const absl::string_view sign : {"<=", ">=", "==", "!=", "<", ">", "=", "(", ")", ","}) {
      if (!absl::StartsWith(text_.substr(at_), sign)) continue;
      token_.kind = Token::Kind::kSign;
      token_.text = text_.substr(at_, sign.size());
      at_ += sign.size();
      return absl::OkStatus();
    }
    return Expected("a column, a number or one of < <= = != >= > ( ) ,");
  }

  const absl::string_view text_;
  size_t at_ = 0;
  Token token_;
  Condition condition_;
  int64_t num_numbers_ = 0;
};

}  // namespace

absl::StatusOr<Condition> ParseCondition(absl::string_view text) {
  if (text.size() > kMostConditionBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("a condition of ", text.size(), " bytes, at most ", kMostConditionBytes));
  }
  return Parser(text).Parse();
}

}  // namespace vicinity
