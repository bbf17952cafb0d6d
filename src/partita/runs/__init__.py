"""The commands: a file in, a folder of answers out. Each is one file; `partita.runs.command` carries them out."""
