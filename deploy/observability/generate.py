#!/usr/bin/env python3
"""Writes Prometheus' rules, Grafana's dashboard and the tables of docs/metrics.md.

    deploy/observability/generate.py           writes alerts.yaml and dashboard.json beside itself,
                                               and the page's tables
    deploy/observability/generate.py --check   writes nothing; exit status 1 if they are out of date

Alerts and panels are listed here. They may name only metrics of metrics.txt and only their labels;
a test compares that list with what servers show.
"""

import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER.parent.parent / "docs" / "metrics.md"

# The scrape jobs, one a cluster: what a server that is down leaves behind is `up` of its job.
JOB = 'job=~"vicinity.*"'

# Calls for data; the others are small, and would hide what trainers wait for.
DATA = ('grpc_method=~"SampleNeighbors|FetchRows|FetchRagged|FindRows|ResolveKeys|FetchDegrees|'
        'FetchEdgeIds|Walk"')

# By what loaders are told apart: a trainer's own label, which is empty where it has none.
TRAINER = "job, instance, trainer, loader"

# Codes by which a server says that something is wrong with itself; the others are its callers'.
OWN_FAULTS = 'grpc_code=~"Unknown|DeadlineExceeded|Internal|Unavailable|DataLoss"'

# name, severity, for how long, condition, what it says.
ALERTS = [
    ("VicinityServerDown", "critical", "1m",
     f'up{{{JOB}}} == 0',
     "{{ $labels.instance }} does not answer",
     "Trainers read its shards from replicas, where there are any. `systemctl status vicinityd`, its "
     "log, `vicinity status`."),
    ("VicinityShardUnserved", "critical", "1m",
     'max by (job, shard) (max_over_time(vicinity_server_shard_file_bytes[1h])) '
     'unless on (job, shard) (vicinity_server_shard_faulty == 0)',
     "No server serves shard {{ $labels.shard }}",
     "Calls for it fail. Start a server that has it, or `vicinity repair` its files."),
    ("VicinityShardDamaged", "critical", "0m",
     "vicinity_server_shard_faulty == 1",
     "{{ $labels.instance }} has taken shard {{ $labels.shard }} out of service",
     "A file is damaged; the log says which. `vicinity repair DIR --cluster FILE`."),
    ("VicinityReplicaMissing", "warning", "5m",
     'count by (job, shard) (vicinity_server_shard_faulty == 0) '
     '< on (job, shard) max by (job, shard) (vicinity_server_shard_replicas)',
     "Shard {{ $labels.shard }} has {{ $value }} of its replicas",
     "One more failure may end it. `vicinity health --cluster FILE` names the server."),
    ("VicinityNotServing", "warning", "5m",
     "vicinity_server_serving == 0",
     "{{ $labels.instance }} runs but does not serve",
     "It is stopping, and something keeps it from its end."),
    ("VicinityOverloaded", "warning", "1m",
     "vicinity_server_overloaded == 1",
     "{{ $labels.instance }} is asked for more than it can do ({{ $labels.lane }})",
     "More servers or replicas, or larger caches in the trainers."),
    ("VicinityCallsRefused", "warning", "5m",
     "sum by (instance, limit) (rate(vicinity_server_refused_calls_total[5m])) > 1",
     "{{ $labels.instance }} refuses {{ $value | humanize }} calls a second: {{ $labels.limit }}",
     "docs/operations.md says what each limit means."),
    ("VicinityErrors", "warning", "5m",
     f"sum by (instance) (rate(grpc_server_handled_total{{{OWN_FAULTS}}}[5m])) "
     "/ sum by (instance) (rate(grpc_server_handled_total[5m])) > 0.01",
     "{{ $value | humanizePercentage }} of the calls at {{ $labels.instance }} fail",
     "`vicinity status`; `vicinity admin log-level debug` has a line for each."),
    ("VicinitySlow", "warning", "10m",
     "histogram_quantile(0.99, sum by (instance, le) "
     f"(rate(grpc_server_handling_seconds_bucket{{{DATA}}}[5m]))) > 0.25",
     "1 of 100 calls for data at {{ $labels.instance }} takes more than {{ $value | humanizeDuration }}",
     "Reads from disk, an overload, or a network that is full: compare the dashboard's rows."),
    ("VicinityClientsDoNotRead", "warning", "5m",
     "rate(vicinity_server_cut_off_calls_total[5m]) > 0",
     "{{ $labels.instance }} cuts off calls whose clients read nothing",
     "A stopped or swapping trainer; the log names it."),
    ("VicinityConnectionsFull", "warning", "5m",
     "vicinity_server_connections / vicinity_server_max_connections > 0.9",
     "{{ $labels.instance }} has {{ $value | humanizePercentage }} of the connections it may have",
     "Look for a client that leaks them; raise --max-connections."),
    ("VicinityFilesLow", "warning", "5m",
     "process_open_fds / process_max_fds > 0.8",
     "{{ $labels.instance }} has {{ $value | humanizePercentage }} of its open files",
     "Raise LimitNOFILE."),
    ("VicinityCertificateEnds", "warning", "1h",
     "vicinity_server_certificate_expiry_timestamp_seconds - time() < 14 * 86400",
     "The certificate of {{ $labels.instance }} ends in {{ $value | humanizeDuration }}",
     "`vicinity certificate renew --all`, then copy the files out."),
    ("VicinityCertificateFaulty", "warning", "1m",
     "vicinity_server_certificate_faulty == 1",
     "New TLS files of {{ $labels.instance }} are not taken",
     "`vicinity status` says why; those before stay in use."),
    ("VicinityDiskLow", "warning", "5m",
     "vicinity_server_changes_disk_level == 1",
     "The disk for changes of {{ $labels.instance }} is nearly full",
     "Below --changes-free-mib writes are refused. `vicinity fold`, or a larger disk."),
    ("VicinityDiskFull", "critical", "1m",
     "vicinity_server_changes_disk_level == 2",
     "The disk for changes of {{ $labels.instance }} is full: they are refused, reads go on",
     "`df`, then make room: what else is there; `vicinity fold`; a larger disk. Writes go on by "
     "themselves."),
    ("VicinityChangesDamaged", "critical", "1m",
     "vicinity_server_changes_open == 0",
     "The changes of shard {{ $labels.shard }} are not open at {{ $labels.instance }}",
     "It is left out there; the log says why. A replica has them too; or `vicinity backup restore`."),
    ("VicinityNoWriter", "critical", "1m",
     "max by (job, shard) (vicinity_server_shard_writes) == 0",
     "No server takes changes of shard {{ $labels.shard }}",
     "Its writer is lost, or was told to take nothing: `vicinity shards`, then `vicinity promote`."),
    ("VicinitySeveralWriters", "warning", "5m",
     "sum by (job, shard) (vicinity_server_shard_writes) > 1",
     "{{ $value }} servers take changes of shard {{ $labels.shard }}",
     "One has not heard of a promotion, and will refuse when it has: see that they reach each other."),
    ("VicinityReplicaBehind", "warning", "5m",
     "vicinity_server_replica_behind_versions > 1000 or vicinity_server_replica_behind_versions == -1",
     "Shard {{ $labels.shard }} of {{ $labels.server }} is behind: {{ $value }} versions",
     "-1: that server does not answer its writer. Else its disk is slower than the writer's."),
    ("VicinityWritesHeldUp", "warning", "5m",
     "vicinity_server_rocksdb_write_stopped == 1 or vicinity_server_rocksdb_write_rate_bytes > 0",
     "Writes to shard {{ $labels.shard }} of {{ $labels.instance }} wait for its disk",
     "More is written than the disk can sort: fewer writers, or a faster disk."),
    ("VicinityChangesFaulty", "critical", "0m",
     "increase(vicinity_server_rocksdb_errors_total[10m]) > 0",
     "RocksDB met a fault in the changes of shard {{ $labels.shard }} at {{ $labels.instance }}",
     "The disk refuses or loses something; the log says what. Start the server again, or promote."),
    ("VicinityTrainerStarved", "warning", "10m",
     f'sum by ({TRAINER}) (rate(vicinity_loader_stage_seconds_total{{stage="train",state="starved"}}[5m])) '
     f'/ sum by ({TRAINER}) (rate(vicinity_loader_stage_seconds_total{{stage="train"}}[5m])) > 0.2',
     "A trainer at {{ $labels.instance }} waits for data {{ $value | humanizePercentage }} of its time",
     "`vicinity why http://HOST:PORT` or `vicinity why FILE` says what it waits for, and what to "
     "change."),
    ("VicinityTrainerFetchesMore", "warning", "30m",
     f'sum by ({TRAINER}) (rate(vicinity_loader_fetched_nodes_total[15m])) '
     f'/ sum by ({TRAINER}) (rate(vicinity_loader_stage_batch_seconds_count{{stage="plan"}}[15m])) '
     f'> 1.5 * max by ({TRAINER}) (vicinity_loader_expected_rows)',
     "A trainer at {{ $labels.instance }} fetches {{ $value | humanize }} rows a batch, more than was planned",
     "Its options are not those that `vicinity plan` was told, or sampling does not keep ahead."),
    ("VicinityTrainerRetries", "warning", "5m",
     'sum by (job, instance, trainer) (rate(vicinity_client_retries_total[5m])) '
     '/ sum by (job, instance, trainer) (rate(vicinity_client_shard_calls_total[5m])) > 0.01',
     "{{ $value | humanizePercentage }} of the calls of a trainer at {{ $labels.instance }} are made again",
     "A server or its network fails: `vicinity health`, `vicinity status`."),
    ("VicinityLogLost", "warning", "5m",
     "rate(vicinity_server_log_dropped_lines_total[5m]) > 0",
     "{{ $labels.instance }} drops lines of its log",
     "Nobody reads it, or its disk is slow."),
]

# Rows of the dashboard: title, then panels: title, unit of Grafana, and (query, legend) each.
ROWS = [
    ("At a glance", [
        ("Servers that answer", "none", [(f'sum(up{{{JOB}}})', "answer"),
                                         (f'count(up{{{JOB}}})', "all")]),
        ("Shards out of service", "none", [("sum(vicinity_server_shard_faulty)", "damaged"),
                                           ("sum(vicinity_server_serving == bool 0)",
                                            "servers that do not serve")]),
        ("Calls a second", "reqps", [("sum(rate(grpc_server_started_total[$__rate_interval]))", "all")]),
        ("Bytes a second", "Bps", [
            ("sum(rate(vicinity_server_sent_bytes_total[$__rate_interval]))", "sent"),
            ("sum(rate(vicinity_server_received_bytes_total[$__rate_interval]))", "received")]),
    ]),
    ("Calls: rate, errors, duration", [
        ("Calls by method", "reqps", [
            ("sum by (grpc_method) (rate(grpc_server_started_total[$__rate_interval]))",
             "{{grpc_method}}")]),
        ("Errors by code", "reqps", [
            ('sum by (grpc_code) (rate(grpc_server_handled_total{grpc_code!="OK"}[$__rate_interval]))',
             "{{grpc_code}}")]),
        ("Time of calls for data", "s", [
            (f"histogram_quantile({q}, sum by (le) "
             f"(rate(grpc_server_handling_seconds_bucket{{{DATA}}}[$__rate_interval])))", name)
            for q, name in ((0.5, "p50"), (0.95, "p95"), (0.99, "p99"))]),
        ("p99 by method", "s", [
            ("histogram_quantile(0.99, sum by (grpc_method, le) "
             "(rate(grpc_server_handling_seconds_bucket[$__rate_interval])))", "{{grpc_method}}")]),
        ("Mean time by server", "s", [
            ("sum by (instance) (rate(grpc_server_handling_seconds_sum[$__rate_interval])) "
             "/ sum by (instance) (rate(grpc_server_handling_seconds_count[$__rate_interval]))",
             "{{instance}}")]),
        ("Calls under way", "none", [("vicinity_server_calls_in_flight", "{{instance}}")]),
    ]),
    ("Admission: use, queue, refusals", [
        ("Calls that run", "none", [
            ('sum by (instance) (vicinity_server_admitted_calls{state="running"})', "{{instance}}")]),
        ("Calls that wait for their turn", "none", [
            ('sum by (instance, lane) (vicinity_server_admitted_calls{state="waiting"})',
             "{{instance}} {{lane}}")]),
        ("Calls whose clients do not read", "none", [
            ('sum by (instance) (vicinity_server_admitted_calls{state="stalled"})', "{{instance}}"),
            ("rate(vicinity_server_cut_off_calls_total[$__rate_interval])", "{{instance}} cut off")]),
        ("Refused, by limit", "reqps", [
            ("sum by (limit) (rate(vicinity_server_refused_calls_total[$__rate_interval])) > 0",
             "{{limit}}")]),
        ("Share of the calls that there may be", "percentunit", [
            ("sum by (instance, lane) (vicinity_server_admitted_calls) "
             "/ sum by (instance, lane) (vicinity_server_max_calls)", "{{instance}} {{lane}}")]),
        ("Overloaded", "none", [("max by (instance) (vicinity_server_overloaded)", "{{instance}}")]),
        ("Bytes of replies still to be sent", "bytes", [
            ("sum by (instance) (vicinity_server_reply_bytes)", "{{instance}}")]),
    ]),
    ("Bytes on the wire", [
        ("Sent, by method", "Bps", [
            ("sum by (method) (rate(vicinity_server_sent_bytes_total[$__rate_interval]))",
             "{{method}}")]),
        ("Sent, by server", "Bps", [
            ("sum by (instance) (rate(vicinity_server_sent_bytes_total[$__rate_interval]))",
             "{{instance}}")]),
        ("Copied on their way", "Bps", [
            ("sum by (instance) (rate(vicinity_server_copied_bytes_total[$__rate_interval]))",
             "{{instance}}")]),
    ]),
    ("Bytes by tier: disk, mapped, memory", [
        ("Files that are served", "bytes", [
            ("sum by (instance) (vicinity_server_shard_file_bytes)", "{{instance}}"),
            ("sum by (instance) (vicinity_server_index_bytes)", "{{instance}} stored indexes")]),
        ("Of them in memory", "bytes", [
            ('vicinity_server_resident_bytes{tier="files"}', "{{instance}}")]),
        ("Memory beside them", "bytes", [
            ('vicinity_server_resident_bytes{tier="heap"}', "{{instance}}"),
            ("vicinity_server_condition_bytes", "{{instance}} for conditions"),
            ("vicinity_server_relation_bytes", "{{instance}} for relations")]),
    ]),
    ("Shards", [
        ("Replicas that serve, beside those meant", "none", [
            ("count by (shard) (vicinity_server_shard_faulty == 0)", "{{shard}}"),
            ("max by (shard) (vicinity_server_shard_replicas)", "{{shard}} meant")]),
        ("Damaged", "none", [("vicinity_server_shard_faulty", "{{instance}} {{shard}}")]),
        ("Retired datasets that are kept", "none", [
            ("vicinity_server_retired_datasets", "{{instance}}")]),
        ("Share of the files that was verified", "percentunit", [
            ("sum by (instance) (vicinity_server_shard_checked_bytes) "
             "/ sum by (instance) (vicinity_server_shard_file_bytes)", "{{instance}}")]),
        ("Checks of all files", "none", [
            ("vicinity_server_scrub_passes_total", "{{instance}} passes")]),
        ("Bytes checked in this pass", "bytes", [
            ("vicinity_server_scrub_done_bytes", "{{instance}}")]),
    ]),
    ("Live graph", [
        ("Versions a second", "ops", [
            ("max by (shard) (rate(vicinity_server_shard_version[$__rate_interval]))", "{{shard}}")]),
        ("Shards without a writer", "none", [
            ("max by (shard) (vicinity_server_shard_writes) == 0", "{{shard}}")]),
        ("Versions that replicas lack; -1: not known", "none", [
            ("vicinity_server_replica_behind_versions", "{{server}} {{shard}}")]),
        ("Memory for changes", "bytes", [
            ("sum by (instance) (vicinity_server_changes_memory_bytes)", "{{instance}}")]),
        ("Disk for changes", "bytes", [
            ("sum by (instance) (vicinity_server_changes_disk_bytes)", "{{instance}}"),
            ("vicinity_server_changes_free_bytes", "{{instance}} free")]),
        ("RocksDB: memory", "bytes", [
            ("sum by (instance) (vicinity_server_rocksdb_buffer_bytes)", "{{instance}} buffers"),
            ("sum by (instance) (vicinity_server_rocksdb_cache_bytes)", "{{instance}} blocks"),
            ("sum by (instance) (vicinity_server_rocksdb_reader_bytes)", "{{instance}} readers")]),
        ("RocksDB: files, and what is to be merged", "bytes", [
            ("sum by (instance) (vicinity_server_rocksdb_file_bytes)", "{{instance}} files"),
            ("sum by (instance) (vicinity_server_rocksdb_pending_bytes)", "{{instance}} to merge")]),
        ("RocksDB: work in the background", "none", [
            ("sum by (instance, work) (vicinity_server_rocksdb_jobs)", "{{instance}} {{work}}")]),
        ("RocksDB: writes are held up", "none", [
            ("sum by (instance) (vicinity_server_rocksdb_write_stopped)", "{{instance}} stopped"),
            ("sum by (instance) (vicinity_server_rocksdb_write_rate_bytes > bool 0)",
             "{{instance}} slowed")]),
    ]),
    ("Trainers", [
        ("Time that trainers wait for data", "percentunit", [
            (f'sum by ({TRAINER}) (rate(vicinity_loader_stage_seconds_total{{stage="train",state="starved"}}[$__rate_interval])) '
             f'/ sum by ({TRAINER}) (rate(vicinity_loader_stage_seconds_total{{stage="train"}}[$__rate_interval]))',
             "{{instance}} {{trainer}} {{loader}}")]),
        ("Stages: share of their threads' time that is busy", "percentunit", [
            ('sum by (stage) (rate(vicinity_loader_stage_seconds_total{state="busy"}[$__rate_interval])) '
             '/ sum by (stage) (rate(vicinity_loader_stage_seconds_total[$__rate_interval]))',
             "{{stage}}")]),
        ("Stages: share without room", "percentunit", [
            ('sum by (stage) (rate(vicinity_loader_stage_seconds_total{state="blocked"}[$__rate_interval])) '
             '/ sum by (stage) (rate(vicinity_loader_stage_seconds_total[$__rate_interval]))',
             "{{stage}}")]),
        ("Batches a second", "ops", [
            (f'sum by ({TRAINER}) (rate(vicinity_loader_stage_batch_seconds_count{{stage="train"}}[$__rate_interval]))',
             "{{instance}} {{trainer}} {{loader}}")]),
        ("Rows by tier", "ops", [
            ("sum by (tier) (rate(vicinity_loader_rows_total[$__rate_interval]))", "{{tier}}")]),
        ("Rows fetched a batch, and expected", "none", [
            (f'sum by ({TRAINER}) (rate(vicinity_loader_fetched_nodes_total[$__rate_interval])) '
             f'/ sum by ({TRAINER}) (rate(vicinity_loader_stage_batch_seconds_count{{stage="plan"}}[$__rate_interval]))',
             "{{instance}} {{trainer}} {{loader}}"),
            ("vicinity_loader_expected_rows", "{{instance}} {{trainer}} {{loader}} expected")]),
        ("Mean time of RPCs", "s", [
            ("sum by (method) (rate(vicinity_client_rpc_seconds_sum[$__rate_interval])) "
             "/ sum by (method) (rate(vicinity_client_rpc_seconds_count[$__rate_interval]))",
             "{{method}}")]),
        ("Retries, hedges, quarantines", "ops", [
            ("sum(rate(vicinity_client_retries_total[$__rate_interval]))", "retries"),
            ("sum(rate(vicinity_client_hedges_total[$__rate_interval]))", "hedges"),
            ("sum(rate(vicinity_client_hedge_wins_total[$__rate_interval]))", "hedges that won"),
            ("sum(rate(vicinity_client_quarantines_total[$__rate_interval]))", "quarantines")]),
        ("Payload", "Bps", [
            ("sum by (instance, trainer) (rate(vicinity_client_received_bytes_total[$__rate_interval]))",
             "{{instance}} {{trainer}} received"),
            ("sum by (instance, trainer) (rate(vicinity_client_sent_bytes_total[$__rate_interval]))",
             "{{instance}} {{trainer}} sent"),
            ("sum by (instance, trainer) (rate(vicinity_client_bulk_tcp_received_bytes_total[$__rate_interval]))",
             "{{instance}} {{trainer}} received by bulk TCP"),
            ("sum by (instance, trainer) (rate(vicinity_client_bulk_unix_received_bytes_total[$__rate_interval]))",
             "{{instance}} {{trainer}} received by bulk Unix socket")]),
        ("Cores in use", "none", [
            ("rate(vicinity_client_cpu_seconds_total[$__rate_interval])",
             "{{instance}} {{trainer}}")]),
    ]),
    ("Process and connections", [
        ("Cores", "none", [
            ("rate(process_cpu_seconds_total[$__rate_interval])", "{{instance}}"),
            ("vicinity_server_cores", "{{instance}} there are"),
            ("rate(vicinity_server_cpu_wait_seconds_total[$__rate_interval])",
             "{{instance}} threads without one")]),
        ("Threads that wait for a disk", "none", [
            ("vicinity_server_threads_on_disk", "{{instance}}")]),
        ("Read from disks", "Bps", [
            ("rate(vicinity_server_disk_read_bytes_total[$__rate_interval])", "{{instance}}")]),
        ("Waits for pages of mapped files", "ops", [
            ("rate(vicinity_server_major_faults_total[$__rate_interval])", "{{instance}}")]),
        ("Open files, of those there may be", "percentunit", [
            ("process_open_fds / process_max_fds", "{{instance}}")]),
        ("Connections", "none", [("vicinity_server_connections", "{{instance}}")]),
        ("Connections refused and cut off", "reqps", [
            ("rate(vicinity_server_refused_connections_total[$__rate_interval])",
             "{{instance}} refused"),
            ("rate(vicinity_server_offending_connections_total[$__rate_interval])",
             "{{instance}} cut off")]),
        ("Threads", "none", [("process_threads", "{{instance}}")]),
        ("Up for", "s", [("time() - process_start_time_seconds", "{{instance}}")]),
        ("Versions", "none", [("count by (version) (vicinity_build_info)", "{{version}}")]),
        ("Datasets", "none", [
            ("count by (dataset, fingerprint) (vicinity_server_dataset_info)",
             "{{dataset}} {{fingerprint}}")]),
        ("Certificate ends in", "s", [
            ("vicinity_server_certificate_expiry_timestamp_seconds - time()", "{{instance}}")]),
        ("HTTP port", "reqps", [
            ("sum by (page, code) (rate(vicinity_server_http_requests_total[$__rate_interval])) > 0",
             "{{page}} {{code}}")]),
    ]),
]

# What a histogram is asked by, and what Prometheus itself adds to a target.
HISTOGRAM_ENDINGS = ("_bucket", "_sum", "_count")
OF_PROMETHEUS = {"up"}

METRIC_NAME = re.compile(r"\b(?:vicinity_|grpc_server_|process_|up\b)\w*")
# Those of metrics, those that Prometheus gives to every series, and a histogram's.
LABEL_GROUPS = re.compile(r"\b(?:by|on) \(([^)]*)\)")
LABEL_MATCHES = re.compile(r"(\w+)=~?\"|(\w+)!~?=?\"")
# `trainer` is the label that a trainer may be given (MetricsOptions::trainer).
LABELS_OF_PROMETHEUS = {"job", "instance", "le", "trainer"}
OF_TRAINERS = re.compile("vicinity_(?:loader|client)_")


def sections():
    """Of metrics.txt: (title, [(name, kind, labels, help)])."""
    found = []
    for line in (FOLDER / "metrics.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            found.append((line.strip("[]"), []))
            continue
        words, told = line.split(" : ", 1)
        name, kind, *labels = words.split()
        found[-1][1].append((name, kind, labels, told))
    return found


def known_metrics():
    """Of metrics.txt, by name: kind and labels."""
    return {name: (kind, labels) for _, metrics in sections() for name, kind, labels, _ in metrics}


def metrics_in(query):
    return set(METRIC_NAME.findall(query))


def labels_in(query):
    labels = {label.strip() for group in LABEL_GROUPS.findall(query) for label in group.split(",")}
    return labels | {one or other for one, other in LABEL_MATCHES.findall(query)}


def queries():
    for name, _, _, condition, _, _ in ALERTS:
        yield f"alert {name}", condition
    for title, panels in ROWS:
        for panel, _, targets in panels:
            for query, _ in targets:
                yield f"panel {title}: {panel}", query


def faults_of_queries():
    """A line for each metric, or label, that is asked for and not there."""
    known = known_metrics()
    names = set(known) | OF_PROMETHEUS
    names |= {name + ending for name, (kind, _) in known.items() if kind == "histogram"
              for ending in HISTOGRAM_ENDINGS}
    labels = {label for _, of_metric in known.values() for label in of_metric} | LABELS_OF_PROMETHEUS
    faults = []
    for place, query in queries():
        faults += [f"{place}: no metric {name}" for name in sorted(metrics_in(query) - names)]
        faults += [f"{place}: no metric has a label {label}"
                   for label in sorted(labels_in(query) - labels)]
    return faults


def quoted(text):
    """A scalar of YAML, which any string of JSON is."""
    return json.dumps(text, ensure_ascii=False)


def alerts_text():
    lines = ["# Alerts for Prometheus: made by deploy/observability/generate.py, which says more.",
             "groups:", "  - name: vicinity", "    rules:"]
    for name, severity, duration, condition, summary, description in ALERTS:
        lines += [f"      - alert: {name}",
                  f"        expr: {quoted(condition)}",
                  f"        for: {duration}",
                  "        labels:",
                  f"          severity: {severity}",
                  "        annotations:",
                  f"          summary: {quoted(summary)}",
                  f"          description: {quoted(description)}"]
    return "\n".join(lines) + "\n"


def panel_of(number, title, unit, targets, x, y, width):
    source = {"type": "prometheus", "uid": "${datasource}"}
    return {
        "id": number, "type": "timeseries", "title": title, "datasource": source,
        "gridPos": {"h": 7, "w": width, "x": x, "y": y},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
                    "tooltip": {"mode": "multi", "sort": "desc"}},
        "targets": [{"refId": chr(ord("A") + i), "datasource": source, "expr": with_server(query),
                     "legendFormat": legend}
                    for i, (query, legend) in enumerate(targets)],
    }


def with_server(query):
    """Of the servers, or of the trainers, that are chosen at the dashboard's top."""
    of_servers = 'job=~"$job",instance=~"$instance"'
    of_trainers = 'instance=~"$host",trainer=~"$trainer"'

    def choose(found):
        chosen = of_trainers if OF_TRAINERS.match(found.group(0)) else of_servers
        return found.group(0) + "{" + chosen + ("," if query[found.end():].startswith("{") else "}")
    # The opening bracket of what a query chooses by itself is in what was put before it.
    chosen = METRIC_NAME.sub(choose, query)
    return chosen.replace(of_servers + ",{", of_servers + ",").replace(of_trainers + ",{",
                                                                     of_trainers + ",")


def choice(name, label, query):
    return {"name": name, "label": label, "type": "query", "hide": 0, "multi": True,
            "includeAll": True, "allValue": ".*", "refresh": 2, "sort": 1,
            "datasource": {"type": "prometheus", "uid": "${datasource}"},
            "query": {"query": query, "refId": "A"},
            "current": {"text": "All", "value": "$__all"}}


def dashboard():
    panels = []
    y = 0
    number = 1
    for title, row in ROWS:
        panels.append({"id": number, "type": "row", "title": title, "collapsed": False,
                       "panels": [], "gridPos": {"h": 1, "w": 24, "x": 0, "y": y}})
        number += 1
        y += 1
        per_line = 4 if len(row) == 4 else 3
        width = 24 // per_line
        for i, (name, unit, targets) in enumerate(row):
            place = (i % per_line * width, y + i // per_line * 7)
            panels.append(panel_of(number, name, unit, targets, *place, width))
            number += 1
        y += -(-len(row) // per_line) * 7
    return {
        "uid": "vicinity", "title": "Vicinity", "tags": ["vicinity"], "schemaVersion": 37,
        "version": 1, "editable": True, "refresh": "10s", "timezone": "",
        "time": {"from": "now-1h", "to": "now"}, "annotations": {"list": []}, "links": [],
        "templating": {"list": [
            {"name": "datasource", "label": "Data source", "type": "datasource",
             "query": "prometheus", "hide": 0},
            choice("job", "Cluster", "label_values(vicinity_build_info, job)"),
            choice("instance", "Server",
                   'label_values(vicinity_build_info{job=~"$job"}, instance)'),
            choice("host", "Trainers' host", "label_values(vicinity_client_cores, instance)"),
            choice("trainer", "Trainer",
                   'label_values(vicinity_client_cores{instance=~"$host"}, trainer)'),
        ]},
        "panels": panels,
    }


def cell(text):
    return text.replace("|", "\\|")


def metric_tables():
    lines = []
    for title, metrics in sections():
        lines += [f"### {title}", "", "| metric | kind | labels | |", "|---|---|---|---|"]
        for name, kind, labels, told in metrics:
            shown = ", ".join(f"`{label}`" for label in labels)
            lines.append(f"| `{name}` | {kind} | {shown} | {cell(told)} |")
        lines.append("")
    return "\n".join(lines)


def alert_table():
    lines = ["| alert | | after | fires while | what to do |", "|---|---|---|---|---|"]
    for name, severity, duration, condition, _, description in ALERTS:
        lines.append(f"| `{name}` | {severity} | {'at once' if duration == '0m' else duration} | "
                     f"`{cell(condition)}` | {cell(description)} |")
    return "\n".join(lines) + "\n"


def page():
    """docs/metrics.md with what lies between its marks made anew."""
    text = PAGE.read_text(encoding="utf-8")
    for mark, table in (("metrics", metric_tables()), ("alerts", alert_table())):
        begin, end = f"<!-- {mark}: generate.py -->\n", f"<!-- end of {mark} -->"
        before, rest = text.split(begin, 1)
        text = before + begin + "\n" + table.rstrip("\n") + "\n\n" + end + rest.split(end, 1)[1]
    return text


def files():
    return {FOLDER / "alerts.yaml": alerts_text(),
            FOLDER / "dashboard.json": json.dumps(dashboard(), indent=1, ensure_ascii=False) + "\n",
            PAGE: page()}


def main():
    faults = faults_of_queries()
    for fault in faults:
        print(fault)
    if faults:
        return 1
    stale = {path: text for path, text in files().items()
             if not path.is_file() or path.read_text(encoding="utf-8") != text}
    if sys.argv[1:] == ["--check"]:
        for path in stale:
            print(f"{path.name} is out of date: run deploy/observability/generate.py")
        return 1 if stale else 0
    for path, text in stale.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
