"""Settings of all tests: property tests take a bounded number of examples, and no test is timed."""

from __future__ import annotations

import hypothesis

hypothesis.settings.register_profile(
    "default-run",
    max_examples=40,
    deadline=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("default-run")
