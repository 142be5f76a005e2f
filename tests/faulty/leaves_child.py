"""Leaves a process behind that has left its group."""
import subprocess
import honest

subprocess.Popen(["sleep", "300"], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
honest.play()
