"""An agent that leaves traces of what it did."""
