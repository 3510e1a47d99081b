"""Language models: a dialogue about a choice, and measurements by exact regret.

dialogue    prompt, reading of answers, second chances, forfeit: no network
endpoint    what answers: an OpenAI-compatible server, or a built-in player
answers     the store of answers, from which an interrupted run continues
bench       the runs of `duels bench`, and their statistics
"""
