"""Models and estimators: networks, mixtures, bundle adjustment, filters, options."""
