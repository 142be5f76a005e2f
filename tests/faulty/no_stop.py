"""Does not know that a question may be withdrawn."""
import honest


def answer(message):
    assert message["type"] != "stop", "nobody stops me"
    return honest.answer(message)


honest.play(answer)
