"""Its answers wait in a buffer."""
import honest

out = open(1, "w", buffering=8192, closefd=False)
honest.play(write=lambda line: out.write(line + "\n"))
out.flush()
