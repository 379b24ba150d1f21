"""Settings for all tests."""

import os

# scikit-learn checks array-API input only where this is set, and it must be set before scipy is imported
os.environ.setdefault("SCIPY_ARRAY_API", "1")
