"""What a file of each kind holds. The tables of ``docs/file-format.md`` are these."""

import math
import re
from typing import Any

from partita.files.layout import Field, Layout, Member

_SIGNED = ("int8", "int16", "int32", "int64")
_LARGEST_WHOLE = 2**53  # that float64 holds exactly
_LARGEST_WEIGHT = 2**31
LIBRARIES = ("pandas", "polars", "pyarrow")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def _is_cell(value: Any) -> bool:
    return isinstance(value, str | bool) or _is_number(value)


def _is_missing_pair(value: Any) -> bool:
    if not (isinstance(value, list) and len(value) == 2):
        return False
    return (value[0] is None or _is_text(value[0])) and (_is_text(value[1]) or _is_number(value[1]))


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _are_different(value: Any) -> bool:
    return _are_texts(value) and len(set(value)) == len(value)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _are_digests(value: Any) -> bool:
    return isinstance(value, dict) and all(
        _is_text(digest) and re.fullmatch(r"[0-9a-f]{64}", digest) for digest in value.values()
    )


POSTERIOR = Layout(
    kind="posterior",
    fields=(
        Field("arrays", "an object: the SHA-256 of every array by its name", _are_digests),
        Field("traces", "a list of different names", _are_different),
        Field("provenance", "an object", _is_object),
    ),
    members=(
        Member(
            "partitions",
            _SIGNED,
            ("chain", "draw", "object"),
            "labels, -1 = not labelled",
            least=-1,
            below="object",
        ),
        Member("weights", ("float64",), ("chain x draw",), "weights of the draws, chain after chain", least=0, most=1),
        Member(
            "traces/NAME",
            ("float64",),
            ("chain", "draw"),
            "numbers that go with the draws",
            least=-math.inf,
            most=math.inf,
            gaps=True,
        ),
    ),
    named_by="traces",
)


def estimator_fields(kind: str) -> tuple[Field, ...]:
    """What the header says of any estimator of a table, below the name of its kind."""
    return (
        Field(f"{kind}.options", "an object: its options, see below", _is_object),
        Field(f"{kind}.seed", "the whole numbers that random numbers come from", lambda value: value is not None),
        *_column_fields(f"{kind}.schema.columns[]"),
        Field(f"{kind}.schema.dropped", "a list of names", _are_different),
        Field(
            f"{kind}.schema.missing",
            "a list of pairs: a name or null, and the text or finite number that stands for a missing cell",
            lambda value: isinstance(value, list) and all(map(_is_missing_pair, value)),
            required=False,
        ),
        Field(
            f"{kind}.origin.library",
            "pandas, polars, pyarrow or null",
            lambda value: value is None or value in LIBRARIES,
        ),
        Field(
            f"{kind}.origin.index",
            "a list of text, finite numbers and truth values, or null",
            lambda value: value is None or (isinstance(value, list) and all(map(_is_cell, value))),
        ),
        Field(f"{kind}.origin.index_name", "text or null", lambda value: value is None or _is_text(value)),
        Field(f"{kind}.feature_names", "a list of names, or null", lambda value: value is None or _are_texts(value)),
    )


def _column_fields(column: str) -> tuple[Field, ...]:
    """What the header says of every column; files of earlier versions lack what is not required."""
    return (
        Field(f"{column}.name", "text", _is_text),
        Field(f"{column}.kind", "text", _is_text),
        Field(
            f"{column}.levels",
            "a list of text, finite numbers and truth values",
            lambda value: isinstance(value, list) and all(map(_is_cell, value)),
        ),
        Field(
            f"{column}.center",
            "a finite number, or null",
            lambda value: value is None or _is_number(value),
        ),
        Field(
            f"{column}.scale",
            "a positive number",
            lambda value: _is_number(value) and value > 0,
        ),
        Field(
            f"{column}.step",
            "a number of at least 0: what its numbers were recorded in",
            lambda value: _is_number(value) and value >= 0,
            required=False,
        ),
        Field(
            f"{column}.unit",
            "days or seconds where its numbers are times, otherwise empty",
            lambda value: value in ("", "days", "seconds"),
            required=False,
        ),
        Field(
            f"{column}.since",
            "of dates the ISO text of the one that they are counted from, otherwise empty",
            _is_text,
            required=False,
        ),
        Field(
            f"{column}.written",
            "text: how dates or numbers were written that came as text, otherwise empty",
            _is_text,
            required=False,
        ),
        Field(
            f"{column}.guessed",
            "whether its kind was neither that of its values nor told",
            lambda value: isinstance(value, bool),
            required=False,
        ),
        Field(
            f"{column}.offset",
            "a number of at least 0: what is added to positive numbers before the log",
            lambda value: _is_number(value) and value >= 0,
            required=False,
        ),
        Field(
            f"{column}.small",
            "a number of at least 0: the tenth percentile of positive numbers, offset included",
            lambda value: _is_number(value) and value >= 0,
            required=False,
        ),
        Field(
            f"{column}.part_of",
            "the column of which it says where that is 0, otherwise empty",
            _is_text,
            required=False,
        ),
    )


TABLE_MEMBERS = (
    Member(
        "table/numeric",
        ("float64",),
        ("object", "numeric column"),
        "numbers in standard units",
        gaps=True,
    ),
    Member(
        "table/codes",
        ("int32",),
        ("object", "categorical column"),
        "positions among the levels of the column, -1 = missing",
        least=-1,
    ),
    Member(
        "table/counts",
        ("int64",),
        ("object", "count column"),
        "counts, -1 = missing",
        least=-1,
        most=_LARGEST_WHOLE,
    ),
)
"""The cells of the table that was fitted."""

MIXTURE = Layout(
    kind="mixture",
    fields=(
        *POSTERIOR.fields,
        Field("mixture.estimator", "the name of an estimator", _is_text, required=False),
        *estimator_fields("mixture"),
        Field(
            "mixture.edition",
            "1 or 2: the defaults that open options stand for, see below",
            lambda value: value in (1, 2) and isinstance(value, int) and not isinstance(value, bool),
            required=False,
        ),
        Field("mixture.family", "an object: the family that was fitted", _is_object, required=False),
        Field(
            "mixture.power",
            "a positive number: how often a row counts in the likelihood",
            lambda value: _is_number(value) and value > 0,
            required=False,
        ),
        Field("mixture.notes", "an object: what the engine notes, see below", _is_object, required=False),
        Field(
            "mixture.grouping", "an object or null", lambda value: value is None or _is_object(value), required=False
        ),
        *(
            Field(name, words, test, required=False, written=False)
            for name, words, test in (
                ("mixture.maximum", "an object or null", lambda value: value is None or _is_object(value)),
                ("mixture.approximation", "an object or null", lambda value: value is None or _is_object(value)),
                (
                    "mixture.support_cost",
                    "a number of at least 0, or null",
                    lambda value: value is None or (_is_number(value) and value >= 0),
                ),
            )
        ),
    ),
    members=(
        *POSTERIOR.members,
        *TABLE_MEMBERS,
        Member(
            "table/weights",
            ("int64",),
            ("object",),
            "how often each row counts",
            least=0,
            most=_LARGEST_WEIGHT,
        ),
        Member(
            "estimate/probabilities",
            ("float64",),
            ("object", "cluster"),
            "`probabilities_`, of the pieces where groups were formed of them",
            least=0,
            most=1,
        ),
        Member("estimate/labels", ("int64",), ("object",), "`labels_`, or the pieces", least=0, below="cluster"),
        Member(
            "clusters/log_seats",
            ("float64",),
            ("cluster + 1",),
            "log prior weight of each estimated cluster, and last of one not seen",
            least=-math.inf,
            most=0,
        ),
        Member(
            "clusters/stats",
            ("float64",),
            ("completion", "cluster + 1", "number"),
            "the sufficient statistics that prediction uses",
        ),
    ),
    named_by="traces",
)

CONSENSUS = Layout(
    kind="consensus",
    fields=(
        Field("arrays", "an object: the SHA-256 of every array by its name", _are_digests),
        Field("models", "a list: the short name of a method that places new objects, otherwise empty", _are_different),
        *estimator_fields("consensus"),
        Field("consensus.method", "the short name of a method", _is_text),
        Field(
            "consensus.numbers",
            "an object: finite numbers that the method found, by the names of its attributes",
            lambda value: isinstance(value, dict) and all(_is_number(number) for number in value.values()),
        ),
    ),
    members=(
        *TABLE_MEMBERS,
        Member("labels", ("int64",), ("object",), "`labels_`", least=0, below="object"),
        Member("models/NAME/prior", ("float64",), ("component",), "`weights_` or `alpha_`", least=0),
        Member(
            "models/NAME/shares",
            ("float64",),
            ("label", "component"),
            "shares of the labels, those of the first column first",
            least=0,
            most=1,
        ),
        Member("models/NAME/path", ("float64",), ("iteration",), "`loglik_path_` or `bound_path_`"),
        Member(
            "models/NAME/clusters",
            ("int64",),
            ("component",),
            "the label that each component goes by",
            least=0,
            below="component",
        ),
    ),
    named_by="models",
)

CRAFT = Layout(
    kind="craft",
    fields=(
        Field("arrays", "an object: the SHA-256 of every array by its name", _are_digests),
        *estimator_fields("craft"),
        Field(
            "craft.penalty",
            "a positive number: `penalty_`, what a cluster costs",
            lambda value: _is_number(value) and value > 0,
        ),
    ),
    members=(
        *TABLE_MEMBERS,
        Member(
            "clusters/chosen",
            ("int8",),
            ("cluster", "used column"),
            "1 where a cluster has chosen a column; numeric columns before categorical ones",
            least=0,
            most=1,
        ),
        Member("clusters/means", ("float64",), ("cluster", "numeric column"), "means, in standard units"),
        Member(
            "clusters/variances", ("float64",), ("cluster", "numeric column"), "variances, in standard units", least=0
        ),
        Member(
            "clusters/costs",
            ("float64",),
            ("cluster", "category"),
            "what a cell of every category costs, those of the first column first: minus the log of its share, or half "
            "its squared distance",
            least=0,
        ),
        Member("background/means", ("float64",), ("numeric column",), "means of the background"),
        Member("background/variances", ("float64",), ("numeric column",), "variances of the background", least=0),
        Member("background/costs", ("float64",), ("category",), "what a cell of every category costs there", least=0),
        Member("labels", ("int64",), ("object",), "`labels_`", least=0, below="cluster"),
        Member("path", ("float64",), ("iteration",), "`objective_path_`"),
    ),
    named_by="",
)

_OF_EARLIER_FILES: dict[str, dict[str, Any]] = {"NBCE": {"votes": "all"}}


def options_of_earlier_files(estimator: str) -> dict[str, Any]:
    """Options that the files of earlier versions lack, at the values that say what their models were."""
    return dict(_OF_EARLIER_FILES.get(estimator, {}))
