"""Does not know ping."""
import honest

honest.play(lambda message: None if message["type"] == "ping" else honest.answer(message))
