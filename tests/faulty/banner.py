"""Greets before it is asked."""
import honest

honest.write("Welcome to my bot 1.0!")
honest.play()
