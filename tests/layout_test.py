#!/usr/bin/env python3
"""The layout of the source tree, as far as the compiler and Bazel do not check it.

Runs on the tree that it lies in, under Bazel (//tests:layout_test) or by itself. Prints each
violation as `file: what is wrong`.
"""

import os
import pathlib
import re
import subprocess
import sys

# What each folder's sources may include; CONTRIBUTING.md shows the same table to people.
MAY_INCLUDE = {
    "proto": {"proto"},
    "partition": {"partition", "proto"},
    "sampler": {"sampler", "partition", "proto"},
    "cache": {"cache", "partition", "proto"},
    "server": {"server", "sampler", "partition", "proto"},
    "client": {"client", "cache", "sampler", "partition", "proto"},
}
FOLDERS = set(MAY_INCLUDE) | {"tests", "deploy", "docs"}

# More C++ files than this in one folder are more than a reader keeps in mind.
MAX_SOURCES = 40

# The rooms of these folders, and which others of the same folder each may include: what stands
# lower is named first. Folders that are not here have no rooms.
ROOMS = {
    "partition/schema": set(),
    "partition/dataset": {"partition/schema"},
    "partition/writing": {"partition/dataset", "partition/schema"},
    "partition/ingest/formats": {"partition/dataset", "partition/schema"},
    "partition/ingest": {
        "partition/dataset", "partition/ingest/formats", "partition/schema", "partition/writing",
    },
    "partition/cut": {
        "partition/dataset", "partition/ingest/formats", "partition/schema", "partition/writing",
    },
    "partition/overlay": {"partition/dataset", "partition/schema", "partition/writing"},
    "partition/fold": {
        "partition/dataset", "partition/overlay", "partition/schema", "partition/writing",
    },
    "sampler/rules": set(),
    "sampler": {"sampler/rules"},
    "sampler/relations": {"sampler", "sampler/rules"},
    "sampler/proximity": {"sampler", "sampler/rules"},
    "sampler/turns": {"sampler", "sampler/rules"},
    "cache/vip": set(),
    "cache/pool": set(),
    "cache/device/base": set(),
    "cache/device": {"cache/device/base", "cache/pool"},
    "cache/policies": {"cache/pool", "cache/vip"},
    "server/connections": set(),
    "server/health": set(),
    "server/logging": set(),
    "server/security": set(),
    "server/admission": {"server/connections"},
    "server/replication": set(),
    "server/handlers": {
        "server/admission", "server/connections", "server/health", "server/logging",
        "server/replication",
    },
    "server/handlers/live": {"server/handlers", "server/replication"},
    "server/http": {"server/connections", "server/security"},
    "server/calls": {
        "server/admission", "server/connections", "server/handlers", "server/handlers/live",
        "server/health", "server/logging", "server/replication", "server/security",
    },
    "server/bulk": {
        "server/calls", "server/connections", "server/handlers", "server/security",
    },
    "server": {
        "server/admission", "server/bulk", "server/calls", "server/connections", "server/handlers",
        "server/handlers/live", "server/health", "server/http", "server/logging",
        "server/replication", "server/security",
    },
    "client/types": set(),
    "client/options": {"client/types"},
    "client/shards": {"client/types"},
    "client/rpc": {"client/shards", "client/types"},
    "client/replicas": {"client/rpc", "client/shards", "client/types"},
    "client/device": {"client/shards", "client/types"},
    "client/negatives": {"client/shards", "client/types"},
    "client/query": {"client/negatives", "client/shards", "client/types"},
    "client/loading": {
        "client/device", "client/negatives", "client/query", "client/shards", "client/types",
    },
    "client/writes": {"client/shards", "client/types"},
    "client/metrics": {"client/types"},
    "client": {
        "client/loading", "client/metrics", "client/query", "client/replicas", "client/rpc", "client/shards",
        "client/types", "client/writes",
    },
    "client/c_api": {"client", "client/options", "client/query", "client/types"},
    "client/train": {"client", "client/options", "client/types"},
    "client/planning": {
        "client/loading", "client/options", "client/query", "client/shards", "client/types",
    },
    "client/backup": {"client/shards"},
    "client/why": set(),
    "client/cli/output": {"client/planning"},
    "client/cli/writes": {"client"},
    "client/cli/flags": {
        "client", "client/cli/output", "client/planning", "client/query", "client/rpc",
        "client/types",
    },
    "client/cli/commands": {
        "client", "client/cli/flags", "client/cli/output", "client/options", "client/planning",
        "client/types",
    },
    "client/cli/commands/graph": {
        "client", "client/backup", "client/cli/commands", "client/cli/flags", "client/cli/output",
        "client/cli/writes", "client/query",
    },
    "client/cli/commands/live": {
        "client", "client/backup", "client/cli/commands", "client/cli/flags", "client/cli/output",
    },
    "client/cli/commands/operate": {
        "client/cli/commands", "client/cli/commands/live", "client/cli/flags", "client/cli/output", "client/why",
    },
    "client/cli/commands/trace": {
        "client/cli/commands", "client/cli/flags", "client/cli/output",
    },
    "client/cli": {
        "client/cli/commands", "client/cli/commands/graph", "client/cli/commands/live",
        "client/cli/commands/operate", "client/cli/commands/trace", "client/cli/output",
    },
}

# Sources without a twin test of their own -> the test that covers them instead.
# Every *main.cc is exempt: a main only joins what is tested elsewhere.
COVERED_ELSEWHERE = {
    "client/cli/commands/live/swap_command.cc": "tests/integration/live_swap_test.cc",
    "server/generation.cc": "tests/client/cli/commands/live/dataset_swap_test.cc",
    "server/generation_record.cc": "tests/client/cli/commands/live/dataset_swap_test.cc",
    "server/generations.cc": "tests/client/cli/commands/live/dataset_swap_test.cc",
    "server/handlers/live/carry_handler.cc": "tests/client/cli/commands/live/dataset_swap_test.cc",
    "client/cli/flags/server_files.cc": "tests/client/cli/commands/live/rebuild_command_test.cc",
    "client/cli/commands/live/promote_command.cc": "tests/integration/live_replicas_test.cc",
    "client/cli/writes/file_writing.cc": "tests/client/cli/commands/graph/write_command_test.cc",
    "client/backup/copied_shards.cc": "tests/client/cli/commands/graph/fold_command_test.cc",
    "client/backup/live_backup.cc": "tests/client/cli/commands/graph/backup_command_test.cc",
    "client/backup/live_fold.cc": "tests/client/cli/commands/graph/fold_command_test.cc",
    "client/backup/repeated_shard.cc": "tests/client/cli/commands/graph/backup_command_test.cc",
    "client/shards/keyed_nodes.cc": "tests/integration/live_test.cc",
    "client/shards/pinned_shards.cc": "tests/integration/live_test.cc",
    "proto/security/channel_credentials.cc": "tests/client/rpc/credentials_test.cc",
    "partition/overlay/change_file.cc": "tests/partition/overlay/live_shard_test.cc",
    "server/handlers/live/apply_handler.cc": "tests/integration/live_test.cc",
    "server/handlers/live/barrier_handler.cc": "tests/integration/live_test.cc",
    "server/handlers/live/appoint_handler.cc": "tests/integration/live_replicas_test.cc",
    "server/handlers/live/find_keeper.cc": "tests/integration/live_replicas_test.cc",
    "server/handlers/live/replicate_handler.cc": "tests/integration/live_replicas_test.cc",
    "server/replication/other_server.cc": "tests/integration/live_replicas_test.cc",
    "server/replication/replication.cc": "tests/integration/live_replicas_test.cc",
    "server/handlers/live/changes_handler.cc": "tests/client/cli/commands/graph/backup_command_test.cc",
    "cache/device/base/cuda_absent.cc": "tests/cache/device/base/cuda_device_test.cc",
    "cache/device/base/cuda_context.cc": "tests/cache/device/base/cuda_device_test.cc",
    "cache/device/copy_rows_absent.cc": "tests/cache/device/copy_rows_test.cc",
    "client/c_api/handles.cc": "tests/client/c_api/batch_parts_test.cc",
    "client/loading/batch_maker.cc": "tests/client/loading/query_epochs_test.cc",
    "client/loading/epoch_run.cc": "tests/client/loading/loader_core_test.cc",
    "client/graph_impl.cc": "tests/integration/failure_test.cc",
    "client/query/induced_maker.cc": "tests/client/query/induced_steps_test.cc",
    "client/query/node_pool.cc": "tests/client/query/query_runner_test.cc",
    "client/query/query.cc": "tests/client/prepared_query_test.cc",
    "client/query/step_makers.cc": "tests/client/query/query_runner_test.cc",
    "client/query/step_rows.cc": "tests/client/query/query_runner_test.cc",
    "client/query/walk_makers.cc": "tests/client/query/walk_steps_test.cc",
    "client/shards/routed_weights.cc": "tests/client/query/walk_steps_test.cc",
    "client/rpc/rpc_call.cc": "tests/client/rpc/remote_shard_test.cc",
    "client/writes/keys_of_nodes.cc": "tests/client/writes/change_writer_test.cc",
    "client/writes/node_counts.cc": "tests/client/writes/change_writer_test.cc",
    "partition/fold/edge_copy.cc": "tests/partition/fold/fold_test.cc",
    "partition/fold/kept_edges.cc": "tests/partition/fold/fold_test.cc",
    "partition/fold/list_batch.cc": "tests/partition/fold/fold_test.cc",
    "partition/fold/node_copy.cc": "tests/partition/fold/fold_test.cc",
    "partition/overlay/change.cc": "tests/partition/overlay/live_shard_test.cc",
    "partition/overlay/live_view.cc": "tests/partition/overlay/live_shard_test.cc",
    "server/http/http_connection.cc": "tests/server/http/http_server_test.cc",
    "server/http/http_listener.cc": "tests/server/http/peer_watch_test.cc",
    "server/http/tls_caller.cc": "tests/server/http/http_server_test.cc",
    "server/bulk/bulk_call.cc": "tests/server/bulk/bulk_port_test.cc",
    "server/bulk/bulk_connection.cc": "tests/server/bulk/bulk_port_test.cc",
    "server/calls/grpc_call.cc": "tests/integration/server_test.cc",
    "server/calls/open_bulk.cc": "tests/server/bulk/bulk_port_test.cc",
    "client/rpc/call_ending.cc": "tests/client/rpc/remote_shard_test.cc",
    "server/calls/admin_operations.cc": "tests/server/admin_server_test.cc",
    "server/calls/guarded_port.cc": "tests/integration/server_test.cc",
    "server/calls/health_watch.cc": "tests/integration/server_test.cc",
    "server/calls/operations.cc": "tests/server/calls/data_operations_test.cc",
    "server/calls/served_call.cc": "tests/integration/server_test.cc",
    "server/server.cc": "tests/integration/server_test.cc",
    "server/calls/service.cc": "tests/integration/server_test.cc",
    "server/stop_signals.cc": "tests/integration/vicinityd_test.cc",
}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def tracked_files(root):
    """Paths that git tracks, relative to the root; all files where there is no git."""
    listing = subprocess.run(["git", "-C", str(root), "-c", "safe.directory=*", "ls-files", "-z"],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if listing.returncode == 0:
        paths = listing.stdout.decode().split("\0")
        return sorted(path for path in paths if path and (root / path).is_file())
    found = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [s for s in subfolders if s != ".git" and not s.startswith("bazel-")]
        found += [str(pathlib.Path(folder, name).relative_to(root)) for name in names]
    return sorted(found)


def read(root, path):
    """The text of a file, or None for a binary one."""
    try:
        return (root / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def of_folders(paths, *suffixes):
    return [path for path in paths
            if path.split("/")[0] in MAY_INCLUDE and path.endswith(suffixes)]


def every_source_has_a_twin_test(root, paths):
    present = set(paths)
    sources = of_folders(paths, ".cc")
    for source in sources:
        twin = f"tests/{source[:-len('.cc')]}_test.cc"
        if source.endswith("main.cc") or source in COVERED_ELSEWHERE or twin in present:
            continue
        yield f"{source}: its test {twin} is missing"
    for source, test in COVERED_ELSEWHERE.items():
        for path in (source, test):
            if path not in present:
                yield f"tests/layout_test.py: names {path}, which is not there"


def includes_follow_the_layers(root, paths):
    for path in of_folders(paths, ".h", ".cc", ".cu", ".cuh"):
        folder = path.split("/")[0]
        for included in INCLUDE.findall(read(root, path) or ""):
            target = included.split("/")[0]
            if target in FOLDERS - MAY_INCLUDE[folder]:
                yield f"{path}: includes {included}, but {folder} stands below or beside {target}"


def includes_follow_the_rooms(root, paths):
    for path in of_folders(paths, ".h", ".cc", ".cu", ".cuh"):
        room = path.rpartition("/")[0]
        inner = room in ROOMS or any(room.startswith(f"{other}/") for other in ROOMS)
        if inner and room not in ROOMS:
            yield f"{path}: the room {room} is not among tests/layout_test.py's ROOMS"
            continue
        for included in INCLUDE.findall(read(root, path) or ""):
            target = included.rpartition("/")[0]
            if target in ROOMS and same_folder(room, target) and target not in ROOMS[room] | {room}:
                yield f"{path}: includes {included}, but {room} may not include {target}"


def same_folder(room, other):
    return room.split("/")[0] == other.split("/")[0]


GROUP = re.compile(r"^package_group\((.*?)^\)", re.MULTILINE | re.DOTALL)
STRINGS_OF = r"\b{} = (\[.*?\])"


def strings_of(attribute, text):
    found = re.search(STRINGS_OF.format(attribute), text, re.DOTALL)
    return re.findall(r'"([^"]+)"', found.group(1)) if found else []


def package_groups(root, paths):
    """Of each group, by its label: what it names as packages, and the labels of those it includes."""
    groups = {}
    for path in paths:
        if path.split("/")[-1] != "BUILD":
            continue
        package = path.rpartition("/")[0]
        for body in GROUP.findall(read(root, path) or ""):
            name = re.search(r'name = "([^"]+)"', body).group(1)
            groups[f"//{package}:{name}"] = (
                strings_of("packages", body),
                [label if label.startswith("//") else f"//{package}{label}"
                 for label in strings_of("includes", body)])
    return groups


def rooms_admitted(groups, label):
    packages, includes = groups[label]
    rooms = {room for room in ROOMS for package in packages
             if package == f"//{room}" or (package.endswith("/...")
                                           and f"//{room}/".startswith(package[:-len("...")]))}
    return rooms.union(*(rooms_admitted(groups, other) for other in includes))


def groups_follow_the_rooms(root, paths):
    """Bazel refuses what the table above does, no more and no less."""
    groups = package_groups(root, paths)
    for room in ROOMS:
        if f"{room}/BUILD" not in paths:
            yield f"{room}: has no BUILD file"
            continue
        seen_by = strings_of("default_visibility", read(root, f"{room}/BUILD") or "")
        labels = [label if label.startswith("//") else f"//{room}{label}" for label in seen_by]
        admitted = set().union(*(rooms_admitted(groups, label) for label in labels if label in groups))
        admitted = {other for other in admitted if same_folder(room, other)} - {room}
        meant = {other for other, may_include in ROOMS.items() if room in may_include}
        for other in sorted(admitted ^ meant):
            yield (f"{room}/BUILD: {'shows' if other in admitted else 'does not show'} itself to "
                   f"{other}, unlike tests/layout_test.py's ROOMS")


def folders_stay_small(root, paths):
    sources = {}
    for path in paths:
        if path.endswith((".h", ".cc", ".cu", ".cuh")):
            sources.setdefault(path.rpartition("/")[0], []).append(path)
    for folder, files in sources.items():
        if len(files) > MAX_SOURCES:
            yield (f"{folder}: has {len(files)} C++ files, more than {MAX_SOURCES}: "
                   "which of them are a room of their own?")


def headers_open_with_a_comment(root, paths):
    for path in paths:
        if path.endswith((".h", ".cuh")):
            if not (read(root, path) or "").lstrip().startswith(("//", "/*")):
                yield f"{path}: does not open with a comment that says what it is"


def build_files_open_with_a_sentence(root, paths):
    for path in paths:
        if path.split("/")[-1] in ("BUILD", "BUILD.bazel"):
            opening = []
            for line in (read(root, path) or "").splitlines():
                if not line.startswith("#"):
                    break
                opening.append(line)
            if not opening or not opening[-1].endswith("."):
                yield f"{path}: does not open with a sentence that says what the package is"


def nothing_outside_tests_reaches_beside_the_tree(root, paths):
    # Tests may read data that lies beside a clone where it does; the rest must stand alone.
    beside = "../" + "shared"
    for path in paths:
        if path.startswith("tests/"):
            continue
        for number, line in enumerate((read(root, path) or "").splitlines(), start=1):
            if beside in line:
                yield f"{path}:{number}: mentions {beside}"


# `partition/dataset/book.h`, `docs/cli.md`, ...: what a page names as a file of ours.
NAMED_FILE = re.compile(r"`((?:proto|partition|sampler|cache|server|client|tests|deploy|docs)/"
                        r"[\w./-]+\.(?:h|cc|cu|proto|py|sh|md|txt))`")


def pages_name_files_that_exist(root, paths):
    present = set(paths)
    for path in paths:
        if not path.endswith(".md"):
            continue
        for named in NAMED_FILE.findall(read(root, path) or ""):
            if named not in present and "..." not in named:
                yield f"{path}: names {named}, which is not there"


# `book_test.cc`, and what follows it as `x_test.cc`: "a case", "another".
NAMED_TEST = re.compile(r"`(\w+_test\.(?:cc|py|sh))`((?::? ?(?:, )?\"[^\"|`]+\")*)")


def pages_name_tests_that_exist(root, paths):
    tests = {path.split("/")[-1]: path for path in paths if path.startswith("tests/")}
    for path in paths:
        if not path.endswith(".md"):
            continue
        for named, cases in NAMED_TEST.findall(read(root, path) or ""):
            if named not in tests:
                yield f"{path}: names {named}, which is not there"
                continue
            text = read(root, tests[named]) or ""
            for case in re.findall(r'"([^"]+)"', cases):
                if f'"{case}"' not in text:
                    yield f"{path}: names the case \"{case}\", which {tests[named]} has not"


RULES = [
    every_source_has_a_twin_test,
    includes_follow_the_layers,
    includes_follow_the_rooms,
    groups_follow_the_rooms,
    folders_stay_small,
    headers_open_with_a_comment,
    build_files_open_with_a_sentence,
    nothing_outside_tests_reaches_beside_the_tree,
    pages_name_files_that_exist,
    pages_name_tests_that_exist,
]


def main():
    # Bazel runs a link to this file: what it points to lies in the source tree.
    root = pathlib.Path(__file__).resolve().parent.parent
    if not (root / "WORKSPACE").is_file():
        print(f"{root} is not the source tree")
        return 1
    paths = tracked_files(root)
    failed = 0
    for rule in RULES:
        violations = list(rule(root, paths))
        for violation in violations:
            print(violation)
        failed += bool(violations)
    print(f"{len(RULES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
