"""Settings of all tests."""

import os

from hypothesis import settings

# Without a deadline: a loaded machine is no failure. Derandomised, so that a run says the same
# twice; `HYPOTHESIS_PROFILE=explore` looks further, with other examples each time.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

# The developer's own keys stay out of the tests, also of those in other processes.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
