#include "client/c_api/json_fields.h"

namespace vicinity::c_api {

JsonFields::JsonFields(std::string where, const nlohmann::json& object)
    : where_(std::move(where)), object_(object) {
  if (!object.is_object()) {
    Fail(Error(ErrorCode::kInvalidArgument, where_ + ": this is no JSON object"));
  }
}

void JsonFields::Read(const std::string& name, bool* value) {
  const nlohmann::json* const field = Find(name);
  if (field == nullptr) return;
  if (!field->is_boolean()) return Refuse(name, *field, "true or false");
  *value = field->get<bool>();
}

void JsonFields::Read(const std::string& name, std::string* value) {
  const nlohmann::json* const field = Find(name);
  if (field == nullptr) return;
  if (!field->is_string()) return Refuse(name, *field, "a text");
  *value = field->get<std::string>();
}

void JsonFields::Read(const std::string& name, std::chrono::milliseconds* value) {
  int64_t milliseconds = value->count();
  Read(name, &milliseconds);
  *value = std::chrono::milliseconds(milliseconds);
}

void JsonFields::Read(const std::string& name, double* value) {
  const nlohmann::json* const field = Find(name);
  if (field == nullptr) return;
  if (!field->is_number()) return Refuse(name, *field, "a number");
  *value = field->get<double>();
}

void JsonFields::Read(const std::string& name, const std::vector<std::string>& words,
                      size_t* word) {
  const nlohmann::json* const field = Find(name);
  if (field == nullptr) return;
  std::string all = "one of";
  for (size_t i = 0; i < words.size(); ++i) {
    if (*field == words[i]) {
      *word = i;
      return;
    }
    all += " \"" + words[i] + '"';
  }
  Refuse(name, *field, all);
}

const nlohmann::json* JsonFields::Find(const std::string& name) {
  known_.insert(name);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

void JsonFields::Refuse(const std::string& name, const nlohmann::json& value,
                        const std::string& should_be) {
  Fail(Error(ErrorCode::kInvalidArgument,
             where_ + ": \"" + name + "\" is " + value.dump() + " and should be " + should_be));
}

void JsonFields::Fail(const Error& error) {
  if (first_.ok()) first_ = error;
}

Error JsonFields::Finish() {
  if (!first_.ok()) return first_;
  for (const auto& field : object_.items()) {
    if (known_.count(field.key()) > 0) continue;
    std::string names;
    for (const std::string& name : known_) names += ' ' + name;
    return Error(ErrorCode::kInvalidArgument,
                 where_ + ": there is no \"" + field.key() + "\"; there are:" + names);
  }
  return Error();
}

nlohmann::json ParseObject(const char* text) {
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return parsed.is_object() ? parsed : nlohmann::json();
}

}  // namespace vicinity::c_api
