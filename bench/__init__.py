"""Benchmarks of the core. Run ``python -m bench`` from the checkout."""
