"""Named form to SSA form: structured exits, versions of variables, captures."""
