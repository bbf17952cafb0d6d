"""Models whose rows count more or less than once, for the contract tests: any family to a power."""

from partita.families import Conjugate, Family
from partita.families.powered import powered
from partita.table import Table


class Raised(Family):
    """A family whose likelihood is raised to a power."""

    def __init__(self, family: Family, power: float):
        self.family = family
        self.power = power

    def resolve(self, table: Table) -> Conjugate:
        return powered(self.family.resolve(table), self.power)

    def resolve_fixed(self, table: Table) -> Conjugate:
        return powered(self.family.resolve_fixed(table), self.power)

    @classmethod
    def examples(cls) -> list[tuple[Family, Table]]:
        return []
