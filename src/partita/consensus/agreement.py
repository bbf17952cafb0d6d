"""How well a consensus predicts each of the clusterings it was found from."""

import numpy as np


def base_agreement(codes: np.ndarray, labels: np.ndarray, pseudocount: np.ndarray) -> np.ndarray:
    """Nats per object that knowing the consensus cluster saves when the labels of a base clustering are told, (M,).

    The mean over the objects that have a label y in column m of

        log (beta + N_ky - 1) / (J beta + N_k - 1)  -  log (beta + N_y - 1) / (J beta + N - 1),

    N_ky the objects of the object's own cluster k with label y, N_k those of cluster k, N_y those of label y and N
    all, each among the objects that have a label in that column and the object itself included; J labels. Both terms
    are posterior predictives of a symmetric Dirichlet with parameter beta given the other objects, so a consensus
    that has learned nothing saves nothing, or less than nothing; where most labels are seen once it may seem to save
    something, for small clusters leave more to labels not seen. 0 for a column without any label. Cost O(n M).

    Parameters
    ----------
    codes : (n, M) array of int
        Labels of the objects in every base clustering; -1 = not labelled.
    labels : (n,) array of int
        Consensus clusters 0, 1, ...
    pseudocount : (M,) array
        beta of every column.
    """
    return np.array([_column(column, labels, beta) for column, beta in zip(codes.T, pseudocount)])


def _column(codes: np.ndarray, labels: np.ndarray, beta: float) -> float:
    seen = codes >= 0
    if not seen.any():
        return 0.0
    own, cluster = codes[seen].astype(np.int64), labels[seen].astype(np.int64)
    n_labels, n_clusters = int(own.max()) + 1, int(cluster.max()) + 1
    joint = np.bincount(cluster * n_labels + own, minlength=n_clusters * n_labels).reshape(n_clusters, n_labels)
    k, y = np.nonzero(joint)
    of_cluster, of_label = joint.sum(axis=1)[k], joint.sum(axis=0)[y]
    total, mass = own.size, beta * np.count_nonzero(joint.any(axis=0))
    given_cluster = np.log(beta + (joint[k, y] - 1.0)) - np.log(mass + (of_cluster - 1.0))
    given_nothing = np.log(beta + (of_label - 1.0)) - np.log(mass + (total - 1.0))
    return float(joint[k, y] @ (given_cluster - given_nothing)) / total
