// A variable of the environment, for as long as it lives.
#pragma once

#include <cstdlib>
#include <string>

namespace vicinity::testing {

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    setenv(name, value.c_str(), /*replace=*/1);
  }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
};

}  // namespace vicinity::testing
