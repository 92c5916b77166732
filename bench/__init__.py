"""Benchmarks: ``python -m bench`` from the checkout runs all and writes docs/benchmarks.md.

    spelling.py     a dialect's calls, written from its data
    workloads.py    responses, how they are cut, what they must be parsed to
    timing.py       processor time, in turns
    core.py         part "core": every dialect, workload and chunk size, beside the floor
    metrics.py      part "metrics": growth to a megabyte, lag, allocations, memory
    engines.py      the engines' parsers at their own boundaries
    peers.py        part "peers": toolglot and the engines' own parsers, six dialects
    serving.py      what serves requests in the engines, with tokens that are there at once
    throughput.py   part "throughput": tokens a second through that
    report.py       results/*.json -> docs/benchmarks.md, the README's table, plots.py
    tags.py         ``python -m bench.tags``: what a structural tag costs a request
"""
