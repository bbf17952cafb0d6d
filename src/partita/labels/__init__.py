"""Labels of any kind become codes here: whole numbers from 0, and -1 for what has no label."""

from partita.labels.codes import coded, counted, hashed, holds_numbers, is_missing, label_codes
from partita.labels.draws import code_labels, code_numbers, code_values, place

__all__ = [
    "code_labels",
    "code_numbers",
    "code_values",
    "coded",
    "counted",
    "hashed",
    "holds_numbers",
    "is_missing",
    "label_codes",
    "place",
]
