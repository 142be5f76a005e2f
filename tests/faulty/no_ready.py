"""Answers hello with a message of its own making."""
import honest

honest.play(lambda message: {"type": "hi", "protocol": 1} if message["type"] == "hello" else honest.answer(message))
