"""Logging: what a program writes to its logs is written once, with the values that it has there."""

import logging

import pytest

import s2s

LOG = logging.getLogger("test_logs")
ADAPTER = logging.LoggerAdapter(LOG, {})


class Loud(logging.Logger):
    def loud(self, message, *args):
        self._log(60, message, args)


LOUD = Loud("test_logs.loud")


def logged(x):
    LOG.info("begins")
    ADAPTER.warning("x is %s", x)
    for i in range(2):
        LOG.debug("not written %d", i)
        LOUD.loud("step %d of %s", i, x)
        x = x * x
    return x


@pytest.mark.parametrize("derivative", [s2s.grad(logged), lambda x: s2s.jvp(logged, (x,), (1.0,))[1]])
def test_logs_are_written_once(derivative, caplog, monkeypatch):
    monkeypatch.setattr(LOUD, "handlers", [caplog.handler])
    with caplog.at_level(logging.INFO, "test_logs"):
        assert derivative(1.3) == pytest.approx(4.0 * 1.3**3)
    texts = [record.getMessage() for record in caplog.records]
    assert texts == ["begins", "x is 1.3", "step 0 of 1.3", f"step 1 of {1.3 * 1.3}"]
