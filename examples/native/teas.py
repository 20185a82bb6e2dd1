"""The shelves of the tea shop, as an MCP server over standard input and output.

Hotseat starts it for `agent.yaml`. It needs the `mcp` package: `pip install mcp`.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

try:
    from mcp.server.mcpserver import MCPServer
except ImportError:  # mcp 1.x has it under this name.
    from mcp.server.fastmcp import FastMCP as MCPServer

# Name: kind, price of 100 g in euros, grams a cup, degrees Celsius, minutes.
TEAS = {
    "Sencha": ("green", 9.5, 2.0, 75, 2),
    "Gyokuro": ("green", 24.0, 3.0, 60, 2),
    "Assam": ("black", 6.0, 2.0, 95, 4),
    "Lapsang Souchong": ("black", 8.5, 2.0, 95, 3),
    "Silver Needle": ("white", 28.0, 2.5, 80, 5),
    "Rooibos": ("herbal", 4.5, 2.0, 100, 7),
}

server = MCPServer("teas")


@server.tool()
def find_teas(
    kind: Annotated[str, Field(description="green, black, white or herbal; empty for all.")] = "",
    max_price: Annotated[float, Field(description="The highest price of 100 g, in euros.")] = 100,
) -> list[dict[str, str | float]]:
    """Find teas, cheapest first."""
    found = [
        {"name": name, "kind": tea[0], "price": tea[1]}
        for name, tea in TEAS.items()
        if tea[1] <= max_price and kind in ("", tea[0])
    ]
    return sorted(found, key=lambda tea: tea["price"])


@server.tool()
def how_to_make(
    name: Annotated[str, Field(description="The name of the tea, as found.")],
    cups: Annotated[int, Field(description="How many cups.", ge=1)] = 1,
) -> str:
    """Say how to make a tea."""
    if name not in TEAS:
        raise LookupError(f"there is no {name}; the shop has {', '.join(TEAS)}")
    _, _, grams, degrees, minutes = TEAS[name]
    water = f"{cups * 200} ml of water at {degrees} °C"
    return f"{grams * cups:g} g of {name} in {water}, {minutes} minutes"


if __name__ == "__main__":
    server.run("stdio")
