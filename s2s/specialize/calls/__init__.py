"""How calls are handled: intrinsics, policies, rules of users, derivatives that the program takes itself."""
