"""A saved file of every kind, small, and rows that it can be asked about."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from partita import NBCE, Mixture, Posterior
from partita.engines import EM, Variational
from partita.families import Categorical, Gaussian, Mixed
from partita.priors import FiniteDirichlet, Gamma, PitmanYor, StickBreaking

FAST = {"chains": 2, "draws": 8, "warmup": 4, "random_state": 3}


def mixed_frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    group = np.arange(24) % 2
    frame = pd.DataFrame(
        {
            "size": 100.0 * group + rng.normal(0, 3, 24),
            "width": 10.0 * group + rng.normal(0, 1, 24),
            "colour": np.where(group == 1, "red", rng.choice(["blue", "green"], 24)),
            "visits": rng.poisson(2 + 8 * group),
        },
        index=[f"row {i}" for i in range(24)],
    )
    frame.loc["row 3", ["colour", "size"]] = None
    return frame


def numbers() -> np.ndarray:
    X = np.random.default_rng(2).normal(size=(20, 2)) + 4 * (np.arange(20) % 2)[:, None]
    X[4, 1] = np.nan
    return X


def votes() -> np.ndarray:
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(20)[:, None] % 2, 4, axis=1)
    return np.where(rng.random(labels.shape) < 0.2, rng.integers(-1, 3, labels.shape), labels)


def _mixed() -> Any:
    known = Mixed(families={"width": Gaussian(covariance="known", variance=0.3), "categorical": Categorical()})
    prior = PitmanYor(discount=0.25, concentration=Gamma(2.0, 1.0))
    return Mixture(family=known, prior=prior, column_types={"visits": "count"}, **FAST).fit(mixed_frame()), mixed_frame


MAKERS: dict[str, Callable[[], tuple[Any, Callable[[], Any]]]] = {
    "mixed": _mixed,
    "learned": lambda: (
        Mixture(family=Categorical(pseudocount=Gamma(1, 1)), **FAST).fit(mixed_frame()[["colour"]]),
        lambda: mixed_frame()[["colour"]],
    ),
    "full": lambda: (Mixture(prior="finite-mixtures", **FAST).fit(numbers()), numbers),
    "sticks": lambda: (
        Mixture(family=Gaussian(covariance="known"), prior=StickBreaking(n_components=5), **FAST).fit(numbers()),
        numbers,
    ),
    "em": lambda: (
        Mixture(prior=FiniteDirichlet(n_components=[1, 2, 3]), engine=EM(select="bic", n_init=2), random_state=0).fit(
            numbers()
        ),
        numbers,
    ),
    "vb": lambda: (
        Mixture(engine=Variational(n_init=1), column_types={"visits": "count"}, random_state=0).fit(mixed_frame()),
        mixed_frame,
    ),
    "cvb": lambda: (Mixture(engine="cvb", family=Gaussian(covariance="diag"), random_state=0).fit(numbers()), numbers),
    "nbce": lambda: (NBCE(n_components=5, learn=("concentration", "pseudocount"), **FAST).fit(votes()), votes),
    "nbce-vb": lambda: (NBCE(n_components=5, engine="vb", random_state=0).fit(votes()), votes),
    "posterior": lambda: (Posterior(votes().T, provenance={"objects": [f"o{i}" for i in range(20)]}), votes),
}


def make_all(folder: Path) -> dict[str, tuple[Path, Callable[[], Any]]]:
    """A file of every kind in the folder, and what makes rows to ask it about."""
    made = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, maker in MAKERS.items():
            model, rows = maker()
            path = folder / f"{name}.partita"
            model.save(path)
            made[name] = path, rows
    return made
