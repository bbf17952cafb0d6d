"""Collapsed variational updates and bounds written out slowly, from their definitions."""

from itertools import product
from math import exp, log
from typing import Any

import numpy as np
from scipy.special import xlogy

from partita.families.blocks import row_block
from partita.model.model import Model
from partita.priors import FiniteDirichlet, StickBreaking


def expected_log(a: float, shares: list[float], order: int) -> float:
    """E log(a + count) to this order, the count a sum of independent indicators with these probabilities."""
    mean = sum(shares)
    variance = sum(p * (1.0 - p) for p in shares)
    return log(a + mean) - (variance / (2.0 * (a + mean) ** 2) if order == 2 else 0.0)


def prior_terms(prior: Any, others: list[np.ndarray], n_held: int, order: int) -> list[float]:
    """Log prior weight of one more row in the first ``n_held`` components; ``others`` are its companions' shares."""

    def count(a, members):
        return expected_log(a, [float(sum(gamma[k] for k in members)) for gamma in others], order)

    alpha = prior.concentration
    if isinstance(prior, FiniteDirichlet):
        return [count(alpha / prior.n_components, [k]) for k in range(n_held)]
    terms = []
    for k in range(n_held):
        term = 0.0
        if k < prior.n_components - 1:
            term = count(1.0, [k]) - count(1.0 + alpha, range(k, n_held))
        for h in range(k):
            term += count(alpha, range(h + 1, n_held)) - count(1.0 + alpha, range(h, n_held))
        terms.append(term)
    return terms


def softmax(logs: list[float]) -> np.ndarray:
    top = max(logs)
    weights = np.array([exp(value - top) for value in logs])
    return weights / weights.sum()


def slow_sweep(model: Model, resp: np.ndarray, scores: Any) -> np.ndarray:
    """Share out every row in turn; ``scores(i, others)`` are its log weights given the copies (row, shares) left."""
    resp = resp.copy()
    for i in range(resp.shape[0]):
        copies = [(j, resp[j]) for j, w in enumerate(model.row_weights) for _ in range(w - (j == i))]
        resp[i] = softmax(scores(i, copies))
    return resp


def categorical_sweep(model: Model, resp: np.ndarray, order: int) -> np.ndarray:
    """A sweep over a categorical table, cell by cell."""
    codes = model.table.codes
    beta, n_levels = model.likelihood.pseudocount, model.likelihood.n_levels

    def scores(i, copies):
        terms = prior_terms(model.prior, [shares for _, shares in copies], resp.shape[1], order)
        for k in range(resp.shape[1]):
            for m in range(codes.shape[1]):
                if codes[i, m] >= 0:
                    seen = [(j, shares[k]) for j, shares in copies if codes[j, m] >= 0]
                    same = [share for j, share in seen if codes[j, m] == codes[i, m]]
                    terms[k] += expected_log(beta[m], same, order)
                    terms[k] -= expected_log(n_levels[m] * beta[m], [share for _, share in seen], order)
        return terms

    return slow_sweep(model, resp, scores)


def predictive_sweep(model: Model, resp: np.ndarray) -> np.ndarray:
    """A first-order sweep of any family from its densities by column, at statistics computed from all other copies."""
    rows = model.likelihood.rows(model.table)

    def scores(i, copies):
        summed = np.zeros_like(resp)
        for j, shares in copies:
            summed[j] += shares
        stats = model.likelihood.suffstats(rows, summed)
        densities = model.likelihood.log_predictive_by_column(row_block(rows, i, i + 1), stats)[0].sum(axis=1)
        terms = prior_terms(model.prior, [shares for _, shares in copies], resp.shape[1], 1)
        return [float(prior + density) for prior, density in zip(terms, densities)]

    return slow_sweep(model, resp, scores)


def labelled_log_prior(prior: FiniteDirichlet | StickBreaking, labels: tuple[int, ...]) -> float:
    """Log probability of labelled components, one row after the other."""
    alpha, n_components = prior.concentration, prior.n_components
    total, sizes = 0.0, [0] * n_components
    for label in labels:
        if isinstance(prior, FiniteDirichlet):
            total += log((alpha / n_components + sizes[label]) / (alpha + sum(sizes)))
        else:
            for h in range(min(label + 1, n_components - 1)):
                up = 1.0 + sizes[h] if h == label else alpha + sum(sizes[h + 1 :])
                total += log(up / (1.0 + alpha + sum(sizes[h:])))
        sizes[label] += 1
    return total


def enumerated_bounds(prior: Any, subsets: np.ndarray, resp: np.ndarray) -> tuple[float, float]:
    """Log evidence, and the collapsed bound E_q[log p(Z, Y)] + H(q) at q = prod_n resp_n, over all labelled Z.

    ``subsets`` are the log marginal likelihoods of all subsets of the rows, numbered by their bits.
    """
    n, n_held = resp.shape
    joints, bound = [], float(-xlogy(resp, resp).sum())
    for labels in product(range(prior.n_components), repeat=n):
        blocks = (sum(1 << i for i in range(n) if labels[i] == k) for k in range(prior.n_components))
        joint = labelled_log_prior(prior, labels) + sum(subsets[block] for block in blocks)
        joints.append(joint)
        if max(labels) < n_held:
            bound += float(np.prod(resp[range(n), labels])) * joint
    return float(np.logaddexp.reduce(joints)), bound
