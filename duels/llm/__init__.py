"""Language models: a dialogue about a choice, and measurements by exact regret.

dialogue    prompt, reading of answers, second chances, forfeit: no network
endpoint    what answers: an OpenAI-compatible server, or a built-in player
runner      many dialogues at a time; answers: the store from which a run continues
items       positions with exact values; variants: rules that no model has seen
bench       the runs of `duels bench`, with a module for each mode: positions, matches, policy,
            quiz, code
results     stored results and their comparison; report and page: how they are shown
"""
