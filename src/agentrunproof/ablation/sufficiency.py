"""What is enough for a decision, by what it cannot do without.

A claim says: with all of its leaves gone the decision goes. So each claim of a smallest set is a
*cut*: of its leaves any one that stays is enough, as far as that cut goes. Of several cuts each
must keep a leaf. The smallest sets that do are those that meet every cut (its minimal
transversals), and they are what is enough:

* one cut {a}: a is needed, and enough;
* one cut {a, b}: a is enough, and so is b (redundant causes);
* the cuts {a} and {b}: only a and b together are enough (jointly needed causes);
* the cuts {a, b}, {a, c}, {b, c}: any two of the three are enough.
"""

from __future__ import annotations

from collections.abc import Iterable

Leaves = frozenset[int]


def enough(cuts: Iterable[Leaves]) -> list[Leaves]:
    """The smallest sets that meet every cut, in the order of their leaves; one that is empty if
    there is no cut.

    Source: Berge, "Hypergraphs" (1989), chapter 2: transversals cut by cut.
    """
    found: list[Leaves] = [frozenset()]
    for cut in cuts:
        met = {one if one & cut else one | {leaf} for one in found for leaf in cut}
        found = [one for one in met if not any(other < one for other in met)]
    return sorted(found, key=sorted)
