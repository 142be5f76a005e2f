"""Leaves with an error."""
import sys
import honest

honest.play()
sys.exit("goodbye was not expected")
