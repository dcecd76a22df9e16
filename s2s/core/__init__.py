"""What everything rests on: the IR, its operations and constants, abstract values, records, the critical section."""
