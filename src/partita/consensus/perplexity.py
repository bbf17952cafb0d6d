"""Perplexity: how well a fitted model of base clusterings tells their labels."""

from typing import Any

import numpy as np


class Perplexity:
    """An estimator whose `score_samples` are log predictive probabilities of the labels that an object has."""

    def perplexity(self, Y: Any) -> float:
        """How many labels, on the geometric mean, the model is still in doubt between: training or held-out objects.

        exp(-sum_n log p(y_n | model) / observed entries), with the predictive of `score_samples`. From 1 to the number
        of labels of a column, about; the smaller, the better.
        """
        estimator: Any = self
        table = estimator._read(Y)
        n_labels = np.count_nonzero(table.codes >= 0)
        if n_labels == 0:
            raise ValueError("Y has no label at all: perplexity is an average over labels.")
        return float(np.exp(-estimator.score_samples(table).sum() / n_labels))
