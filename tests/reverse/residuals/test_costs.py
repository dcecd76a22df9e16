"""What is recomputed in the reverse sweep: what costs no more than keeping it."""

from s2s.reverse.residuals.costs import ARRAY_OPERATION, KEEPING, costs_less


def test_what_costs_as_much_as_keeping_is_recomputed():
    few = KEEPING // ARRAY_OPERATION
    assert costs_less(KEEPING) and not costs_less(KEEPING + 1)
    assert costs_less(few, ARRAY_OPERATION) and not costs_less(few + 1, ARRAY_OPERATION)
    assert costs_less(1, KEEPING) and not costs_less(1, KEEPING + 1)
