"""`python -m toolglot.lmdeploy_plugin serve api_server ...`: LMDeploy's command line with toolglot's parsers.

A spawned child of LMDeploy (`--dp 2`) imports the main module again, but never one called `__main__`: so
command.py becomes the main module.
"""

import runpy

runpy.run_module("toolglot.lmdeploy_plugin.command", run_name="__main__", alter_sys=True)
