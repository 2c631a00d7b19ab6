"""Channels: how customers write to us and we to them. One small file per provider behind one interface.

`events.py` says what a provider can tell us, `registry.py` what it must be able to do, `sending.py` the last look
before anything leaves. `webchat.py`, `whatsapp.py`, `twilio.py` and `mail.py` are the providers.
"""
