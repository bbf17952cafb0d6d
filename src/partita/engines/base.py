"""What every engine is: options, known by a name."""

from partita.parameters import Named


class NamedEngine(Named, kind="engine"):
    """How a posterior is found."""
