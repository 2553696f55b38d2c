"""The best mechanism on a map: 25 places, the Euclidean distance, a reader who wants to be near.

python examples/map_mechanism.py prints the certified expected loss, the ε recomputed from the matrix, and what is
reported for the place in the centre.
"""

import utmost as ut

PLACES = ut.grid(5, 5)  # labels "row,column", unit spacing
LEVEL = ut.epsilon("1/2")  # ε per unit of distance


def main() -> None:
    """Design the mechanism for a uniform prior and the distance as loss."""
    reader = ut.Consumer(ut.priors.uniform(len(PLACES)), ut.losses.over(ut.losses.absolute, PLACES))
    design = ut.optimal(PLACES, LEVEL, reader)
    certificate = design.certificate
    print(f"expected distance {float(design.loss):.6f}; no mechanism is more than {float(certificate.gap):.1e} better")
    print(f"private: {design.private}, ε = {float(ut.least_epsilon(design.channel, PLACES).epsilon):.6f}")
    centre = PLACES.position("2,2")
    row = dict(zip(design.channel.outputs, design.channel.rows[centre], strict=True))
    near = sum(p for place, p in row.items() if PLACES.distance(centre, PLACES.position(place)) <= 1)
    print(f"the centre is reported as a place within distance 1 with probability {float(near):.4f}")


if __name__ == "__main__":
    main()
