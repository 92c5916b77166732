"""The commands of ``toolglot``, one module each. A module is a command by being here; it has

* its name (``doctor.py`` is ``toolglot doctor``) and a docstring whose first line is the help,
* ``arguments(parser)``: what it takes,
* ``run(arguments)``: the command itself, an exit status. A wrong request may raise ConfigurationError or OSError: the
  command line makes one line and status 2 of them.
"""
