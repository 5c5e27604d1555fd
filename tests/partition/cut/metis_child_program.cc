// What `vicinity metis-child JOB` does, as a program small enough for the core tests.
#include <iostream>

#include "partition/cut/metis_job.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const absl::Status status = vicinity::RunMetisJob(argv[2]);
  std::cerr << status.message();
  return status.ok() ? 0 : 1;
}
