"""Resealed mutations of files that partita wrote: what loads answers, what does not is refused."""

import copy
import pickle
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzzing.sealing import DEEP, Parts, sealed

import partita
from partita import Posterior

HOSTILE: list[Any] = [
    None, True, False, 0, 1, -1, 2, 3, 7, 255, 2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, 0.0, 0.5, -0.5,
    1e-300, 1e300, float("nan"), float("inf"), -float("inf"), "", "os", "os.path", "antigravity", "a" * 1500,
    "\x1b[31m", "\u202e", "gibbs", "em", "vb", "numeric", "categorical", "count", "pandas", "polars", [], {}, [None],
    [1, 2, 3], [[[[]]]], {"list": []}, {"mapping": []},
    {"array": {"list": [1.0]}, "dtype": "<f8"},
    {"array": 1, "dtype": "O"},
    {"array": {"list": [1]}, "dtype": "V1000000000"},
    {"prior": "dirichlet-process", "options": {}},
    {"prior": "stick-breaking", "options": {"n_components": 10**9}},
    {"prior": "no-such", "options": {}},
    {"engine": "em", "options": {}},
    {"family": "gaussian", "options": {"covariance": "full"}},
]  # fmt: skip
EXTREMES = [0, 1, -1, 2, -2, 127, -128, 1000, 2**31 - 1, -(2**31), 2**40, 2**62, 0.5, 1e-300, 1e300, np.nan, np.inf]
DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint64", "float16", "float32", "float64", "bool", "complex128",
          ">f8", ">i8", "S3", "U2", "M8[s]"]  # fmt: skip


def case(made: dict[str, tuple[Path, Callable[[], Any]]], seed: int, folder: Path) -> None:
    """Change one of the files in one to three ways, seal it, load it and ask it everything."""
    rng = random.Random(seed)
    source, rows = made[rng.choice(sorted(made))]
    path = folder / "mutant.partita"
    if rng.random() < 0.05:
        path.write_bytes(_changed_bytes(rng, source.read_bytes()))
    else:
        parts = Parts.of(source)
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            rng.choice(MUTATIONS)(rng, parts)
        parts.write(path)
    if rng.random() < 0.1:
        use_posterior(Posterior.load(path))
    use_file(path, rows())


def use_file(path: Path, rows: Any) -> None:
    """Load a file and ask it everything."""
    use(partita.load(path), rows)


def use(model: Any, rows: Any) -> None:
    """Ask a loaded file everything that it answers; an answer is finite."""
    if isinstance(model, Posterior):
        use_posterior(model)
        return
    few = rows[:6]
    np.testing.assert_allclose(model.predict_proba(few).sum(axis=1), 1.0, rtol=1e-6)
    assert (model.predict(few) < model.n_clusters_).all()
    assert np.isfinite(model.novelty(few)).all()
    assert not np.isnan(model.score_samples(few)).any()
    model.to_frame()
    model.profile_  # noqa: B018  (computed when asked for)
    model.explain(0)
    model.sample(3)
    use_posterior(model.posterior_)


def use_posterior(posterior: Posterior) -> None:
    """Ask what is read from draws."""
    repr(posterior)
    posterior.n_clusters()
    posterior.estimate(runs=2, n_jobs=1)
    posterior.diagnostics()
    posterior.sensitivity([1.0]) if "prior" in posterior.provenance else posterior.costs()


# --- what is changed --------------------------------------------------------------------------------


def places(content: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a tree of objects and lists."""
    found = []
    keys = content.keys() if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ()
    for key in keys:
        found.append((content, key))
        found += places(content[key])
    return found


def _place(rng: random.Random, parts: Parts) -> tuple[Any, Any]:
    """A place in the header; the many digests and rows are rarely chosen."""
    top = [(parts.header, key) for key in parts.header]
    deep = [place for name in ("mixture", "provenance") for place in places(parts.header.get(name))]
    return rng.choice(deep if deep and rng.random() < 0.85 else top or [({0: 0}, 0)])


def replace_value(rng: random.Random, parts: Parts) -> None:
    container, key = _place(rng, parts)
    container[key] = copy.deepcopy(rng.choice(HOSTILE))


def remove_value(rng: random.Random, parts: Parts) -> None:
    container, key = _place(rng, parts)
    del container[key]


def repeat_value(rng: random.Random, parts: Parts) -> None:
    container, key = _place(rng, parts)
    if isinstance(container, list):
        container += [copy.deepcopy(container[key])] * rng.choice([1, 1, 1000])
    else:
        container[rng.choice(["x", "estimator", "prior", "list", ""])] = copy.deepcopy(container[key])


def swap_values(rng: random.Random, parts: Parts) -> None:
    (one, at), (other, there) = _place(rng, parts), _place(rng, parts)
    one[at], other[there] = copy.deepcopy(other[there]), copy.deepcopy(one[at])


def nest_value(rng: random.Random, parts: Parts) -> None:
    container, key = _place(rng, parts)
    for _ in range(rng.choice([1, 3, 30])):
        container[key] = rng.choice([[container[key]], {"list": [container[key]]}])


def nest_deeply(rng: random.Random, parts: Parts) -> None:
    container, key = _place(rng, parts)
    container[key] = DEEP


def change_number(rng: random.Random, parts: Parts) -> None:
    name = _array_name(rng, parts)
    array = parts.arrays[name].copy()
    if array.size:
        with np.errstate(all="ignore"):
            array.reshape(-1)[rng.randrange(array.size)] = np.array(rng.choice(EXTREMES)).astype(array.dtype)
    parts.put(name, array)


def change_shape(rng: random.Random, parts: Parts) -> None:
    name = _array_name(rng, parts)
    array = parts.arrays[name].copy()
    changes = [
        lambda: array[..., :-1], lambda: array[:-1], lambda: array[:0], lambda: array[..., :0], lambda: array.T,
        lambda: array[None], lambda: array.reshape(-1), lambda: np.concatenate([array, array]),
        lambda: np.concatenate([array, array], axis=-1), lambda: np.repeat(array, 50, axis=0), lambda: np.array(1.0),
        lambda: np.asfortranarray(array),
    ]  # fmt: skip
    parts.put(name, rng.choice(changes)())


def change_type(rng: random.Random, parts: Parts) -> None:
    name = _array_name(rng, parts)
    with np.errstate(all="ignore"):
        parts.put(name, parts.arrays[name].astype(rng.choice(DTYPES)))


def change_bytes_of_array(rng: random.Random, parts: Parts) -> None:
    name = _array_name(rng, parts)
    parts.put_bytes(name, _changed_bytes(rng, parts.members[f"{name}.npy"], seal=False))


def lie_about_shape(rng: random.Random, parts: Parts) -> None:
    name = _array_name(rng, parts)
    content = parts.members[f"{name}.npy"]
    start, end = content.index(b"("), content.index(b")")
    told = rng.choice([b"10000000000", b"-1", b"2**40", b"1" * 300, b"3, 1000000000000", b"'a'", b"", b"0, 9" * 9])
    parts.put_bytes(name, content[: start + 1] + told.ljust(end - start - 1) + content[end:])


def pickle_array(rng: random.Random, parts: Parts) -> None:
    parts.put_bytes(_array_name(rng, parts), pickle.dumps([1, 2]))


def exchange_arrays(rng: random.Random, parts: Parts) -> None:
    one, other = _array_name(rng, parts), _array_name(rng, parts)
    first, second = parts.members[f"{one}.npy"], parts.members[f"{other}.npy"]
    parts.put_bytes(one, second)
    parts.put_bytes(other, first)


def drop_array(rng: random.Random, parts: Parts) -> None:
    name = _array_name(rng, parts)
    del parts.members[f"{name}.npy"]
    if rng.random() < 0.5 and isinstance(parts.header, dict) and isinstance(parts.header.get("arrays"), dict):
        parts.header["arrays"].pop(name, None)


def compress(rng: random.Random, parts: Parts) -> None:
    parts.compression = rng.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])


MUTATIONS = (
    replace_value, replace_value, replace_value, replace_value, remove_value, repeat_value, swap_values, nest_value,
    nest_deeply, change_number, change_number, change_number, change_shape, change_shape, change_type,
    change_bytes_of_array, lie_about_shape, pickle_array, exchange_arrays, drop_array, compress,
)  # fmt: skip


def _array_name(rng: random.Random, parts: Parts) -> str:
    return rng.choice(sorted(parts.members) or ["none.npy"]).removesuffix(".npy")


def _changed_bytes(rng: random.Random, whole: bytes, *, seal: bool = True) -> bytes:
    changed = bytearray(whole)
    for _ in range(rng.choice([1, 1, 5, 50])):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    if rng.random() < 0.2:
        del changed[rng.randrange(len(changed)) :]
    return sealed(bytes(changed)) if seal and len(changed) > 64 else bytes(changed)
