"""Responders: who writes an answer. One port, `port.py`; `embedded.py` is the default, without any network."""
