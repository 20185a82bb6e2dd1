"""An agent that cannot be loaded."""

import a_package_that_is_not_there  # noqa: F401

root_agent = None
