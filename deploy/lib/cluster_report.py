"""What a run of deploy/lib/cluster_bench.py found: JSON lines as they come, or tables at the end."""

import json
import os

import tables


def mean(values):
    return sum(values) / len(values)


class Summary:
    """One case: what the trainers of all hosts measured, taken together."""

    def __init__(self, results, step_seconds, gbps):
        steps = results[0]["steps"]
        self.seconds = max(result["seconds"] for result in results)
        self.epoch_seconds = self.seconds / steps * results[0]["steps_per_epoch"]
        self.wait = mean([result["wait_seconds"] for result in results]) / self.seconds
        self.rows = mean([result["rows_remote"] for result in results]) / steps
        loading = [sum(busy for stage, busy in result["busy_seconds"].items() if stage != "train")
                   for result in results]
        self.overlap = (mean(loading) + steps * step_seconds) / self.seconds
        self.cores = results[0]["core_seconds"] / self.seconds
        # The least that the busiest link needs for a step, and its share in use.
        busiest = max(result["bytes_remote"] for result in results) / steps
        self.link_seconds = busiest * 8 / (gbps * 1e9) if gbps else 0.0
        self.link_use = (max(result["wire_bytes"] for result in results) * 8
                         / (gbps * 1e9 * self.seconds) if gbps else 0.0)
        self.least_epoch = (max(step_seconds, self.link_seconds) / self.seconds * steps
                            * self.epoch_seconds)


class Report:
    """JSON lines as they come, or tables at the end."""

    def __init__(self, as_json):
        self._as_json = as_json
        self._rows = []
        self._links = []

    def line(self, case, metric, value, baseline=None, limit=None):
        if self._as_json:
            print(json.dumps({"bench": "cluster", "case": case, "metric": metric, "value": value,
                              "baseline": baseline, "limit": limit}), flush=True)

    def add(self, where, kind, pipeline, summary, full, predicted):
        case = f"{where}, {kind}, pipeline {pipeline}"
        self.line(case, "epoch s", summary.epoch_seconds, full.epoch_seconds, summary.least_epoch)
        self.line(case, "loader wait / time", summary.wait)
        self.line(case, "rows fetched / batch", summary.rows, predicted)
        self.line(case, "stages at work at once", summary.overlap)
        self.line(case, "busiest link / its rate", summary.link_use, None, 1.0)
        self.line(case, "cores busy", summary.cores, None, os.cpu_count())
        self._rows.append([
            where, kind, pipeline, f"{summary.epoch_seconds:.1f}",
            f"{100 * (summary.epoch_seconds / full.epoch_seconds - 1):+.1f} %",
            f"{summary.least_epoch:.1f}", f"{100 * summary.wait:.1f} %", f"{summary.rows:,.0f}",
            "-" if predicted is None else f"{predicted:,.0f}", f"{summary.overlap:.2f}",
            f"{100 * summary.link_use:.0f} %", f"{summary.cores:.2f}"])

    def link(self, gbps, result, tcp_gbps):
        case = f"rows of {result['row_bytes']} bytes over {gbps:g} Gbit/s"
        share = result["bytes"] * 8 / result["seconds"] / (gbps * 1e9)
        self.line(case, "payload / link rate", share, None, tcp_gbps / gbps)
        gigabytes = result["bytes"] / 1e9
        self.line(case, "core-seconds / GB", result["core_seconds"] / gigabytes)
        self._links.append([case, f"{100 * share:.1f} %", f"{100 * tcp_gbps / gbps:.1f} %",
                            f"{result['core_seconds'] / gigabytes:.2f}"])

    def finish(self):
        if self._as_json:
            return
        tables.print_table(["bulk fetch of rows", "payload of the link", "raw TCP",
                            "core-seconds a GB"], self._links)
        print()
        tables.print_table(["graph and link", "what trainers keep", "pipeline", "epoch s",
                            "full replication", "at least", "waiting", "rows a batch", "predicted",
                            "stages at once", "link", "cores"], self._rows)
