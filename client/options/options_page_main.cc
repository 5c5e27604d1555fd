// Prints docs/options.md: bazel run //client/options:options_page_main > docs/options.md
#include <iostream>

#include "client/options/options_page.h"

int main() {
  std::cout << vicinity::OptionsPage();
  return 0;
}
