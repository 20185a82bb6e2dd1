"""What it was measured on, and what was measured."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import Any

from programs import Programs
from server import ROOT


def facts(programs: Programs) -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "processor": processor(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "sync_ms": programs.limits("disk", ROOT / "target")["p50_ms"],
    }


def moment() -> dict[str, Any]:
    """When a part began, and what else the machine was doing then."""
    return {"began": time.strftime("%Y-%m-%d %H:%M"), "load": round(os.getloadavg()[0], 1)}


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
