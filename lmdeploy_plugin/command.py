"""LMDeploy's command line with toolglot's parsers, registered at import: children that LMDeploy spawns import this."""

import sys

try:
    from toolglot.lmdeploy_plugin import register

    register()
except ImportError as error:
    sys.exit(f"error: {error}")

if __name__ == "__main__":
    from lmdeploy.cli import run

    sys.argv[0] = "lmdeploy"
    run()
