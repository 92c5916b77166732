"""Called at the end of `import torch` (entry point group `torch.backends`): waits for LMDeploy's parsers.

torch re-raises whatever goes wrong in here, so this module imports nothing but `sys`, and catches everything. All it
does is to put a finder in front of the import system that, once, sees `lmdeploy.serve.parsers` imported and then
registers toolglot's parsers. Switches: TOOLGLOT_LMDEPLOY_AUTOLOAD=0, or TORCH_DEVICE_BACKEND_AUTOLOAD=0 (torch's own).
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, method-assign, union-attr"
import sys

TRIGGERS = ("lmdeploy.serve.parsers", "lmdeploy.serve.openai.tool_parser")  # the latter before 0.13, which is too old


def install() -> None:
    """The entry point."""
    try:
        switch = sys.modules["os"].environ.get("TOOLGLOT_LMDEPLOY_AUTOLOAD", "")
        if switch.strip().lower() in ("0", "off", "false", "no"):
            return
        if any(name in sys.modules for name in TRIGGERS):
            _register()
        elif not any(isinstance(finder, Finder) for finder in sys.meta_path):
            sys.meta_path.insert(0, Finder())
    except Exception:
        return  # never in the way of torch


class Finder:
    """Finds one module, by asking the other finders, and has the parsers registered behind it."""

    def find_spec(self, name, path=None, target=None):
        """importlib's protocol."""
        try:
            if name in TRIGGERS:
                sys.meta_path.remove(self)
                specs = (finder.find_spec(name, path, target) for finder in list(sys.meta_path))
                spec = next(spec for spec in specs if spec is not None)
                spec.loader.exec_module = _followed(spec.loader.exec_module)
                return spec
        except Exception:
            return None  # the import goes on without us


def _followed(execute):
    def exec_module(module):
        execute(module)
        _register()

    return exec_module


def _register() -> None:
    try:
        from toolglot.lmdeploy_plugin import register

        register()
    except Exception as error:
        if any("toolglot_" in word or word.rpartition("=")[2] == "toolglot" for word in sys.argv):
            print(f"toolglot: no parser was registered in LMDeploy: {error}", file=sys.stderr)
