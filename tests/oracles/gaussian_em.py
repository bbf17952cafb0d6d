"""EM for a Gaussian mixture with missing cells, row by row and component by component, from the textbook's formulas."""

import numpy as np
from scipy.stats import multivariate_normal


def likelihood_em(x, weights, means, covariances, n_iter, reg_covar=0.0):
    """Weights, means, covariances after ``n_iter`` iterations, and the log likelihood before each; nan is missing."""
    log_likelihoods = []
    for _ in range(n_iter):
        densities = np.array([[_density(row, m, c) for m, c in zip(means, covariances)] for row in x]) * weights
        log_likelihoods.append(np.log(densities.sum(axis=1)).sum())
        resp = densities / densities.sum(axis=1, keepdims=True)
        weights, means, covariances = _m_step(x, resp, means, covariances, reg_covar)
    return weights, means, covariances, np.array(log_likelihoods)


def _density(row, mean, covariance):
    seen = ~np.isnan(row)
    if not seen.any():
        return 1.0
    return multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)]).pdf(row[seen])


def _m_step(x, resp, means, covariances, reg_covar):
    n, d = x.shape
    new_means, new_covariances = [], []
    for k in range(resp.shape[1]):
        completed = [_completed(row, means[k], covariances[k]) for row in x]
        mean = sum(r * cells for r, (cells, _) in zip(resp[:, k], completed)) / resp[:, k].sum()
        spread = sum(
            r * (np.outer(cells - mean, cells - mean) + extra) for r, (cells, extra) in zip(resp[:, k], completed)
        )
        new_means.append(mean)
        new_covariances.append(spread / resp[:, k].sum() + reg_covar * np.eye(d))
    return resp.sum(axis=0) / n, new_means, new_covariances


def _completed(row, mean, covariance):
    """The row with missing cells at their conditional mean, and their conditional covariance."""
    gaps, extra = np.isnan(row), np.zeros_like(covariance)
    if not gaps.any():
        return row, extra
    cells = row.copy()
    if gaps.all():
        return mean.copy(), covariance
    slope = covariance[np.ix_(gaps, ~gaps)] @ np.linalg.inv(covariance[np.ix_(~gaps, ~gaps)])
    cells[gaps] = mean[gaps] + slope @ (row[~gaps] - mean[~gaps])
    extra[np.ix_(gaps, gaps)] = covariance[np.ix_(gaps, gaps)] - slope @ covariance[np.ix_(~gaps, gaps)]
    return cells, extra
