"""What s2s costs, beside the primal, other differentiation tools, and adjoints written by hand.

``python -m benchmarks run`` measures the suites; the other commands measure one concern each.
"""
