"""print without flush, which only works where the referee starts Python unbuffered."""
import honest

honest.play(write=print)
