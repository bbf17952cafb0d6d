"""A run: the file of a table in, a folder of answers out."""
