"""Who computes parts of the rows: an engine asks for their sums and does not know where they are made."""

from partita.places.here import Here

__all__ = ["Here"]
