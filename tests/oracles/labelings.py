"""Losses and scores of two labelings written out slowly from their definitions, for complete labels."""

from itertools import combinations
from math import log


def pair_cost(found, truth, a):
    """Cost of all unordered pairs, times 2/n^2."""
    cost = 0.0
    for i, j in combinations(range(len(found)), 2):
        together, belong = found[i] == found[j], truth[i] == truth[j]
        cost += a * (belong and not together) + (2 - a) * (together and not belong)
    return 2 * cost / len(found) ** 2


def shares(*labelings):
    """Share of objects of every combination of labels."""
    combined = list(zip(*labelings))
    return {c: combined.count(c) / len(combined) for c in set(combined)}


def entropy(*labelings):
    return -sum(p * log(p) for p in shares(*labelings).values())


def mutual_information(found, truth):
    return entropy(found) + entropy(truth) - entropy(found, truth)


def sets(labels):
    return [{i for i, label in enumerate(labels) if label == one} for one in set(labels)]


def f1(found, truth, *, over_found):
    clusters, classes = sets(found), sets(truth)
    precision = sum(max(len(A & B) / len(A) for B in classes) for A in clusters) / len(clusters)
    if over_found:
        recall = sum(max(len(A & B) / len(B) for B in classes) for A in clusters) / len(clusters)
    else:
        recall = sum(max(len(A & B) / len(B) for A in clusters) for B in classes) / len(classes)
    return 2 * precision * recall / (precision + recall)


def purity(found, truth):
    return sum(max(len(A & B) for B in sets(truth)) for A in sets(found)) / len(found)
