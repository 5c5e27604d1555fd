"""Worker processes of torch.utils.data.DataLoader: which of a loader's steps are for this one."""

from __future__ import annotations

import sys
from typing import Any, Dict, Mapping, Optional


def info() -> Optional[Any]:
    """As torch.utils.data.get_worker_info() says; None outside a worker. Whoever has not imported
    PyTorch is in none, and is spared the import."""
    data = sys.modules.get("torch.utils.data")
    return None if data is None else data.get_worker_info()


def share(options: Mapping[str, Any]) -> Dict[str, int]:
    """Options of a loader beside these: the workers of a DataLoader take its steps in turn, worker 0
    the first, as the DataLoader asks them for batches. Empty where one process makes all steps, and
    where the options say themselves which."""
    worker = info()
    if worker is None or worker.num_workers < 2 or "step_offset" in options \
            or "step_stride" in options:
        return {}
    return {"step_offset": worker.id, "step_stride": worker.num_workers}
