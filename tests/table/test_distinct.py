"""Which rows are different: against a dictionary of rows, also where hashes collide."""

import numpy as np
import pytest

from partita.table import distinct
from partita.table.distinct import distinct_rows


@pytest.mark.parametrize("collide", [False, True])
def test_kinds_are_those_of_a_dictionary(monkeypatch, collide):
    if collide:
        monkeypatch.setattr(distinct, "_ODD", np.uint64(0))
    rng = np.random.default_rng(5)
    codes = rng.integers(-1, 2, size=(400, 3)).astype(np.int32)
    numbers = rng.choice([0.5, 1.5, np.nan], size=(400, 2))
    first, kind = distinct_rows([codes, numbers])
    rows = [codes[i].tobytes() + numbers[i].tobytes() for i in range(400)]
    assert len(first) == len(set(rows))
    assert all(rows[i] == rows[first[kind[i]]] for i in range(400))
