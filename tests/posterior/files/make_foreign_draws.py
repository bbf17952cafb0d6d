"""Make the draws of PyMC and NumPyro that the tests read: ``python make_foreign_draws.py pymc`` (or ``numpyro``).

Each library fits a mixture of five normals, more than there are, to 60 numbers from three groups. PyMC draws the
assignments (`CategoricalGibbsMetropolis`); NumPyro sums them out, runs NUTS and draws them afterwards
(`infer_discrete`). Each runs in an environment of its own, with nothing else than the library (NumPyro: and funsor).
"""

import json
import sys
from pathlib import Path

import numpy as np

SEED = 20240704
N_COMPONENTS, N_CHAINS, N_WARMUP, N_DRAWS = 5, 2, 1000, 300


def numbers():
    """60 numbers, and the group of each: normals about -4, 0 and 4, in shuffled order."""
    rng = np.random.default_rng(SEED)
    truth = rng.permutation(np.repeat(np.arange(3), (25, 20, 15)))
    return rng.normal([-4.0, 0.0, 4.0], 0.7, size=(60, 3))[np.arange(60), truth], truth


def pymc_draws(values):
    """Assignments as a PyMC model draws them: ``trace.posterior["assignment"]``, (chain, draw, object)."""
    import pymc as pm

    with pm.Model():
        shares = pm.Dirichlet("shares", np.ones(N_COMPONENTS))
        centres = pm.Normal("centres", 0.0, 5.0, shape=N_COMPONENTS)
        spread = pm.HalfNormal("spread", 2.0)
        assignment = pm.Categorical("assignment", shares, shape=len(values))
        pm.Normal("values", centres[assignment], spread, observed=values)
        trace = pm.sample(
            N_DRAWS,
            tune=N_WARMUP,
            chains=N_CHAINS,
            cores=1,
            step=[pm.CategoricalGibbsMetropolis([assignment])],
            random_seed=SEED,
            progressbar=False,
        )
    return trace.posterior["assignment"].values, pm.__version__


def numpyro_draws(values):
    """Assignments drawn after NUTS on the mixture in which they are summed out, (chain, draw, object)."""
    import jax
    import numpyro
    import numpyro.distributions as dist

    def model(values):
        shares = numpyro.sample("shares", dist.Dirichlet(np.ones(N_COMPONENTS)))
        with numpyro.plate("components", N_COMPONENTS):
            centres = numpyro.sample("centres", dist.Normal(0.0, 5.0))
        spread = numpyro.sample("spread", dist.HalfNormal(2.0))
        with numpyro.plate("objects", len(values)):
            assignment = numpyro.sample("assignment", dist.Categorical(shares), infer={"enumerate": "parallel"})
            numpyro.sample("values", dist.Normal(centres[assignment], spread), obs=values)

    fit, draw = jax.random.split(jax.random.PRNGKey(SEED))
    sampler = numpyro.infer.MCMC(
        numpyro.infer.NUTS(model),
        num_warmup=N_WARMUP,
        num_samples=N_DRAWS,
        num_chains=N_CHAINS,
        chain_method="sequential",
        progress_bar=False,
    )
    sampler.run(fit, values)
    samples = sampler.get_samples(group_by_chain=True)
    assign = numpyro.infer.Predictive(model, samples, infer_discrete=True, batch_ndims=2)
    return np.asarray(assign(draw, values)["assignment"]), numpyro.__version__


def main(library):
    """Fit, and write draws, groups and where they come from beside this script."""
    values, truth = numbers()
    draws, version = {"pymc": pymc_draws, "numpyro": numpyro_draws}[library](values)
    about = {"library": library, "version": version, "seed": SEED, "script": Path(__file__).name}
    np.savez_compressed(
        Path(__file__).with_name(f"draws-{library}.npz"),
        draws=draws.astype(np.int8),
        truth=truth.astype(np.int8),
        about=json.dumps(about),
    )


if __name__ == "__main__":
    main(sys.argv[1])
