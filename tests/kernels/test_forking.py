"""A process that forks while one of its threads compiles: the child has every lock to itself."""

import os

import pytest
from tests.kernels.processes import run
from tests.volumes import long

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")

FORKING = """
import json, os, signal, sys, threading

def exit_of_child(work):
    child = os.fork()
    if child == 0:
        signal.alarm(600)  # compiling may take minutes on a busy machine; a lock that nobody frees takes for ever
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
"""

WHILE_COMPILING = (
    FORKING
    + """
from numba.core import event
from partita.families import Count
from partita.kernels.gibbs import log_predictive_matrix, refresh_slots

family, table = Count.examples()[0]
likelihood = family.resolve(table)
begun = threading.Event()

class Listener(event.Listener):
    def on_start(self, event):
        begun.set()

    def on_end(self, event):
        pass

def densities():
    rows, state = likelihood.rows(table), likelihood.state(1)
    refresh_slots(state, 1)
    return log_predictive_matrix(rows, state, table.n_rows, 1)

event.register("numba:compile", Listener())
thread = threading.Thread(target=densities)
thread.start()
begun.wait()
code = exit_of_child(densities)
thread.join()
print(json.dumps([code, densities().tolist() == densities().tolist()]))
"""
)

WHILE_READING = (
    FORKING
    + """
import numpy as np
from partita.engines import Gibbs
from partita.model.model import Model
from partita.engines.runner import Plan, run
from partita.families import Count
from partita.priors import DirichletProcess

family, table = Count.examples()[0]
likelihood = family.resolve(table)
begun, go_on = threading.Event(), threading.Event()
read = type(likelihood).rows

def slowly(self, table):
    if threading.current_thread() is not threading.main_thread():
        begun.set()
        go_on.wait()
    return read(self, table)

type(likelihood).rows = slowly
weights = np.ones(table.n_rows, dtype=np.int64)

def first_state():
    Gibbs().init(np.random.default_rng(1), Model(likelihood, DirichletProcess(), table, weights))

thread = threading.Thread(target=first_state)
thread.start()
begun.wait()
code = exit_of_child(first_state)
go_on.set()
thread.join()
print(json.dumps([code, True]))
"""
)


@long
def test_the_child_does_not_wait_for_a_thread_that_compiles(tmp_path):
    (code, agrees), _ = run(WHILE_COMPILING, tmp_path)
    assert code == 0
    assert agrees


@long
def test_the_child_does_not_wait_for_a_thread_that_reads_rows():
    """With the cache of all tests: to compile the sampler anew would take longer than all else."""
    (code, _), _ = run(WHILE_READING, os.environ.get("PARTITA_CACHE_DIR"))
    assert code == 0
