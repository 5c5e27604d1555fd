// Options from a JSON object, field by field: values of the wrong type and names that nobody asked
// for are errors, so that a misspelt option is never taken for its default.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "client/types/result.h"

namespace vicinity::c_api {

// A field that is absent leaves its value as it is. The first thing that is wrong is kept for
// Finish; what is read after it is of no account.
//
// Lifetime: the object must outlive it.
class JsonFields {
 public:
  // `where` is for errors: "loader options".
  JsonFields(std::string where, const nlohmann::json& object);

  void Read(const std::string& name, bool* value);
  void Read(const std::string& name, std::string* value);
  void Read(const std::string& name, std::chrono::milliseconds* value);  // an integer
  void Read(const std::string& name, double* value);                     // an integer, too

  template <typename Integer>
  std::enable_if_t<std::is_integral_v<Integer>> Read(const std::string& name, Integer* value) {
    const nlohmann::json* const field = Find(name);
    if (field == nullptr || Get(*field, value)) return;
    Refuse(name, *field, "an integer in range");
  }

  template <typename Integer>
  std::enable_if_t<std::is_integral_v<Integer>> Read(const std::string& name,
                                                     std::vector<Integer>* values) {
    const nlohmann::json* const field = Find(name);
    if (field == nullptr || Get(*field, values)) return;
    Refuse(name, *field, "a list of integers in range");
  }

  template <typename Integer>
  void Read(const std::string& name, std::vector<std::vector<Integer>>* lists) {
    const nlohmann::json* const field = Find(name);
    if (field == nullptr) return;
    lists->assign(field->is_array() ? field->size() : 0, {});
    bool good = field->is_array();
    for (size_t i = 0; good && i < lists->size(); ++i) good = Get((*field)[i], &(*lists)[i]);
    if (!good) Refuse(name, *field, "a list of lists of integers in range");
  }

  // One of a few words: which.
  void Read(const std::string& name, const std::vector<std::string>& words, size_t* word);

  // A field that is read otherwise; null if it is absent.
  const nlohmann::json* Find(const std::string& name);
  void Refuse(const std::string& name, const nlohmann::json& value, const std::string& should_be);
  void Fail(const Error& error);

  // kInvalidArgument with the first field that was wrong, or that nobody read.
  Error Finish();

  template <typename Integer>
  static bool Get(const nlohmann::json& field, Integer* value) {
    using Limits = std::numeric_limits<Integer>;
    if (field.is_number_unsigned()) {
      const uint64_t given = field.get<uint64_t>();
      if (given > static_cast<uint64_t>(Limits::max())) return false;
      *value = static_cast<Integer>(given);
      return true;
    }
    if (!field.is_number_integer()) return false;
    const int64_t given = field.get<int64_t>();  // negative: else it would be unsigned
    if (!std::is_signed_v<Integer> || given < static_cast<int64_t>(Limits::min())) return false;
    *value = static_cast<Integer>(given);
    return true;
  }

  template <typename Integer>
  static bool Get(const nlohmann::json& field, std::vector<Integer>* values) {
    if (!field.is_array()) return false;
    values->resize(field.size());
    for (size_t i = 0; i < field.size(); ++i) {
      if (!Get(field[i], &(*values)[i])) return false;
    }
    return true;
  }

 private:
  const std::string where_;
  const nlohmann::json& object_;
  std::set<std::string> known_;
  Error first_;
};

// The object in `text`; null if it is none, or no JSON.
nlohmann::json ParseObject(const char* text);

}  // namespace vicinity::c_api
