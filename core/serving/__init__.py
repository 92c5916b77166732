"""What a plugin needs whatever its engine: settings, the prompt's end, special tokens, grammars, metrics.

It knows no engine, and needs only the standard library to be imported.
"""
