"""Never stops thinking."""
import honest


def answer(message):
    while message["type"] == "turn":
        pass
    return honest.answer(message)


honest.play(answer=answer)
