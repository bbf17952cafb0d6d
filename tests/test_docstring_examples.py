"""Examples in the docstrings of public names print what they say."""

import doctest

import pytest

import partita
from partita import engines, metrics, spectral

NAMES = {name: getattr(partita, name) for name in partita.__all__ if not name.startswith("_")}
NAMES |= {name: getattr(engines, name) for name in ("Gibbs", "Variational", "CollapsedVariational", "EM")}
NAMES |= {"SpectralClustering": spectral.SpectralClustering}
NAMES |= {name: found for name, found in vars(metrics).items() if getattr(found, "__module__", "") == metrics.__name__}
NAMES = {name: found for name, found in NAMES.items() if not name.startswith("_")}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_there_and_true(name):
    [test] = doctest.DocTestFinder(recurse=False).find(NAMES[name], name, globs={name: NAMES[name]})
    assert test.examples, f"{name} has no example"
    failed = []
    doctest.DocTestRunner().run(test, out=failed.append)
    assert not failed, "".join(failed)
