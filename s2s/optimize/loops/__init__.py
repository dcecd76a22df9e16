"""Array operations become loops over their elements: for compilers that make machine code of them."""
