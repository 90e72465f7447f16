"""Has a run ask and do mostly what a lie is about, so that it need not wait for it."""

import asking
import run as runs

# Questions that are drawn until one has a verb that is wanted.
DRAWS = 12
# How much more often a verb that is wanted changes memories than the others.
TIMES = 12
# Share of the steps that change memories, where a verb that does is wanted.
CHANGES = 0.5
# Share of the steps in which others exchange memories, where that is wanted.
MEETINGS = 0.5


def focus(run, verbs):
    """Changes a run so that most of what it asks and does has one of some verbs."""
    pick, wanted = asking.pick, set(verbs)

    def pick_wanted(world, random, root, before, table=None):
        for _ in range(DRAWS):
            question = pick(world, random, root, before, table)
            if question.args[0] in wanted:
                return question
        return question

    asking.pick = pick_wanted
    asking.pick_memories = pick_wanted
    kinds = run.operations.memories, run.operations.sharing, run.operations.keeping
    # A list, so that each is asked.
    if any([raise_weights(kind, wanted) for kind in kinds]):
        do_mostly(run)
    raise_weights(run.operations.shared, wanted)
    neighbours = run.operations.neighbours
    meeting = [pair for pair in neighbours.pairs if pair.verb in wanted]
    if meeting:
        neighbours.pairs, runs.MEETINGS = meeting, MEETINGS


def raise_weights(kind, wanted):
    """Has the verbs that are wanted drawn more often, as a method has the name of its verb; returns whether there is one."""
    table = [(verb, weight * (TIMES if is_wanted(verb, wanted) else 1)) for verb, weight in kind.table()]
    kind.table = lambda: table
    return any(is_wanted(verb, wanted) for verb, _ in table)


def do_mostly(run):
    """Has most steps change a memory and ask about memories."""
    do = run.do

    def do_wanted(random):
        if random.random() > CHANGES:
            return do(random)
        run.step += 1
        root = random.choice(run.sandbox.roots)
        run.change_memory(random, root)
        return run.ask(asking.pick_memories, random, root)

    run.do = do_wanted


def is_wanted(method, wanted):
    return any(method.__name__.replace("_", "-").startswith(verb) for verb in wanted)
