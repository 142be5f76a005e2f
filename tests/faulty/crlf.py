"""Ends its lines as Windows does."""
import honest

honest.play(write=lambda line: honest.write(line + "\r"))
