"""The providers' secrets of the tests."""

import pytest

from tests.fakes import twilio_server, whatsapp_server


@pytest.fixture(autouse=True)
def secrets(settings) -> None:  # type: ignore[no-untyped-def]
    settings.VIGENTE_WHATSAPP_APP_SECRET = ["secret-of-the-test"]
    settings.VIGENTE_WHATSAPP_VERIFY_TOKEN = "word-of-the-test"
    settings.VIGENTE_WHATSAPP_TOKEN = whatsapp_server.TOKEN
    settings.VIGENTE_TWILIO_ACCOUNT_SID = twilio_server.SID
    settings.VIGENTE_TWILIO_AUTH_TOKEN = [twilio_server.TOKEN]
