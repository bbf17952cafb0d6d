"""Programs for processes of their own, each with a cache folder that it is told."""

import json
import os
import subprocess
import sys

DENSITIES = """
import json
import partita
from partita.families import Count
from partita.kernels.compiling import compilations
from partita.kernels.gibbs import log_predictive_matrix, refresh_slots

family, table = Count.examples()[0]
likelihood = family.resolve(table)
rows, state = likelihood.rows(table), likelihood.state(1)
refresh_slots(state, 1)
density = log_predictive_matrix(rows, state, table.n_rows, 1)[:, 0]
print(json.dumps([partita.__file__, density.tolist(), compilations()]))
"""


def start(script, cache=None, **environment):
    """A new process that runs a script with this cache folder, or without any that is named."""
    surroundings = {**os.environ, **environment}
    surroundings.pop("PARTITA_CACHE_DIR", None)
    if cache is not None:
        surroundings["PARTITA_CACHE_DIR"] = str(cache)
    return subprocess.Popen(
        [sys.executable, "-c", script], env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process):
    """What a process that ends well prints as JSON, and what it says on stderr."""
    try:
        printed, said = process.communicate(timeout=300)
    finally:
        process.kill()
    assert process.returncode == 0, said
    return json.loads(printed), said


def run(script, cache=None, **environment):
    """The same of a process that is started now."""
    return finish(start(script, cache, **environment))
