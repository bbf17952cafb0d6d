import signal

import pytest
from tests.volumes import long


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave one case of what is mostly long to `make test`, one of every group where cases have groups."""
    shown = set()
    for item in items:
        if item.get_closest_marker("mostly_long") and not item.get_closest_marker("long"):
            group = item.get_closest_marker("xdist_group")
            case = (item.nodeid.partition("[")[0], group and group.args)
            if case in shown:
                item.add_marker(long)
            shown.add(case)


@pytest.fixture
def interruptible():
    """Python's own answer to an interruption from the keyboard, whatever the test runner set."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)
