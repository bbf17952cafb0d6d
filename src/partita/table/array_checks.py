"""The arrays of a table, checked where they come in: compiled code trusts them."""

from typing import Any

import numpy as np

from partita.table.schema import LARGEST_WHOLE, Schema
from partita.wording import name_rows


def numeric_block(given: Any, schema: Schema) -> np.ndarray:
    """Cells of the numeric columns as float64 (n_rows, p), finite or nan."""
    block = _block("numeric", given, "fiu", "numbers (nan: missing)", len(schema.numeric))
    infinite = np.isinf(block)
    if infinite.any():
        row, j = np.argwhere(infinite)[0]
        raise ValueError(
            f"Column {schema.numeric[j].name!r} of a Table is infinite in row {row}: cells are finite, or nan where "
            "missing."
        )
    return np.ascontiguousarray(block, dtype=np.float64)


def code_block(given: Any, schema: Schema) -> np.ndarray:
    """Cells of the categorical columns as int32 (n_rows, c), from -1 to the column's last level."""
    block = _block("codes", given, "iu", "positions among the column's levels (-1: missing)", len(schema.categorical))
    n_levels = schema.n_levels
    if block.size and (block.min() < -1 or block.max() >= n_levels.min()):
        outside = (block < -1) | (block >= n_levels)
        if outside.any():
            row, j = np.argwhere(outside)[0]
            raise ValueError(
                f"Column {schema.categorical[j].name!r} of a Table holds the code {block[row, j]} in row {row}: codes "
                f"are positions among its levels, 0 to {n_levels[j] - 1}, or -1 where missing."
            )
    return np.ascontiguousarray(block, dtype=np.int32)


def count_block(given: Any, schema: Schema) -> np.ndarray:
    """Cells of the count columns as int64 (n_rows, q), from -1 to 2**53."""
    block = _block("counts", given, "iu", "whole numbers (-1: missing)", len(schema.counts))
    if block.size and (block.min() < -1 or block.max() > LARGEST_WHOLE):
        row, j = np.argwhere((block < -1) | (block > LARGEST_WHOLE))[0]
        raise ValueError(
            f"Column {schema.counts[j].name!r} of a Table holds the count {block[row, j]} in row {row}: counts are 0 "
            "to 2**53, or -1 where missing."
        )
    return np.ascontiguousarray(block, dtype=np.int64)


def refuse_lengths(numeric: np.ndarray, codes: np.ndarray, counts: np.ndarray) -> None:
    """Refuse blocks of different numbers of rows."""
    lengths = (len(numeric), len(codes), len(counts))
    if len(set(lengths)) > 1:
        raise ValueError(
            "The blocks numeric, codes and counts of a Table must have one row per row of the table, got "
            f"{lengths[0]}, {lengths[1]} and {lengths[2]} rows: a block without columns has shape (n_rows, 0)."
        )


def whole_weights(given: Any, n_rows: int, what: str) -> np.ndarray:
    """Weights of rows (n_rows,) as they came, each a finite whole number of at least 0; ``what`` names them."""
    weights = np.asarray(given)
    if weights.dtype.kind not in "fiub":
        raise TypeError(f"{what} must be whole numbers, one per row, got an array of {weights.dtype}.")
    if weights.shape != (n_rows,):
        raise ValueError(f"{what} must have shape ({n_rows},), one per row, got {weights.shape}.")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0) & (weights == np.floor(weights))))
    if len(bad):
        raise ValueError(
            f"{what} must be non-negative whole numbers: {name_rows(bad)} "
            f"{'holds another' if len(bad) == 1 else 'hold others'} (first {weights[bad[0]].item()!r})."
        )
    return weights


def _block(name: str, given: Any, kinds: str, content: str, n_columns: int) -> np.ndarray:
    block = np.asarray(given)
    if block.size and block.dtype.kind not in kinds:  # a cast would cut numbers to codes in silence
        raise TypeError(f"The block {name} of a Table holds {content}, got an array of {block.dtype}.")
    if block.ndim != 2 or block.shape[1] != n_columns:
        raise ValueError(
            f"The block {name} of a Table must have shape (n_rows, {n_columns}), one column per used column of that "
            f"kind in its schema, got {block.shape}."
        )
    return block
