"""Check a privacy definition: is it sound, and does a mechanism meet it?

python examples/check_definition.py judges two rules by the axioms of privacy, and holds randomised response against
(ε, δ)-privacy.
"""

import utmost as ut

RULES = [
    "b <= 2*a + 1/10",  # a and b: the probabilities of an event under two secrets
    "b <= 2*a or b <= 1/2",
]


def main() -> None:
    """Print a verdict for each rule and for a mechanism."""
    for rule in RULES:
        verdict = ut.soundness(ut.axioms.predicate(rule))
        print(f"{rule}: {'sound' if verdict.sound else 'not sound: post-processing can break it'}")
    mechanism = ut.Channel(["i1", "i2"], ["yes", "no"], [["3/4", "1/4"], ["1/4", "3/4"]])  # randomised response
    for text in ("pure:1", "approximate:1,1/10"):
        definition = ut.definition_of(text)  # for two secrets, called i1 and i2
        verdict = ut.satisfaction(mechanism, definition)  # for every event, in exact arithmetic
        print(f"randomised response with ε = ln 3 {'meets' if verdict.holds else 'does not meet'} {text}")


if __name__ == "__main__":
    main()
