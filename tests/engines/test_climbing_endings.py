"""How engines that climb end before their time: Ctrl-C keeps the best so far, the clock leaves compiling out."""

import os
import signal
import threading

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from partita import Mixture
from partita.engines import EM, CollapsedVariational, Variational
from partita.priors import FiniteDirichlet
from partita.running import progress
from partita.running.watch import Watch

ROWS = np.random.default_rng(5).normal(size=(60, 2)) + np.repeat([[0.0, 0.0], [2.0, 1.0], [0.0, 3.0]], 20, axis=0)
ENGINES = [EM(n_init=3, tol=0.0), Variational(n_init=3, tol=0.0), CollapsedVariational(n_init=3, tol=0.0)]


def mixture(engine, **options):
    return Mixture(family="gaussian", prior=FiniteDirichlet(n_components=3), engine=engine, random_state=1, **options)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interruption_keeps_the_best_so_far(monkeypatch, engine, n_jobs):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_REPORTS", 0.0)

    def interrupt(news):
        if news.sweep == 2:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match=f"{engine.title} had not converged when it was interrupted, after "):
        model = mixture(engine, progress=interrupt, n_jobs=n_jobs).fit(ROWS)
    assert not model.converged_
    assert model.n_iter_ <= 3
    path = model.loglik_path_ if engine.name == "em" else model.elbo_path_
    assert np.isfinite(path).all()
    np.testing.assert_allclose(model.probabilities_.sum(axis=1), 1.0)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
def test_ctrl_c_is_heard(monkeypatch, engine):
    once, heard = threading.Semaphore(1), threading.Event()
    step, note = type(engine).step, Watch.note

    def interrupted(self, *rest):
        if once.acquire(blocking=False):
            os.kill(os.getpid(), signal.SIGINT)
            assert heard.wait(60.0)
        return step(self, *rest)

    def noted(watch):
        heard.set()
        return note(watch)

    monkeypatch.setattr(type(engine), "step", interrupted)
    monkeypatch.setattr(Watch, "note", noted)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = mixture(engine.__class__(tol=0.0, max_iter=10**6)).fit(ROWS)
    assert model.labels_.shape == (60,)
