"""What a fit says of how its chains ended."""

from tests.engines.counter import count

from partita.engines import runner
from partita.engines.endings import doubt
from partita.engines.runner import Plan


def said(settles=False, after_step=(), progress=False, **plan):
    posterior = count(settles=settles, after_step=after_step, progress=progress, **plan)
    return doubt(Plan(**plan), posterior, posterior.diagnostics()), posterior


def interrupt(progress):
    raise KeyboardInterrupt


def test_chains_that_agree_are_not_doubted():
    assert said(settles=True)[0] == ""
    assert said(settles=True, draws=500)[0] == ""


def test_the_cap_of_sweeps_is_said(monkeypatch):
    monkeypatch.setattr(runner, "MOST_SWEEPS", 400)
    words, posterior = said(chains=2)
    assert words == (
        "The chains had not converged when 400 sweeps per chain were reached. " + posterior.diagnostics().verdict
    )


def test_the_time_limit_is_said(clock):
    words, _ = said(chains=2, max_time=0.3, after_step=[clock.tick])
    assert words.startswith("The chains had not converged when max_time was reached. ")
    assert "warm-up" not in words
    words, _ = said(chains=2, draws=1000, warmup=50, max_time=0.3, after_step=[clock.tick])
    assert words.startswith("max_time was reached: the result rests on 100 of 1000 draws of every chain. ")
    assert "warm-up" not in words


def test_a_warmup_that_was_cut_is_said(clock):
    words, posterior = said(chains=2, draws=1000, max_time=0.3, after_step=[clock.tick])
    assert words.startswith(
        "max_time was reached: the result rests on 75 of 1000 draws of every chain."
        " The warm-up of 500 sweeps was cut to half of those made, 150. "
    )
    assert posterior.partitions.shape[1] == 75
    words, _ = said(chains=2, warmup=100, max_time=0.3, after_step=[clock.tick])
    assert "The warm-up of 100 sweeps was cut to half of those made, 150." in words


def test_an_interruption_is_said():
    words, posterior = said(chains=2, progress=interrupt)
    assert words.startswith(f"Interrupted: the result rests on {posterior.n_draws} draws. ")
    assert "warm-up" not in words
