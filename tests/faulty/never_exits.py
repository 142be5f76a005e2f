"""Goes on when its input has ended."""
import signal
import honest


honest.play()
while True:
    signal.pause()
