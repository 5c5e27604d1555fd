#!/usr/bin/env python3
"""How fast torch.index_select gathers rows on the GPU: the other side of `deploy/bench.sh gpu`.

The same row sizes, memory sizes and count of repetitions as tests/benchmark/gpu_benchmark.cc, and
lines of the same form, with a device-to-device copy as the limit.
"""

import argparse
import json
import statistics

import torch

MEBI = 1 << 20
UNCOUNTED = 3
NUM_TIMES = 30
AT_ONCE = 8  # pieces of work between two points in time
NUM_LISTS = 4


def median_seconds(work):
    """Of the seconds that work(i) takes on the device."""
    seconds = []
    for i in range(UNCOUNTED + NUM_TIMES):
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        start.record()
        for k in range(AT_ONCE):
            work(i * AT_ONCE + k)
        end.record()
        end.synchronize()
        if i >= UNCOUNTED:
            seconds.append(start.elapsed_time(end) / 1000 / AT_ONCE)
    return statistics.median(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=["small", "full"], default="full")
    size = parser.parse_args().size
    pool_bytes = (512 if size == "small" else 4096) * MEBI
    batch_bytes = (128 if size == "small" else 512) * MEBI
    device = torch.device("cuda")

    copied = torch.randint(0, 255, (batch_bytes,), dtype=torch.uint8, device=device)
    copy = torch.empty_like(copied)
    limit = 2 * batch_bytes / median_seconds(lambda i: copy.copy_(copied))
    pool = torch.randint(-(1 << 31), (1 << 31) - 1, (pool_bytes // 4,), dtype=torch.int32,
                         device=device).view(torch.float32)
    for row_bytes in (128, 256, 400, 512, 1024, 2048):
        num_rows = pool_bytes // row_bytes
        n = batch_bytes // row_bytes
        rows = pool[: num_rows * row_bytes // 4].view(num_rows, row_bytes // 4)
        lists = [torch.randint(0, num_rows, (n,), device=device) for _ in range(NUM_LISTS)]
        out = torch.empty((n, row_bytes // 4), device=device)
        seconds = median_seconds(
            lambda i: torch.index_select(rows, 0, lists[i % NUM_LISTS], out=out))
        print(json.dumps({"bench": "gpu", "case": f"torch.index_select, {row_bytes} bytes a row",
                          "metric": "bytes/s", "value": 2 * n * row_bytes / seconds,
                          "baseline": None, "limit": limit}))


if __name__ == "__main__":
    main()
