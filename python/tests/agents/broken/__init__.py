"""An agent that cannot be loaded."""
