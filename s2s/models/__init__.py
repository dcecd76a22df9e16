"""Python code that stands for methods of libraries, where their own does what cannot be differentiated.

A model is ordinary code: objects, containers and calls in it are followed as in a user's function. The modules of
``rules`` say what each one stands for.
"""
