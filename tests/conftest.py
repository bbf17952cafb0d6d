import signal

import pytest


@pytest.fixture
def interruptible():
    """Python's own answer to an interruption from the keyboard, whatever the test runner set."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)
