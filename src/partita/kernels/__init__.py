"""Compiled loops shared by the engines: arrays in, arrays out, no policy."""
