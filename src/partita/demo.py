"""The demo: the customers of a made-up shop, grouped, described in words and written to a folder."""

import csv
import io
import json
import os
import secrets
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import partita
from partita.mixture import Mixture
from partita.posterior.membership import runners_up

CONFIDENT = 0.9
COLUMNS_TOLD = 3
TABLE_SEED = 20
GROUP_SHARES = (0.36, 0.28, 0.22, 0.14)
MISSING_SHARE = 0.05

#: Numeric column -> unit, and mean and standard deviation in each of the four groups it is drawn from.
NUMERIC: dict[str, tuple[str, tuple[tuple[float, float], ...]]] = {
    "age": ("years", ((41, 8), (27, 6), (66, 8), (47, 10))),
    "visits": ("a month", ((4.2, 1.3), (2.6, 1.0), (6.3, 1.8), (2.2, 0.9))),
    "basket": ("euro", ((80, 24), (34, 14), (38, 14), (160, 50))),
    "distance": ("km", ((7.5, 2.8), (4.0, 1.7), (2.8, 1.2), (11, 4))),
}
#: Categorical column -> its categories, and their shares in each group.
CATEGORICAL: dict[str, tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]] = {
    "channel": (("store", "web", "app"), ((0.6, 0.3, 0.1), (0.1, 0.2, 0.7), (0.92, 0.06, 0.02), (0.1, 0.85, 0.05))),
    "payment": (("card", "cash", "invoice"), ((0.8, 0.18, 0.02), (0.9, 0.1, 0.0), (0.3, 0.7, 0.0), (0.1, 0.0, 0.9))),
    "member": (("yes", "no"), ((0.7, 0.3), (0.25, 0.75), (0.8, 0.2), (0.4, 0.6))),
}


@dataclass(frozen=True)
class Result:
    """The table, the model fitted to it and the seconds that fitting took."""

    columns: dict[str, np.ndarray]
    model: Mixture
    seed: int
    seconds: float


def customers(n_rows: int = 300) -> dict[str, np.ndarray]:
    """The built-in table: 300 customers of four kinds, about one cell in twenty missing (nan or None)."""
    rng = np.random.default_rng(TABLE_SEED)
    group = rng.choice(len(GROUP_SHARES), size=n_rows, p=GROUP_SHARES)
    columns: dict[str, np.ndarray] = {}
    for name, (_, moments) in NUMERIC.items():
        mean, deviation = np.array(moments)[group].T
        values = np.maximum(rng.normal(mean, deviation), 0.1).round(0 if name == "age" else 1)
        columns[name] = np.where(rng.random(n_rows) < MISSING_SHARE, np.nan, values)
    for name, (categories, shares) in CATEGORICAL.items():
        chosen = [rng.choice(categories, p=shares[g]) for g in group]
        missing = rng.random(n_rows) < MISSING_SHARE
        columns[name] = np.array([None if gap else str(c) for c, gap in zip(chosen, missing)], dtype=object)
    return columns


def fit(seed: int) -> Result:
    """Cluster the customers on all cores."""
    columns = customers()
    table = np.column_stack([column.astype(object) for column in columns.values()])
    model = Mixture(random_state=seed, n_jobs=-1, progress=True)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the verdict on the chains is told in any case
        model.fit(table)
    return Result(columns, model, seed, time.perf_counter() - started)


# --- in words --------------------------------------------------------------------------------------


def describe_table(columns: dict[str, np.ndarray]) -> str:
    """Rows, columns by kind and missing cells, in one sentence."""
    n_rows = len(next(iter(columns.values())))
    n_missing = sum(int(_missing(column).sum()) for column in columns.values())
    share = n_missing / (n_rows * len(columns))
    return (
        f"{n_rows} customers of a made-up shop: {len(NUMERIC)} columns of numbers ({', '.join(NUMERIC)}), "
        f"{len(CATEGORICAL)} of categories ({', '.join(CATEGORICAL)}), {n_missing} cells missing ({share:.0%})."
    )


def describe(result: Result) -> list[str]:
    """What was found, line by line."""
    model = result.model
    labels = model.labels_
    likely = sorted(model.posterior_.n_clusters().items(), key=lambda item: -item[1])
    chances = ", ".join(f"{k} with probability {p:.2f}" for k, p in likely[:3])
    sizes = ", ".join(str(size) for size in np.bincount(labels))
    confidence = _confidence(model)
    lines = [
        f"{_count(model.n_clusters_, 'group')} of {sizes} customers. How many groups there are: {chances}.",
        f"{int((confidence >= CONFIDENT).sum())} of {labels.size} customers are placed with confidence "
        f"{CONFIDENT} or more.",
        f"{_sampling(model)} {model.diagnostics_.verdict}",
        "",
        "What is typical of each group (in brackets: all customers):",
    ]
    return lines + [f"  {describe_group(result, k)}" for k in range(model.n_clusters_)]


def describe_group(result: Result, k: int) -> str:
    """The columns in which a group differs most from the whole table, with its means and shares."""
    members = result.model.labels_ == k
    told = sorted((_contrast(name, column, members) for name, column in result.columns.items()), reverse=True)
    facts = "; ".join(fact for _, fact in told[:COLUMNS_TOLD])
    return f"group {k}, {_count(int(members.sum()), 'customer')}: {facts}"


def _contrast(name: str, column: np.ndarray, members: np.ndarray) -> tuple[float, str]:
    """How far a group is from the whole table in a column, and the words for it.

    Numbers: difference of means in standard deviations. Categories: twice the total variation of the shares, and
    the category whose share differs most.
    """
    known = ~_missing(column)
    inside = known & members
    if not inside.any():
        return 0.0, f"{name} unknown"
    if name in NUMERIC:
        everywhere, here = column[known].mean(), column[inside].mean()
        unit = NUMERIC[name][0]
        return abs(here - everywhere) / column[known].std(), f"{name} {here:.3g} {unit} ({everywhere:.3g})"
    gaps = {c: (np.mean(column[inside] == c), np.mean(column[known] == c)) for c in CATEGORICAL[name][0]}
    here, everywhere = max(gaps.values(), key=lambda pair: pair[0] - pair[1])
    category = next(c for c, pair in gaps.items() if pair == (here, everywhere))
    return sum(abs(a - b) for a, b in gaps.values()), f"{name} {category} {here:.0%} ({everywhere:.0%})"


def _sampling(model: Mixture) -> str:
    n_chains, n_draws = model.posterior_.partitions.shape[:2]
    return f"{n_chains} chains of {n_draws} draws."


def _missing(column: np.ndarray) -> np.ndarray:
    return np.array([value is None for value in column]) if column.dtype == object else np.isnan(column)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def _confidence(model: Mixture) -> np.ndarray:
    return model.probabilities_[np.arange(model.labels_.size), model.labels_]


# --- in files --------------------------------------------------------------------------------------


def prepare_folder(folder: Path) -> None:
    """Make the folder and make sure that files can be written into it; raises OSError otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / ".writable", b"")
    (folder / ".writable").unlink()


def write_files(result: Result, folder: Path) -> list[Path]:
    """Write labels.csv, summary.json and coclustering.png; each is the old file or the whole new one."""
    contents = {
        "labels.csv": labels_csv(result.model).encode(),
        "summary.json": (json.dumps(summary(result), indent=2) + "\n").encode(),
        "coclustering.png": picture(result.model),
    }
    for name, content in contents.items():
        replace_file(folder / name, content)
    return [folder / name for name in contents]


def labels_csv(model: Mixture) -> str:
    """Row, label, confidence and runner-up (-1 where there is only one group) of every row."""
    runner_up = runners_up(model.labels_, model.probabilities_)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["row", "label", "confidence", "runner_up"])
    for row, (label, sure, second) in enumerate(zip(model.labels_, _confidence(model), runner_up)):
        writer.writerow([row, label, f"{sure:.6f}", second])
    return text.getvalue()


def summary(result: Result) -> dict[str, Any]:
    """What was found, for programs."""
    model = result.model
    return {
        "n_rows": int(model.labels_.size),
        "n_clusters": int(model.n_clusters_),
        "n_clusters_probabilities": {str(k): round(p, 6) for k, p in model.posterior_.n_clusters().items()},
        "sizes": np.bincount(model.labels_).tolist(),
        "n_confident": int((_confidence(model) >= CONFIDENT).sum()),
        "converged": bool(model.converged_),
        "verdict": model.diagnostics_.verdict,
        "seed": result.seed,
        "seconds": round(result.seconds, 3),
        "version": partita.__version__,
    }


def picture(model: Mixture) -> bytes:
    """The co-clustering picture as PNG."""
    from partita.plots import coclustering

    image = io.BytesIO()
    figure = coclustering(model.posterior_, model.labels_).figure
    figure.savefig(image, format="png")  # type: ignore[union-attr]
    return image.getvalue()


def replace_file(path: Path, content: bytes) -> None:
    """Write under a temporary name in the same folder, then rename."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
