"""JSON of options, right and wrong: what can be read is checked as `fit` checks it, what cannot is refused."""

import copy
import json
import random
from pathlib import Path
from typing import Any

from tests.fuzzing.saved_files import HOSTILE, places

from partita import NBCE, Mixture
from partita.engines import EM, CollapsedVariational, Gibbs, Variational
from partita.families import Categorical, Count, Gaussian, Mixed
from partita.files.json_options import options_from_json, to_json
from partita.priors import DirichletProcess, FiniteDirichlet, FiniteMixtures, Gamma, PitmanYor, StickBreaking

OPTIONS: list[Any] = [
    Mixture(),
    Mixture(family=Gaussian(covariance="full", dof=5.0), prior=PitmanYor(discount=0.3), engine=Gibbs(merge_split=2)),
    Mixture(
        family=Mixed(families={"a": Count(), "b": Categorical(pseudocount=Gamma(1, 2))}), column_types={0: "count"}
    ),
    Mixture(prior=FiniteDirichlet(n_components=[2, 3]), engine=EM(select="bic")),
    Mixture(prior=StickBreaking(n_components=4, concentration=Gamma(2, 1)), engine=CollapsedVariational(order=2)),
    Mixture(prior=FiniteMixtures(), engine="gibbs", max_time=3.0),
    NBCE(prior=DirichletProcess(concentration=0.5), learn=()),
    NBCE(engine=Variational(n_init=2), pseudocount=[1.0, 2.0]),
]


def case(seed: int, folder: Path) -> None:
    """Change the JSON of some options in one to four places, read it and check what was read."""
    rng = random.Random(seed)
    estimator = rng.choice(OPTIONS)
    content = {name: to_json(value) for name, value in estimator.get_params(deep=False).items()}
    for _ in range(rng.randint(1, 4)):
        container, key = rng.choice(places(content) or [(content, "family")])
        if rng.random() < 0.15:
            container.pop(key)
        else:
            container[key] = copy.deepcopy(rng.choice([*HOSTILE, *(there[at] for there, at in places(content))]))
    kind = type(estimator)
    again = kind(**options_from_json(kind, json.loads(json.dumps(content))))
    again.check()
    repr(again)
    to_json(again.family if kind is Mixture else again.prior)
