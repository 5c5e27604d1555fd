#!/usr/bin/env python3
"""Sums up training runs with several seeds, for deploy/bench/accuracy.sh.

    accuracy_summary.py [--format table|json] FOLDER

FOLDER holds MODEL.SEED.jsonl, the reports of `vicinity_train`, for the models `service`, `single`
and `linear`. Told are the test accuracies at the best validation accuracy. `service` and `single`
agree if they differ by at most half a point, or by no more than twice the standard error of their
difference, seed by seed.
"""

import argparse
import json
import math
import pathlib
import statistics

CASES = {
    "service": "trainers through the service",
    "single": "one process, no service",
    "linear": "linear, features alone",
}
HALF_A_POINT = 0.005


def accuracy(path):
    with open(path, encoding="utf-8") as lines:
        result = [json.loads(line) for line in lines][-1]
    return result["test_accuracy_at_best"]


def read_accuracies(folder):
    """By model: the accuracy of each seed, seeds in order."""
    found = {}
    for model in CASES:
        paths = sorted(pathlib.Path(folder).glob(model + ".*.jsonl"),
                       key=lambda path: int(path.name.split(".")[1]))
        found[model] = [accuracy(path) for path in paths]
    return found


def deviation(values):
    return statistics.stdev(values) if len(values) > 1 else 0.0


def agreement(service, single):
    """Mean difference, its standard error, and whether that is agreement."""
    differences = [a - b for a, b in zip(service, single)]
    mean = statistics.mean(differences)
    error = deviation(differences) / math.sqrt(len(differences))
    return mean, error, abs(mean) <= max(HALF_A_POINT, 2 * error)


def print_json(found):
    def line(case, metric, value, baseline=None, limit=None):
        print(json.dumps({"bench": "accuracy", "case": case, "metric": metric, "value": value,
                          "baseline": baseline, "limit": limit}))

    single = statistics.mean(found["single"])
    for model, values in found.items():
        mean = statistics.mean(values)
        line(CASES[model], "test accuracy", mean, baseline=None if model == "single" else single)
        line(CASES[model], "test accuracy, standard deviation", deviation(values))
    mean, error, agree = agreement(found["service"], found["single"])
    line("service against one process", "difference of test accuracy", mean, baseline=0.0,
         limit=max(HALF_A_POINT, 2 * error))
    line("service against one process", "agree (1: yes)", int(agree))


def print_table(found):
    seeds = len(found["service"])
    print(f"test accuracy in % by seed 1 .. {seeds}{'':24}      mean  deviation")
    for model, values in found.items():
        by_seed = " ".join(f"{100 * value:6.2f}" for value in values)
        print(f"{CASES[model]:30} {by_seed}  {100 * statistics.mean(values):6.2f}"
              f"  {100 * deviation(values):9.2f}")
    mean, error, agree = agreement(found["service"], found["single"])
    print(f"with the service against without: {100 * mean:+.2f} points, standard error "
          f"{100 * error:.2f}: they {'agree' if agree else 'DIFFER'}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--format", choices=["table", "json"], default="table")
    parser.add_argument("folder")
    options = parser.parse_args()
    found = read_accuracies(options.folder)
    if options.format == "json":
        print_json(found)
    else:
        print_table(found)


if __name__ == "__main__":
    main()
