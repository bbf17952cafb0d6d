"""partita demo: the customers of a made-up shop, clustered."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from partita.runs import options
from partita.runs.cluster import ClusterRequest
from partita.runs.command import carry_out, command
from partita.runs.console import refusing, writing_to

if TYPE_CHECKING:
    import numpy as np

CUSTOMERS = "customers.csv"
TABLE_SEED = 20
GROUP_SHARES = (0.36, 0.28, 0.22, 0.14)
MISSING_SHARE = 0.05

#: Numeric column -> mean and standard deviation in each of the four groups it is drawn from.
NUMERIC: dict[str, tuple[tuple[float, float], ...]] = {
    "age": ((41, 8), (27, 6), (66, 8), (47, 10)),
    "visits": ((4.2, 1.3), (2.6, 1.0), (6.3, 1.8), (2.2, 0.9)),
    "basket": ((80, 24), (34, 14), (38, 14), (160, 50)),
    "distance": ((7.5, 2.8), (4.0, 1.7), (2.8, 1.2), (11, 4)),
}
#: Categorical column -> its categories, and their shares in each group.
CATEGORICAL: dict[str, tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]] = {
    "channel": (("store", "web", "app"), ((0.6, 0.3, 0.1), (0.1, 0.2, 0.7), (0.92, 0.06, 0.02), (0.1, 0.85, 0.05))),
    "payment": (("card", "cash", "invoice"), ((0.8, 0.18, 0.02), (0.9, 0.1, 0.0), (0.3, 0.7, 0.0), (0.1, 0.0, 0.9))),
    "member": (("yes", "no"), ((0.7, 0.3), (0.25, 0.75), (0.8, 0.2), (0.4, 0.6))),
}


@command
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the results; files of an earlier demo are replaced.")] = Path(
        "partita-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sampler; the table is always the same.")] = 0,
    force: options.Force = False,
) -> None:
    """Cluster a built-in table of 300 shop customers: 'partita cluster' on the file customers.csv that it writes."""
    request = ClusterRequest(table=out / CUSTOMERS, types={}, seed=seed)
    folder, files = request.folder(out, force=force), (*request.files, CUSTOMERS)
    with refusing():
        folder.refuse_others(files)
    with refusing(), writing_to(out):
        folder.prepare(files)
        with folder.writing_beside(CUSTOMERS) as (path,):
            write_customers(path)
    carry_out(request, folder)


def customers(n_rows: int = 300) -> "dict[str, np.ndarray]":
    """The built-in table: 300 customers of four kinds, about one cell in twenty missing (nan or None)."""
    import numpy as np

    rng = np.random.default_rng(TABLE_SEED)
    group = rng.choice(len(GROUP_SHARES), size=n_rows, p=GROUP_SHARES)
    columns: dict[str, np.ndarray] = {}
    for name, moments in NUMERIC.items():
        mean, deviation = np.array(moments)[group].T
        values = np.maximum(rng.normal(mean, deviation), 0.1).round(0 if name == "age" else 1)
        columns[name] = np.where(rng.random(n_rows) < MISSING_SHARE, np.nan, values)
    for name, (categories, shares) in CATEGORICAL.items():
        chosen = [rng.choice(categories, p=shares[g]) for g in group]
        missing = rng.random(n_rows) < MISSING_SHARE
        columns[name] = np.array([None if gap else str(c) for c, gap in zip(chosen, missing)], dtype=object)
    return columns


def write_customers(path: Path) -> None:
    """Write the table to a CSV file; missing cells are empty."""
    from partita.runs.columns import to_csv

    path.write_text(to_csv(customers()), encoding="utf-8")
