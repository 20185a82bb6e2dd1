"""`ag-ui-adk` with the agent of the bench, for `bench/served.py`.

Runs in an environment of its own, which has `ag-ui-adk` and `uvicorn`: PYTHON ag_ui_server.py PORT
"""

from __future__ import annotations

import sys
from pathlib import Path

import uvicorn
from ag_ui_adk import ADKAgent, add_adk_fastapi_endpoint
from fastapi import FastAPI

sys.path.insert(0, str(Path(__file__).resolve().parent / "one_text"))

from scripted.agent import root_agent

app = FastAPI()
agent = ADKAgent(
    adk_agent=root_agent,
    app_name="scripted",
    user_id="bench",
    use_in_memory_services=True,
    max_concurrent_executions=64,  # It takes 10, and refuses runs beyond: we send 16 at once.
)
add_adk_fastapi_endpoint(app, agent, path="/")
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
