"""Orders of the shop: a plain function, which a worker runs for the tool `order_status`."""

from __future__ import annotations

ORDERS = {
    "A-100": {"item": "desk lamp", "kind": "furniture", "delivered": "2026-01-05"},
    "A-101": {"item": "oranges", "kind": "food", "delivered": "2026-01-07"},
}


def status(order_id: str) -> dict[str, str]:
    """Look up an order.

    Args:
        order_id: The number of the order, such as A-100.

    Returns:
        What was ordered, of which kind it is, and when it was delivered.
    """
    if order_id not in ORDERS:
        raise LookupError(f"there is no order {order_id}; known are {', '.join(ORDERS)}")
    return ORDERS[order_id]
