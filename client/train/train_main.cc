// vicinity_train: one trainer process. --help tells its options.
//
// Exit status: 0 done, 1 failed, 2 misused.
#include <iostream>
#include <optional>

#include "client/train/options.h"
#include "client/train/trainer.h"
#include "client/types/result.h"
#include "proto/common/last_words.h"

int main(int argc, char** argv) {
  vicinity::SpeakLastWords("vicinity_train");
  vicinity::TrainOptions options;
  const std::optional<int> finished =
      vicinity::ParseTrainOptions(argc, argv, &options, std::cout, std::cerr);
  if (finished.has_value()) return *finished;
  const vicinity::Error error = vicinity::RunTraining(options, &std::cout);
  if (error.ok()) return 0;
  std::cerr << "vicinity_train: " << vicinity::ErrorCodeName(error.code()) << ": "
            << error.message() << '\n';
  return 1;
}
