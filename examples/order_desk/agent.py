"""A shop's order desk, where some things need a yes, some a file and some a day.

Shows tools that are more than a call and a result. `refund` asks the user first when it is about
much money, `write_invoice` saves a file (an artifact), and `ask_warehouse` is long-running: it
gives a ticket at once, and the warehouse's answer comes later, as the user's next message.
"""

from __future__ import annotations

from google.adk.agents import Agent
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.long_running_tool import LongRunningFunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

ORDERS = {
    "A-100": {"customer": "Ada", "items": [("desk lamp", 1, 39.0)], "status": "delivered"},
    "A-101": {"customer": "Grace", "items": [("desk", 1, 240.0), ("chair", 2, 85.0)]},
}

# Refunds up to this many euros need nobody's consent.
FREE_REFUND = 50.0


def find_order(order_id: str) -> dict[str, object]:
    """Look up an order.

    Args:
        order_id: The number of the order, such as A-100.

    Returns:
        The customer, the items with number and price in euros, the status and the total.
    """
    if order_id not in ORDERS:
        raise LookupError(f"there is no order {order_id}; known are {', '.join(ORDERS)}")
    order = ORDERS[order_id]
    items = [
        {"name": name, "number": number, "price": price} for name, number, price in order["items"]
    ]
    return {
        "customer": order["customer"],
        "items": items,
        "status": order.get("status", "on its way"),
        "total": _total(order_id),
    }


def refund(order_id: str, amount: float, tool_context: ToolContext) -> dict[str, object]:
    """Pay money back. More than 50 euros need the user's consent.

    Args:
        order_id: The number of the order.
        amount: How much to pay back, in euros.

    Returns:
        What has been paid back for this order so far.
    """
    refunds = dict(tool_context.state.get("refunds", {}))
    paid = refunds.get(order_id, 0.0) + amount
    if amount <= 0 or paid > _total(order_id):
        raise ValueError(f"order {order_id} was {_total(order_id)}, so {paid} cannot be paid back")
    refunds[order_id] = paid
    tool_context.state["refunds"] = refunds
    return {"order_id": order_id, "refunded": paid}


def needs_consent(order_id: str, amount: float, tool_context: ToolContext) -> bool:
    """Whether the user has to agree before the money goes."""
    return amount > FREE_REFUND


async def write_invoice(order_id: str, tool_context: ToolContext) -> dict[str, object]:
    """Write the invoice of an order, as a file that the user can download.

    Args:
        order_id: The number of the order.

    Returns:
        The name of the file and which version of it this is.
    """
    order = find_order(order_id)
    lines = [
        f"# Invoice {order_id}",
        "",
        f"For {order['customer']}",
        "",
        "| | | € |",
        "|---|---|---|",
    ]
    lines += [f"| {i['name']} | {i['number']} | {i['price']:.2f} |" for i in order["items"]]
    lines += [f"| **total** | | **{order['total']:.2f}** |", ""]
    name = f"invoice_{order_id}.md"
    document = types.Part.from_bytes(data="\n".join(lines).encode(), mime_type="text/markdown")
    return {"file": name, "version": await tool_context.save_artifact(name, document)}


def ask_warehouse(question: str, tool_context: ToolContext) -> dict[str, str]:
    """Ask the warehouse something. Somebody there answers within a day.

    Args:
        question: What to ask.

    Returns:
        The number of the ticket. The answer comes later.
    """
    tickets = [*tool_context.state.get("tickets", []), question]
    tool_context.state["tickets"] = tickets
    return {"status": "waiting", "ticket": f"W-{len(tickets)}"}


def _total(order_id: str) -> float:
    return sum(number * price for _, number, price in ORDERS[order_id]["items"])


root_agent = Agent(
    name="order_desk",
    model="gemini-2.5-flash",
    description="Answers for orders: refunds, invoices, questions to the warehouse.",
    instruction=(
        "You work at the order desk of a shop. Look an order up before you say anything about it."
        " Pay back what the customer asks for if the order allows it. Ask the warehouse where"
        " something is, tell the customer the ticket, and come back to it when the answer is there."
    ),
    tools=[
        find_order,
        FunctionTool(refund, require_confirmation=needs_consent),
        write_invoice,
        LongRunningFunctionTool(ask_warehouse),
    ],
)
