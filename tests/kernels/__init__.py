"""Compiled code: what is compiled when, and that it is the code in the files."""
