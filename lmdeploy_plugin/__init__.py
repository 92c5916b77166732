"""toolglot in LMDeploy: every dialect as a tool parser and a reasoning parser named `toolglot_<dialect>`.

LMDeploy asks for no plugins. Three ways lead to `register()`, which is idempotent:

* the entry point `toolglot` of group `torch.backends`: autoload.py waits for LMDeploy's parsers to be imported;
* `python -m toolglot.lmdeploy_plugin serve api_server ...`: the command line of LMDeploy, parsers registered first;
* a program's own call.

Nothing is imported here: this module is on the way of `import torch`, in every program of the environment.
"""

__all__ = ["register"]


def register() -> None:
    """Add toolglot's parsers to LMDeploy's registries. Raises ImportError with one line where it cannot."""
    from toolglot.lmdeploy_plugin.registration import register_all

    register_all()
