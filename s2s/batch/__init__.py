"""Many tangents or cotangents side by side: Jacobians, sparsity patterns, observation."""
