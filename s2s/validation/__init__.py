"""Translation validation: what each pass makes of a function is run beside what the pass was given.

    interpret   an interpreter of the IR
    copies      arguments copied with all that they share
    outcomes    what a run gives: its result, its arguments afterwards, or its exception; compared
    samples     small arguments for a version that has none
    reference   derivatives by differences and by forward mode
    validate    the stages of one compilation, one after the other

Imported where ``S2S_VALIDATE=1`` or a test asks for it.
"""
