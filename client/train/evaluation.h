// Accuracy by sampled inference: the model sees each node of a split once, through drawn
// neighbours.
#pragma once

#include <cstdint>

#include "client/loader.h"
#include "client/train/all_reduce.h"
#include "client/train/model.h"
#include "client/types/result.h"
#include "partition/schema/sampling_spec.h"
#include "partition/schema/schema.h"

namespace vicinity {

struct Accuracy {
  int64_t nodes = 0;     // of the split
  int64_t labelled = 0;  // of them
  int64_t correct = 0;   // of these
  double value() const { return labelled > 0 ? static_cast<double>(correct) / labelled : 0; }
};

// How many of the seeds of a trainer's step count. Trainers have equally many steps, so at the end
// seeds may come a second time; batch number step * num_trainers + trainer covers the positions
// [number * batch_size, (number + 1) * batch_size) of the list, and what lies past its end has had
// its turn.
int64_t CountedSeeds(int64_t step, int trainer, int num_trainers, int64_t batch_size,
                     int64_t num_nodes);

// Over all nodes of a split, shared by the trainers of `group`; all get the whole split's numbers.
// `loader`: this trainer's, of EvaluationLoader(); `num_nodes`: of the split, over all trainers.
// kInternal if the trainers' parts do not make up the split exactly once.
Result<Accuracy> Evaluate(const Schema& schema, Expansion expansion, int64_t batch_size,
                          int64_t num_nodes, Loader* loader, Model* model, TrainerGroup* group);

}  // namespace vicinity
