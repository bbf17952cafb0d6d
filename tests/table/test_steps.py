"""The step that a column's numbers were recorded in: found, told, kept."""

import numpy as np
import pandas as pd
import pytest

from partita import Mixture, load
from partita.table import Schema, Table
from partita.table.steps import recorded_step

RNG = np.random.default_rng(0)
Z = RNG.normal(size=300)


@pytest.mark.parametrize(
    ("values", "step"),
    [
        (Z, 0.0),
        (np.float32(Z), 0.0),
        (np.exp(Z), 0.0),
        (Z.round(1), 0.1),
        (170 + (9 * Z).round(1), 0.1),
        ((10 * Z).round(), 1.0),
        (1990 + RNG.integers(0, 12, 300), 1.0),
        (25 * (10 * Z).round(), 25.0),
        (5 * RNG.integers(4, 18, 300), 5.0),
        ((4000 * Z).round(-2), 100.0),
        (Z.round(3), 0.001),
        ((40 * Z).round() / 9, 1 / 9),
        (np.where(RNG.random(300) < 0.9, 0.0, Z.round(2)), 0.01),
        (RNG.integers(0, 3, 300) * 50 + 10, 50.0),
        (RNG.choice([0.13, 0.57, 1.9, 4.2], 300), 0.44),
        (np.repeat([0.0, 0.11111111, 0.22222222, 0.33333334], [260, 34, 5, 1]), 0.11111111),
        (np.repeat([0.0, 1.0, 0.3], [200, 99, 1]), 0.0),
        (RNG.choice([0.0, 1.0], 300), 0.0),
        (RNG.choice([0.48, 1.0], 300), 0.0),
        (np.concatenate([Z[:150], Z[150:] + 1e8]), 0.0),
        (np.array([1.0, 3.0, 5.0, 7.0, 9.0]), 2.0),
        (np.array([4.0]), 0.0),
        (np.array([-1e308, 0.0, 1e308]), 0.0),
    ],
)
def test_the_rule(values, step):
    assert recorded_step(np.asarray(values, dtype=np.float64)) == pytest.approx(step, rel=1e-6)


@pytest.mark.parametrize("odd", [3.05, np.pi, 1e6 + 0.5])
def test_one_odd_cell_does_not_break_it(odd):
    assert recorded_step(np.append((10 * Z).round(), odd)) == 1.0
    assert recorded_step(np.append(5 * RNG.integers(4, 18, 300), 33.0)) == 5.0


@pytest.mark.parametrize("factor", [1e-9, 0.1, 1000.0])
def test_the_step_follows_the_unit(factor):
    assert recorded_step(factor * Z.round(1)) == pytest.approx(0.1 * factor, rel=1e-6)


FRAME = pd.DataFrame({"age": 5 * (10 + 3 * Z[80:160]).round(), "height": Z[:80], "city": RNG.choice(["a", "b"], 80)})


def steps_of(table):
    return {column.name: column.step for column in table.schema.columns}


def test_a_table_knows_its_steps_and_what_is_told_goes_before():
    assert steps_of(Table.read(FRAME)) == {"age": 5.0, "height": 0.0, "city": 0.0}
    assert steps_of(Table.read(FRAME, column_steps={"age": 1})) == {"age": 1.0, "height": 0.0, "city": 0.0}
    assert steps_of(Table.read(FRAME, column_steps=0)) == {"age": 0.0, "height": 0.0, "city": 0.0}
    assert steps_of(Table.read(FRAME[["age"]].to_numpy(), column_steps={0: 2.5})) == {"x0": 2.5}


def test_who_tells_a_step_means_numbers():
    frame = FRAME.assign(age=5 * RNG.integers(4, 12, 80))
    kinds = [Table.read(frame, **how).schema.columns[0].kind for how in ({}, {"column_steps": {"a*": 5}})]
    assert kinds == ["categorical", "numeric"]


def test_rounding_is_in_stored_units():
    table = Table.read(FRAME)
    scale = FRAME["age"].std(ddof=0)
    np.testing.assert_allclose(table.rounding, [25.0 / 12.0 / scale**2, 0.0])
    np.testing.assert_allclose(Table.read(FRAME, standardize=False).rounding, [25.0 / 12.0, 0.0])


def test_rows_of_weight_zero_teach_no_step():
    frame = pd.concat([FRAME, pd.DataFrame({"age": Z[:40], "height": Z[:40], "city": "a"})])
    weights = np.repeat([1, 0], [80, 40])
    assert steps_of(Table.read(frame, sample_weight=weights)) == steps_of(Table.read(FRAME))


@pytest.mark.parametrize("step", [-1.0, np.nan, np.inf, "5", True])
def test_what_is_no_step_is_refused(step):
    with pytest.raises(ValueError, match=r"column_steps\['age'\] must be a number of at least 0"):
        Table.read(FRAME, column_steps={"age": step})


def test_a_step_of_no_column_is_refused_with_the_nearest_name():
    with pytest.raises(ValueError, match=r"column_steps names 'agee', which is no column of X.*'age'"):
        Table.read(FRAME, column_steps={"agee": 5})


def test_schemas_and_files_carry_steps(tmp_path):
    schema = Table.read(FRAME).schema
    assert Schema.from_dict(schema.to_dict()) == schema
    model = Mixture(engine="vb", column_steps={"age": 10}, random_state=0).fit(FRAME)
    model.save(tmp_path / "model.partita")
    back = load(tmp_path / "model.partita")
    assert steps_of(back.table_) == {"age": 10.0, "height": 0.0, "city": 0.0}
    np.testing.assert_array_equal(back.predict_proba(FRAME), model.predict_proba(FRAME))
    np.testing.assert_array_equal(back.score_samples(FRAME), model.score_samples(FRAME))


def test_schemas_of_earlier_files_have_no_steps():
    content = Table.read(FRAME).schema.to_dict()
    for entry in content["columns"]:
        del entry["step"]
    assert {column.step for column in Schema.from_dict(content).columns} == {0.0}
