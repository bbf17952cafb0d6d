"""Exact answers for small cases, against which samplers and formulas are checked."""
