"""What a run of deploy/lib/cluster_bench.py found: JSON lines as they come, or tables at the end."""

import json
import os

import tables


def mean(values):
    return sum(values) / len(values)


def figure(value, form):
    return "-" if value is None else format(value, form)


class Predicted:
    """What `vicinity plan` says of a batch."""

    def __init__(self, rows, link_seconds):
        self.rows = rows
        self._link_seconds = link_seconds  # of the busiest link at 1 Gbit/s

    def step_seconds(self, step_seconds, gbps):
        return max(step_seconds, self._link_seconds / gbps if gbps else 0)


class Summary:
    """One case: what the trainers of all hosts measured, taken together."""

    def __init__(self, results, step_seconds, gbps, predicted):
        steps = results[0]["steps"]
        self.seconds = max(result["seconds"] for result in results)
        self.steps_per_epoch = results[0]["steps_per_epoch"]
        # The wait for an epoch's first batch comes once, however long the epoch is.
        first = max(result["first_wait_seconds"] for result in results)
        more = self.steps_per_epoch / steps
        self.epoch_seconds = first + (self.seconds - first) * more
        waits = [result["first_wait_seconds"]
                 + (result["wait_seconds"] - result["first_wait_seconds"]) * more
                 for result in results]
        self.wait = mean(waits) / self.epoch_seconds
        self.rows = mean([result["rows_remote"] for result in results]) / steps
        loading = [sum(busy for stage, busy in result["busy_seconds"].items() if stage != "train")
                   for result in results]
        self.overlap = (mean(loading) + steps * step_seconds) / self.seconds
        # Shares in use: of the time by the step, of the busiest link, of this machine's cores. The
        # largest is what the others wait for.
        self.used = {
            "step": steps * step_seconds / self.seconds,
            "link": (max(result["wire_bytes"] for result in results) * 8
                     / (gbps * 1e9 * self.seconds) if gbps else 0.0),
            "cores": results[0]["core_seconds"] / self.seconds / os.cpu_count()}
        self.predicted_rows = predicted and predicted.rows
        self.predicted_epoch_seconds = predicted and (
            predicted.step_seconds(step_seconds, gbps) * self.steps_per_epoch)


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

    def add(self, where, kind, pipeline, summary, full):
        """`full`: what full replication took."""
        case = f"{where}, {kind}, pipeline {pipeline}"
        self.line(case, "epoch s", summary.epoch_seconds, full.epoch_seconds,
                  summary.predicted_epoch_seconds)
        self.line(case, "loader wait / time", summary.wait)
        self.line(case, "rows fetched / batch", summary.rows, summary.predicted_rows)
        self.line(case, "stages at work at once", summary.overlap)
        for name, share in summary.used.items():
            self.line(case, f"{name} in use", share, None, 1.0)
        self._rows.append([
            where, kind, pipeline, f"{summary.epoch_seconds:.1f}",
            figure(summary.predicted_epoch_seconds, ".1f"),
            f"{100 * (summary.epoch_seconds / full.epoch_seconds - 1):+.1f} %",
            f"{100 * summary.wait:.1f} %", f"{summary.rows:,.0f}",
            figure(summary.predicted_rows, ",.0f"), f"{summary.overlap:.2f}",
            *(f"{100 * share:.0f} %" for share in summary.used.values()),
            max(summary.used, key=summary.used.get)])

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
                            "predicted", "to full replication", "waiting", "rows a batch",
                            "predicted", "stages at once", "step in use", "link", "cores",
                            "limit"], self._rows)
