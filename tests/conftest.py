"""For all tests: how long a test may take is no promise that is tested (and nothing about a busy machine is)."""

from hypothesis import HealthCheck, settings

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
