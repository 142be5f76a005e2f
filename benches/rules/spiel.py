"""Random playouts of OpenSpiel games, one request a line, one line of JSON for each.

    plies GAME N          plays N games in Python from a fixed seed and counts their plies, random events left out
    playouts GAME SECONDS plays games in C++ for so long and measures the processor time

The C++ playouts are those of its Monte Carlo search with a single simulation: the root is evaluated by so many random
games to the end, and nothing else is done.
"""

import importlib.metadata
import json
import random
import sys
import time

import pyspiel

ROLLOUTS = 100


def plies(name, games):
    game = pyspiel.load_game(name)
    picks = random.Random(1)
    count = 0
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes())
                state.apply_action(picks.choices(outcomes, weights)[0])
            else:
                state.apply_action(picks.choice(state.legal_actions()))
                count += 1
    return {"games": games, "plies": count}


def playouts(name, seconds):
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    evaluator = pyspiel.RandomRolloutEvaluator(ROLLOUTS, 1)
    search = pyspiel.MCTSBot(game, evaluator, 2.0, 1, 100, False, 1, False)
    evaluations = 0
    begin, cpu = time.perf_counter(), time.process_time()
    while time.perf_counter() - begin < seconds:
        evaluations += search.mcts_search(state).explore_count
    return {"playouts": evaluations * ROLLOUTS, "cpu_s": time.process_time() - cpu}


def main():
    print(json.dumps({"version": importlib.metadata.version("open_spiel")}), flush=True)
    for line in sys.stdin:
        what, name, number = line.split()
        if what == "plies":
            answer = plies(name, int(number))
        else:
            answer = playouts(name, float(number))
        print(json.dumps(answer), flush=True)


main()
