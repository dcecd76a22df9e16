"""The IR of these programs is verified after every pass, the order in which it reads and changes memory too."""

import pytest


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setenv("S2S_CHECK_IR", "1")
